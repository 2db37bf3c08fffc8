"""Try a submission on your own machine, by the very code that the server uses.

    python kit.py run      run a submission on datasets, score it, show how it learned
    python kit.py check    look for what would go wrong, before you upload
    python kit.py check --traits    try it on data of every kind, as in a blind phase
    python kit.py pack     make the zip that you upload

`--json` prints one object as the last line of standard output. Exit codes: 0 ok, 1 the submission is at fault,
2 usage, 3 the fault of this machine or of the kit.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
# In the unzipped kit the packages lie beside this file, in a checkout one folder above.
sys.path[:0] = [str(HERE), str(HERE if (HERE / "ingestion").is_dir() else HERE.parent)]

from kit_check import Finding, Looked, check_submission, packed  # noqa: E402
from kit_scores import Curve, scored_curve  # noqa: E402

from ingestion import traits_command  # noqa: E402
from ingestion.archive import RefusedArchive  # noqa: E402
from ingestion.budget import Budget, format_size  # noqa: E402
from ingestion.dataset import DataError, Dataset, load_dataset  # noqa: E402
from ingestion.dataset_pack import keep_cache  # noqa: E402
from ingestion.options import AT_FAULT, OK, OUR_FAULT, add_limits, say, stop_on_signals  # noqa: E402
from ingestion.readiness import DEFAULT_SECONDS as TRAIT_SECONDS  # noqa: E402
from ingestion.readiness import Row  # noqa: E402
from ingestion.runner import Progress, RunRequest, RunResult, run  # noqa: E402
from ingestion.sandbox import SANDBOXES, NoSandbox, Sandbox, choose_sandbox  # noqa: E402

SAMPLE_DATA = HERE / "sample_data"
SAMPLE_SUBMISSION = HERE / "sample_code_submission"
OUTPUT = Path("kit_output")
DEFAULT_SECONDS = 1200.0
LARGE_TEXT = 2**23  # bytes of text that take long enough to parse
CHECK_SECONDS = 10.0


@dataclasses.dataclass(frozen=True)
class Tried:
    """One submission on one dataset: the run and its scored learning curve."""

    name: str
    metric: str
    result: RunResult
    curve: Curve


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except RefusedArchive as error:
        return _refused(options, f"The server would refuse this: {error} {error.mend}".strip())
    except (DataError, OSError) as error:
        return _refused(options, str(error))
    except NoSandbox as error:
        say(f"{error} {error.mend}".strip())
        return OUR_FAULT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kit.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="run | check | pack")
    runs = commands.add_parser("run", help="run a submission on datasets and score it")
    checks = commands.add_parser("check", help="look for what would go wrong")
    packs = commands.add_parser("pack", help="make the zip to upload")
    for one in (runs, checks):
        one.add_argument("--dataset", type=Path, action="append", metavar="DIR", help="default: the sample data")
        add_limits(one, wall_seconds_help="time for each dataset")
        one.add_argument("--sandbox", choices=SANDBOXES, default="unconfined", help="default: unconfined")
        one.add_argument("--seed", type=int, default=0, metavar="N", help="given to the program as PODIUM_SEED")
        one.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR", help=f"default: {OUTPUT}")
        one.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    place: dict[str, Any] = {"type": Path, "metavar": "DIR_OR_ZIP", "help": "default: sample_code_submission"}
    runs.add_argument("place", nargs="?", **place)
    runs.add_argument("--submission", default=SAMPLE_SUBMISSION, **{**place, "help": "the same, by name"})
    runs.set_defaults(command=run_command)
    checks.add_argument("submission", nargs="?", default=SAMPLE_SUBMISSION, **place)
    how = checks.add_mutually_exclusive_group()
    how.add_argument("--no-run", action="store_true", help="only look, run nothing")
    how.add_argument(
        "--traits",
        action="store_true",
        help="run on small made datasets of every trait that blind phases may have",
    )
    checks.set_defaults(command=check_command)
    packs.add_argument("folder", nargs="?", default=SAMPLE_SUBMISSION, **{**place, "metavar": "DIR"})
    packs.add_argument("-o", "--output", type=Path, metavar="ZIP", help="default: the folder's name with .zip")
    packs.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    packs.set_defaults(command=pack_command)
    return parser


def _refused(options: argparse.Namespace, sentence: str) -> int:
    say(sentence)
    if options.json:
        print(json.dumps({"ok": False, "message": sentence}))
    return AT_FAULT


# run --------------------------------------------------------------------------------------------------------


def run_command(options: argparse.Namespace) -> int:
    """Run a submission on each dataset; print a table of scores with standard errors and learning times."""
    options.submission = options.place or options.submission
    _require(options.submission)
    sandbox = _sandbox(options.sandbox)
    stop = stop_on_signals()
    tried = []
    for folder in datasets(options.dataset):
        tried.append(try_on(options, folder, sandbox, options.output, stop))
        if stop.is_set():
            break
    if options.json:
        print(json.dumps({"ok": all(one.result.status == "ok" for one in tried), "runs": as_fields(tried)}))
    else:
        print(table(tried))
    say(f"Predictions and logs are in {options.output}.")
    return exit_code(tried)


def _require(submission: Path) -> None:
    if not submission.exists():
        raise OSError(f"There is no submission at {submission}.")


def datasets(named: Sequence[Path] | None) -> list[Path]:
    """The folders to run on: those that were named, or all inside them, or else the sample data."""
    found = []
    for folder in named or [SAMPLE_DATA]:
        if any(folder.glob("*_public.info")):
            found.append(folder)
            continue
        inside = sorted(path.parent for path in folder.glob("*/*_public.info"))
        if not inside:
            raise OSError(f"There is no dataset in {folder}: a file *_public.info is expected.")
        found += inside
    return found


def _sandbox(name: str) -> Sandbox:
    if name == "unconfined":
        say("Running unconfined: the submission has all rights of your user here. Run only code you trust so,")
        say("or use --sandbox bubblewrap or --sandbox docker. The server always runs it in a sandbox.")
    try:
        return choose_sandbox(name)
    except ModuleNotFoundError as error:
        # The kit's requirements are those of submissions; only this sandbox needs more.
        package = (error.name or "").partition(".")[0]
        raise NoSandbox(f"The sandbox {name} needs the package {package}.", f"pip install {package}") from error


def try_on(
    options: argparse.Namespace, folder: Path, sandbox: Sandbox, output: Path, stop: threading.Event
) -> Tried:
    """Run the submission on one dataset and score all of its predictions."""
    dataset = load_dataset(folder)
    _keep_arrays(folder, dataset)
    seconds = options.wall_seconds or float(dataset.info.get("time_budget") or DEFAULT_SECONDS)
    say(f"\n{dataset.name}: {_described(dataset)}, at most {seconds:g} s")
    result = run(
        RunRequest(
            dataset=folder,
            submission=options.submission,
            output=output / dataset.name,
            budget=Budget(wall_seconds=seconds, cores=options.cores, memory_bytes=options.memory),
            sandbox=sandbox,
            seed=options.seed,
        ),
        stop=stop,
        progress=_show_progress,
    )
    if sys.stderr.isatty():
        sys.stderr.write("\r" + " " * 78 + "\r")
    for note in result.notes:
        say(f"  note: {note}")
    say(f"  {result.told}")
    if result.predictions and not {"valid", "test"} & set(dataset.solutions):
        say(f"  It is not scored: {folder} holds no solutions of the validation and test parts.")
    return Tried(dataset.name, str(dataset.info.get("metric")), result, scored_curve(dataset, result.predictions))


def _keep_arrays(folder: Path, dataset: Dataset) -> None:
    """Keep what was parsed of a large dataset beside its text: the run, and the next one, start from that."""
    if sum(path.stat().st_size for path in folder.glob("*.data")) < LARGE_TEXT:
        return
    parts = {"train": dataset.train, "valid": dataset.valid, "test": dataset.test}
    keep_cache(folder, {name: part.X for name, part in parts.items() if part is not None})


def _described(dataset: Dataset) -> str:
    rows, columns = dataset.train.X.shape
    return f"{dataset.info.get('task')}, {dataset.info.get('metric')}, {rows} rows of {columns} features"


def _show_progress(progress: Progress) -> None:
    if sys.stderr.isatty():
        text = (
            f"  {progress.wall_seconds:.0f} s, memory {format_size(progress.memory_bytes)}, "
            f"{progress.predictions_seen} predictions"
        )
        sys.stderr.write(f"\r{text:<78}")
        sys.stderr.flush()


def table(tried: Sequence[Tried]) -> str:
    """The scores as lines of text: the last prediction of each part, and the score at each earlier time."""
    head = f"{'dataset':<16} {'part':<6} {'metric':<6} {'score':>17}  {'seconds':>7}  how it learned"
    lines = ["", head, "-" * len(head)]
    for one in tried:
        if not one.curve.last:
            lines.append(f"{one.name:<16} {'':<6} {'':<6} {one.result.reason or 'not scored':>17}")
        for part, last in one.curve.last.items():
            earlier = [point for point in one.curve.points if part in point.values]
            learned = "  ".join(f"{point.seconds:.1f} s {point.values[part]:.3f}" for point in _thinned(earlier))
            lines.append(
                f"{one.name:<16} {part:<6} {last.metric:<6} {with_error(last.value, last.stderr):>17}  "
                f"{one.result.wall_seconds:>7.1f}  {learned}"
            )
    lines += ["", "0 is what guessing reaches, 1 is perfect; after ± stands one standard error."]
    return "\n".join(lines)


def _thinned(points: Sequence[Any]) -> list[Any]:
    """At most five points, the first and the last among them."""
    if len(points) <= 5:
        return list(points)
    return [points[round(place * (len(points) - 1) / 4)] for place in range(5)]


def with_error(value: float, stderr: float | None) -> str:
    """A score as `0.9123 ± 0.0210`."""
    return f"{value:.4f}" + (f" ± {stderr:.4f}" if stderr is not None else "")


def as_fields(tried: Sequence[Tried]) -> list[dict[str, Any]]:
    """The JSON fields of each run."""
    return [
        {
            "dataset": one.name,
            "status": one.result.status,
            "reason": one.result.reason,
            "sentence": one.result.told,
            "wall_seconds": round(one.result.wall_seconds, 3),
            "peak_memory_bytes": one.result.peak_memory_bytes,
            "scores": {
                part: {
                    "metric": last.metric,
                    "value": last.value,
                    "raw": last.raw,
                    "stderr": last.stderr,
                    "warnings": list(last.warnings),
                }
                for part, last in one.curve.last.items()
            },
            "curve": [{"seconds": round(point.seconds, 3), **point.values} for point in one.curve.points],
            "problems": list(one.curve.problems),
        }
        for one in tried
    ]


def exit_code(tried: Sequence[Tried]) -> int:
    """0 where every run has predictions, 3 where this machine failed, else 1."""
    if any(one.result.reason == "infrastructure" for one in tried):
        return OUR_FAULT
    fine = all(one.result.status == "ok" and not one.curve.problems for one in tried)
    return OK if fine else AT_FAULT


# check ------------------------------------------------------------------------------------------------------


def check_command(options: argparse.Namespace) -> int:
    """Look at a submission as the server would, run it shortly, and list what was found."""
    _require(options.submission)
    folders = datasets(options.dataset)
    names = [load_dataset(folder).name for folder in folders]
    tried: list[Tried] = []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        looked = check_submission(options.submission, names, Path(scratch))
        findings = list(looked.findings)
        if looked.runs_code and not options.no_run and not any(one.is_fatal for one in findings):
            if options.traits:
                rows = _try_traits(options)
                findings += [Finding(f"{row.title}: {row.sentence}", is_fatal=True) for row in rows if not row.ok]
            else:
                tried = _try_shortly(options, folders, Path(scratch) / "out")
                findings += [finding for one in tried for finding in findings_of(one)]
    if (
        options.traits
        and not (rows and traits_command.is_ready(rows))
        and not any(one.is_fatal for one in findings)
    ):
        findings.append(Finding("Not all traits were tried.", is_fatal=True))
    return _tell_findings(options, looked, findings, tried, rows)


def _try_traits(options: argparse.Namespace) -> list[Row]:
    """Try the submission on made data of every trait; the grid is printed while it grows."""
    options.wall_seconds = options.wall_seconds or TRAIT_SECONDS
    options.output = options.output / "traits"
    rows, output = traits_command.checked(options, _sandbox(options.sandbox))
    say(f"Repeat one of them: kit.py run {options.submission} --dataset {output / 'datasets'}/NAME")
    return rows


def _try_shortly(options: argparse.Namespace, folders: Sequence[Path], output: Path) -> list[Tried]:
    options.wall_seconds = options.wall_seconds or CHECK_SECONDS
    sandbox, stop = _sandbox(options.sandbox), stop_on_signals()
    return [try_on(options, folder, sandbox, output, stop) for folder in folders]


def _tell_findings(
    options: argparse.Namespace,
    looked: Looked,
    findings: Sequence[Finding],
    tried: Sequence[Tried],
    rows: Sequence[Row],
) -> int:
    ok = not any(one.is_fatal for one in findings)
    failed_here = "infrastructure" in [*(one.result.reason for one in tried), *(row.reason for row in rows)]
    if options.json:
        fields: dict[str, Any] = {"ok": ok, "kind": looked.kind}
        fields["findings"] = [dataclasses.asdict(one) for one in findings]
        fields |= {"rows": [row.to_json() for row in rows]} if options.traits else {"runs": as_fields(tried)}
        print(json.dumps(fields))
    else:
        print(f"\n{options.submission.name}: {looked.described}")
        for one in findings:
            print(f"  {'FAULT' if one.is_fatal else 'note'}: {one.text}")
        print(_closing(ok, failed_here))
    if failed_here:
        return OUR_FAULT
    return OK if ok else AT_FAULT


def _closing(ok: bool, failed_here: bool) -> str:
    if failed_here:
        return "This machine failed, so this says nothing of the submission."
    return "In order: pack it and upload the zip." if ok else "Mend what is marked FAULT before you upload."


def findings_of(tried: Tried) -> list[Finding]:
    """What a trial run tells about a submission."""
    result, name = tried.result, tried.name
    if result.status != "ok":
        return [Finding(f"{name}: {result.told}", is_fatal=True)]
    found = [Finding(f"{name}: {problem}", is_fatal=True) for problem in tried.curve.problems]
    for part, last in tried.curve.last.items():
        found += [Finding(f"{name}, {part}: {warning}") for warning in last.warnings]
        if last.value < 0:
            found.append(Finding(f"{name}, {part}: the score {last.value:.3f} is below that of guessing."))
    if result.stopped:
        found.append(
            Finding(f"{name}: it was stopped ({result.stopped}); what counts is its last complete prediction.")
        )
    elif all(one.number is None for one in result.predictions):
        found.append(
            Finding(f"{name}: it predicts once, at its end. If its time is up before, it has nothing to show.")
        )
    return found


# pack -------------------------------------------------------------------------------------------------------


def pack_command(options: argparse.Namespace) -> int:
    """Make the zip; refuse what the server would refuse at its door."""
    target = options.output or Path(f"{options.folder.resolve().name}.zip")
    notes = packed(options.folder, target)
    for note in notes:
        say(f"note: {note}")
    size = format_size(target.stat().st_size)
    say(f"Upload {target} ({size}) on the page Submissions of the competition.")
    if options.json:
        print(json.dumps({"ok": True, "archive": str(target), "bytes": target.stat().st_size, "notes": notes}))
    return OK


if __name__ == "__main__":
    sys.exit(main())
