"""The main paths, clicked by hand: an organizer's from nothing to a published competition, and a participant's."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import Locator, Page, expect

from competitions.models import Competition, Team
from leaderboards import board
from submissions.models import Submission
from tests.browser.shots import keep
from tests.platform import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOST_INTERACTIONS = 60


class Hand:
    """Does what a hand does on a page, and counts it: a click, a tick and a filled field are one each."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def _did(self, action: Callable[[], None]) -> None:
        self.count += 1
        action()

    @property
    def main(self) -> Locator:
        """The page without its frame."""
        return self.page.get_by_role("main")

    def follow(self, name: str, within: Locator | None = None) -> None:
        """Click a link."""
        self._did((within or self.page).get_by_role("link", name=name, exact=True).first.click)

    def press(self, name: str) -> None:
        """Click a button."""
        self._did(self.page.get_by_role("button", name=name, exact=True).first.click)

    def fill(self, label: str, text: str) -> None:
        """Type into a field."""
        field = self.page.get_by_label(re.compile(f"^{label}"))
        self._did(lambda: field.fill(text))

    def tick(self, label: str) -> None:
        """Tick a box or choose one of several; a box that is ticked already costs nothing."""
        box = self.page.get_by_label(re.compile(label)).first
        if not box.is_checked():
            self._did(box.check)


def test_an_organizer_sets_up_three_phases_on_two_datasets_and_publishes(open_page, sign_in):
    olga = make.user("olga")
    olga.user_permissions.add(Permission.objects.get(codename="add_competition"))
    for name in ("adult", "digits"):
        make.dataset(olga, name)
    page = open_page()
    sign_in(page, olga)
    page.goto("/competitions/")
    hand = Hand(page)

    hand.follow("New competition")
    hand.fill("Title", "Learning without help")
    hand.tick("A competition in three phases")
    keep(page, "organizer 1 new competition")
    hand.press("Make the draft")
    expect(page.get_by_text("is a draft: its organizers alone see it")).to_be_visible()
    keep(page, "organizer 2 the draft and its checklist")

    studio = page.get_by_role("navigation", name="Studio")
    hand.follow("Phases", within=studio)
    keep(page, "organizer 3 phases")
    hand.follow("Add datasets")
    hand.tick("Adult")  # the blind phase is not ticked: it gets the one that nobody has seen
    keep(page, "organizer 4 a dataset for two phases at once")
    hand.press("Add the datasets")
    hand.follow("Add datasets")
    hand.tick("Digits")
    hand.press("Add the datasets")

    hand.follow("Pages", within=studio)
    hand.follow("Edit Overview")
    hand.fill("Text", "# Welcome\n\nSend *code*.")
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    keep(page, "organizer 5 a text and its preview")
    hand.press("Save")
    hand.follow("Settings", within=studio)
    hand.tick("an organizer approves")
    hand.press("Save")

    hand.follow("Overview", within=studio)
    keep(page, "organizer 6 ready")
    hand.follow("Publish")
    keep(page, "organizer 7 what publishing does")
    hand.press("Publish")
    expect(page.get_by_role("heading", name="Published")).to_be_visible()
    keep(page, "organizer 8 published")

    contest = Competition.objects.get(title="Learning without help")
    assert contest.state == Competition.State.PUBLISHED
    assert contest.registration == Competition.Registration.APPROVAL
    named = [[task.dataset.slug for task in phase.tasks.all()] for phase in contest.phases()]
    assert named == [["adult"], ["adult"], ["digits"]]
    assert hand.count <= MOST_INTERACTIONS
    print(f"{hand.count} interactions")


def test_a_participant_joins_makes_a_team_submits_and_reads_the_board(open_page, sign_in, tmp_path):
    contest = make.competition("contest", title="The contest", max_team_size=3)
    phase = make.phase(contest)
    page = open_page()
    sign_in(page, make.user("alice"))
    make.participant(contest, make.user("bob"))
    page.goto("/competitions/")
    hand = Hand(page)

    hand.follow("The contest")
    keep(page, "participant 1 the competition")
    hand.press("Join")
    hand.follow("Team")
    keep(page, "participant 2 no team yet")
    hand.fill("Name of the team", "The sceptics")
    hand.press("Form the team")
    hand.fill("User name", "bob")
    hand.press("Ask to come in")
    expect(hand.main.get_by_text("bob").first).to_be_visible()
    keep(page, "participant 3 a team")

    hand.follow("Submissions", within=page.get_by_role("navigation", name="Competition"))
    page.get_by_label("Archive").set_input_files(make.code_zip(tmp_path))
    hand.press("Submit")
    page.wait_for_url(re.compile(r"/submissions/\d+/$"))
    keep(page, "participant 4 the submission")
    sent = Submission.objects.get()
    assert sent.entrant.team == Team.objects.get(name="The sceptics")

    for run in sent.runs.all():
        make.score(run, 0.75)
    Submission.objects.update(state=Submission.State.FINISHED)
    board.refresh_now(phase)
    hand.follow("Leaderboard")
    row = page.locator("tbody tr").first
    expect(row).to_contain_text("The sceptics")
    expect(row).to_contain_text("0.7500")
    keep(page, "participant 5 the board")

    guest = open_page()
    sign_in(guest, make.user("bob"))
    guest.goto(contest.get_absolute_url() + "team/")
    guest.get_by_role("button", name="Come in").click()
    expect(guest.get_by_role("heading", name="The sceptics")).to_be_visible()
    keep(guest, "participant 6 in the team")
