"""What kind of submission an opened archive is."""

import pytest

from ingestion.archive import Contents, RefusedArchive, check_python_syntax, recognise
from ingestion.recognition import parse_prediction_name

DATASETS = ["iris", "rl_test1", "rl_test10"]


@pytest.fixture
def contents_of(tmp_path):
    """Makes Contents of files given by name."""

    def make(**files: str) -> Contents:
        named = {name.replace("__", "."): text for name, text in files.items()}
        return write(named)

    def write(named) -> Contents:
        for name, text in named.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Contents(root=tmp_path, files=tuple(sorted(named)))

    make.write = write
    return make


def test_a_model_py_is_code_with_the_model_interface(contents_of):
    found = recognise(contents_of(model__py="class Model: pass"), DATASETS)
    assert (found.kind, found.interface, found.command) == ("code", "model", None)


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
def test_a_command_in_metadata_is_code_of_its_own(name, contents_of):
    text = "description: mine\nauthors: [a, b]\ncommand: python $program/run.py $input $output\n"
    found = recognise(contents_of.write({name: text, "run.py": ""}), DATASETS)
    assert (found.kind, found.interface) == ("code", "metadata")
    assert found.command == "python $program/run.py $input $output"


def test_a_command_beside_model_py_is_run_and_said(contents_of):
    found = recognise(contents_of(model__py="", metadata="command: ./run"), DATASETS)
    assert found.interface == "metadata" and "model.py" in found.notes[0]


@pytest.mark.parametrize("metadata", ["", "description: just words", "- a\n- b", "command:"])
def test_metadata_without_a_command_leaves_the_model_interface(metadata, contents_of):
    assert recognise(contents_of(model__py="", metadata=metadata), DATASETS).interface == "model"


@pytest.mark.parametrize(
    "metadata", ["command: [python, run.py]", "command: 7", "command: {a: b}", 'command: "a\\nb"', "command: '  '"]
)
def test_a_command_that_is_not_one_string_is_refused(metadata, contents_of):
    with pytest.raises(RefusedArchive, match="command") as caught:
        recognise(contents_of(metadata=metadata), DATASETS)
    assert caught.value.mend


@pytest.mark.parametrize(
    "metadata",
    [
        "a: &a [x]\n" + "b: [*a, *a]\n" * 30,
        "[" * 15_000,
        "command: !!python/object/apply:os.system ['true']",
        "command: 'unclosed",
        "x: " + "y" * 70_000,
        b"\xff\xfe\x00",
    ],
    ids=["aliases", "depth", "python tag", "quote", "size", "bytes"],
)
def test_hostile_metadata_is_refused_alone_and_passed_over_beside_a_model(metadata, contents_of):
    with pytest.raises(RefusedArchive, match="The file metadata"):
        recognise(contents_of.write({"metadata": metadata}), DATASETS)
    found = recognise(contents_of.write({"metadata": metadata, "model.py": ""}), DATASETS)
    assert found.interface == "model" and "passed over" in found.notes[0]


def test_prediction_files_alone_are_results_and_only_the_last_counts(contents_of):
    names = ["iris_valid_000.predict", "iris_valid_001.predict", "iris_test_000.predict", "iris_test.predict"]
    found = recognise(contents_of.write(dict.fromkeys(names, "1 0 0")), DATASETS)
    assert found.kind == "results" and found.interface is None
    assert found.predictions == {"iris": {"valid": "iris_valid_000.predict", "test": "iris_test_000.predict"}}
    assert len(found.notes) == 2


def test_the_tenth_dataset_is_not_the_first(contents_of):
    names = ["rl_test10_test.predict", "rl_test1_test_3.predict", "rl_test1_valid_20.npy"]
    found = recognise(contents_of.write(dict.fromkeys(names, "1")), DATASETS)
    assert found.predictions == {
        "rl_test1": {"test": "rl_test1_test_3.predict", "valid": "rl_test1_valid_20.npy"},
        "rl_test10": {"test": "rl_test10_test.predict"},
    }


@pytest.mark.parametrize(
    ("file_name", "parts"),
    [
        ("iris_test.predict", ("iris", "test", None)),
        ("iris_valid_007.predict", ("iris", "valid", 7)),
        ("a_test_valid_12.npy", ("a_test", "valid", 12)),
        ("iris_test_1_2.predict", None),
        ("iris_train.predict", None),
        ("iris_test.predict.gz", None),
        ("_test.predict", None),
    ],
)
def test_prediction_names_are_read_exactly(file_name, parts):
    found = parse_prediction_name(file_name)
    assert (None if found is None else (found.name, found.part, found.number)) == parts


def test_code_with_results_is_both(contents_of):
    found = recognise(contents_of.write({"model.py": "", "iris_test.predict": "1"}), DATASETS)
    assert found.kind == "both" and found.interface == "model" and set(found.predictions) == {"iris"}


def test_files_of_other_datasets_and_in_folders_are_named_in_notes(contents_of):
    names = ["model.py", "wine_test.predict", "old/iris_test.predict"]
    found = recognise(contents_of.write(dict.fromkeys(names, "")), DATASETS)
    assert found.kind == "code" and len(found.notes) == 2
    assert any("wine" in note for note in found.notes) and any("old/iris" in note for note in found.notes)


def test_one_model_json_is_the_game(contents_of):
    assert recognise(contents_of(model__json="{}"), DATASETS).kind == "json_model"


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["README"], "Put a model.py"),
        (["src/model.py", "README"], "src/model.py"),
        (["Model.py"], "Model.py"),
        (["wine_test.predict"], "wine_test.predict"),
    ],
)
def test_an_archive_of_nothing_usable_is_refused_with_a_hint(names, hint, contents_of):
    with pytest.raises(RefusedArchive, match="holds no model") as caught:
        recognise(contents_of.write(dict.fromkeys(names, "")), DATASETS)
    assert hint in caught.value.mend


def test_syntax_errors_are_notes_with_file_and_line(contents_of):
    files = {"model.py": "x = 1\n\ndef fit(:\n", "good.py": "y = 2\n", "nul.py": "x\0"}
    notes = check_python_syntax(contents_of.write(files))
    assert notes[0] == "model.py line 3: invalid syntax"
    assert len(notes) == 2 and notes[1].startswith("nul.py line 1")


@pytest.mark.parametrize("source", ["(" * 100_000, "-" * 100_000 + "1", "x" + ".a" * 100_000])
def test_source_that_is_too_deep_to_parse_is_a_note(source, contents_of):
    assert len(check_python_syntax(contents_of(model__py=source))) == 1
