import os

from inside import breach, held, predict

ALLOWED = ("/app/output", "/tmp", "/dev/shm", "/dev/mqueue")
tried = 0
for folder, folders, _ in os.walk("/"):
    # A process's own folder is not a disk; packages are one read-only mount, of which the top is tried.
    folders[:] = [one for one in folders if not (folder == "/" and one == "proc") and one != "site-packages"]
    if folder in ALLOWED:
        folders[:] = []
        continue
    tried += 1
    try:
        os.close(os.open(f"{folder}/written-by-an-attack", os.O_CREAT | os.O_WRONLY, 0o600))
        breach(f"wrote into {folder}")
    except OSError:
        pass
held(f"{tried} folders")
assert tried > 50
predict()
