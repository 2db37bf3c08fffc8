import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a000", bytes(9 * 2**20))
    data = archive.read_bytes()
    start, end = data.find(b"PK\x01\x02"), data.rfind(b"PK\x05\x06")
    one = data[start:end]
    many = b"".join(one.replace(b"a000", b"a%03d" % number) for number in range(500))
    tail = bytearray(data[end:])
    tail[8:12] = (500).to_bytes(2, "little") * 2
    tail[12:16] = len(many).to_bytes(4, "little")
    archive.write_bytes(data[:start] + many + bytes(tail))
