"""`./podium manage analyse_spaces edf A.csv B.json`: compares sets of models without the site's pages."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from analysis.measures.spaces.definitions import BY_KEY, NetworkSpace
from analysis.results import Table
from analysis.spaces.comparing import compare
from analysis.spaces.described import Limits, sample_csv
from analysis.spaces.modelset import (
    ModelSet,
    Options,
    common_columns,
    usual_complexities,
    usual_error,
)
from analysis.spaces.reading import UnreadableSetError, read_sets
from operations.commands import OK, PodiumCommand
from operations.management.commands.analyse import write

SHOWN = ("sets", "tests", "good_ranges")


class Command(PodiumCommand):
    """Compare the sets of files, or draw models of a space."""

    help = "Compare sets of models by their errors (edf FILES), or draw models of a design space (sample SPACE)."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("what", choices=("edf", "sample"), help="compare files, or draw models of a space")
        parser.add_argument("names", nargs="+", metavar="NAME", help="files as CSV or JSON; or a space's key")
        parser.add_argument("--error", default="", help="the column of errors; found by its name otherwise")
        parser.add_argument("--scores", action="store_true", help="it holds scores: 1 - score is compared")
        parser.add_argument("--by", nargs="*", help="complexities to normalise by; params and flops otherwise")
        parser.add_argument("--bins", type=int, default=10, help="bins of complexity")
        parser.add_argument("--log", action="store_true", help="bins of equal ratio, not width")
        parser.add_argument("--strict", action="store_true", help="refuse empty bins, as the paper's notebooks")
        parser.add_argument("--threshold", type=float, help="the error for shares below it; the median otherwise")
        parser.add_argument("--largest", type=float, help="the error up to which areas are taken")
        parser.add_argument("--seed", type=int, default=0, help="of permutations and samples")
        parser.add_argument("--count", type=int, default=1000, help="models to draw of a space")
        parser.add_argument("--all", action="store_true", help="draw of the whole space, not below R-56's size")
        parser.add_argument("--format", choices=("json", "csv"), default="json", help="of the files")
        parser.add_argument("--output", type=Path, metavar="DIR", help="write files into this folder")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Do what was asked for."""
        if options["what"] == "sample":
            return {"ok": True, "csv": _sample(options)}, OK
        sets = [one for name in options["names"] for one in _read(Path(name))]
        result = compare(sets, _options(sets, options))
        output = options["output"]
        files = write(result, "spaces", options["format"], output) if output else []
        tables = {
            block.key: [list(row) for row in block.rows]
            for block in result.blocks
            if isinstance(block, Table) and (block.key in SHOWN or block.key.startswith("tests"))
        }
        return {"ok": True, "headline": result.headline, "tables": tables, "files": files}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return the models that were drawn; or the headline, the tests, and the files that were written."""
        if not result["ok"]:
            return str(result["message"])
        if "csv" in result:
            return str(result["csv"]).rstrip("\n")
        lines = [result["headline"]]
        for key, rows in result["tables"].items():
            lines.append(f"{key}:")
            lines += ["  " + "  ".join(_cell(cell) for cell in row) for row in rows]
        return "\n".join([*lines, *result["files"]])

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "message": f"{refusal} {refusal.mend}".strip()}


def _read(path: Path) -> list[ModelSet]:
    try:
        return read_sets(path.read_bytes(), path.name)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.") from error
    except UnreadableSetError as error:
        raise Refused(f"{path}: {error}") from error


def _options(sets: list[ModelSet], given: dict[str, Any]) -> Options:
    names = common_columns(sets)
    asked = [given["error"], *(given["by"] or ())]
    if missing := [name for name in asked if name and name not in names]:
        raise Refused(
            f"Not all sets have {', '.join(missing)}.", mend=f"All have: {', '.join(names) or 'nothing'}."
        )
    error = given["error"] or usual_error(sets)
    by = tuple(given["by"]) if given["by"] is not None else usual_complexities(sets)
    return Options(
        error=error,
        is_score=given["scores"],
        complexities=tuple(name for name in by if name != error),
        bins=max(1, given["bins"]),
        is_log=given["log"],
        is_strict=given["strict"],
        threshold=given["threshold"],
        largest=given["largest"],
        seed=given["seed"],
    )


def _sample(given: dict[str, Any]) -> str:
    space = BY_KEY.get(given["names"][0])
    if space is None:
        raise Refused("There is no such space.", mend=f"There are: {', '.join(BY_KEY)}.")
    limits = None if given["all"] or not isinstance(space, NetworkSpace) else Limits()
    return sample_csv(space, max(1, given["count"]), given["seed"], limits)


def _cell(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
