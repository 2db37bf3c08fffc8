"""The pages of fact sheets: answering, asking, and reading what was answered."""

import json

import pytest
from django.test import Client

from competitions.models import Answer, Entrant, Question
from leaderboards import board
from pages import fact_sheet_plot
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition("contest")


def browser(name):
    client = Client()
    client.force_login(make.user(name))
    return client


@pytest.fixture
def olga(contest):
    return browser("olga")


@pytest.fixture
def alice(contest):
    make.participant(contest, make.user("alice"))
    return browser("alice")


def asked(contest, **fields):
    order = contest.questions.count()
    return Question.objects.create(**{"competition": contest, "text": "Which method?", "order": order, **fields})


def answered(question, name, value):
    return Answer.objects.create(
        question=question, entrant=make.entrant(question.competition, make.user(name)), value=value
    )


def text(response):
    return " ".join(response.content.decode().split())


def url(ending=""):
    return f"/competitions/contest/{ending}"


def test_a_participant_answers_every_kind_of_question(contest, alice):
    kinds = [
        asked(contest, is_required=True),
        asked(contest, kind="choice", choices=["trees", "nets"], text="Models?"),
        asked(contest, kind="choices", choices=["cpu", "gpu"], text="Machines?"),
        asked(contest, kind="number", unit="hours", text="How long?"),
    ]
    page = text(alice.get(url("fact-sheet/")))
    assert 'href="/competitions/contest/fact-sheet/" aria-current="page"' in page
    assert "1 required question has no answer" in page
    sent = ["Stacked trees.", "trees", ["cpu", "gpu"], "12.5"]
    names = [f"question{question.pk}" for question in kinds]
    answer = alice.post(url("fact-sheet/"), dict(zip(names, sent, strict=True)), follow=True)
    assert "Your answers were saved." in text(answer)
    assert list(Answer.objects.order_by("question__order").values_list("value", flat=True)) == [*sent[:3], 12.5]
    page = text(alice.get(url("fact-sheet/")))
    assert "Stacked trees.</textarea>" in page
    assert 'value="12.5"' in page
    assert page.count(" checked") == 3


def test_a_wrong_answer_is_told_beside_its_question_and_nothing_is_lost(contest, alice):
    method, hours = asked(contest), asked(contest, kind="number", maximum=24, text="Hours?")
    answer = alice.post(url("fact-sheet/"), {f"question{method.pk}": "Trees.", f"question{hours.pk}": "25"})
    assert answer.status_code == 400
    assert "This has to be at most 24." in text(answer)
    assert "Trees.</textarea>" in text(answer)
    assert not Answer.objects.exists()


def test_the_tab_is_there_where_something_is_asked_and_the_sheet_is_for_participants(contest, alice):
    assert "Fact sheet</a>" not in text(alice.get(url()))
    asked(contest)
    assert "Fact sheet</a>" in text(alice.get(url()))
    assert "Fact sheet</a>" not in text(Client().get(url()))
    assert browser("charlie").get(url("fact-sheet/")).status_code == 403


def test_a_missing_sheet_is_told_on_every_page_of_the_competition(contest, alice):
    asked(contest, is_required=True)
    make.entrant(contest, make.user("alice"))
    assert "your fact sheet misses required answers" in text(alice.get(url()))


def test_the_board_says_whose_fact_sheet_is_missing(contest, alice):
    asked(contest, is_required=True)
    phase = make.phase(contest, tasks=1)
    make.score(make.submission(phase, make.user("alice"), state="finished").runs.get(), 0.9)
    board.refresh_now(phase)
    assert "fact sheet missing" in text(Client().get(url("leaderboard/")))
    assert "fact sheet missing" in Client().get(url("leaderboard.csv")).content.decode()


def test_an_organizer_asks_moves_and_removes_questions(contest, olga):
    assert "You ask nothing yet" in text(olga.get(url("manage/fact-sheet/")))
    for words in ("Which method?", "Which machine?"):
        sent = {"text": words, "kind": "choice", "choices": "one\r\n\r\ntwo \r\n"}
        assert olga.post(url("manage/fact-sheet/add/"), sent).status_code == 302
    first, second = contest.questions.all()
    assert first.choices == ["one", "two"]
    olga.post(url(f"manage/fact-sheet/questions/{second.pk}/move/"), {"to": "up"})
    assert list(contest.questions.all()) == [second, first]
    page = text(olga.post(url(f"manage/fact-sheet/questions/{first.pk}/remove/")))
    assert "leaves the fact sheet. Nobody has answered it." in page
    olga.post(url(f"manage/fact-sheet/questions/{first.pk}/remove/"), {"confirm": "yes"})
    assert list(contest.questions.all()) == [second]


def test_a_question_that_cannot_be_answered_comes_back_with_what_is_wrong(contest, olga):
    sent = {"text": "Which?", "kind": "choice", "choices": "one"}
    answer = olga.post(url("manage/fact-sheet/add/"), sent)
    assert answer.status_code == 400
    assert "A choice has from 2 to 30 answers" in text(answer)


def test_an_edit_that_removes_answers_is_shown_before_it_happens(contest, olga):
    question = asked(contest, kind="choice", choices=["trees", "nets"])
    answered(question, "alice", "trees")
    where = url(f"manage/fact-sheet/questions/{question.pk}/")
    assert "1 entrant answered this already" in text(olga.get(where))
    sent = {"text": "Which method?", "kind": "choice", "choices": "nets\nboth"}
    page = text(olga.post(where, sent))
    assert "1 of 1 answers do not fit" in page
    assert Answer.objects.exists()
    assert olga.post(where, {**sent, "confirm": "yes"}).status_code == 302
    assert not Answer.objects.exists()
    assert Question.objects.get().choices == ["nets", "both"]


def test_the_summary_counts_and_plots_what_was_answered(contest, olga, django_assert_max_num_queries):
    models = asked(contest, kind="choices", choices=["trees", "nets"], text="Models?")
    hours = asked(contest, kind="number", text="Hours?")
    method = asked(contest)
    for index, name in enumerate(("alice", "bob", "carol")):
        answered(models, name, ["trees"] if index else ["trees", "nets"])
        answered(hours, name, float(index))
        answered(method, name, f"<b>{name}</b> writes")
    with django_assert_max_num_queries(12):
        page = text(olga.get(url("manage/fact-sheet/answers/")))
    assert "3 of 3 answered; several choices each" in page
    assert '<th scope="row">trees</th>' in page
    assert "<dt>Mean</dt><dd>1</dd>" in page
    assert "&lt;b&gt;alice&lt;/b&gt; writes" in page
    assert "0 of 0 answered" in text(olga.get(url("manage/fact-sheet/answers/?who=submitted")))


def test_each_entrants_sheet_can_be_read_and_those_who_owe_are_found(contest, olga):
    question = asked(contest, is_required=True)
    answered(question, "alice", "Trees.")
    make.entrant(contest, make.user("bob"))
    Entrant.objects.filter(name="alice").update(owes_answers=False)
    page = text(olga.get(url("manage/fact-sheet/entrants/?owing=1")))
    assert "bob" in page
    assert "alice" not in page
    sheet = text(olga.get(url(f"manage/fact-sheet/entrants/{Entrant.objects.get(name='alice').pk}/")))
    assert "<dd><p>Trees." in sheet or "Trees." in sheet


def test_exports_hold_every_answer_and_no_formula(contest, olga):
    models = asked(contest, kind="choices", choices=["trees", "=nets"], text="=Models?")
    hours = asked(contest, kind="number", unit="h", text="Hours?")
    answered(models, "alice", ["=nets"])
    answered(hours, "alice", -2.0)
    make.entrant(contest, make.user("bob"), name="@bob")
    csv = b"".join(olga.get(url("manage/fact-sheet/answers.csv")).streaming_content).decode().splitlines()
    assert csv == [
        "entrant,is a team,status,'=Models?,Hours? (h)",
        "'@bob,no,entrant,,",
        "alice,no,entrant,'=nets,-2",
    ]
    told = json.loads(b"".join(olga.get(url("manage/fact-sheet/answers.json")).streaming_content))
    assert told["entrants"][1]["answers"] == [["=nets"], -2.0]
    assert told["questions"][1] == {"text": "Hours?", "kind": "number", "is_required": False, "unit": "h"}


@pytest.mark.parametrize(
    "values",
    [[1.0], [0.0, 0.0], [1.0, 2.0, 3.0], [0.1, 0.2, 0.3, 12.5], [-1e9, 1e9], [1e300, 1e-300], [float(2**53)] * 2],
    ids=str,
)
def test_every_number_falls_into_one_bin_that_holds_it(values):
    bins = fact_sheet_plot.numbers(values).bins
    assert sum(one.count for one in bins) == len(values)
    assert bins[0].low <= min(values) <= max(values) <= bins[-1].high
    assert len(bins) <= fact_sheet_plot.MOST_BINS + 2
