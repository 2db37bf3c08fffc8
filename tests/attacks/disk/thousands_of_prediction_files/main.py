from inside import OUT

for number in range(4000):
    for part, rows in (("valid", 3), ("test", 4)):
        with open(f"{OUT}/tiny_{part}_{number:05d}.predict", "w") as file:
            file.write(f"{number}\n" * rows)
