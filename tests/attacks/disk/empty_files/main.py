from inside import OUT

for number in range(10_000_000):
    open(f"{OUT}/{number}", "w").close()
