"""What every template may use."""

from django.http import HttpRequest

from submissions.models.worker import code_runs_unconfined


def site(request: HttpRequest) -> dict[str, object]:
    """Return the state of the installation that pages show in their frame."""
    return {"code_runs_unconfined": code_runs_unconfined()}
