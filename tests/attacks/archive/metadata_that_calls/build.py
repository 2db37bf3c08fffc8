import zipfile


def build(archive):
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("metadata", "command: !!python/object/apply:os.system ['touch /tmp/podium-attack-yaml']\n")
