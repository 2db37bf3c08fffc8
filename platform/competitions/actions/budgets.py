"""Giving a phase the budget of a preset."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, ClassVar

from django.core.exceptions import ValidationError

from accounts.refusals import Refused
from competitions import guards
from competitions.actions.base import Preview
from competitions.actions.release import OfPhase
from competitions.models import Phase
from competitions.presets import PRESETS, in_words


@dataclass
class ApplyPreset(OfPhase):
    """Set a phase's time, cores and memory to those of a preset (competitions/presets.py)."""

    preset: str

    name: ClassVar[str] = "apply_preset"

    def check(self, now: dt.datetime) -> None:
        """Runs keep the budget they were made with, so that a phase which has submissions keeps its own."""
        if self.preset not in PRESETS:
            raise Refused(
                f"There is no preset {self.preset}.", status=404, mend=f"There are {', '.join(PRESETS)}."
            )
        try:
            guards.clean_phase(self._changed())
        except ValidationError as problem:
            raise Refused(" ".join(problem.messages), status=409) from problem

    def _changed(self) -> Phase:
        changed = Phase.objects.select_related("round__competition").get(pk=self.phase.pk)
        for name, value in PRESETS[self.preset].fields(changed.round.number).items():
            setattr(changed, name, value)
        return changed

    def preview(self, now: dt.datetime) -> Preview:
        """The budget that every run would have."""
        return Preview([f"Every run of {self.phase.title} may use {in_words(self._changed(), [])}."])

    def change(self, now: dt.datetime) -> str:
        """Set the budget."""
        changed = self._changed()
        changed.save(update_fields=["wall_seconds", "cores", "memory_bytes"])
        self.phase.refresh_from_db()
        return f"{changed.title} has the budget of {PRESETS[self.preset].title}: {in_words(changed, [])}."

    def details(self) -> dict[str, Any]:
        """The phase and the preset."""
        return {**super().details(), "preset": self.preset}
