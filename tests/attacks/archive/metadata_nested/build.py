import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("metadata", "[" * 8000 + "]" * 8000)
