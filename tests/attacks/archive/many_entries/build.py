import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        for number in range(10_050):
            file.writestr(f"{number}", b"")
