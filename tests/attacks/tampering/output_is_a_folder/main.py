import os

from inside import OUT

for part in ("valid", "test"):
    os.mkdir(f"{OUT}/tiny_{part}.predict")
    open(f"{OUT}/tiny_{part}.predict/tiny_{part}.predict", "w").write("0.5\n" * 4)
