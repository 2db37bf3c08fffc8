import subprocess
import sys

from inside import predict

subprocess.run([sys.executable, "-c", "b = []\nwhile True: b.append(b'x' * 2**22)"])
predict()
