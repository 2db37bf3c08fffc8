with open("/tmp/big", "wb", buffering=0) as file:
    while True:
        file.write(b"x" * 65536)
