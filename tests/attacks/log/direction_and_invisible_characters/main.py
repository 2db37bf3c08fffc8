import os
import sys

os.write(1, "\u202egnp.exe\u202c \u2066x\u2069 \u2028 \u2029 sc\u200bore \ufeff \u0085 \U000e0041 a\u0300\u0300\n".encode())
sys.exit(1)
