"""Small bundles for the tests of the reader: a dictionary of files, packed."""

import textwrap
import zipfile
from collections.abc import Mapping
from pathlib import Path

from bundles.reading import BundleReport, read_bundle

PROGRAM = {"metadata.yaml": "command: python3 score.py $input $output\n", "score.py": "print(1)\n"}

TWO = """
version: 2
title: Iris
image: logo.png
terms: terms.md
pages:
- title: Overview
  file: overview.md
tasks:
- index: 0
  name: Classify
  scoring_program: scoring_program
  reference_data: reference_data
phases:
- name: Development
  start: 2026-01-01 09:00:00+01:00
  end: 2026-02-01 09:00:00+01:00
  tasks: [0]
leaderboards:
- title: Results
  key: main
  columns:
  - title: Accuracy
    key: accuracy
    index: 0
"""

ONE = """
title: Iris
image: logo.png
html:
  overview: overview.html
  terms: terms.html
phases:
  1:
    phasenumber: 1
    label: Development
    start_date: 2026-01-01
    scoring_program: scoring_program.zip
    reference_data: reference_data.zip
leaderboard:
  leaderboards:
    RESULTS: &RESULTS
      label: Results
      rank: 1
  columns:
    accuracy:
      leaderboard: *RESULTS
      label: Accuracy
      rank: 1
"""


def below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    """The files, moved into a folder."""
    return {f"{folder}/{name}": text for name, text in files.items()}


USUAL_TWO = {
    "logo.png": "picture",
    "terms.md": "Be fair.",
    "overview.md": "# Iris",
    "reference_data/labels.txt": "1\n",
    **below("scoring_program", PROGRAM),
}
USUAL_ONE = {
    "logo.png": "picture",
    "terms.html": "<p>Be fair.</p>",
    "overview.html": "<h1>Iris</h1>",
    "reference_data.zip": {"labels.txt": "1\n"},
    "scoring_program.zip": PROGRAM,
}


def packed(path: Path, files: Mapping[str, object]) -> Path:
    """A zip at `path`; a mapping among the files is a zip inside, bytes and texts are files."""
    with zipfile.ZipFile(path, "w") as target:
        for name, content in files.items():
            if isinstance(content, Mapping):
                inner = packed(path.with_name(f"{path.stem}-inner.zip"), content)
                target.writestr(name, inner.read_bytes())
            else:
                target.writestr(name, content if isinstance(content, bytes) else str(content))
    return path


class Writer:
    """Writes bundles into a folder and reads them; `close` forgets what was unpacked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[BundleReport] = []

    def two(self, yaml: str = TWO, files: Mapping[str, object] | None = None, **options: object) -> BundleReport:
        """The report of a bundle of version 2: the usual files, and those given (None leaves one out)."""
        return self.read({"competition.yaml": yaml, **USUAL_TWO, **(files or {})}, **options)

    def one(self, yaml: str = ONE, files: Mapping[str, object] | None = None, **options: object) -> BundleReport:
        """The report of a bundle of version 1.5."""
        return self.read({"competition.yaml": yaml, **USUAL_ONE, **(files or {})}, **options)

    def read(self, files: Mapping[str, object], **options: object) -> BundleReport:
        """The report of a bundle of these files alone."""
        path = self.folder / f"bundle-{len(self.reports)}.zip"
        packed(path, {name: content for name, content in files.items() if content is not None})
        report = read_bundle(path, **options)  # type: ignore[arg-type]
        self.reports.append(report)
        return report

    def close(self) -> None:
        """Forget everything that was unpacked."""
        for report in self.reports:
            report.close()


def changed(yaml: str, *changes: tuple[str, str]) -> str:
    """The YAML with texts replaced; each must be there, so that no test reads what it did not write."""
    for before, after in changes:
        assert before in yaml, before
        yaml = yaml.replace(before, after)
    return yaml


def added(yaml: str, lines: str) -> str:
    """The YAML with more keys at its end."""
    return yaml + textwrap.dedent(lines)
