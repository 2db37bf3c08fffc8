import os

from inside import must_be, predict

# Written in two pieces, so that this program does not find itself.
HIDDEN = ("31337" + ".1875").encode(), ("31337" + ".8125").encode(), ("a-description-for" + "-the-organizer").encode()
by_name, by_content = [], []
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [one for one in folders if one not in ("proc", "sys")]
    folders[:] = [one for one in folders if one not in ("site-packages", "python3.11", "python3.12", "share")]
    for name in files:
        path = f"{folder}/{name}"
        if name.endswith((".solution", "_private.info")):
            by_name.append(path)
        try:
            if os.path.isfile(path) and not folder.startswith(("/usr", "/opt/python")):
                content = open(path, "rb").read(10_000_000)
                if any(one in content for one in HIDDEN):
                    by_content.append(path)
        except OSError:
            pass
must_be(f"by name: {by_name}", by_name == ["/app/input_data/tiny_train.solution"])
must_be(f"by content: {by_content}", by_content == [])
predict()
