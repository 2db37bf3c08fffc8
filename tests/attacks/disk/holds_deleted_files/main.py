from inside import held, predict
import os

predict(0)
kept = []
try:
    while True:
        kept.append(open("/tmp/deleted", "wb", buffering=0))
        os.unlink("/tmp/deleted")
        kept[-1].write(b"x" * 1_000_000)
        if os.fstat(kept[-1].fileno()).st_size < 1_000_000:
            raise OSError("no room is left")
except OSError as error:
    held(f"{len(kept)} files: {error}")
