"""`./podium manage rehearse`: a competition's course in minutes, from a terminal."""

import sys
import time
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.refusals import Refused
from competitions import clock
from competitions.models import Competition, Phase
from operations.commands import AT_FAULT, OK, PodiumCommand
from operations.management.commands.submit import competition_named
from submissions.deletion import ThrowAwayRehearsal
from submissions.models.worker import living_workers
from submissions.rehearsal.advance import AdvanceRehearsal, by_hand, catch_up, coming
from submissions.rehearsal.report import Report, report
from submissions.rehearsal.start import StartRehearsal, rehearsal_of

POLL_SECONDS = 1.0
STALL_SECONDS = 300.0


class Command(PodiumCommand):
    """Rehearse a competition: start its rehearsal where there is none, and go from hand-over to hand-over."""

    help = (
        "Rehearse a competition on a copy with a clock of its own, made datasets and simulated entrants. Its runs "
        "are run by the connected workers; the command waits for them at every hand-over."
    )

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("slug", metavar="SLUG", help="the competition to rehearse")
        parser.add_argument("--to", metavar="PHASE", help="stop when this phase (number or title) has opened")
        parser.add_argument(
            "--by-hand", action="store_true", help="also release and reveal what organizers do by hand"
        )
        parser.add_argument("--throw-away", action="store_true", help="delete the rehearsal instead")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Start, advance and wait; or throw away."""
        competition = competition_named(options["slug"])
        rehearsal = rehearsal_of(competition)
        if options["throw_away"]:
            return thrown_away(competition, rehearsal)
        if not living_workers():
            raise Refused(
                "No worker is connected, so no run of a rehearsal would end.",
                status=409,
                mend="Start one with ./podium worker, or the whole site with ./podium up.",
            )
        wanted_phase(competition, options["to"])  # before anything is made
        if rehearsal is None:
            action = StartRehearsal(by=None, contest=competition)
            tell(action.execute())
            rehearsal = rehearsal_of(competition)
            assert rehearsal is not None
        play(rehearsal, wanted_phase(rehearsal, options["to"]), hands=options["by_hand"])
        result = report(rehearsal).to_json()
        return result, OK if result["ok"] else AT_FAULT

    def explain(self, result: dict[str, Any]) -> str:
        """Return what happened, then a line for every entrant in every phase."""
        if "phases" not in result:
            return str(result["sentence"])
        lines = [f"{event['at'][:16].replace('T', ' ')}  {event['text']}" for event in result["events"]]
        for phase in result["phases"]:
            lines.append(f"{phase['title']}: {phase['state']}")
            for part in phase["entrants"]:
                runs = ", ".join(f"{count} {state}" for state, count in part["runs"].items())
                lines.append(f"  {part['entrant']}: {part['outcome']}{'; ' if runs else ''}{runs}")
        lines += [f"Waits for an organizer: {what}" for what in result["by_hand"]]
        lines += [f"Not as it should be: {problem}" for problem in result["problems"]]
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "sentence": str(refusal)}


def thrown_away(competition: Competition, rehearsal: Competition | None) -> tuple[dict[str, Any], int]:
    """Delete the rehearsal."""
    if rehearsal is None:
        raise Refused(f"{competition.title} has no rehearsal.", status=404)
    return {"ok": True, "sentence": ThrowAwayRehearsal(by=None, contest=rehearsal).execute()}, OK


def wanted_phase(competition: Competition, name: str | None) -> Phase | None:
    """The phase of that number or title; None for none, which means the whole calendar."""
    if name is None:
        return None
    for phase in competition.phases():
        if name in (str(phase.number), phase.title):
            return phase
    raise Refused(f"{competition.title} has no phase {name}.", status=404)


def play(rehearsal: Competition, until: Phase | None, *, hands: bool) -> None:
    """Go from one moment of the calendar to the next until a phase has opened, or to the end of the calendar."""
    wait_for_runs(rehearsal)
    while True:
        for action in by_hand(rehearsal) if hands else []:
            tell(action.execute())
        catch_up(rehearsal)
        wait_for_runs(rehearsal)
        now = clock.now(rehearsal)
        stops = coming(rehearsal, now)
        if not stops or (until is not None and until.opens_at <= now):
            return
        tell(f"{stops[0].at:%Y-%m-%d %H:%M}: {stops[0].sentence}")
        AdvanceRehearsal(by=None, rehearsal=rehearsal, to=stops[0].at).execute()
        wait_for_runs(rehearsal)


def wait_for_runs(rehearsal: Competition, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait until every run of the rehearsal has ended; raises CommandError where nothing moves for long."""
    moved, before = time.monotonic(), ""
    while True:
        found = report(rehearsal)
        state = state_of(found)
        if state != before:
            moved, before = time.monotonic(), state
            tell(f"  {state}")
        if not found.runs_on:
            return
        if time.monotonic() - moved > STALL_SECONDS:
            raise CommandError(f"Nothing has moved for {STALL_SECONDS:.0f} s: {state}", returncode=3)
        sleep(POLL_SECONDS)


def state_of(found: Report) -> str:
    """How many runs there are in each state, in one line."""
    counts: dict[str, int] = {}
    for phase in found.phases:
        for part in phase.parts:
            for state, count in part.runs.items():
                counts[state] = counts.get(state, 0) + count
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "no runs"


def tell(text: str) -> None:
    """Say how it goes, on standard error."""
    print(text, file=sys.stderr, flush=True)
