import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("model.py", "class Model: pass")
    data = bytearray(archive.read_bytes())
    data[6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
