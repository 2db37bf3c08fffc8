import os
import pickle

from inside import OUT, predict


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/podium-attack-was-unpickled",)


predict()
with open(f"{OUT}/tiny_test.predict", "wb") as file:
    pickle.dump(Payload(), file)
