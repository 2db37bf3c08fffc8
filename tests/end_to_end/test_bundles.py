"""Competitions of bundles from import to leaderboard: organizers' programs run as they are, in real sandboxes."""

import json
import math

import pytest

from tests.end_to_end.installation import Installation, Person

pytestmark = pytest.mark.services

NAMES = ("results_only", "four_datasets", "shortest_tour", "overlapping", "two_boards")


def tried(site: Installation, folder, *names: str) -> dict:
    """What import and submissions of these bundles came to."""
    return json.loads(site.python("-m", "tests.end_to_end.bundle_trials", str(folder), *names).splitlines()[-1])


@pytest.fixture(scope="module")
def trials(bubblewrap_site, tmp_path_factory):
    """All bundles, with the programs in bubblewrap."""
    return tried(bubblewrap_site, tmp_path_factory.mktemp("bundles"), *NAMES)


def run_of(answer: dict) -> dict:
    """The only run of a submission, with the submission's exit code."""
    (run,) = answer["runs"]
    return run


def board(site: Installation, slug: str) -> str:
    """The leaderboard as a visitor sees it, on one line."""
    answer = Person(site).get(f"/competitions/{slug}/leaderboard/")
    assert answer.status_code == 200
    return " ".join(answer.text.split())


@pytest.mark.bubblewrap
class TestInBubblewrap:
    def test_every_bundle_was_imported(self, trials):
        for name in NAMES:
            assert trials[name]["imported"]["ok"], trials[name]["imported"]

    def test_results_are_compared_with_the_hidden_ones(self, trials, bubblewrap_site):
        sent = trials["results_only"]["submitted"]
        assert sent["ann"]["code"] == sent["ben"]["code"] == 0, sent
        assert run_of(sent["ann"])["scores"] == {"accuracy": 0.75, "answers": 4}
        assert run_of(sent["ben"])["scores"] == {"accuracy": 1.0, "answers": 4}
        text = board(bubblewrap_site, trials["results_only"]["imported"]["slug"])
        assert text.index("1.000") < text.index("0.750")

    def test_a_scorer_that_cannot_cope_is_named_as_the_organizers(self, trials):
        answer = trials["results_only"]["submitted"]["cem"]
        assert (answer["code"], answer["state"], answer["reason"]) == (1, "failed", "scoring_failed")
        assert "organizer" in answer["sentence"] and "scoring_program" in answer["sentence"]

    def test_a_model_meets_four_datasets(self, trials, bubblewrap_site):
        run = run_of(trials["four_datasets"]["submitted"]["ann"])
        assert run["state"] == "finished", run
        scores = run["scores"]
        assert scores["set1_score"] == scores["set2_score"] == 1
        assert math.isclose(scores["set3_score"], 5 / 6) and math.isclose(scores["set4_score"], 0.75)
        assert scores["duration"] >= 0
        assert f"{(2 + 5 / 6 + 0.75) / 4:.4f}" in board(
            bubblewrap_site, trials["four_datasets"]["imported"]["slug"]
        )

    def test_a_model_that_breaks_the_ingestion_program_fails_with_it(self, trials):
        run = run_of(trials["four_datasets"]["submitted"]["ben"])
        assert (run["state"], run["reason"]) == ("failed", "ingestion_failed")
        assert run["scores"] == {}

    def test_the_shortest_tour_stands_first(self, trials, bubblewrap_site):
        sent = trials["shortest_tour"]["submitted"]
        assert math.isclose(run_of(sent["ann"])["scores"]["length"], 5 + math.sqrt(5)), sent
        assert run_of(sent["ben"])["scores"]["stops"] == 5
        assert sent["cem"]["reason"] == "scoring_failed"
        text = board(bubblewrap_site, trials["shortest_tour"]["imported"]["slug"])
        assert text.index("7.24") < text.index("9.16")

    def test_a_player_and_the_scorer_talk_while_both_run(self, trials):
        run = run_of(trials["overlapping"]["submitted"]["ann"])
        assert (run["state"], run["scores"]) == ("finished", {"guesses": 3, "found": 1}), run

    def test_two_boards_of_codalab_with_an_average_of_ranks(self, trials, bubblewrap_site):
        sent = trials["two_boards"]["submitted"]
        assert run_of(sent["ann"])["scores"]["north_acc"] == 0.9, sent
        assert run_of(sent["ben"])["scores"]["seconds"] == 10
        text = board(bubblewrap_site, trials["two_boards"]["imported"]["slug"])
        assert "Quality" in text and "Speed" in text and "North" in text
        assert text.index("1.25") < text.index("1.75")


@pytest.mark.docker
def test_programs_of_organizers_run_in_docker(docker_site, tmp_path):
    answers = tried(docker_site, tmp_path, "results_only", "overlapping")
    assert run_of(answers["results_only"]["submitted"]["ann"])["scores"] == {"accuracy": 0.75, "answers": 4}
    assert run_of(answers["overlapping"]["submitted"]["ann"])["scores"] == {"guesses": 3, "found": 1}
