from inside import OUT

for name in ("tiny_test.predict ", " tiny_test.predict", "TINY_test.predict", "tiny_test.predict\n", "tiny_tеst.predict",
             "tiny_test_-1.predict", "tiny_test_1e3.predict", "tiny_test_٣.predict", "tiny_test.PREDICT", "tiny_test..predict",
             "tiny_test_9999999999999999999999.predict", "..tiny_test.predict", "\udcff_test.predict",
             "tiny_train.predict", "a\\..\\tiny_test.predict", "tiny_test.predict\x1b[31m"):  # fmt: skip
    open(f"{OUT}/{name}".encode(errors="surrogateescape"), "w").write("0.5\n" * 4)
    other = name.replace("test", "valid").replace("tеst", "valid")
    open(f"{OUT}/{other}".encode(errors="surrogateescape"), "w").write("0.5\n" * 3)
