import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("metadata", "command: python3 'main.py\n")
