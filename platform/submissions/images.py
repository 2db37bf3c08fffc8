"""Which workers can run in an image, and which build of it a run has started in."""

from collections.abc import Sequence
from typing import TypedDict

from competitions import images as allowed
from competitions.models import Phase
from ingestion.image_names import BUNDLES_IMAGE, how_to_get
from submissions.models import BuiltImage, Worker
from submissions.models.worker import living_workers

NO_NUMPY = "has no Python 3.9 with numpy and scipy, which run a model.py"


class AnnouncedImage(TypedDict):
    """An image that a worker has, as `ingestion.sandbox.base.KnownImage`."""

    name: str
    id: str
    packages: list[str]
    problem: str
    runs_models: bool


def announced(worker: Worker, image: str) -> AnnouncedImage | None:
    """What the worker says about the image, or about its own one where the name is empty."""
    wanted = image or worker.default_image
    return next((found for found in worker.images or [] if found["name"] == wanted), None)


def refusal(worker: Worker, image: str, *, for_model: bool) -> str:
    """Why a run in this image cannot happen at this worker, as what the worker is or does; empty when it can.

    A run that names no image also happens at workers whose sandbox has none.
    """
    if not allowed.is_allowed(image):
        return f"may not use the image {image}, which the operator does not allow"
    if worker.sandbox != "docker" or worker.images is None:
        return f"has no images, and the run needs {image}" if image else ""
    found = announced(worker, image)
    if found is None:
        return f"has no image {image or worker.default_image}"
    problem = _problem(found, for_model=for_model)
    return f"cannot use the image {found['name']}, which {problem}" if problem else ""


def why_nobody(workers: Sequence[Worker], image: str, *, for_model: bool) -> str:
    """The sentence for a run that waits because of its image; empty where that is not what is missing."""
    if not allowed.is_allowed(image):
        return f"The operator of this site does not allow the image {image} any more."
    if any(not refusal(worker, image, for_model=for_model) for worker in workers):
        return ""
    name = image or next((worker.default_image for worker in workers if worker.default_image), "")
    for worker in workers:
        found = announced(worker, image)
        problem = _problem(found, for_model=for_model) if found else ""
        if found and problem:
            return f"The image {found['name']} {problem.rstrip('.')}."
    if not name:
        return ""
    return f"No connected worker has the image {name}. A worker's operator gets it with: {how_to_get(name)}"


def missing_for(phases: Sequence[Phase]) -> list[tuple[Phase, str]]:
    """Those of the phases whose image no connected worker can use now, each with the sentence that says why."""
    workers = living_workers() if phases else []
    told = [(phase, why_nobody(workers, phase.image, for_model=False)) for phase in phases]
    return [(phase, sentence) for phase, sentence in told if sentence and workers]


def for_programs(worker: Worker, image: str) -> str:
    """The image of a programmed run at a worker: where it names none, the one for bundles, if it is there."""
    found = announced(worker, BUNDLES_IMAGE)
    if image or found is None or found["problem"] or not allowed.is_allowed(BUNDLES_IMAGE):
        return image
    return BUNDLES_IMAGE


def pinned(worker: Worker, image: str) -> BuiltImage | None:
    """The build in which a run that this worker has claimed will happen; None where its sandbox has no images."""
    found = announced(worker, image)
    if worker.sandbox != "docker" or found is None:
        return None
    built, _ = BuiltImage.objects.get_or_create(
        digest=found["id"], defaults={"name": found["name"], "packages": found["packages"]}
    )
    return built


def _problem(found: AnnouncedImage, *, for_model: bool) -> str:
    return found["problem"] or (NO_NUMPY if for_model and not found["runs_models"] else "")
