"""`./podium doctor`: what is there, what is missing, and the line that mends it."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from config.home import podium_home
from operations import environment
from operations.installation import address_of_site, prepare_django
from operations.terminal import notes, results

GIB = 2**30
LEAST_DISK = GIB
COMFORTABLE_DISK = 5 * GIB


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    `verdict` is `ok`, `note` (works, but read the sentence) or `missing`. Only what is `needed` and missing
    keeps Podium from running.
    """

    name: str
    verdict: str
    sentence: str
    mend: str = ""
    needed: bool = False


def doctor(*, as_json: bool) -> int:
    """Print every finding; returns 0 when Podium can run here, else 1."""
    found = examine()
    works = can_run(found)
    if as_json:
        print(json.dumps({"ok": works, "findings": [asdict(finding) for finding in found]}))
    else:
        show(found, works=works)
    return 0 if works else 1


def can_run(found: list[Finding]) -> bool:
    """Whether nothing that is needed is missing."""
    return not any(finding.needed and finding.verdict == "missing" for finding in found)


def examine() -> list[Finding]:
    """Look at everything. A check that fails itself becomes a finding instead of ending the doctor's visit."""
    prepare_django()
    checks: list[tuple[str, Callable[[], list[Finding]]]] = [
        ("Python", check_python),
        ("data folder", check_home),
        ("database", check_database),
        ("solutions", check_solutions),
        ("broker", check_brokers),
        ("sandboxes", check_sandboxes),
        ("machine", check_machine),
        ("port", check_port),
        ("Chromium", check_chromium),
    ]
    found: list[Finding] = []
    for name, check in checks:
        try:
            found += check()
        except Exception as error:
            found.append(Finding(name, "missing", f"Could not be examined: {one_line(error)}.", needed=True))
    return found


def one_line(error: BaseException) -> str:
    """Return the text of an error on one line, with its kind where it has no text."""
    text = " ".join(str(error).split())[:300].rstrip(".")
    return text or type(error).__name__


def check_python() -> list[Finding]:
    """The Python and the virtual environment that run this."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    venv = environment.ROOT / ".venv"
    wanted = environment.wanted_stamp(environment.ROOT, development=False)
    if environment.is_current(venv, wanted):
        installed = Finding("virtual environment", "ok", f"{venv} holds what requirements.txt asks for.")
    else:
        installed = Finding(
            "virtual environment", "note", "This Python is not the one that the launcher prepares.", "./podium up"
        )
    return [Finding("Python", "ok", f"Python {version} at {sys.executable}.", needed=True), installed]


def check_home() -> list[Finding]:
    """The data folder: its mode, and how much room it has."""
    home = podium_home()
    mode = home.stat().st_mode & 0o777
    if not os.access(home, os.W_OK):
        folder = Finding("data folder", "missing", f"{home} cannot be written.", f"chown $(id -u) {home}", True)
    elif mode & 0o077:
        mend = f"chmod 700 {home}"
        folder = Finding("data folder", "missing", f"{home} has mode {mode:o}: others can look in.", mend, True)
    else:
        folder = Finding("data folder", "ok", f"{home}, mode {mode:o}.", needed=True)
    free = shutil.disk_usage(home).free
    sentence = f"{free / GIB:.1f} GiB free for the data folder."
    verdict = "ok" if free >= COMFORTABLE_DISK else "note" if free >= LEAST_DISK else "missing"
    mend = "" if verdict == "ok" else "Free some space, or set PODIUM_HOME to a larger disk."
    return [folder, Finding("disk space", verdict, sentence, mend, needed=True)]


def check_database() -> list[Finding]:
    """Whether the database answers and has the newest schema."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    vendor = connection.vendor
    name = connection.settings_dict["NAME"]
    if vendor == "sqlite" and not Path(str(name)).exists():
        return [Finding("database", "ok", f"SQLite; {name} is made at the first start.", needed=True)]
    try:
        executor = MigrationExecutor(connection)
        waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except Exception as error:
        sentence = f"The {vendor} database does not answer: {one_line(error)}."
        return [Finding("database", "missing", sentence, "Check DATABASE_URL and that its server runs.", True)]
    finally:
        connection.close()
    if waiting:
        sentence = f"{vendor} answers; {waiting} migrations wait and are applied at the next start."
        return [Finding("database", "note", sentence, "./podium manage migrate", True)]
    return [Finding("database", "ok", f"{vendor} answers and is migrated.", needed=True)]


def check_solutions() -> list[Finding]:
    """Whether hidden solutions are encrypted, and whether this site has the keys of those that are."""
    from datasets.sealing import Seal, inventory
    from datasets.storage import keys

    found = inventory()
    if found[Seal.UNKNOWN]:
        sentence = f"{found[Seal.UNKNOWN]} hidden files are encrypted by a key that this site does not have."
        return [Finding("solutions", "missing", sentence, "Add their key to PODIUM_SOLUTIONS_KEY.", True)]
    if not keys():
        sentence = "Hidden solutions are not encrypted; PODIUM_SOLUTIONS_KEY does that."
        return [Finding("solutions", "ok", sentence)]
    waiting = found[Seal.PLAIN] + found[Seal.OLDER]
    if waiting:
        sentence = (
            f"New hidden solutions are encrypted; {found[Seal.PLAIN]} files are not yet, and {found[Seal.OLDER]} "
            "by an earlier key."
        )
        return [Finding("solutions", "note", sentence, "./podium manage encrypt_solutions")]
    return [Finding("solutions", "ok", "Hidden solutions are encrypted by a key that only the site has.")]


def check_brokers() -> list[Finding]:
    """Whether the site's broker, and that of the compute workers, take messages."""
    from django.conf import settings

    urls = {"broker": settings.BROKER_URL}
    if settings.COMPUTE_BROKER_URL != settings.BROKER_URL:
        urls["compute broker"] = settings.COMPUTE_BROKER_URL
    return [check_broker(name, url) for name, url in urls.items()]


def check_broker(name: str, url: str) -> Finding:
    """Whether one broker can be reached. Its address is shown without a password."""
    from kombu.connection import Connection

    if url.startswith("filesystem"):
        return Finding(name, "ok", "Messages are files in the data folder; no service is needed.", needed=True)
    connection: Any = Connection(url, connect_timeout=4)  # type: ignore[no-untyped-call]
    shown = connection.as_uri()
    try:
        connection.ensure_connection(max_retries=1, interval_start=0.1, timeout=5)
    except Exception as error:
        sentence = f"{shown} does not answer: {one_line(error)}."
        return Finding(name, "missing", sentence, "Check BROKER_URL and that its server runs.", True)
    finally:
        connection.release()
    return Finding(name, "ok", f"{shown} answers.", needed=True)


def check_sandboxes() -> list[Finding]:
    """Every sandbox with its own verdict, the image, and whether there is one at all."""
    from ingestion.sandbox import available_sandboxes

    found: list[Finding] = []
    usable: list[str] = []
    for status in available_sandboxes():
        verdict = "ok" if status.usable else "note"
        if status.usable and status.name != "unconfined":
            usable.append(status.name)
        found.append(Finding(f"sandbox {status.name}", verdict, status.sentence, status.mend or ""))
    chosen = os.environ.get("PODIUM_SANDBOX", "")
    if chosen == "unconfined":  # by choice: then nobody needs to be told how to install another
        found = [replace(one, mend="") for one in found]
    return [*found, _chosen_sandbox(chosen, usable), *check_images()]


def _chosen_sandbox(chosen: str, usable: list[str]) -> Finding:
    """What submissions of this machine run in."""
    from ingestion.sandbox import SANDBOXES

    if chosen == "unconfined":
        sentence = (
            "PODIUM_SANDBOX=unconfined: submissions run with all rights of this user. Strangers are refused."
        )
        return Finding("sandbox", "note", sentence, "unset PODIUM_SANDBOX", True)
    if chosen and chosen not in SANDBOXES:
        sentence = f"PODIUM_SANDBOX is {chosen!r}, and there is no such sandbox."
        mend = f"unset PODIUM_SANDBOX, or set it to {', '.join(SANDBOXES[:-1])} or {SANDBOXES[-1]}"
        return Finding("sandbox", "missing", sentence, mend, True)
    if chosen and chosen not in usable:
        sentence = f"PODIUM_SANDBOX={chosen} is asked for and does not work here."
        return Finding("sandbox", "missing", sentence, "See its line above.", True)
    if usable:
        return Finding("sandbox", "ok", f"Submissions of this machine run in {chosen or usable[0]}.", needed=True)
    sentence = "Nothing here can confine a submission."
    return Finding("sandbox", "missing", sentence, "apt-get install bubblewrap", True)


def check_images() -> list[Finding]:
    """Which of the images that phases may choose are here, where an engine answers, and how to get the others."""
    from django.conf import settings

    from ingestion.image_names import how_to_get, short_id
    from ingestion.sandbox import SandboxError
    from ingestion.sandbox.docker import DockerSandbox
    from ingestion.sandbox.engine import EngineError, connect

    try:
        connect(timeout=10).close()
    except EngineError as error:
        return [Finding("images", "note", f"No Docker engine to keep them: {one_line(error)}.", error.mend)]
    wanted = dict.fromkeys([settings.SANDBOX_IMAGE, *settings.SANDBOX_IMAGES])
    try:
        here = {image.name: image for image in DockerSandbox().images(wanted)}
    except SandboxError as error:
        return [Finding("images", "note", f"They cannot be looked at: {one_line(error)}.")]
    found = []
    for name in wanted:
        image = here.get(name)
        if image is None:
            found.append(Finding(f"image {name}", "note", "Not on this machine.", how_to_get(name)))
        elif image.problem:
            found.append(Finding(f"image {name}", "note", f"It {image.problem}", f"Mend {name}."))
        else:
            packages = f"{len(image.packages)} packages" if image.packages else "its packages are not listed"
            found.append(Finding(f"image {name}", "ok", f"{short_id(image.id)}, {packages}."))
    return found


def check_machine() -> list[Finding]:
    """What the machine has, what a run gets of it, and how the kernel lets it bound memory."""
    from ingestion.budget import Capacity, format_size
    from operations.worker_start import CannotStart, share_in_words, wanted_slots

    machine = Capacity.of_this_machine()
    has = f"The machine has {machine.cores} cores and {format_size(machine.memory_bytes)} of memory"
    try:
        slots = wanted_slots(None)
    except CannotStart as error:
        found = [Finding("capacity", "missing", str(error), "unset PODIUM_SLOTS", True)]
    else:
        each = "a run gets" if slots == 1 else f"each of {slots} runs at once gets"
        found = [Finding("capacity", "ok", f"{has}; {each} {share_in_words(slots)}.")]
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        found.append(_cgroup_2())
    elif (root / "memory").is_dir():
        found.append(Finding("cgroups", "ok", "cgroup v1 with a memory controller."))
    else:
        sentence = "No memory controller: bubblewrap runs are bounded by watching their memory instead."
        found.append(Finding("cgroups", "note", sentence))
    return found


def _cgroup_2() -> Finding:
    """Whether runs of this user can be bounded by control groups of version 2."""
    if os.geteuid() == 0:
        return Finding("cgroups", "ok", "cgroup v2.")
    from ingestion.sandbox import cgroups

    if cgroups.is_delegated():
        return Finding("cgroups", "ok", "cgroup v2, with a group that this user may divide.")
    sentence = (
        "cgroup v2, of which this user may divide nothing: bubblewrap runs are bounded by watching their memory."
    )
    return Finding("cgroups", "note", sentence, "systemd-run --user --scope -p Delegate=yes ./podium worker")


def check_port() -> list[Finding]:
    """Whether the port of the site is free, or served by this very installation."""
    from django.conf import settings

    port = settings.PODIUM_PORT
    with socket.socket() as probe:
        probe.settimeout(1)
        is_taken = probe.connect_ex(("127.0.0.1", port)) == 0
    if not is_taken:
        return [Finding("port", "ok", f"Port {port} is free.")]
    if address_of_site(podium_home()).endswith(f":{port}"):
        return [Finding("port", "ok", f"Port {port} answers; this installation was last served there.")]
    return [Finding("port", "note", f"Port {port} is in use; the next free one is taken.", "--port N chooses")]


def check_chromium() -> list[Finding]:
    """The browser of the tests; an installation does not need it."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return [Finding("Chromium", "ok", f"{path}, for the browser tests.")]
    return [Finding("Chromium", "note", "Not here; only the browser tests use it.", "apt-get install chromium")]


def show(found: list[Finding], *, works: bool) -> None:
    """Print the findings as a table, and what to do last, where the eye rests."""
    from rich.table import Table
    from rich.text import Text

    signs = {
        "ok": Text("ok", style="green"),
        "note": Text("note", style="yellow"),
        "missing": Text("missing", style="bold red"),
    }
    table = Table(box=None, pad_edge=False)
    for heading in ("", "what", "finding"):
        table.add_column(heading, overflow="fold")
    for finding in found:
        text = Text(finding.sentence)
        if finding.mend and finding.verdict != "ok":
            text.append(f"\nmend it: {finding.mend}", style="bold")
        table.add_row(signs[finding.verdict], finding.name, text)
    results.print(table)
    if works:
        notes.print("Podium can run here.")
    else:
        names = ", ".join(f.name for f in found if f.needed and f.verdict == "missing")
        notes.print(f"Podium cannot run here yet; missing: {names}.", markup=False)
