import subprocess
import sys

subprocess.run([sys.executable, "-c", "b = []\nwhile True: b.append(b'x' * 2**22)"])
