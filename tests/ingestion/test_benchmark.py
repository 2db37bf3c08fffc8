"""The benchmark of runs and of reading works; what it measures is for people and never a reason to fail."""

import json
import subprocess
import sys

from benchmarks.loading import CASES
from tests.shared import CHECKOUT


def rows_of(*arguments):
    command = [sys.executable, "-m", "benchmarks.sandbox", "--quick", "--json", *arguments]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    *lines, last = done.stdout.splitlines()
    rows = json.loads(last)["rows"]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert line.startswith(row["row"])
        assert all(bar in line for bar in row.get("bars", [row.get("left_out")]))
    return rows


def test_each_sandbox_has_a_row_and_the_model_interface_one_of_its_own():
    copying, model = rows_of("--only", "unconfined")
    assert copying["row"] == "run unconfined" and copying["rival"] == "by hand"
    assert "the model interface adds" in model["row"]


def test_each_dataset_is_read_from_text_beside_every_rival_and_from_its_cache(tmp_path):
    rows = rows_of("--folder", str(tmp_path), *(word for name in CASES for word in ("--only", name)))
    for case in CASES.values():
        found = [row for row in rows if row["row"].startswith(case.title)]
        assert [row.get("rival", "").split(" ")[0] for row in found] == [
            *(rival for rival in case.rivals for _ in range(2)), ""
        ]  # fmt: skip
        assert all(row["size"] > 0 for row in found)
