"""The command line: `python -m scoring SOLUTION PREDICTION ...` and `python -m scoring replay FOLDER`."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scoring.errors import BadSolutionError, ScoringError, UnknownNameError
from scoring.evaluate import Score, score
from scoring.info import read_scoring_info
from scoring.names import CHAPTER, CONVENTIONS, LIBSCORES, canonical_metric, canonical_task
from scoring.reading import read_table
from scoring.replay import ReplayRow, replay

OK = 0
INPUT_AT_FAULT = 1
USAGE = 2
OUR_FAULT = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `python -m scoring`.

    Parameters
    ----------
    arguments : sequence of str, optional
        What is behind the command's name; by default the process's own.

    Returns
    -------
    int
        0 ok, 1 the input is at fault, 2 usage, 3 our own fault.

    Examples
    --------
    >>> main(["no.solution", "no.predict", "--task", "binary", "--metric", "auc", "--json"])
    {"error": "BadSolutionError", "message": "no.solution does not exist."}
    1
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    run, options = (_replay, _replay_parser()) if given[:1] == ["replay"] else (_score, _score_parser())
    parsed = options.parse_args(given[1:] if run is _replay else given)
    try:
        return run(options, parsed)
    except _WrongNameByHand as error:
        _print_error(UnknownNameError(*error.args), as_json=parsed.json)
        return USAGE
    except ScoringError as error:
        _print_error(error, as_json=parsed.json)
        return INPUT_AT_FAULT
    except Exception as error:  # the last resort: exit code 3 says that the input is not to blame
        _print_error(error, as_json=parsed.json)
        return OUR_FAULT


class _WrongNameByHand(Exception):
    """A task or metric on the command line does not exist; in a file it is the input's fault."""


def _score_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scoring",
        description="Score a prediction file against a solution file.",
        epilog="python -m scoring replay FOLDER recomputes published scores.",
    )
    parser.add_argument("solution", type=Path, metavar="SOLUTION", help="text or .npy file")
    parser.add_argument("prediction", type=Path, metavar="PREDICTION", help="text or .npy file")
    parser.add_argument("--info", type=Path, help="the dataset's public info file, for task and metric")
    parser.add_argument("--task", help="binary, multiclass, multilabel or regression")
    parser.add_argument("--metric", help="R2, ABS, BAC, AUC, F1 or PAC")
    parser.add_argument("--convention", choices=CONVENTIONS, default=CHAPTER)
    parser.add_argument("--no-stderr", action="store_true", help="leave the standard error out")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    return parser


def _replay_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scoring replay",
        description="Recompute the scores of a folder of published predictions.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--convention", choices=CONVENTIONS, default=CHAPTER)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    return parser


def _score(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    # Names given by hand win over the info file.
    try:
        task = canonical_task(options.task) if options.task else None
        metric = canonical_metric(options.metric) if options.metric else None
    except UnknownNameError as unknown:
        raise _WrongNameByHand(*unknown.args) from None
    if not (task and metric):
        if options.info is None:
            parser.error("give --info INFO, or both --task and --metric")
        info = read_scoring_info(options.info)
        task, metric = task or info.task, metric or info.metric
        if not (task and metric):
            raise BadSolutionError(f"{options.info.name} names no {'metric' if task else 'task'}.")
    finite = options.convention != LIBSCORES
    solution = read_table(options.solution, what="solution", finite=finite)
    prediction = read_table(options.prediction, what="prediction", finite=finite)
    scored = score(
        solution,
        prediction,
        task=task,
        metric=metric,
        convention=options.convention,
        stderr=not options.no_stderr,
        solution_name=options.solution.name,
        prediction_name=options.prediction.name,
    )
    for warning in scored.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    if options.json:
        print(json.dumps(_score_fields(scored)))
    else:
        error = "" if scored.stderr is None else f" ± {scored.stderr:.4f}"
        print(f"{scored.metric} ({scored.task}, {scored.convention}): {scored.value:.12f}{error}")
    return OK


def _score_fields(scored: Score) -> dict[str, Any]:
    return {
        "task": scored.task,
        "metric": scored.metric,
        "convention": scored.convention,
        "value": _plain(scored.value),
        "raw": _plain(scored.raw),
        "stderr": scored.stderr,
        "left_out": scored.left_out,
    }


def _plain(value: float) -> float | str:
    """JSON has no NaN: what the reference scorer returned besides numbers is written as a word."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def _replay(_: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    rows = replay(options.folder, convention=options.convention)
    ok = all(row.ok for row in rows)
    table = sys.stderr if options.json else sys.stdout
    for row in rows:
        print(_replay_line(row), file=table)
    print(f"{sum(row.ok for row in rows)} of {len(rows)} agree to 1e-9.", file=table)
    if options.json:
        print(json.dumps({"rows": [_replay_fields(row) for row in rows], "ok": ok}))
    return OK if ok else INPUT_AT_FAULT


def _replay_line(row: ReplayRow) -> str:
    value = f"{'-':>15}" if row.value is None else f"{row.value:15.12f}"
    mark = "ok" if row.ok else f"differs {row.message}".rstrip()
    return f"{row.file:<60} {row.dataset:<12} {value} {row.expected:15.12f} {mark}"


def _replay_fields(row: ReplayRow) -> dict[str, Any]:
    fields = asdict(row)
    message = fields.pop("message")
    fields["value"] = None if row.value is None else _plain(row.value)
    return {**fields, "message": message} if message else fields


def _print_error(error: Exception, *, as_json: bool) -> None:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}))
