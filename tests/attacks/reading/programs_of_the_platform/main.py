import importlib.util
import os
import sys

from inside import must_be, predict

found = sorted(
    os.path.relpath(os.path.join(folder, name), "/app/program")
    for folder, _, files in os.walk("/app/program")
    for name in files
)
must_be(f"only the program: {found}", all(one.startswith("ingestion/program/") or one == "ingestion/__init__.py" for one in found))
sys.path.insert(0, "/app/program")
for name in ("scoring", "ingestion.worker", "ingestion.sandbox"):
    must_be(f"no {name}", importlib.util.find_spec(name) is None)
predict()
