import io
import zipfile


def build(archive):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("zeros", bytes(50 * 2**20))
    with zipfile.ZipFile(archive, "w") as file:
        for part, rows in (("valid", 3), ("test", 4)):
            file.writestr(f"tiny_{part}.predict", "0.5\n" * rows)
        file.writestr("inner.zip", inner.getvalue())
