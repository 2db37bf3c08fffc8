import os
import zipfile

from inside import OUT, predict

predict()
os.remove(f"{OUT}/tiny_test.predict")
with zipfile.ZipFile(f"{OUT}/tiny_test.npy", "w") as file:
    file.writestr("arr_0.npy", b"\x93NUMPY")
