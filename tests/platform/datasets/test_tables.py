"""Reading tables: what each kind of file gives, and what is said about one that is at fault."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from pyarrow import parquet

from accounts.refusals import Refused
from datasets.tables import Kind, read_table
from ingestion.budget import Capacity
from tests.shared import shared_case


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def good(path: Path):
    report = read_table(path)
    assert report.ok, report.errors
    return report.table


def said(problems) -> str:
    return " | ".join(f"{problem} {problem.mend}" for problem in problems)


# Text with delimiters -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_is_read_whatever_stands_between_its_values(tmp_path, delimiter):
    text = "age,job,y\n1.5,nurse,0\n,cook,1\n3e2,?,1\n".replace(",", delimiter)
    table = good(written(tmp_path, "people.csv", text))
    assert [column.name for column in table.columns] == ["age", "job", "y"]
    assert [column.kind for column in table.columns] == [Kind.NUMERICAL, Kind.BINARY, Kind.BINARY]
    assert [column.missing for column in table.columns] == [1, 1, 0]
    assert table.frame["age"].tolist()[::2] == [1.5, 300.0]
    assert (table.rows, table.is_sparse) == (3, False)


def test_quotes_may_hold_delimiters_quotes_and_line_ends(tmp_path):
    table = good(written(tmp_path, "t.csv", 'a,b\n1,"x, ""y"""\n2,"two\nlines"\n'))
    assert table.frame["b"].tolist() == ['x, "y"', "two\nlines"]


def test_dates_are_found_and_stay_dates(tmp_path):
    table = good(written(tmp_path, "t.csv", "when,a\n2018-03-31,1\n2018-04-01 12:30:00,2\n,3\n"))
    assert table.column("when").kind == Kind.DATE
    assert str(table.frame["when"][1]) == "2018-04-01 12:30:00"
    assert table.column("when").missing == 1


def test_a_table_without_a_header_gets_numbered_columns_and_a_warning(tmp_path):
    report = read_table(written(tmp_path, "t.csv", "1,2\n3,4\n"))
    assert [column.name for column in report.table.columns] == ["column_1", "column_2"]
    assert report.table.rows == 2
    assert "t.csv line 1" in said(report.warnings)


def test_names_that_are_missing_or_doubled_are_made_up_and_told(tmp_path):
    report = read_table(written(tmp_path, "t.csv", ",a,a\nx,1,2\ny,3,4\n"))
    assert [column.name for column in report.table.columns] == ["column_1", "a", "a_2"]
    assert len(report.warnings) == 2


def test_every_ragged_line_is_named_with_its_values(tmp_path):
    report = read_table(written(tmp_path, "t.csv", "a,b\n1,2\n\n3,4,5\n6\n"))
    assert report.table is None
    assert [problem.place for problem in report.errors] == ["t.csv line 4", "t.csv line 5"]
    assert "'3,4,5'" in said(report.errors)


def test_a_quote_without_its_end_is_told(tmp_path):
    report = read_table(written(tmp_path, "t.csv", 'a,b\n1,2\n3,"four\n5,6\n'))
    assert "odd number of quotes" in said(report.warnings)
    assert '("")' in said(report.warnings)


def test_of_very_many_faults_the_first_few_are_told_and_the_rest_counted(tmp_path):
    report = read_table(written(tmp_path, "t.csv", "a,b\n" + "1\n" * 500))
    assert len(report.errors) == 21
    assert "480 more places" in report.errors[-1].message


def test_text_in_a_column_of_numbers_is_told_with_line_token_and_mend(tmp_path):
    rows = "".join(f"{row},x\n" for row in range(20))
    report = read_table(written(tmp_path, "t.csv", f'age,"b"\n{rows}12yrs,"x\ny"\n'))
    assert report.table.column("age").kind == Kind.TEXT
    assert "t.csv line 22: '12yrs' in column 'age' is no number" in said(report.warnings)
    assert "?" in report.warnings[0].mend


def test_columns_with_odd_values_are_told_up_to_a_bound(tmp_path):
    header = ",".join(f"f{column}" for column in range(50))
    rows = [",".join(["1"] * 50)] * 9 + [",".join(["odd"] * 50)]
    report = read_table(written(tmp_path, "t.csv", "\n".join([header, *rows]) + "\n"))
    assert len(report.warnings) == 21
    assert report.warnings[0].place == "t.csv line 11"


def test_decimal_commas_are_read_where_semicolons_stand_between(tmp_path):
    report = read_table(written(tmp_path, "t.csv", "a;b\n1,5;x\n-2,25;y\n"))
    assert report.table.frame["a"].tolist() == [1.5, -2.25]
    assert "decimal comma" in said(report.warnings)


@pytest.mark.parametrize(
    ("encoding", "warned"), [("utf-8-sig", False), ("utf-16", False), ("latin-1", True)], ids=str
)
def test_other_encodings_are_read(tmp_path, encoding, warned):
    report = read_table(written(tmp_path, "t.csv", "größe,n\nlänger,1\nkürzer,2\n".encode(encoding)))
    assert [column.name for column in report.table.columns] == ["größe", "n"]
    assert report.table.column("größe").examples == ("kürzer", "länger")
    assert bool(report.warnings) == warned


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("a,n\nx,1\n".encode("utf-16")[:-1], "broken further down"),
        ("a,n\nx,1\n".encode("utf-16") + b"\x00\xd8", "broken further down"),
        ("a,n\nx,1\n".encode("utf-16-be"), "line 1: holds a zero byte"),
        (b"a,n\nx,1\n\0,2\n", "line 3: holds a zero byte"),
    ],
    ids=["half a letter", "half a pair", "no mark", "a zero"],
)
def test_text_that_is_broken_is_refused_in_a_sentence(tmp_path, content, word):
    report = read_table(written(tmp_path, "t.csv", content))
    assert word in said(report.errors)
    assert report.errors[0].mend


def test_a_value_may_be_very_long(tmp_path):
    assert good(written(tmp_path, "t.csv", f"a,n\nx,1\n{'y' * 200_000},2\nz,3\n")).rows == 3


def test_a_table_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "t.npz", X=np.zeros((1000, 1000)))
    parquet.write_table(pa.table({"a": np.zeros(1_000_000)}), tmp_path / "t.parquet")
    small = Capacity(cores=1, memory_bytes=20_000_000)
    monkeypatch.setattr(Capacity, "of_this_machine", classmethod(lambda cls: small))
    for name in ("t.npz", "t.parquet"):
        assert "too much for this machine" in said(read_table(tmp_path / name).errors)


def test_blanks_around_values_and_old_line_ends_do_no_harm(tmp_path):
    table = good(written(tmp_path, "t.csv", b"a, b\r1 , x\r 2,y\r ?, ?\r3, z\r"))
    assert table.frame["a"].tolist()[::3] == [1.0, 3.0] and table.frame["a"].tolist()[1] == 2.0
    assert [column.missing for column in table.columns] == [1, 1]
    assert [column.name for column in table.columns] == ["a", "b"]


# Parquet, svmlight, npz -----------------------------------------------------------------------------------------


def test_parquet_keeps_types_and_the_order_of_categories(tmp_path):
    frame = pd.DataFrame(
        {
            "n": [1, 2, None],
            "flag": [True, False, True],
            "size": pd.Categorical(["l", "s", None], categories=["s", "m", "l"]),
            "when": pd.to_datetime(["2020-01-01", "2021-01-01", None]),
            "text": ["a", None, "b"],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = good(tmp_path / "t.parquet")
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds == {"n": "numerical", "flag": "binary", "size": "binary", "when": "date", "text": "binary"}
    assert list(table.frame["size"].cat.categories) == ["s", "m", "l"]
    assert [column.missing for column in table.columns] == [1, 0, 1, 1, 1]


def test_a_nested_column_of_parquet_is_refused_by_its_name(tmp_path):
    pd.DataFrame({"ok": [1], "nested": [[1, 2]]}).to_parquet(tmp_path / "t.parquet")
    assert "'nested' holds list" in said(read_table(tmp_path / "t.parquet").errors)


def test_svmlight_gives_a_sparse_matrix_and_its_labels(tmp_path):
    table = good(written(tmp_path, "t.svm", "# made\n1 1:0.5 3:2 # first\n-1 2:1\n1\n"))
    assert table.matrix.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0], [0, 0, 0]]
    assert table.target.tolist() == [1, -1, 1]
    assert [column.kind for column in table.columns] == [Kind.NUMERICAL, Kind.BINARY, Kind.NUMERICAL]
    assert [column.distinct for column in table.columns] == [2, 2, 2]


def test_labels_with_commas_become_a_column_each(tmp_path):
    table = good(written(tmp_path, "t.svm", "1,3 5:1\n 2:1\n3 1:2\n"))
    assert table.target.tolist() == [[1, 1], [0, 0], [0, 1]]
    assert table.target_names == ("1", "3")


def test_a_line_that_is_no_svmlight_is_named(tmp_path):
    report = read_table(written(tmp_path, "t.svm", "1 1:1\n-1 3:1 2:1\nx 1:1\n1 a:2\n"))
    assert [problem.place for problem in report.errors] == ["t.svm line 2", "t.svm line 3", "t.svm line 4"]
    assert "'a:2'" in said(report.errors)


def test_npz_gives_dense_features_with_their_targets(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(6).reshape(3, 2), y=np.array(["b", "a", "b"]))
    table = good(tmp_path / "t.npz")
    assert table.frame.to_numpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (table.target.tolist(), table.target_labels) == ([1, 0, 1], ("a", "b"))


def test_npz_of_a_sparse_matrix_gives_one(tmp_path):
    scipy.sparse.save_npz(tmp_path / "t.npz", scipy.sparse.csc_matrix([[0, 2.0], [1, 0]]))
    assert good(tmp_path / "t.npz").matrix.toarray().tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize(
    ("arrays", "word"),
    [
        ({"X": np.array([{}, {}], dtype=object)}, "Python objects"),
        ({"Z": np.eye(2)}, "no X"),
        ({"X": np.eye(3), "y": np.zeros(2)}, "X has 3 rows"),
        ({"X": np.zeros((0, 3))}, "no values"),
        (
            {
                "data": np.ones(1),
                "indices": np.array([9]),
                "indptr": np.array([0, 1]),
                "shape": np.array([1, 2]),
            },
            "no sparse matrix",
        ),
        (
            {
                "data": np.ones(1),
                "indices": np.array([0]),
                "indptr": np.array([0, 1]),
                "shape": np.array([1, 2**40]),
            },
            "columns, more than",
        ),
        (
            {
                "data": np.ones(1),
                "indices": np.zeros(1),
                "indptr": np.ones(2),
                "shape": np.ones(2),
                "format": ["a", "b"],
            },
            "no sparse matrix",
        ),
    ],
    ids=["objects", "other names", "unequal rows", "empty", "an index outside", "very wide", "two forms"],
)
def test_an_archive_that_is_no_table_is_refused_in_a_sentence(tmp_path, arrays, word):
    np.savez(tmp_path / "t.npz", **arrays)
    assert word in said(read_table(tmp_path / "t.npz").errors)


# AutoML folders, zips, and finding the reader -------------------------------------------------------------------


def test_a_table_may_come_in_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("inside/people.csv", "a,b\n1,x\n2,y\n")
        archive.writestr("__MACOSX/people.csv", "?")
    assert good(tmp_path / "t.zip").name == "people"


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "is empty"),
        (b"\x1f\x8b0000", "gzip"),
        (b"\x00\x01\x02", "no table of a known kind"),
        (b"a,b\n", "no rows"),
        (b"PAR1 and no more", "cannot be read as Parquet"),
        (b"PK\x05\x06" + b"\0" * 18, "archive is empty"),
    ],
    ids=["empty", "gzip", "binary", "header alone", "broken parquet", "empty zip"],
)
def test_a_file_that_is_no_table_is_refused_in_a_sentence(tmp_path, content, word):
    report = read_table(written(tmp_path, "stranger.dat", content))
    assert not report.ok
    assert word in said(report.errors)


def test_a_file_without_a_telling_name_is_read_by_its_content(tmp_path):
    assert good(written(tmp_path, "one", "1 1:2 3:1\n0 2:1\n")).is_sparse
    assert good(written(tmp_path, "two", "% c\n@relation r\n@attribute a real\n@data\n1\n")).name == "r"
    assert good(written(tmp_path, "three", "a,b\n1,x\n")).frame is not None


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Refused, match="nothing"):
        read_table(tmp_path / "nothing.csv")


def test_progress_is_told_with_rising_fractions_up_to_one(tmp_path):
    told = []
    path = written(tmp_path, "t.csv", "a,b\n1,x\n2,y\n")
    read_table(path, progress=lambda fraction, sentence: told.append((fraction, sentence)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert told[-1] == (1.0, "Read 2 rows of 2 columns.")


def test_a_report_can_be_shown_without_its_values(tmp_path):
    shown = read_table(written(tmp_path, "t.csv", "a,b,c\n1,x,\n2,y,\n")).to_json(most_columns=2)
    assert (shown["table"]["rows"], shown["table"]["column_count"]) == (2, 3)
    assert [column["name"] for column in shown["table"]["columns"]] == ["a", "b"]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "rows", "columns", "is_sparse"),
    [
        ("adult_chalab_sample", 15, 24, False),
        ("adult_without_feat_spec", 15, 24, False),
        ("sparse_newsgroups_chalab_sample", 15, 61_188, True),
    ],
)
def test_datasets_that_are_not_split_are_tables_with_their_targets(name, rows, columns, is_sparse):
    table = good(shared_case(f"datasets/{name}"))
    assert (table.rows, len(table.columns), table.is_sparse) == (rows, columns, is_sparse)
    assert len(table.target) == rows
    assert table.task


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("adult_wrong_rows", "has 12 rows, adult_wrong_rows.solution has 15"),
        ("adult_wrong_feat_spec", "has 5 types, the data have 24 features"),
        ("madeline", "is split into parts already"),
    ],
)
def test_datasets_that_are_broken_or_split_are_no_tables(name, word):
    assert word in said(read_table(shared_case(f"datasets/{name}")).errors)
