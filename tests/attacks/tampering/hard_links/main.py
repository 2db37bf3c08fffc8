import os

from inside import OUT, must_fail

with open(f"{OUT}/one", "w") as file:
    file.write("0.5\n" * 3)
with open(f"{OUT}/four", "w") as file:
    file.write("0.5\n" * 4)
for number in range(50):
    os.link(f"{OUT}/one", f"{OUT}/tiny_valid_{number}.predict")
    os.link(f"{OUT}/four", f"{OUT}/tiny_test_{number}.predict")
must_fail("a link to the input", os.link, "/app/input_data/tiny_train.solution", f"{OUT}/tiny_test_60.predict")
