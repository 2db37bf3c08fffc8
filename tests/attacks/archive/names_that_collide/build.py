import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("model.py", "class Model: pass")
        file.writestr("Caf\u00e9.py", "a")
        file.writestr("cafe\u0301.PY", "b")
