"""The proposed round follows the chapter's criteria and says why."""

from dataclasses import replace

import pytest

from datasets.card import Card
from datasets.rounds import propose, too_hard_for
from tests.platform.datasets import chapter_table

EASY = chapter_table.Row(
    1,
    "easy",
    {
        "Task": "binary", "Metric": "BAC", "C": "2", "Cbal": "1.0", "Sparse [recall]": "0", "Miss": "0",
        "#Cat cols": "0", "Pte": "500", "Pva": "200", "Ptr": "2000", "N": "50", "Ptr/N": "40",
    },
).card()  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "number", "word"),
    [
        ({}, 1, "Balanced binary classification"),
        ({"features": 2_000}, 2, "2,000 features"),
        ({"missing": 0.1}, 2, "10.0% of the values are missing"),
        ({"categorical": 3}, 2, "categorical"),
        ({"balance": 0.4}, 2, "unbalanced (0.40 of 1)"),
        ({"task": "multiclass.classification", "classes": 7}, 2, "multi-class classification begins later"),
        ({"features": 8_000}, 3, "8,000 features are more than 7,200"),
        ({"task": "multilabel.classification"}, 3, "multi-label classification begins later"),
        ({"task": "regression", "balance": None}, 4, "regression begins later"),
        ({"features": 1_000_000}, 4, "1,000,000 features"),
        ({"missing": 0.1, "categorical": 2, "balance": 0.2, "layout": "sparse"}, 5, "missing values, categorical"),
    ],
)
def test_each_criterion_moves_a_dataset_to_its_round_and_is_named(changed, number, word):
    proposal = propose(replace(EASY, **changed))
    assert proposal.number == number
    assert word in " ".join(proposal.reasons)


def test_rounds_have_the_names_of_the_challenge():
    cards: list[Card] = [EASY, replace(EASY, missing=0.1), replace(EASY, task="multilabel.classification")]
    assert [propose(card).name for card in cards] == ["Novice", "Intermediate", "Advanced"]


@pytest.mark.shared
def test_the_datasets_of_the_challenge_fit_the_rounds_they_were_in():
    for row in chapter_table.rows():
        if row.round in (1, 2, 3):
            assert not list(too_hard_for(row.card(), row.round)), row.name
            assert propose(row.card()).number <= row.round, row.name
