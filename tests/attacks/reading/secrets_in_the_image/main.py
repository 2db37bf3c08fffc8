import os
import re

from inside import must_be, predict

NAMES = re.compile(r"^(\.netrc|\.pypirc|pip\.conf|\.git-credentials|\.dockerenv\.secret|extra-ca.*|id_(rsa|ed25519)|.*\.ppk"
                   r"|\.aws|\.docker|\.kube|\.bash_history|\.python_history|\.env|demo\.json|.*\.sqlite3)$")  # fmt: skip
found = []
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [one for one in folders if one not in ("proc", "sys")]
    folders[:] = [one for one in folders if one not in ("site-packages", "share")]
    found += [f"{folder}/{name}" for name in (*folders, *files) if NAMES.match(name)]
found = [one for one in found if os.access(one, os.R_OK)]
must_be(f"nothing of the kind: {found}", not found)
must_be("no cache of packages", not os.path.exists(os.path.expanduser("~/.cache")))
predict()
