import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.py", "class Model: pass")
        file.writestr("zeros", bytes(100 * 2**20))
