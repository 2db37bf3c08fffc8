"""The rows of a competition that is made of a bundle, all but its phases."""

from __future__ import annotations

from accounts.models import User
from bundles.importing.texts import Texts
from bundles.reading.contest import BundleContest
from competitions.models import Column, ColumnBoard, Competition, Question

TEAM_SIZE = 20  # where a bundle allows teams; neither version says how large


def competition_of(contest: BundleContest, texts: Texts, *, slug: str, organizer: User) -> Competition:
    """The competition itself, not saved."""
    registration = Competition.Registration
    return Competition(
        slug=slug,
        title=contest.title,
        summary=contest.summary,
        registration=registration.APPROVAL if contest.approves_registration else registration.OPEN,
        reward=contest.reward,
        contact_email=contest.contact_email,
        programs_are_public=contest.programs_are_public,
        labels_are_readable=bool(contest.labels_in_reach),
        overview=texts.overview,
        evaluation=texts.evaluation,
        rules=texts.rules,
        max_team_size=TEAM_SIZE if contest.allows_teams else 1,
        created_by=organizer,
    )


def save_boards(contest: BundleContest, competition: Competition) -> None:
    """Save the boards with their columns."""
    for place, source in enumerate(contest.boards):
        board = ColumnBoard.objects.create(
            competition=competition,
            key=source.key,
            title=source.title,
            order=place,
            is_hidden=source.is_hidden,
            rule=source.rule,
            primary=source.primary,
        )
        Column.objects.bulk_create(
            Column(
                board=board,
                key=column.key,
                title=column.title,
                group=column.group,
                order=order,
                is_ascending=column.is_ascending,
                precision=column.precision,
                is_hidden=column.is_hidden,
                computation=column.computation,
                fields=list(column.fields),
                weights=list(column.weights),
            )
            for order, column in enumerate(source.columns)
        )


def save_questions(contest: BundleContest, competition: Competition) -> None:
    """Save the fact sheet."""
    for order, source in enumerate(contest.questions):
        Question.objects.create(
            competition=competition,
            order=order,
            key=source.key,
            text=source.text,
            kind=source.kind,
            choices=list(source.choices),
            is_required=source.is_required,
            is_on_board=source.is_on_board,
        )
