"""Setting up a competition from a blueprint."""

import datetime as dt
from collections.abc import Mapping, Sequence

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.base import record
from competitions.blueprints import BLUEPRINTS, PRIZES, Blueprint, phases_of, problems
from competitions.models import Competition, Organizer, Prize, Task
from datasets.models import Dataset


def create(
    blueprint: Blueprint,
    *,
    slug: str,
    owner: User,
    start: dt.datetime,
    title: str = "",
    datasets: Mapping[int, Sequence[Dataset]] | None = None,
    by: User | None = None,
) -> Competition:
    """Make a draft with the rounds and phases of a blueprint, owned by `owner`.

    `datasets` maps rounds to the datasets of all their phases. `by` is who asks; None is the operator.
    """
    if by is not None and not policy.may_create_competition(by):
        mend = "The operator of this site grants that."
        raise Refused("You may not make competitions here.", status=403, mend=mend)
    given = datasets or {}
    for number, found in given.items():
        if number not in blueprint.rounds:
            mend = f"It has {', '.join(f'round {there}' for there in blueprint.rounds)}."
            raise Refused(f"The template {blueprint.name} has no round {number}.", status=404, mend=mend)
        usable = policy.usable_datasets(by or owner)
        for dataset in found:
            policy.resolved(usable, dataset.pk, "dataset")
    ids = {number: [dataset.pk for dataset in found] for number, found in given.items()}
    refused = [problem for problem in problems(blueprint, start, ids) if not problem.is_warning]
    if refused:
        raise Refused(refused[0].message, mend=refused[0].mend)
    competition = Competition(
        slug=slug,
        title=title or blueprint.title,
        summary=blueprint.summary,
        max_team_size=blueprint.max_team_size,
        created_by=owner,
    )
    try:
        competition.full_clean()
    except ValidationError as problem:
        raise Refused(" ".join(problem.messages)) from problem
    with transaction.atomic():
        saved_at_a_free_address(competition)
        Organizer.objects.create(competition=competition, user=owner, role=Organizer.Role.OWNER)
        make_phases(competition, blueprint, start, given)
        text = f"The competition was set up from the template {blueprint.name}."
        record(competition, by=by, action="create", text=text, at=clock.now(competition), blueprint=blueprint.name)
    return competition


def saved_at_a_free_address(competition: Competition) -> None:
    """Save it; Refused where somebody else has taken its address in this moment."""
    try:
        with transaction.atomic():
            competition.save()
    except IntegrityError as problem:
        raise Refused(f"The address {competition.slug} is taken.", status=409, mend="Choose another.") from problem


def make_phases(
    competition: Competition,
    blueprint: Blueprint,
    start: dt.datetime,
    datasets: Mapping[int, Sequence[Dataset]],
) -> None:
    """Save rounds, phases and prizes of a blueprint that starts then, with the datasets of each round."""
    for shape, phase in zip(blueprint.shapes, phases_of(blueprint, start, competition), strict=True):
        if phase.round.pk is None:
            phase.round.save()
        # Saved after the phase was made: Django keeps the id that an object had when it was assigned.
        phase.round, phase.parent = phase.round, phase.parent
        phase.save()
        for order, dataset in enumerate(datasets.get(shape.round, ())):
            Task.objects.create(phase=phase, dataset=dataset, order=order)
        if shape.has_prizes:
            for place, title in enumerate(PRIZES, start=1):
                Prize.objects.create(phase=phase, place=place, title=title)


def blueprint_named(name: str) -> Blueprint:
    """The blueprint of that name, or a refusal that names those there are."""
    if name not in BLUEPRINTS:
        mend = f"There are {', '.join(BLUEPRINTS)}."
        raise Refused(f"There is no template {name!r}.", status=404, mend=mend)
    return BLUEPRINTS[name]
