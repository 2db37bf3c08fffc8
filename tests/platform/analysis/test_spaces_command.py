"""`analyse_spaces` compares files and draws models."""

import csv
import json

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def written(folder, name: str, errors: list[float]):
    path = folder / name
    rows = [f"{error},{index + 1}" for index, error in enumerate(errors)]
    path.write_text("\n".join(["error,params", *rows]))
    return str(path)


def test_files_are_compared(tmp_path, capsys):
    small = written(tmp_path, "small.csv", [10.0 + i for i in range(20)])
    large = written(tmp_path, "large.csv", [1.0 + i / 10 for i in range(20)])
    call_command(
        "analyse_spaces", "edf", small, large, "--bins", "4", "--format", "csv", "--output", str(tmp_path)
    )
    told = capsys.readouterr().out
    assert "small and large differ, D = 1.000" in told
    rows = list(csv.reader((tmp_path / "spaces-tests.csv").open()))
    assert rows[1][:2] == ["small", "large"]


def test_models_are_drawn(capsys):
    call_command("analyse_spaces", "sample", "resnet", "--count", "5", "--seed", "1")
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 6 and rows[0].endswith("params,flops")


def test_what_cannot_be_compared_is_told(tmp_path, capsys):
    small = written(tmp_path, "small.csv", [1.0] * 12)
    for arguments, told in (
        (["edf", str(tmp_path / "none.csv")], "cannot be read"),
        (["edf", small, "--by", "flops"], "Not all sets have flops"),
        (["sample", "mobilenet"], "no such space"),
    ):
        with pytest.raises(SystemExit):
            call_command("analyse_spaces", *arguments, "--json")
        assert told in json.loads(capsys.readouterr().out)["message"]
