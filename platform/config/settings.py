"""Settings. Everything an operator may change comes from the environment (see README, "Operate it")."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from config.home import podium_home, private_folder, stored_secret
from ingestion.image_names import BadImageName, allowed_images

env = environ.Env()

ROOT = Path(__file__).resolve().parent.parent.parent
BASE_DIR = ROOT / "platform"
PODIUM_HOME = podium_home()
SECRET_KEY = env.str("SECRET_KEY", default="") or stored_secret(PODIUM_HOME, "secret_key")
DEBUG = False

PODIUM_PORT = env.int("PODIUM_PORT", default=8000)
PODIUM_URL = env.str("PODIUM_URL", default=f"http://127.0.0.1:{PODIUM_PORT}").rstrip("/")
_site = urlsplit(PODIUM_URL)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[]) or [
    "localhost", "127.0.0.1", "[::1]", _site.hostname or "localhost"
]  # fmt: skip
CSRF_TRUSTED_ORIGINS = [f"{_site.scheme}://{_site.netloc}"]

INSTALLED_APPS = [
    "pages",  # first, so that its templates win over those of allauth and the admin
    "accounts.apps.OperatorsAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "django_htmx",
    "accounts",
    "datasets",
    "competitions",
    "submissions",
    "leaderboards",
    "analysis",
    "bundles",
    "api",
    "operations",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "pages.middleware.CompressedPages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "pages.middleware.WithoutNul",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "pages.middleware.ContentSecurityPolicy",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "pages.context.site",
            ],
        },
    },
]

DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{PODIUM_HOME / 'podium.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Immediate transactions take the write lock at their start, so that two processes wait for each other
    # instead of failing when both want to upgrade a read lock.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Files. "default" holds uploads, logs and collected predictions; "solutions" is a root of its own (no URL, no
# view opens it); "public" holds what participants may download.
FILES = private_folder(PODIUM_HOME / "files")
SOLUTIONS = private_folder(PODIUM_HOME / "solutions")
PLAIN, OBJECTS = "django.core.files.storage.FileSystemStorage", "storages.backends.s3.S3Storage"


# Encrypts hidden solutions at rest: one key, or several with the one that encrypts first. Workers never get it.
SOLUTIONS_KEY = env.str("PODIUM_SOLUTIONS_KEY", default="")
if SOLUTIONS_KEY:
    from datasets.encryption import BadKey, read_keys

    try:
        read_keys(SOLUTIONS_KEY)
    except BadKey as error:
        raise ImproperlyConfigured(
            f"{error}; './podium manage encrypt_solutions --new-key' prints one, with the setting empty."
        ) from error


def _storage(folder: Path, prefix: str, *, of_files: str = PLAIN, of_objects: str = OBJECTS) -> dict[str, object]:
    bucket = env.str("S3_BUCKET", default="")
    if not bucket:
        return {
            "BACKEND": of_files,
            "OPTIONS": {
                "location": folder,
                "base_url": None,
                "file_permissions_mode": 0o600,
                "directory_permissions_mode": 0o700,
            },
        }
    return {
        "BACKEND": of_objects,
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": env.str("S3_ENDPOINT_URL", default=None),
            "location": prefix,
            "default_acl": None,
            "file_overwrite": False,
            "querystring_auth": True,
            "querystring_expire": 600,
        },
    }


STORAGES = {
    "default": _storage(FILES, "files"),
    "solutions": _storage(
        SOLUTIONS,
        "solutions",
        of_files="datasets.storage.SolutionFiles",
        of_objects="datasets.storage_s3.SolutionObjects",
    ),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
STATIC_URL = "/static/"
STATIC_ROOT = PODIUM_HOME / "static"
WHITENOISE_USE_FINDERS = True
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_TEMP_DIR = private_folder(PODIUM_HOME / "uploads")
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 2**20

# Limits at the door.
MAX_ARCHIVE_BYTES = env.int("PODIUM_MAX_ARCHIVE_BYTES", default=300 * 2**20)
MAX_DATASET_BYTES = env.int("PODIUM_MAX_DATASET_BYTES", default=10 * 2**30)
UPLOAD_GRACE = timedelta(hours=1)  # how long after its phase closed an upload that began before may end

# People.
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/competitions/"
LOGOUT_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = env.str("PODIUM_EMAIL_VERIFICATION", default="optional")
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_USERNAME_BLACKLIST = ["admin", "organizer", "root", "podium"]
EMAIL_CONFIG = env.email("EMAIL_URL", default=f"filemail:///{PODIUM_HOME / 'mail'}")
vars().update(EMAIL_CONFIG)
EMAIL_TIMEOUT = 20  # seconds for each answer of the mail server
DEFAULT_FROM_EMAIL = env.str("PODIUM_FROM_EMAIL", default="podium@localhost")

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PODIUM_URL.startswith("https://")
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_NAME = "podium_session"
CSRF_COOKIE_NAME = "podium_csrf"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if PODIUM_URL.startswith("https://"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# Queues. The database owns the state; these only carry doorbells (design, section 4).
BROKER_URL = env.str("BROKER_URL", default="filesystem://")
COMPUTE_BROKER_URL = env.str("COMPUTE_BROKER_URL", default=BROKER_URL)
LEASE = timedelta(seconds=30)  # a worker that was not heard for so long has lost its run
# How long after its last heartbeat a worker may still go on with its run, where no other has begun it.
LEASE_GRACE = timedelta(seconds=env.int("PODIUM_LEASE_GRACE", default=600))
HEARTBEAT = timedelta(seconds=3)
DOORBELL_REPEAT = timedelta(seconds=15)
PREPARING_LIMIT = timedelta(minutes=20)  # fetching and laying out the inputs of a run must end by then
SCORING_LEASE = timedelta(seconds=60)  # prolonged while a run is scored
MAX_ATTEMPTS = 3
REST_OF_A_FAILED_WORKER = timedelta(seconds=30)
TRANSFER_SECONDS = 600  # how long a worker's upload and download links live
WORKER_ALIVE = timedelta(seconds=45)
READINESS_SECONDS = env.float("PODIUM_READINESS_SECONDS", default=20.0)  # for each dataset of a readiness check
READINESS_A_DAY = 10  # checks that an entrant may ask for
READINESS_WAIT = timedelta(days=1)  # a check that no worker had time for is given up

SANDBOX_IMAGE = env.str("PODIUM_SANDBOX_IMAGE", default="podium-sandbox:latest")
try:
    SANDBOX_IMAGES = allowed_images(env.str("PODIUM_IMAGES", default=""))  # what phases choose from
except BadImageName as error:
    raise ImproperlyConfigured(f"PODIUM_IMAGES: {error}.") from error

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"without_links": {"()": "config.logs.WithoutLinks"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["without_links"]}},
    # kombu warns that the embedded broker has no host name. It needs none.
    "loggers": {"kombu.connection": {"level": "ERROR"}},
    "root": {"handlers": ["console"], "level": env.str("PODIUM_LOG_LEVEL", default="INFO")},
}
