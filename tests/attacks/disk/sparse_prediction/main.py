from inside import OUT, predict

predict()
with open(f"{OUT}/tiny_test.predict", "r+b") as file:
    file.truncate(10 * 2**40)
