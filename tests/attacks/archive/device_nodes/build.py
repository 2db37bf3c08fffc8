import stat
import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        node = zipfile.ZipInfo("disk")
        node.external_attr = (stat.S_IFBLK | 0o666) << 16
        file.writestr("model.py", "class Model: pass")
        file.writestr(node, "")
