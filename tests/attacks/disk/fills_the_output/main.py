from inside import OUT

with open(f"{OUT}/big", "wb", buffering=0) as file:
    while True:
        file.write(b"x" * 65536)
