import os
import sys

os.write(1, b"\x1b]0;" + b"y" * 5000 + b"\nafter\n\x1bP" + b"z" * 100 + b"\n\x1b[" + b"1;" * 5000 + b"\n\x1b")
sys.exit(1)
