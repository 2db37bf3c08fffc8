"""Cards say what the chapter's table says, and show people no more than they may know."""

import json
import lzma

import numpy as np
import pytest
import scipy.sparse

from datasets.card import Card, Shown, class_balance, make_card, public_card
from ingestion.dataset import check_dataset
from ingestion.program.data import class_indices
from ingestion.program.info import read_info
from ingestion.program.text import read_dense
from tests.platform.datasets import chapter_table
from tests.platform.datasets.materials import MULTILABEL, REGRESSION, noise, thin, written
from tests.shared import shared_case


def card_of(folder, **fields) -> Card:
    return make_card(folder, check_dataset(folder).facts, **fields)


@pytest.mark.shared
def test_the_cards_of_the_20_challenge_datasets_agree_with_the_chapter(tmp_path):
    reference = shared_case("published_2016/reference")
    printed = {row.name: row.printed for row in chapter_table.rows()}
    compared = 0
    for info_file in sorted(reference.glob("*_public.info")):
        name = info_file.name.removesuffix("_public.info")
        told, info = printed[name], read_info(info_file)
        text = tmp_path / "test.solution"
        text.write_bytes(lzma.decompress((reference / f"{name}_test.solution.xz").read_bytes()))
        solution = read_dense(text)
        targets = class_indices(solution, info["task"], info["label_num"] or None)
        classes = 0 if info["task"] == REGRESSION else max(2, solution.shape[1])
        balance = class_balance(targets, info["task"], classes)
        assert ("" if balance is None else f"{balance:.3f}") == told["Cbal"], name
        assert (classes, len(solution)) == (int(told["C"]), int(told["Pte"])), name
        compared += 1
    assert compared == 20


@pytest.mark.shared
def test_the_card_of_madeline_is_the_row_of_the_chapter():
    card = card_of(shared_case("datasets/madeline"))
    told = next(row.printed for row in chapter_table.rows() if row.name == "madeline")
    row = card.row()
    assert f"{row['Cbal']:.3f}" == told["Cbal"]
    assert f"{row['Sparse']:.1e}" == told["Sparse [recall]"]
    assert f"{row['Ptr/N']:.2f}" == told["Ptr/N"]
    exact = {"C": "C", "Miss": "Miss", "Cat": "#Cat cols", "Pte": "Pte", "Pva": "Pva", "Ptr": "Ptr", "N": "N"}
    assert {column: row[column] for column in exact} == {
        column: float(told[theirs]) for column, theirs in exact.items()
    }
    assert card.file_bytes["_train.data"] > 1_000_000


def test_a_card_counts_types_gaps_and_classes(tmp_path):
    X, y = noise()
    X[:, 1] = y
    X[:6, 0] = X[3:6, 2] = np.nan
    types = ["Numerical", "Binary", "Numerical", "Categorical"]
    card = card_of(written(tmp_path, X, y, feat_types=types, label_names=["no", "yes"]), irrelevant=0.5)
    assert card.types == {"Numerical": 2, "Binary": 1, "Categorical": 1}
    assert (card.missing_features, card.missing_rows) == (2, 6)
    assert card.missing == pytest.approx(9 / 240)
    assert [share.label for share in card.shares] == ["no", "yes"]
    assert sum(share.rows for share in card.shares) == 60
    assert (card.irrelevant, card.train_rows, card.valid_rows, card.test_rows) == (0.5, 60, 20, 20)


def test_gaps_of_a_sparse_set_are_counted(tmp_path):
    X = thin(100, 30)
    X[2, 5] = X[4, 5] = X[4, 6] = np.nan
    card = card_of(written(tmp_path, X.tocsr(), noise()[1], sparse=True))
    assert (card.missing_features, card.missing_rows, card.layout) == (2, 2, "sparse")


def test_the_balance_of_labels_counts_their_occurrences():
    labels = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [1, 1, 0]])
    shares = np.array([4, 2]) / 6
    expected = -(shares * np.log(shares)).sum() / np.log(3)
    assert class_balance(labels, MULTILABEL, 3) == pytest.approx(expected)


def test_regression_has_no_balance_and_no_classes(tmp_path):
    X, _ = noise()
    card = card_of(written(tmp_path, X, X[:, 0] * 2, task=REGRESSION, metric="r2"))
    assert (card.balance, card.train_balance, card.shares, card.classes) == (None, None, (), 0)


def test_a_card_reads_back_from_json(tmp_path):
    card = card_of(written(tmp_path, *noise()))
    assert Card.from_json(json.loads(json.dumps(card.to_json()))) == card
    assert Card.from_json({**card.to_json(), "added_in_a_later_release": 1}) == card


def shown_of(tmp_path, shown, name=""):
    X, y = noise()
    y[-20:] = [0] * 19 + [1]
    folder = written(tmp_path, X, y, label_names=["ill", "well"], feature_names=list("abcd"))
    return public_card(card_of(folder, irrelevant=0.25), shown=shown, name=name)


def test_nothing_is_shown_of_a_blind_dataset(tmp_path):
    assert shown_of(tmp_path, Shown.NOTHING) is None


def test_a_concealed_card_tells_no_name_and_nothing_of_hidden_targets_or_probes(tmp_path):
    card = shown_of(tmp_path, Shown.CONCEALED, "dataset1")
    text = json.dumps(card.to_json())
    assert card.name == "dataset1"
    assert not [word for word in ("small", "ill", "well", ".name") if word in text]
    assert card.balance == card.train_balance > 0.9
    assert card.irrelevant is None


def test_a_named_card_names_classes_but_tells_nothing_of_hidden_targets(tmp_path):
    card = shown_of(tmp_path, Shown.NAMED)
    assert (card.name, [share.label for share in card.shares]) == ("small", ["ill", "well"])
    assert card.balance == card.train_balance
    assert card.irrelevant is None


def test_everything_is_shown_when_all_is_over(tmp_path):
    card = shown_of(tmp_path, Shown.ALL)
    assert card.irrelevant == 0.25
    assert card.balance < 0.5 < card.train_balance


def test_a_dense_table_and_the_same_as_sparse_have_the_same_numbers(tmp_path):
    X, y = np.array(thin(100, 10).toarray()), noise()[1]
    dense = card_of(written(tmp_path / "dense", X, y)).row()
    sparse = card_of(written(tmp_path / "sparse", scipy.sparse.csr_matrix(X), y, sparse=True)).row()
    assert dense == sparse
