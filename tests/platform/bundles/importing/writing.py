"""A small bundle that can be imported, to be changed by the tests."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

YAML = """
version: 2
title: Iris
description: Three flowers.
image: logo.png
terms: terms.md
pages:
- title: Overview
  file: overview.md
- title: Flowers
  file: flowers.html
tasks:
- index: 0
  name: Classify
  scoring_program: scoring_program
  reference_data: reference_data
phases:
- name: Development
  start: 2026-01-01 09:00:00+01:00
  end: 2026-02-01 09:00:00+01:00
  max_submissions_per_day: 3
  max_submissions: 30
  tasks: [0]
leaderboards:
- title: Results
  key: main
  columns:
  - title: Accuracy
    key: accuracy
    index: 0
"""


def png(colour: str = "navy") -> bytes:
    """A small picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3), colour).save(buffer, "PNG")
    return buffer.getvalue()


FILES: dict[str, str | bytes] = {
    "logo.png": png(),
    "terms.md": "Be fair.",
    "overview.md": "# Iris\n\n![A flower](assets/flower.png)",
    "flowers.html": "<h1>Flowers</h1>\n\n<p onclick='x()'>Three <b>kinds</b>.</p><script>alert(1)</script>",
    "assets/flower.png": png("pink"),
    "reference_data/labels.txt": "1\n",
    "scoring_program/metadata.yaml": "command: python3 score.py $input $output\n",
    "scoring_program/score.py": "print(1)\n",
}


def packed(folder: Path, *, yaml: str = YAML, name: str = "bundle.zip", **changed: str | bytes) -> Path:
    """The small bundle as a zip below `folder`."""
    return zipped(folder / name, {**FILES, **changed, "competition.yaml": yaml})


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """A zip of these files."""
    with zipfile.ZipFile(path, "w") as target:
        for name, content in files.items():
            target.writestr(name, content)
    return path
