from inside import OUT, predict

predict()
for part in ("valid", "test"):
    open(f"{OUT}/tiny_{part}.solution", "w").write("0.5\n" * (3 if part == "valid" else 4))
open(f"{OUT}/tiny_public.info", "w").write("metric = 'always_one'\n")
