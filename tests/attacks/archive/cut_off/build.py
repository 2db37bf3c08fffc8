import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("model.py", "class Model: pass" * 100)
    archive.write_bytes(archive.read_bytes()[:-30])
