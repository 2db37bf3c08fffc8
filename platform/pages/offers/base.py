"""What an action looks like to the pages: its label, on what it acts, what it asks, and how it is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from accounts.models import User
from competitions.actions.base import Action
from competitions.models import Competition, Entrant, Phase, Task
from submissions.models import Run, Submission


class Nothing(forms.Form):
    """No questions."""


class Why(forms.Form):
    """A reason that is kept."""

    why = forms.CharField(max_length=300, label="Why")


@dataclass(frozen=True)
class Asked:
    """Who asks, in which competition, on what, with which answers."""

    by: User
    competition: Competition
    phase: Phase | None
    task: Task | None
    submission: Submission | None
    run: Run | None
    entrant: Entrant | None
    answers: Mapping[str, Any]


@dataclass(frozen=True)
class Offer:
    """One action as the pages offer it. `on` names the parameter that says on what it acts.

    `back` is the name of the section that one came from and gets back to; what acts on a submission leads to the
    submission's page.
    """

    label: str
    on: str
    form: type[forms.Form]
    make: Callable[[Any], Action]
    is_dangerous: bool = False
    back: str = "manage"
