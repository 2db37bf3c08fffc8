"""Reading files of strangers: the evident value or one sentence that names file, line and column."""

import ast
import gzip
import io
import json
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring import BadPredictionError, BadSolutionError, reading
from scoring.reading import read_table
from tests.shared import shared_case


@pytest.fixture
def read(tmp_path):
    def read(content: bytes | str, name: str = "x.predict", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path, **options)

    return read


@pytest.mark.parametrize(
    "content, table",
    [
        ("0.5\n", [[0.5]]),
        ("0.1 0.2 0.3\n", [[0.1, 0.2, 0.3]]),
        ("0.1 0.2 0.3", [[0.1, 0.2, 0.3]]),
        ("0.1 \n0.9 \n", [[0.1], [0.9]]),
        ("0.1\n\n  \n0.9\n\n", [[0.1], [0.9]]),
        ("0.1\t0.9\n0.2  0.8\n", [[0.1, 0.9], [0.2, 0.8]]),
        ("# about\n0.1 # first\n0.9\n", [[0.1], [0.9]]),
        (b"\xef\xbb\xbf0.1 0.2\r\n0.3 0.4\r\n", [[0.1, 0.2], [0.3, 0.4]]),
        ("1\r2\r3", [[1], [2], [3]]),
        ("1e-3 9E-1 +1 -1 .5 5.\n", [[0.001, 0.9, 1, -1, 0.5, 5]]),
        ("1e-400\n", [[0]]),
        ("0.5 # a word: é\n# ¾\n0.25\n", [[0.5], [0.25]]),
        (b"# \xff\xfe\n1 2\n", [[1, 2]]),
    ],
)
def test_the_evident_value_is_read(read, content, table):
    assert read(content).tolist() == table


@pytest.mark.parametrize(
    "content, place",
    [
        ("", " is empty."),
        ("# only a comment\n\n", " is empty."),
        ("score\n0.1\n", ", line 1, column 1: 'score' is not a number."),
        ("# a\n\n1 2\n\n3 ?\n", ", line 5, column 2: '?' is not a number."),
        ("0.1,0.9\n", ", line 1, column 1: '0.1,0.9' is not a number (numbers are separated by blanks"),
        ("1 2\n3\n", ", line 2: 1 number where the lines before have 2."),
        ("1\n\n2 3\n", ", line 3: 2 numbers where the lines before have 1."),
        ("1\n1e400\n", ", line 2, column 1: '1e400' is not a finite number."),
        ("1 NaN\n", ", line 1, column 2: 'NaN' is not a finite number."),
        ("1\n-Infinity\n", ", line 2, column 1: '-Infinity' is not a finite number."),
        ("1_0\n", ", line 1, column 1: '1_0' is not a number."),
        ("0x10\n", ", line 1, column 1: '0x10' is not a number."),
        ("1d5\n", ", line 1, column 1: '1d5' is not a number."),
        ("1+0j\n", ", line 1, column 1: '1+0j' is not a number."),
        ('"1"\n', ", line 1, column 1: '\"1\"' is not a number."),
        ("１\n", ", line 1, column 1: '１' is not a number."),
        (b"1\x002\n", ", line 1, column 1: '1?2' is not a number."),
        ("1\n2\n".encode("utf-16"), " is text in UTF-16; plain text or .npy is expected."),
        (gzip.compress(b"1\n", mtime=0), " is a gzip file; plain text or .npy is expected."),
        (b"PK\x03\x04 and more", " is a zip file; plain text or .npy is expected."),
        ("1\u00a02\n", ", line 1, column 1: '1?2' is not a number."),
        ("1\n2\u20283\n", ", line 2, column 1: '2?3' is not a number."),
        ("1\x1c2\n", ", line 1, column 1: '1?2' is not a number."),
        ("1\n\ufeff2\n", ", line 2, column 1: '?2' is not a number."),
    ],
)
def test_anything_else_is_one_sentence_with_file_line_and_column(read, content, place):
    with pytest.raises(BadPredictionError) as refused:
        read(content)
    assert str(refused.value).startswith(f"x.predict{place}")
    assert "\n" not in str(refused.value)


def test_a_long_word_is_shown_in_part(read):
    with pytest.raises(BadPredictionError) as refused:
        read("a" * 100_000)
    assert len(str(refused.value)) < 200


@pytest.mark.shared
def test_the_inputs_on_which_the_old_reader_went_wrong_are_values_or_errors(read):
    for case in json.loads(shared_case("metrics/text_parsing.json").read_text()):
        old = np.array(ast.literal_eval(case["values"].replace("nan", "None")), dtype=float)
        try:
            table = read(ast.literal_eval(case["text"]))
        except BadPredictionError:
            assert np.isnan(old).any() or old.size == 0, case["name"]
        else:
            assert np.array_equal(table.ravel(), old.ravel()), case["name"]


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("1\n2\n", "x.predict has 2 rows, 3 are expected."),
        ("1\n2\n3\n4\n# no more\n5\n", "x.predict has 5 rows, 3 are expected."),
        ("1 2\n3 4\n5 6\n", "x.predict has 2 columns, 1 is expected."),
        ("1 2 3\n", "x.predict has 1 row of 3 columns, 3 rows of 1 column are expected."),
    ],
)
def test_a_wrong_shape_says_what_is_there_and_what_is_expected(read, content, sentence):
    with pytest.raises(BadPredictionError) as refused:
        read(content, shape=(3, 1))
    assert str(refused.value) == sentence


def test_a_solution_at_fault_is_an_error_of_its_own_class(read):
    with pytest.raises(BadSolutionError, match=r"^x\.solution, line 1"):
        read("a\n", "x.solution", what="solution")


def test_values_that_are_not_finite_are_read_where_they_are_allowed(read):
    table = read("nan NAN -inf\n1e400 +Infinity 1\n", finite=False)
    assert np.array_equal(table, [[np.nan, np.nan, -np.inf], [np.inf, np.inf, 1]], equal_nan=True)


def test_size_is_bounded_by_the_limit_and_by_the_expected_shape(read):
    with pytest.raises(BadPredictionError, match="is 4 bytes long, 3 are allowed"):
        read("1\n2\n", max_bytes=3)
    with pytest.raises(BadPredictionError, match="bytes long"):
        read("1 " * 2**20, shape=(3, 1))


def test_compressed_files_are_bounded_by_what_comes_out(read):
    content = lzma.compress(b"1\n" * 50_000)
    assert read(content, "x.predict.xz").shape == (50_000, 1)
    with pytest.raises(BadPredictionError, match="longer than the 1,000 bytes"):
        read(content, "x.predict.xz", max_bytes=1000)
    with pytest.raises(BadPredictionError, match=r"not a complete \.xz file"):
        read(content[:-20], "x.predict.xz")


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    "array, table",
    [
        (np.arange(3), [[0], [1], [2]]),
        (np.array([[True, False]]), [[1, 0]]),
        (np.asfortranarray(np.arange(6.0).reshape(2, 3)), [[0, 1, 2], [3, 4, 5]]),
        (np.array([1, 2], dtype=">f4"), [[1], [2]]),
    ],
)
@pytest.mark.parametrize("name", ["x.npy", "x.predict"])
def test_npy_files_are_recognised_by_their_content(read, array, table, name):
    assert read(npy(array), name).tolist() == table


@pytest.mark.parametrize(
    "content, sentence",
    [
        (npy(np.array(["a"])), "holds <U1 values, real numbers are expected."),
        (npy(np.array([1j])), "holds complex128 values, real numbers are expected."),
        (npy(np.zeros((2, 2, 2))), "has shape (2, 2, 2), a table"),
        (npy(np.array(1.0)), "has shape (), a table"),
        (npy(np.zeros((0, 2))), "is empty."),
        (npy(np.zeros(3))[:-1], "holds 23 bytes of numbers, its header promises 24."),
        (npy(np.zeros(3))[:30], "has a damaged .npy header."),
        (b"\x93NUMPY\x09\x00junk", "has a damaged .npy header."),
        (b"1 2 3\n", "is not a .npy file."),
    ],
)
def test_other_npy_files_are_refused(read, content, sentence):
    with pytest.raises(BadPredictionError) as refused:
        read(content, "x.npy")
    assert str(refused.value).startswith(f"x.npy {sentence}")


def test_npy_values_that_are_not_finite_are_refused_by_row_and_column(read):
    with pytest.raises(BadPredictionError, match=r"^x\.npy, row 2, column 1: nan is not a finite number"):
        read(npy(np.array([[1, 2], [np.nan, 4]])), "x.npy")


def test_a_pickle_is_never_opened(read, tmp_path):
    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "opened"),)

    with pytest.raises(BadPredictionError, match="object values"):
        read(npy(np.array([Hostile()], dtype=object)), "x.npy")
    assert not (tmp_path / "opened").exists()


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, sentence in (("pipe", "not a regular file"), ("", "not a regular file"), ("none", "does not exist")):
        with pytest.raises(BadPredictionError, match=sentence):
            read_table(tmp_path / name)
    with pytest.raises(BadPredictionError, match="not a regular file"):
        read_table(Path("/dev/zero"))


def test_links_that_lead_nowhere_and_odd_names_are_refused_in_one_line(tmp_path):
    os.symlink("loop", tmp_path / "loop")
    os.symlink("absent", tmp_path / "dangling")
    (tmp_path / "two\nlines").write_text("word")
    for name, sentence in (
        ("loop", "loop cannot be read: Too many levels"),
        ("dangling", "dangling does not exist"),
        ("two\nlines", "two.lines, line 1"),
        ("nul\0", "does not exist"),
    ):
        with pytest.raises(BadPredictionError, match=sentence) as refused:
            read_table(tmp_path / name)
        assert "\n" not in str(refused.value)


def header(text: str, *, version: bytes = b"\x01\x00", rest: bytes = b"") -> bytes:
    """A `.npy` file with a header of our own."""
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text.encode("latin-1") + rest


@pytest.mark.parametrize(
    "content, sentence",
    [
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,)}"), "damaged"),
        (
            header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000)}"),
            "promises 8,000,0",
        ),
        (
            header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 8)}", rest=b"\0" * 64),
            r"\(-1, 8\)",
        ),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}", rest=b"\0" * 8), "has shape"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 0)}"), "is empty"),
        (header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", rest=b"cos\nsystem\n"), "object values"),
        (header("{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (1,)}"), "real numbers"),
        (header("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,)}", rest=b"\0" * 8), "datetime64"),
        (header("{'descr': '<f8', 'fortran_order': __import__('os').abort(), 'shape': (1,)}"), "damaged"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "-" * 9000 + "1,)}"), "damaged"),
        (header("[" * 9000 + "]" * 9000), "damaged"),
        (header("{}", version=b"\x02\x00"), "damaged"),
        (b"\x93NUMPY", "damaged"),
    ],
)
def test_hostile_headers_are_refused_at_once(read, content, sentence):
    with pytest.raises(BadPredictionError, match=rf"^x\.npy .*{sentence}"):
        read(content, "x.npy")


def test_a_table_of_bytes_may_not_grow_past_the_limit(read):
    content = npy(np.zeros(3_000_000, dtype=bool))
    with pytest.raises(BadPredictionError, match=r"holds 3,000,000 numbers, 500,000 are allowed\."):
        read(content, "x.npy", max_bytes=4_000_000)


def test_lines_are_bounded_in_length_and_lines_without_numbers_in_count(read, monkeypatch):
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 300_000)
    monkeypatch.setattr(reading, "MAX_EMPTY_LINES", 1000)
    assert read("1 " * 100_000).shape == (1, 100_000)
    for filler in ("1", "1 ", " ", "#"):
        with pytest.raises(BadPredictionError, match=r"^x\.predict, line 2: longer than the 300,000 bytes"):
            read("1\n" + filler * 1_000_000)
    for filler in ("\n", "#\n", " \r\n", "\r", " # x\n"):
        with pytest.raises(BadPredictionError, match="more than 1,000 lines without numbers"):
            read("1\n" + filler * 300_000)
    for filler in ("\n", "# 1\r\n"):
        with pytest.raises(BadPredictionError, match="more than 1,000 lines without numbers"):
            read("1\n2\n" + filler * 1100, shape=(3, 1))
    assert read("1\r\n" * 5000, shape=(5000, 1)).shape == (5000, 1)


def test_what_is_unusual_far_down_is_found_in_its_line(read):
    lines = ["0.25 0.75\n"] * 5000
    for odd, sentence in (("x 1\n", "column 1: 'x'"), ("1\n", " 1 number where"), ("1 nan\n", "column 2: 'nan'")):
        with pytest.raises(BadPredictionError, match=rf"^x\.predict, line 4322.*{sentence}"):
            read("".join([*lines[:4321], odd, *lines[4321:]]))
    assert read("".join([*lines, "# é\n"])).shape == (5000, 2)
    assert np.isnan(read("".join([*lines[:4321], "1 nan\n"]), finite=False)[4321, 1])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.integers(1, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=columns, max_size=columns),
            min_size=1,
            max_size=6,
        )
    ),
    ending=st.sampled_from(["\n", "\r\n", " \n", "\n\n", " # note\n"]),
)
def test_what_was_written_is_read_back_to_the_last_bit(read, table, ending):
    text = "".join(" ".join(map(repr, row)) + ending for row in table)
    assert read(text).tolist() == table


few_bytes = st.binary(max_size=60)
like_text = st.text("0123456789.eE+- \n\t\r,#nai_\ufeff\u00a0\x1c\x0b", max_size=30).map(str.encode)
like_npy = st.tuples(
    st.sampled_from(["<f8", ">f4", "|b1", "|O", "<U1", "<c8", "zz", "|V0", "<f2"]),
    st.sampled_from(["True", "False", "1"]),
    st.sampled_from(["(2,)", "(1, 2)", "(0, 3)", "()", "(-1,)", "(2**70,)", "(True, 2)", "[2]", "(1, 1, 2)", "2"]),
    st.binary(max_size=20),
).map(
    lambda parts: header(
        f"{{'descr': '{parts[0]}', 'fortran_order': {parts[1]}, 'shape': {parts[2]}}}", rest=parts[3]
    )
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=few_bytes | like_text | like_npy, shape=st.sampled_from([None, (1, 1), (2, 1), (1, 2)]))
def test_any_bytes_are_a_finite_table_of_the_shape_or_one_sentence(read, content, shape):
    try:
        table = read(content, shape=shape)
    except BadPredictionError as refused:
        assert str(refused).startswith("x.predict")
        assert str(refused).endswith(".")
        assert str(refused).isprintable()
    else:
        assert table.dtype == np.float64
        assert table.shape == shape if shape else table.ndim == 2
        assert np.isfinite(table).all()
