"""Reading the text layouts: exact values, exact places of errors, and speed."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.dataset_files import write_rows
from ingestion.program import numbers as numbers_module
from ingestion.program import pieces
from ingestion.program.errors import DataError
from ingestion.program.info import parse_info
from ingestion.program.layouts import find_layout, read_features, to_csr
from ingestion.program.numbers import Converter
from ingestion.program.text import read_dense, read_sparse
from tests.shared import shared_case


@pytest.fixture(params=["whole file", "tiny pieces"])
def blocks(request, monkeypatch):
    """Every reading test runs also with pieces of a few bytes, so that cuts fall everywhere."""
    if request.param == "tiny pieces":
        monkeypatch.setattr(pieces, "_PIECE", 7)
        monkeypatch.setattr(pieces, "_READ", 5)
        monkeypatch.setattr(pieces, "threads_for", lambda path: 2)


@pytest.fixture
def file_of(tmp_path, blocks):
    def write(content):
        path = tmp_path / "toy_train.data"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("1 2\n3 4\n", [[1, 2], [3, 4]]),
        ("1 2 \n3 4 \n", [[1, 2], [3, 4]]),
        ("1\t2\r\n3  4\r\n", [[1, 2], [3, 4]]),
        ("1 2\n3 4", [[1, 2], [3, 4]]),
        ("1 2\r3 4\r", [[1, 2], [3, 4]]),
        ("\ufeff1 2\n3 4\n", [[1, 2], [3, 4]]),
        ("\n1 2\n\n3 4\n\n \n", [[1, 2], [3, 4]]),
        ("NaN nan\nNAN -1e-3\n", [[np.nan, np.nan], [np.nan, -0.001]]),
        ("5", [[5]]),
        ("+1 .5 5.\n", [[1, 0.5, 5]]),
        ("0.1 164620467585883168\n", [[0.1, 164620467585883168]]),
    ],
)
def test_dense_text_is_read_as_written(content, rows, file_of):
    np.testing.assert_array_equal(read_dense(file_of(content)), np.array(rows, dtype=float))


def test_an_empty_file_has_no_rows(file_of):
    assert read_dense(file_of(""), 3).shape == (0, 3)
    assert read_dense(file_of(" \n \n"), 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ("1 2\n3 x\n", "line 2", "'x' is not a number"),
        ("1 2\n3\n", "line 2", "1 value, 2 are expected"),
        ("1 2\n\n3 4 5\n", "line 3", "3 values, 2 are expected"),
        ("1,2\n3,4\n", "line 1", "separated by blanks"),
        ("1:2 3:4\n", "line 1", "sparse"),
        ("1 1.2.3\n", "line 1", "'1.2.3'"),
        ("1 1-2\n", "line 1", "'1-2'"),
        ("1 1_000\n", "line 1", "'1_000'"),
        ("1 2\n3 \x00\n", "line 2", "is not a number"),
        ("1 0x10\n", "line 1", "'0x10'"),
        ("1.2.3 x\n", "line 1", "'1.2.3'"),
        ("?\n", "line 1", "'?'"),
        ("1 2\n3 1e\n", "line 2", "'1e'"),
        ("1 e5\n", "line 1", "'e5'"),
        ("1 .\n", "line 1", "'.'"),
        ("1 1e5.5\n", "line 1", "'1e5.5'"),
        ("1 2\n3 4 5", "line 2", "3 values, 2 are expected"),
        ("1 1\x1c2\n", "line 1", "is not a number"),
        ("1 \u0661\n", "line 1", "is not a number"),
    ],
)
def test_an_error_in_dense_text_names_file_line_and_token(content, place, message, file_of):
    with pytest.raises(DataError) as caught:
        read_dense(file_of(content))
    assert caught.value.place == f"toy_train.data {place}"
    assert message in caught.value.message


def as_array(path, columns, binary=False, rows=None):
    return to_csr(read_sparse(path, columns, binary), rows).toarray()


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("1:1 3:2.5\n2:-1\n", [[1, 0, 2.5], [0, -1, 0]]),
        ("\n1:1\n", [[0, 0, 0], [1, 0, 0]]),
        ("1:1\n\n2:2 \n", [[1, 0, 0], [0, 0, 0], [0, 2, 0]]),
        ("1:1\r\n\r\n3:NaN\r\n", [[1, 0, 0], [0, 0, 0], [0, 0, np.nan]]),
        ("3:1 1:2\n2:7", [[2, 0, 1], [0, 7, 0]]),
    ],
)
def test_sparse_text_is_read_as_written(content, rows, file_of):
    np.testing.assert_array_equal(as_array(file_of(content), 3), np.array(rows))


def test_indices_alone_are_ones(file_of):
    np.testing.assert_array_equal(
        as_array(file_of("1 3 \n\n2\n"), 3, binary=True), [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    )


def test_blank_lines_at_the_end_are_rows_only_where_rows_are_expected(file_of):
    path = file_of("1:1\n\n\n")
    assert as_array(path, 2, rows=2).shape == (2, 2)
    assert as_array(path, 2, rows=1).shape == (1, 2)
    assert as_array(path, 2).shape == (3, 2)


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ("1:1\n0:5\n", "line 2", "index 0 is outside 1 to 3"),
        ("1:1 4:5\n", "line 1", "index 4 is outside 1 to 3"),
        ("1:1\n\n2:2 2:3\n", "line 3", "given twice"),
        ("1:1 2\n", "line 1", "'2' is not index:value"),
        ("1:1 2:\n", "line 1", "'2:' does not end with a number"),
        ("1:1 :2\n", "line 1", "':2' does not begin"),
        ("1:1 a:2\n", "line 1", "'a:2' does not begin"),
        ("1:1 1.5:2\n", "line 1", "'1.5:2' does not begin"),
        ("1:2:3 2\n", "line 1", "'1:2:3'"),
        ("-1:2\n", "line 1", "'-1:2'"),
        ("99999999999999999999999999:2\n", "line 1", "outside"),
        ("1:1\n2:1 3:1 2:5\n", "line 2", "'2:5': index 2 is given twice"),
        ("1:1 : 2:2\n", "line 1", "':' does not begin"),
        ("1:1 2: 3\n", "line 1", "'2:' does not end"),
    ],
)
def test_an_error_in_sparse_text_names_file_line_and_token(content, place, message, file_of):
    with pytest.raises(DataError) as caught:
        read_sparse(file_of(content), 3)
    assert caught.value.place == f"toy_train.data {place}"
    assert message in caught.value.message


@pytest.mark.parametrize(("content", "message"), [("1 2:1\n", "alone"), ("0 1\n", "outside"), ("1 x\n", "index")])
def test_an_error_among_indices_alone_is_named(content, message, file_of):
    with pytest.raises(DataError, match=message):
        read_sparse(file_of(content), 3, binary=True)


finite_or_missing = st.floats(allow_infinity=False, width=64)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(finite_or_missing, min_size=3, max_size=3), min_size=1, max_size=20))
def test_what_is_written_reads_back_bit_for_bit(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("dense") / "x.data"
    expected = np.array(rows)
    write_rows(path, expected)
    read = read_dense(path)
    np.testing.assert_array_equal(read, expected)
    assert (np.signbit(read) == np.signbit(expected))[~np.isnan(expected)].all()


def written(value: float, form: int, digits: int) -> str:
    """The value in one of the ways in which programs write numbers."""
    ways = (
        repr,
        "{:.17g}".format,
        "{:.18e}".format,
        f"{{:.{digits}f}}".format,
        f"{{:.{digits}e}}".format,
        "{:g}".format,
    )
    return ways[form](value)


ordinary = st.builds(written, st.floats(-1e7, 1e7), st.integers(0, 5), st.integers(0, 25))
any_size = st.builds(
    written, st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 5), st.integers(0, 25)
)
digit_runs = st.from_regex(r"[+-]?[0-9]{1,24}(\.[0-9]{0,26})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
# Exactly between two floats, and a hair beside it: where the last bit is decided by the last digit.
halves = st.builds(
    lambda mantissa, digit: f"{2 * mantissa + 1}{digit}",
    st.integers(2**52, 2**53 - 1),
    st.sampled_from(["", ".0", ".1"]),
)
rare = st.sampled_from(
    ["NaN", "nan", "-nan", "inf", "-Infinity", "-0", "-0.0", "+.5", "5.", "1e400", "1e-400", "0e999"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(ordinary, any_size, digit_runs, halves, rare), min_size=1, max_size=40), st.booleans())
def test_every_number_is_to_the_last_bit_what_float_makes_of_it(written_numbers, has_long_floats):
    with pytest.MonkeyPatch.context() as patch:
        if not has_long_floats:
            patch.setattr(numbers_module, "_HAS_64_BITS", False)
        found = Converter().dense(" ".join(written_numbers).encode()).values
    expected = np.array([float(word) for word in written_numbers])
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), ~is_number)
    np.testing.assert_array_equal(found[is_number].view(np.int64), expected[is_number].view(np.int64))


tokens = st.text(alphabet="0123456789.-+eEnaNxif:_, \t\r\n", max_size=60)


@settings(max_examples=300, deadline=None)
@given(tokens)
def test_the_fast_way_reads_what_pythons_own_float_reads(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "x.data"
    path.write_bytes(text.encode())
    lines = [line.split() for line in text.replace("\r\n", "\n").split("\n")]
    if "\n" not in text:
        lines = [line.split() for line in text.split("\r")]
    lines = [line for line in lines if line]
    try:
        expected = [[float(token) for token in line] for line in lines]
        right = "_" not in text and len({len(line) for line in lines}) <= 1
    except ValueError:
        right = False
    if right:
        np.testing.assert_array_equal(read_dense(path).tolist(), expected)
    else:
        with pytest.raises(DataError):
            read_dense(path)


@pytest.mark.parametrize(
    ("content", "info", "layout"),
    [
        ("1 2\n3 4\n", {"is_sparse": False, "feat_num": 2}, "dense"),
        ("1:2\n", {"is_sparse": False, "feat_num": 2}, "sparse"),
        ("\n\n1:2\n", {"is_sparse": True, "feat_num": 2}, "sparse"),
        ("1 2\n3\n", {"is_sparse": True, "feat_num": 3}, "sparse_binary"),
        ("0 2\n3 4\n", {"is_sparse": True, "feat_num": 2}, "dense"),
        ("1 2\n3\n", {}, "sparse_binary"),
        ("1 2\n3 4\n", {}, "dense"),
        ("1 2\n3\n", {"is_sparse": False}, "dense"),
    ],
)
def test_the_layout_is_found_from_info_and_content(content, info, layout, file_of):
    path = file_of(content)
    assert find_layout(path.parent, "toy", info) == layout


def test_madeline_reads_well_under_two_seconds():
    path = shared_case("datasets/madeline") / "madeline_train.data"
    begin = time.perf_counter()
    assert read_features(path, "dense", 259).shape == (3140, 259)
    assert time.perf_counter() - begin < 2


def test_large_whole_numbers_of_rl_survive():
    values = read_dense(shared_case("datasets/rl_derived") / "rl_test.data", 22)
    assert values[0, 6] == float("164620467585883168")
    assert np.isnan(values[0, 2])


def test_info_files_are_read_as_real_ones_are_written():
    text = (
        "\ufeffname = 'iris'\r\n"
        "\r\n"
        "# a comment\r\n"
        "task='multiclass.classification'   # trailing\r\n"
        'metric = "bac_metric"\r\n'
        "usage = 'what''s # this'\n"
        "feat_num =    4.0\n"
        "time_budget=12.5\n"
        "is_sparse = 0\n"
        "has_missing = True\n"
        "colour = blue # sky\n"
        "feat_num=5\n"
        "nonsense\n"
    )
    info, notes = parse_info(text)
    assert info["name"] == "iris" and info["task"] == "multiclass.classification"
    assert info["metric"] == "bac_metric" and info["colour"] == "blue"
    assert info["feat_num"] == 5 and info["time_budget"] == 12.5
    assert info["is_sparse"] is False and info["has_missing"] is True
    assert len(notes) == 2 and "line 12" in notes[0] and "line 13" in notes[1]


def test_a_name_that_looks_like_a_number_stays_text():
    assert parse_info("name = 2018\n")[0] == {"name": "2018"}


def test_a_row_that_is_out_of_order_is_sorted_wherever_the_pieces_are_cut(file_of):
    generator = np.random.default_rng(0)
    orders = [generator.permutation(40)[:17] for _ in range(30)]
    text = "".join(" ".join(f"{index + 1}:{index}.5" for index in order) + "\n" for order in orders)
    found = to_csr(read_sparse(file_of(text), 40))
    assert found.has_sorted_indices
    for row, order in enumerate(orders):
        assert found[row].indices.tolist() == sorted(order)
        assert found[row].data.tolist() == [index + 0.5 for index in sorted(order)]


def test_reading_goes_on_where_no_thread_can_be_started(file_of, monkeypatch):
    def refuse(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(pieces, "threads_for", lambda path: 2)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    np.testing.assert_array_equal(read_dense(file_of("1 2\n3 4\n" * 50)), [[1, 2], [3, 4]] * 50)
