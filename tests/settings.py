"""Settings of the test suite: a data folder of its own, never the installation's."""

import atexit
import os
import shutil
import tempfile

_home = tempfile.mkdtemp(prefix="podium-tests-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ["PODIUM_HOME"] = _home
for _name in (
    "PODIUM_URL",
    "PODIUM_PORT",
    "BROKER_URL",
    "COMPUTE_BROKER_URL",
    "S3_BUCKET",
    "SECRET_KEY",
    "PODIUM_SOLUTIONS_KEY",
):
    os.environ.pop(_name, None)

from config.settings import *  # noqa: E402, F403

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# A slow hash is right for people and wrong for a suite that logs in hundreds of times.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # A file, as in an installation: SQLite in memory locks by other rules.
    DATABASES["default"]["TEST"] = {"NAME": f"{_home}/test.sqlite3"}  # noqa: F405
