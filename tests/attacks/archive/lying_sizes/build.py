import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("zeros", bytes(64 * 2**20))
    data = bytearray(archive.read_bytes())
    start = data.find(b"PK\x01\x02")
    data[start + 24 : start + 28] = (1).to_bytes(4, "little")
    data[22:26] = (1).to_bytes(4, "little")
    archive.write_bytes(data)
