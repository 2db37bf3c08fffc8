import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("readme.txt", "hello")
