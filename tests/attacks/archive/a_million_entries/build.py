import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("model.py", "class Model: pass")
    data = bytearray(archive.read_bytes())
    end = data.rfind(b"PK\x05\x06")
    data[end + 8 : end + 12] = b"\xff\xff\xff\xff"
    archive.write_bytes(data)
