import os
import struct

from inside import OUT, predict

predict()
for part, kind, size in (("valid", "<c16", 16 * 3), ("test", "<U4", 16 * 4)):
    os.remove(f"{OUT}/tiny_{part}.predict")
    rows = 3 if part == "valid" else 4
    header = b"{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (kind.encode(), rows)
    header = header.ljust(117) + b"\n"
    with open(f"{OUT}/tiny_{part}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * size)
