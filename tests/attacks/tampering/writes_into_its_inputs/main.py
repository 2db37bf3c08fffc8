import os

from inside import must_fail, predict

for path in ("/app/input_data/tiny_train.data", "/app/submission/main.py", "/app/program/ingestion/program/init.py"):
    folder = os.path.dirname(path)
    must_fail(path, open, path, "r+")
    must_fail(path, os.remove, path)
    must_fail(path, os.chmod, path, 0o777)
    must_fail(path, os.utime, path, (0, 0))
    must_fail(path, os.rename, path, f"{path}.old")
    must_fail(path, os.rename, folder, f"{folder}.old")
    must_fail(path, os.link, path, "/app/output/linked")
    must_fail(path, os.truncate, path, 0)
predict()
