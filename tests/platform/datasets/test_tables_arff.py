"""Reading ARFF as Weka and OpenML write it."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

from datasets.tables import Kind, read_table
from datasets.tables.arff import cells_of
from datasets.tables.arff_header import strptime_format

OPENML = r"""% 1. Title
%
@RELATION 'made "up"'

@attribute 'sepal length' REAL % in cm
@ATTRIBUTE "cl,ass" {'a b',c,"d\'e", -1} %{<=50K, >50K}
@attribute when date "yyyy-MM-dd HH:mm:ss"
@attribute text string
@attribute n INTEGER
@DATA
5.1,'a b',"2020-01-01 10:00:00",'hello, \'you\'',1
?, c ,?,?,2
% a comment between
3 ,"d'e",'2020-01-01 11:00:00',"?",3
1e3	-1	?	plain	?
"""
SPARSE = '@relation s\n@attribute a numeric\n@attribute b real\n@attribute c {x,"y z"}\n@data\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "t.arff"
    path.write_text(text)
    return path


def good(path: Path):
    report = read_table(path)
    assert report.ok, report.errors
    return report.table


def said(report) -> str:
    return " | ".join(f"{problem} {problem.mend}" for problem in report.errors)


def test_quotes_escapes_comments_dates_tabs_and_missing_values_are_read(tmp_path):
    table = good(written(tmp_path, OPENML))
    assert table.name == 'made "up"'
    assert [column.name for column in table.columns] == ["sepal length", "cl,ass", "when", "text", "n"]
    assert table.frame["cl,ass"].tolist() == ["a b", "c", "d'e", "-1"]
    assert list(table.frame["cl,ass"].cat.categories) == ["a b", "c", "d'e", "-1"]
    assert table.frame["text"].tolist()[::2] == ["hello, 'you'", "?"]
    assert str(table.frame["when"][2]) == "2020-01-01 11:00:00"
    assert table.column("when").kind == Kind.DATE
    assert [column.missing for column in table.columns] == [1, 0, 2, 1, 1]


def test_plain_rows_are_read_as_rows_with_quotes_are(tmp_path):
    header = "@relation r\n@attribute a real\n@attribute c {u, v}\n@data\n"
    rows = "".join(f"{row / 7:.17g},{'uv'[row % 2]}\n" for row in range(50))
    quick = good(written(tmp_path, header + rows + "?,?\n"))
    slow = good(written(tmp_path, header + "% with care\n" + rows.replace("u", "'u'") + "?,?\n"))
    assert quick.frame.equals(slow.frame)


def test_sparse_rows_count_from_zero_and_absent_nominals_are_the_first_value(tmp_path):
    table = good(written(tmp_path, SPARSE + '{0 1.5, 2 "y z"}\n{}\n% c\n{ 1 ? ,2 x}\n{1 3,0 2}\n'))
    assert np.nan_to_num(table.matrix.toarray(), nan=-9).tolist() == [
        [1.5, 0, 1],
        [0, 0, 0],
        [0, -9, 0],
        [2, 3, 0],
    ]
    assert table.column("c").categories == ("x", "y z")
    assert table.column("c").kind == Kind.BINARY
    assert table.column("b").missing == 1


def test_sparse_rows_of_numbers_alone_are_read_alike(tmp_path):
    header = "@relation s\n" + "".join(f"@attribute a{i} numeric\n" for i in range(5)) + "@data\n"
    rows = "{0 1.5,4 -2e3}\n{}\n{ 2 7 }\n"
    quick, slow = good(written(tmp_path, header + rows)), good(written(tmp_path, header + "% c\n" + rows))
    assert quick.matrix.toarray().tolist() == [[1.5, 0, 0, 0, -2000], [0] * 5, [0, 0, 7, 0, 0]]
    assert (quick.matrix != slow.matrix).nnz == 0


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("@relation r\n@attribute a real\n", "t.arff", "no @data"),
        ("@relation r\n@data\n1\n", "t.arff", "no @attribute"),
        ("@relation r\nhello\n", "t.arff line 2", "'hello'"),
        ("@relation r\n@attribute a relational\n@data\n", "t.arff line 2", "relational"),
        ("@relation r\n@attribute a real\n@data\n\n1\nabc\n", "t.arff line 6", "'abc' is no number"),
        ("@relation r\n@attribute a {x, y}\n@data\nx\n% c\nz\n", "t.arff line 6", "line 2 declares"),
        ("@relation r\n@attribute a real\n@data\n1,2\n", "t.arff line 4", "has 2 values"),
        ("@relation r\n@attribute a date yyyy\n@data\n2001\nnever\n", "t.arff line 5", "'never' is no date"),
        ("@relation r\n@attribute a date yyyy-yyyy\n@data\n", "t.arff line 2", "no pattern of dates"),
        (SPARSE + "{0 1}\n{3 1}\n", "t.arff line 7", "index 3 is past"),
        (SPARSE + "{0 1, 0 2}\n", "t.arff line 6", "twice"),
        (SPARSE + "{2 w}\n", "t.arff line 6", "'w' is none"),
        (SPARSE + "{0 1}\n0 1\n", "t.arff line 7", "no row in braces"),
        (SPARSE + "{0 one}\n", "t.arff line 6", "'one' is no number"),
    ],
    ids=[
        "no data",
        "no attributes",
        "a stray line",
        "relational",
        "text for a number",
        "undeclared",
        "ragged",
        "no date",
        "no pattern of dates",
        "index past",
        "index twice",
        "undeclared sparse",
        "dense among sparse",
        "sparse text",
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_token(tmp_path, text, place, word):
    report = read_table(written(tmp_path, text))
    assert report.table is None
    assert report.errors[0].place == place
    assert word in said(report)


def openml_files() -> list[Path]:
    """Real files of OpenML, cut short, that scikit-learn carries for its own tests."""
    folder = Path(sklearn.datasets.__file__).parent / "tests" / "data" / "openml"
    return sorted(folder.glob("*/*.arff.gz"))


def test_files_of_openml_are_read_with_all_their_columns_and_rows(tmp_path):
    if not openml_files():
        pytest.skip("this scikit-learn carries no files of OpenML")
    for packed in openml_files():
        text = gzip.decompress(packed.read_bytes()).decode()
        table = good(written(tmp_path, text))
        header, _, rows = re.split(r"(?mi)^(@data)\s*$", text)
        assert len(table.columns) == len(re.findall(r"(?mi)^@attribute\s", header)), packed
        assert table.rows == len([row for row in rows.splitlines() if row.strip() and row[0] != "%"]), packed


def test_weights_of_rows_are_left_out_with_a_warning(tmp_path):
    report = read_table(written(tmp_path, "@relation r\n@attribute a real\n@data\n1, {2.5}\n3\n"))
    assert report.table.frame["a"].tolist() == [1, 3]
    assert "weights of 1 rows" in report.warnings[0].message


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("1,2", ["1", "2"]),
        ("", [None]),
        ("1,,3", ["1", None, "3"]),
        ("1,", ["1", None]),
        (r"'a\'b',\"c\"", ["a'b", '"c"']),
        ("'it''s", ["'it''s"]),
        ("O'Brien,x y", ["O'Brien", "x y"]),
    ],
)
def test_cells_of_a_row(row, cells):
    assert cells_of(row) == (cells, False)


@pytest.mark.parametrize(
    ("pattern", "python"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss", "%Y-%m-%dT%H:%M:%S"),
        ("dd/MM/yy hh:mm a", "%d/%m/%y %I:%M %p"),
        ("d MMM yyyy", "%d %b %Y"),
    ],
)
def test_patterns_of_dates_are_turned_into_those_of_python(pattern, python):
    assert strptime_format(pattern) == python
