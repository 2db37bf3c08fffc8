"""Fact sheets: what an answer may be, who owes one, and what changing a question does."""

import pytest

from accounts.refusals import Refused
from competitions import fact_sheets, teams
from competitions.actions import entrant_of
from competitions.actions.fact_sheet import AddQuestion, EditQuestion, MoveQuestion, RemoveQuestion
from competitions.models import Answer, AuditEntry, Entrant, Question
from leaderboards import board
from leaderboards.models import LeaderboardRow
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition(max_team_size=2)


@pytest.fixture
def alice(contest):
    person = make.user("alice")
    make.participant(contest, person)
    return person


def asked(contest, **fields):
    order = fact_sheets.last_place(contest)
    return Question.objects.create(**{"competition": contest, "text": "Which method?", "order": order, **fields})


def added(contest, **fields):
    """The same through the action, which brings places up to date."""
    question = Question(**{"competition": contest, "text": "Which method?", **fields})
    AddQuestion(by=contest.created_by, question=question).execute()
    return question


def refusal(act, *args, **kwargs):
    with pytest.raises(Refused) as caught:
        act(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("fields", "texts", "value"),
    [
        ({"kind": "text"}, ["  Trees.\r\nMany. "], "Trees.\nMany."),
        ({"kind": "number"}, ["0.5"], 0.5),
        ({"kind": "choice", "choices": ["a", "b"]}, ["b"], "b"),
        ({"kind": "choices", "choices": ["a", "b", "c"]}, ["c", "a"], ["a", "c"]),
        ({"kind": "choice", "choices": ["a", "b"]}, [""], None),
        ({"kind": "number"}, [" "], None),
        ({"kind": "choices", "choices": ["a", "b"]}, [], None),
    ],
    ids=str,
)
def test_answers_are_read_by_their_kind(fields, texts, value):
    assert fact_sheets.read(Question(text="?", **fields), texts) == value


@pytest.mark.parametrize(
    ("fields", "texts", "told"),
    [
        ({"kind": "number"}, ["many"], "'many' is not a number"),
        ({"kind": "number"}, ["nan"], "finite"),
        ({"kind": "number"}, ["1e999"], "finite"),
        ({"kind": "number"}, ["-1e308"], "to 1e+15 on either side"),
        ({"kind": "number"}, ["5e-324"], "from 1e-15"),
        ({"kind": "number", "minimum": 1}, ["0"], "at least 1"),
        ({"kind": "number", "maximum": 24}, ["25"], "at most 24"),
        ({"kind": "choice", "choices": ["a", "b"]}, ["c"], "Choose one"),
        ({"kind": "choices", "choices": ["a", "b"]}, ["a", "c"], "Choose among"),
        ({"kind": "text"}, ["x" * 5001], "at most 5,000 characters"),
    ],
    ids=str,
)
def test_what_is_no_answer_is_refused_in_a_sentence(fields, texts, told):
    assert told in refusal(fact_sheets.read, Question(text="?", **fields), texts)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"text": " "}, "needs a text"),
        ({"kind": "choice", "choices": ["a"]}, "from 2 to 30"),
        ({"kind": "choices", "choices": ["a", " a"]}, "are the same"),
        ({"kind": "number", "minimum": 2, "maximum": 1}, "larger than the largest"),
    ],
    ids=str,
)
def test_a_question_that_nobody_could_answer_is_not_asked(contest, fields, told):
    assert told in refusal(added, contest, **fields)
    assert not Question.objects.exists()


def test_a_new_entrant_owes_the_answers_that_are_required(contest, alice):
    asked(contest)
    assert entrant_of(contest, alice).is_ranked
    asked(contest, is_required=True)
    bob = make.user("bob")
    make.participant(contest, bob)
    assert not entrant_of(contest, bob).is_ranked
    assert make.entrant(contest, make.user("base"), is_baseline=True).owes_answers is False


def test_whoever_answered_all_that_is_required_takes_a_place(contest, alice):
    first, second = asked(contest, is_required=True), asked(contest, is_required=True)
    fact_sheets.answer(contest, alice, {first.pk: "Trees."})
    assert not Entrant.objects.get().is_ranked
    fact_sheets.answer(contest, alice, {second.pk: "Two."})
    assert Entrant.objects.get().is_ranked
    fact_sheets.answer(contest, alice, {first.pk: None})
    assert not Entrant.objects.get().is_ranked


def test_a_team_answers_together(contest, alice):
    question = asked(contest, is_required=True)
    bob = make.user("bob")
    make.participant(contest, bob)
    team = teams.create(contest, alice, "The Team")
    teams.invite(team, bob, by=alice)
    teams.accept(team, bob)
    fact_sheets.answer(contest, bob, {question.pk: "Trees."})
    assert Answer.objects.get().entrant == team.entrant
    assert Entrant.objects.get(team=team).is_ranked


def test_only_participants_answer_and_questions_of_others_are_left_alone(contest, alice):
    elsewhere = asked(make.competition())
    assert "Only participants" in refusal(fact_sheets.answer, contest, make.user("charlie"), {})
    fact_sheets.answer(contest, alice, {elsewhere.pk: "x"})
    assert not Answer.objects.exists()


def test_the_board_gives_no_place_before_the_fact_sheet_is_there(contest, alice):
    phase = make.phase(contest, tasks=1)
    for name, score in (("alice", 0.9), ("bob", 0.8)):
        make.score(make.submission(phase, make.user(name), state="finished").runs.get(), score)
    board.refresh_now(phase)
    assert places() == {"alice": 1, "bob": 2}
    question = added(contest, is_required=True)
    assert places() == {"alice": None, "bob": None}
    fact_sheets.answer(contest, alice, {question.pk: "Trees."})
    assert places() == {"alice": 1, "bob": None}
    assert board.stored(phase) == board.recomputed(phase)
    RemoveQuestion(by=contest.created_by, question=question).execute()
    assert places() == {"alice": 1, "bob": 2}


def places():
    return dict(LeaderboardRow.objects.values_list("entrant__name", "rank"))


def test_an_edit_says_which_answers_it_removes_and_removes_those_alone(contest, alice):
    question = asked(contest, kind="choice", choices=["trees", "nets", "both"])
    for name, value in (("alice", "trees"), ("bob", "nets")):
        Answer.objects.create(question=question, entrant=make.entrant(contest, make.user(name)), value=value)
    question.choices = ["nets", "both"]
    action = EditQuestion(by=contest.created_by, question=question)
    assert "1 of 2 answers do not fit" in action.preview(None).sentences[0]
    action.execute()
    assert Answer.objects.get().value == "nets"
    assert "1 answers did not fit" in AuditEntry.objects.get().text


def test_an_edit_that_makes_a_question_required_says_who_loses_the_place(contest):
    question = asked(contest)
    for name in ("alice", "bob", "carol"):
        entrant = make.entrant(contest, make.user(name))
    Answer.objects.create(question=question, entrant=entrant, value="Trees.")
    question.is_required = True
    action = EditQuestion(by=contest.created_by, question=question)
    assert "2 entrants have not answered it" in action.preview(None).sentences[-1]
    action.execute()
    assert set(Entrant.objects.filter(owes_answers=True).values_list("name", flat=True)) == {"alice", "bob"}


def test_a_change_of_words_alone_keeps_the_answers_and_says_so(contest, alice):
    question = asked(contest)
    fact_sheets.answer(contest, alice, {question.pk: "Trees."})
    question.text = "Which models?"
    action = EditQuestion(by=contest.created_by, question=question)
    assert "1 answers are there already" in action.preview(None).sentences[0]
    action.execute()
    assert Answer.objects.count() == 1


def test_questions_are_moved(contest):
    first, second = asked(contest, text="One?"), asked(contest, text="Two?")
    MoveQuestion(by=contest.created_by, question=second, earlier=True).execute()
    assert [question.text for question in contest.questions.all()] == ["Two?", "One?"]
    assert "at the end already" in refusal(
        MoveQuestion(by=contest.created_by, question=first, earlier=False).execute
    )


def test_only_editors_change_questions(contest, alice):
    question = asked(contest)
    assert "Only organizers" in refusal(RemoveQuestion(by=alice, question=question).execute)


def test_nobody_owes_an_answer_in_a_rehearsal(contest):
    rehearsal = make.competition(rehearses=contest)
    question = asked(rehearsal, is_required=True)
    entrant = make.entrant(rehearsal, make.user("simulated"))
    assert entrant.is_ranked
    EditQuestion(by=rehearsal.created_by, question=question).execute()
    assert Entrant.objects.get().is_ranked
