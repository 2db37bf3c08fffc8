import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("metadata", "".join(["a: &a [x, x]\n"] + [f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)]) + "command: true\n")
