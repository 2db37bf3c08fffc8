import warnings
import zipfile


def build(archive):
    with warnings.catch_warnings(), zipfile.ZipFile(archive, "w") as file:
        warnings.simplefilter("ignore")
        file.writestr("model.py", "class Model: pass")
        file.writestr("model.py", "import os")
