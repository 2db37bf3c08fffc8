"""`./podium demo`: from nothing to a series in its middle, on this machine's real components."""

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from operations import supervisor as supervision
from operations.installation import (
    Installation,
    migrate,
    open_installation,
    prepare_django,
    start_compute_workers,
    start_site,
)
from operations.supervisor import Supervisor
from operations.terminal import say
from operations.worker_start import slot_names, wanted_slots

if TYPE_CHECKING:
    from operations.demo_series import DemoSeries
    from operations.demo_setup import Demo
    from submissions.models import Submission

WORKER_PATIENCE = 60.0
STALL_SECONDS = 300.0  # beyond the longest budget of a run: nothing moves for so long only when it is broken
UNCONFINED_MEND = "apt-get install bubblewrap"


def demo(*, port: int | None, once: bool, slots: int | None = None) -> int:
    """Run the demo; returns 0, or with `once` 1 when a run failed or the board does not rank everybody."""
    slots = wanted_slots(slots)
    installation = open_installation(port=port)
    prepare_django()
    try:
        with Supervisor(say) as supervisor:
            code = play(supervisor, installation, once=once, slots=slots)
            if not once:
                supervisor.serve()
    except supervision.StopAsked as asked:
        say("Stopped." if not once else f"podium: stopped by {asked} before the demo was over.")
        code = 130 if once else 0
    finally:
        installation.lock.release()
    return code


def play(supervisor: Supervisor, installation: Installation, *, once: bool, slots: int = 1) -> int:
    """Set everything up, play the series, show the boards; returns the exit code of `--once`."""
    from operations import demo_board
    from operations.demo_series import AUTOML_1, TWEAKATHON_1, DemoSeries
    from operations.demo_setup import Demo, demo_people, scratch_folder

    migrate()
    logins = demo_people(installation.home)
    with scratch_folder(installation.home) as folder:
        demonstration = Demo(Path(folder))
        say("Loading the demo competition ...")
        competition = demonstration.competition()
        series = DemoSeries(competition)
        sandbox = demo_sandbox()
        say("Starting the site, its worker and a compute worker ...")
        start_site(supervisor, installation)
        start_compute_workers(supervisor, installation, sandbox=sandbox, slots=slots)
        wait_for_workers(supervisor, slots)
        say(f"The site is at {installation.url}.")
        # Started again to its end, it shows a run of the sample code once more.
        failures = play_series(supervisor, series, demonstration, again=once and series.was_played())
    failures += demo_board.show(series[AUTOML_1], ["participant", "linear"])
    failures += demo_board.show(series[TWEAKATHON_1], ["participant", "linear", "neighbours"])
    for failure in failures:
        say(f"Not as it should be: {failure}")
    if not once:
        demo_board.show_logins(installation, competition, logins)
    return 1 if failures else 0


def play_series(supervisor: Supervisor, series: "DemoSeries", demonstration: "Demo", *, again: bool) -> list[str]:
    """Play what has not been played yet: Tweakathon[0], the blind AutoML[1], then entries of Tweakathon[1].

    Every step runs on this machine's workers; between them the calendar moves on. Returns what went wrong.
    """
    from operations.demo_series import AUTOML_1, TWEAKATHON_0, TWEAKATHON_1
    from submissions import handover

    failures: list[str] = []
    if not series.has_ended(TWEAKATHON_0):
        say("Tweakathon[0]: submitting the starting kit's samples ...")
        failures += wait_for_entries(supervisor, demonstration.entries(series[TWEAKATHON_0], again=False))
        say("The calendar moves on: Tweakathon[0] closes, and its entries go forward by themselves.")
        series.pass_time(TWEAKATHON_0)
    handover.tick()
    if not series.has_ended(AUTOML_1):
        say("AutoML[1]: the code meets three datasets that nobody has seen ...")
        for name in series.without_code(AUTOML_1):
            say(f"  {name} sent results alone and has no place here")
        failures += wait_for_entries(supervisor, series.handed_over(AUTOML_1))
        say("The calendar moves on: AutoML[1] closes, its datasets get their names and open in Tweakathon[1].")
        series.pass_time(AUTOML_1)
    handover.tick()
    say("Tweakathon[1]: entries were carried over; two entrants send something new ...")
    entries = demonstration.entries(series[TWEAKATHON_1], again=again)
    return failures + wait_for_entries(supervisor, {**series.handed_over(TWEAKATHON_1), **entries})


def demo_sandbox() -> str:
    """Choose what the demo's submissions run in, and say so.

    Docker when an engine answers (its image is built where it is missing), else bubblewrap, else nothing: then
    only the starting kit's own code is run. Raises NoSandbox when PODIUM_SANDBOX asks for one that does not work.
    """
    from ingestion.sandbox import NoSandbox, choose_sandbox

    asked = os.environ.get("PODIUM_SANDBOX", "")
    if asked in ("", "docker"):
        why_not = docker_trouble()
        if not why_not:
            say("Submissions run in Docker.")
            return "docker"
        if asked:
            raise NoSandbox(f"PODIUM_SANDBOX asks for docker. {why_not}")
        say(f"{why_not} Trying bubblewrap.")
    else:
        choose_sandbox(asked)
        say(f"Submissions run in {asked}, because PODIUM_SANDBOX says so.")
        return asked
    try:
        choose_sandbox("bubblewrap")
    except NoSandbox as error:
        say(f"{error} So there is no sandbox on this machine.")
        say("The demo runs the starting kit's own code UNCONFINED. Uploads by anybody else are refused.")
        say(f"Install a sandbox with:  {UNCONFINED_MEND}   and start the demo again.")
        return "unconfined"
    say("Submissions run in bubblewrap.")
    return "bubblewrap"


def docker_trouble() -> str:
    """Why Docker cannot run submissions, after building the image where that was missing; empty when it can."""
    from django.conf import settings

    from ingestion.image_names import SANDBOX_IMAGE
    from ingestion.images import ImageError, build_image
    from ingestion.sandbox import NoSandbox, choose_sandbox
    from ingestion.sandbox.engine import EngineError, connect

    try:
        client = connect(timeout=20)
    except EngineError as error:
        return str(error)
    with contextlib.closing(client):
        is_there = bool(client.images.list(name=settings.SANDBOX_IMAGE))
    try:
        if not is_there and settings.SANDBOX_IMAGE == SANDBOX_IMAGE:
            say("A Docker engine answers. Building its sandbox image, once (2 to 5 minutes) ...")
            build_image(progress=lambda text: say(f"  {text}"))
        choose_sandbox("docker")
    except (ImageError, NoSandbox) as error:
        return f"{error} {error.mend}".strip()
    return ""


def wait_for_workers(supervisor: Supervisor, slots: int) -> None:
    """Wait until every compute worker has said hello to the site."""
    from operations.installation import LOCAL_WORKER
    from submissions.models import Worker

    began = time.monotonic()
    workers = Worker.objects.filter(name__in=slot_names(LOCAL_WORKER, slots))
    before = dict(workers.values_list("name", "seen_at"))
    while any(seen == before[name] for name, seen in workers.values_list("name", "seen_at")):
        supervisor.wait(0.3)
        supervisor.check()
        if time.monotonic() - began > WORKER_PATIENCE:
            raise TimeoutError("the compute worker did not connect to the site; see logs/compute-worker.log")


def wait_for_entries(supervisor: Supervisor, entries: "dict[str, Submission]") -> list[str]:
    """Wait until every entry has ended, with a live line for each; returns what went wrong."""
    from operations.demo_board import LiveState

    with LiveState(entries) as state:
        moved = time.monotonic()
        while not state.is_over:
            supervisor.wait(0.5)
            if state.refresh():
                moved = time.monotonic()
            if time.monotonic() - moved > STALL_SECONDS + state.longest_budget:
                return [f"nothing has moved for {time.monotonic() - moved:.0f} s; see the folder logs"]
    return state.failures()
