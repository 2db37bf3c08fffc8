"""`./podium manage analyse SLUG`: the analyses of a competition as text, JSON or CSV files."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from analysis import work
from analysis.export import as_csv, plain_name
from analysis.inputs.audience import Audience, scopes, usual_scope
from analysis.results import Figure, Result, Table
from analysis.sections import SECTIONS
from analysis.sections.base import Section
from competitions import clock
from competitions.models import Competition
from operations.commands import OK, PodiumCommand
from operations.management.commands.submit import competition_named

AUDIENCES = ("public", "organizers")


def audience_option(parser: CommandParser) -> None:
    """Add `--as`."""
    parser.add_argument(
        "--as",
        dest="audience",
        choices=AUDIENCES,
        default="public",
        help="whose view: everybody's (the default), or that of organizers, with all that is hidden",
    )


class Command(PodiumCommand):
    """Compute them, or take what is kept."""

    help = "Analyse a competition: what its pages of analyses show, as JSON or as CSV files."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("slug", metavar="SLUG", help="the competition")
        parser.add_argument("--section", choices=[section.key for section in SECTIONS], help="only this one")
        parser.add_argument("--phase", default="", help="the number of the phase, for sections about one")
        parser.add_argument("--part", choices=("valid", "test"), default="", help="its part")
        parser.add_argument("--format", choices=("json", "csv"), default="json", help="of the files")
        parser.add_argument("--output", type=Path, metavar="DIR", help="write files into this folder")
        audience_option(parser)

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Compute the sections and write what was asked for."""
        contest = competition_named(options["slug"])
        wished = [section for section in SECTIONS if options["section"] in (None, section.key)]
        found: dict[str, Any] = {}
        for section in wished:
            audience = audience_of(contest, section, options)
            result = work.compute_now(contest, section, audience, lambda share, what: self.stderr.write(what))
            if result is None:
                found[section.key] = {"headline": section.waits, "files": []}
                continue
            files = write(result, section.key, options["format"], options["output"]) if options["output"] else []
            found[section.key] = {"headline": result.headline, "files": files}
            if not options["output"]:
                found[section.key]["result"] = result.to_json()
        return {"ok": True, "competition": contest.slug, "as": options["audience"], "sections": found}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return the headlines, and the files that were written."""
        lines = []
        for key, one in result["sections"].items():
            lines.append(f"{key}: {one['headline']}")
            lines += [f"  {name}" for name in one["files"]]
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "message": f"{refusal} {refusal.mend}".strip(), "sections": {}}


def audience_of(contest: Competition, section: Section, options: dict[str, Any]) -> Audience:
    """Whose view is asked for, and of which phase and part where the section is about one."""
    audience = Audience(sees_hidden=options["audience"] == "organizers")
    if not section.of_phase:
        return audience
    now = clock.now(contest)
    found = scopes(contest, audience, now)
    if not options["phase"] and not options["part"]:
        usual = usual_scope(found, now, both_parts=section.both_parts)
        return usual.audience if usual else audience
    wish = options["phase"], options["part"]
    named = [one for one in found if wish[0] in ("", one.phase) and wish[1] in ("", one.part)]
    if not named:
        raise Refused(
            "There is nothing to analyse of that phase and part for this audience.",
            mend=f"There is: {', '.join(f'{one.phase} ({one.part})' for one in found) or 'nothing yet'}.",
            status=404,
        )
    return named[-1].audience


def write(result: Result, section: str, kind: str, folder: Path) -> list[str]:
    """Write a section as one JSON file, or its figures and tables as CSV files; the paths of all."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "json":
        target = folder / f"{section}.json"
        target.write_text(json.dumps(result.to_json(), allow_nan=False, indent=1))
        return [str(target)]
    written = []
    for block in result.blocks:
        if isinstance(block, Figure | Table):
            target = folder / f"{section}-{plain_name(block.key)}.csv"
            target.write_text(as_csv(block), newline="")
            written.append(str(target))
    return written
