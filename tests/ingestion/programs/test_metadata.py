"""What a look into a program's zip tells, before it runs."""

import time
import zipfile
from pathlib import Path

import pytest

from ingestion.programs.metadata import read_metadata
from ingestion.programs.python2 import find_installs, looks_like_python2


def packed(folder: Path, files: dict[str, str]) -> Path:
    path = folder / "program.zip"
    with zipfile.ZipFile(path, "w") as target:
        for name, text in files.items():
            target.writestr(name, text)
    return path


def test_the_command_and_description_of_a_program_are_read(tmp_path: Path) -> None:
    text = "command: python $program/score.py $input $output\ndescription: Scores: two of them\n"
    found = read_metadata(packed(tmp_path, {"metadata": text.replace(": two", " two"), "score.py": ""}))
    assert found.command == "python $program/score.py $input $output"
    assert found.description == "Scores two of them" and not found.problems


def test_a_list_of_commands_is_a_line_each(tmp_path: Path) -> None:
    found = read_metadata(packed(tmp_path, {"metadata.yaml": "command:\n- python a.py\n- python b.py\n"}))
    assert found.command == "python a.py\npython b.py"


def test_one_folder_around_everything_is_stepped_into_whatever_junk_is_beside_it(tmp_path: Path) -> None:
    files = {"x/metadata": "command: a\n", "x/y/z.py": "", "__MACOSX/x/._metadata": "?"}
    assert read_metadata(packed(tmp_path, files)).command == "a"


def test_metadata_that_lies_deeper_or_has_another_name_is_none(tmp_path: Path) -> None:
    for files in ({"a/metadata": "command: a\n", "b/score.py": ""}, {"metadata.yml": "command: a\n"}):
        assert not read_metadata(packed(tmp_path, files)).is_there


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"metadata": "a: [b\n"}, "is not YAML that can be read"),
        ({"metadata": "nothing\n"}, "does not hold keys"),
        ({"metadata": "x" * 70_000}, "is larger than"),
    ],
)
def test_what_is_wrong_with_a_metadata_file_is_said(tmp_path: Path, files: dict[str, str], words: str) -> None:
    found = read_metadata(packed(tmp_path, files))
    assert found.command == "" and words in found.problems[0]


def test_a_file_that_is_no_zip_has_no_command(tmp_path: Path) -> None:
    path = tmp_path / "program.zip"
    path.write_bytes(b"PK\x03\x04 nothing")
    assert read_metadata(path).problems and not looks_like_python2(path) and not find_installs(path)


@pytest.mark.parametrize(
    ("source", "is_python2"),
    [
        ("print 'hello'\n", True),
        ('print "%d" % 1\n', True),
        ("try:\n    pass\nexcept ValueError, error:\n    pass\n", True),
        ("import urllib2\n", True),
        ("print('hello')\n", False),
        ("try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\n", False),
        ("import sys\nif sys.version_info[0] < 3:\n    range = xrange(1)\n", False),
        ("def broken(:\n", False),
    ],
)
def test_python_2_shows_in_the_source(tmp_path: Path, source: str, is_python2: bool) -> None:
    files = {"metadata": "command: python run.py\n", "run.py": source}
    assert bool(looks_like_python2(packed(tmp_path, files))) is is_python2


def test_python_2_shows_in_the_command(tmp_path: Path) -> None:
    assert looks_like_python2(packed(tmp_path, {"metadata": "command: /usr/bin/python2.7 run.py\n"}))
    assert not looks_like_python2(packed(tmp_path, {"metadata": "command: python3 to_python2s.py\n"}))


@pytest.mark.parametrize(
    "line",
    [
        "pip install pandas",
        "python3 -m pip install -r requirements.txt",
        "apt-get -y install gcc",
        'subprocess.run(["pip", "install", "numpy"])',
        "os.system('pip3 install x')",
    ],
)
def test_installing_is_found_with_its_line(tmp_path: Path, line: str) -> None:
    files = {
        "metadata": "command: python run.py\n",
        "run.py": f"import os\n{line}\n",
        "README": line,
        "n.txt": line,
    }
    found = find_installs(packed(tmp_path, files))
    assert len(found) == 1 and found[0].startswith("run.py, line 2: ")


def test_a_remark_about_installing_is_none(tmp_path: Path) -> None:
    assert not find_installs(packed(tmp_path, {"run.py": "# pip install pandas\npipeline.install()\n"}))


@pytest.mark.parametrize(
    "text", ["pip " + "-," * 5_000, 'x = "' + "except " * 50_000 + '"', "(" * 200_000, "x" + ".y" * 200_000]
)
def test_no_source_holds_up_the_look_into_a_program(tmp_path: Path, text: str) -> None:
    archive = packed(tmp_path, {"metadata": "command: python3 a.py", "a.py": text})
    begin = time.process_time()
    assert not find_installs(archive)
    assert not looks_like_python2(archive)
    assert time.process_time() - begin < 5
