"""Answers to questions of the apps below."""

from typing import Any

from django.dispatch import receiver

from accounts.signals import registration_asked
from submissions.models.worker import code_runs_unconfined


@receiver(registration_asked)
def no_strangers_without_a_sandbox(**kwargs: Any) -> bool:
    """Registration of others is closed while code runs unconfined."""
    return not code_runs_unconfined()
