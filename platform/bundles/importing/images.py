"""Which image of this installation stands for one that a bundle names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from accounts.models import User
from bundles.importing.report import ImportReport
from bundles.models import BundleImport
from bundles.reading.contest import BundleContest
from bundles.reading.report import Choice, Question
from ingestion.image_names import BUNDLES_IMAGE, BadImageName, full_name

# Images that hold Python 3 and the usual packages and nothing that a program could miss here.
_KNOWN = re.compile(r"(?:docker\.io/)?(?:codalab/codalab-legacy:(?:py3\d*|latest)|python:3[\w.-]*)")
PLACE = "competition.yaml"
BUILT_IN = "built-in"  # the answer that asks for the built-in image


@dataclass(frozen=True)
class ImageMap:
    """What each name of a bundle becomes; "" is the image that the installation runs programs in."""

    names: Mapping[str, str]

    def __call__(self, wanted: str) -> str:
        """The image for a name; one that the bundle does not say is the installation's own."""
        return self.names.get(wanted, "")


def answer_key(image: str) -> str:
    """The key under which an organizer's answer about an image is kept."""
    return f"image:{image}"


def remembered(organizer: User) -> dict[str, str]:
    """What the organizer answered about images in earlier imports, the latest answer to each."""
    found: dict[str, str] = {}
    earlier = BundleImport.objects.filter(owner=organizer).order_by("created_at", "pk")
    for answers in earlier.values_list("answers", flat=True):
        found |= {key: value for key, value in answers.items() if key.startswith("image:")}
    return found


def map_images(
    contest: BundleContest, answers: Mapping[str, str], usable: Collection[str], report: ImportReport
) -> ImageMap:
    """Decide every image of a bundle; "" is the built-in one, which is taken at every worker.

    Asks where the installation has none of that name; `usable` are those that the organizer may choose. For the
    public images of CodaLab and Codabench with Python 3 the built-in one stands without a question. An answer
    that names an image which the operator does not allow is an error.
    """
    has_python2 = any(
        program is not None and program.is_python2
        for task in contest.tasks
        for program in (task.scoring_program, task.ingestion_program)
    )
    names = {}
    for wanted in contest.images:
        is_known = not has_python2 and _KNOWN.fullmatch(wanted) is not None
        names[wanted] = _decided(wanted, answers.get(answer_key(wanted), ""), usable, report, is_known=is_known)
    return ImageMap(names)


def _decided(wanted: str, answer: str, usable: Collection[str], report: ImportReport, *, is_known: bool) -> str:
    own = (BUNDLES_IMAGE, BUILT_IN)
    if not answer and (is_known or wanted in usable or wanted in own):
        return wanted if wanted in usable and wanted not in own else ""
    others = sorted(set(usable) - {BUNDLES_IMAGE})
    choices = (Choice(BUILT_IN, f"the built-in image, {BUNDLES_IMAGE}"), *(Choice(name, name) for name in others))
    text = f"The bundle asks for the image {wanted}. Which one shall its programs run in here?"
    report.questions.append(Question(answer_key(wanted), text, choices, default=BUILT_IN, kind="image"))
    chosen = _full(answer)
    if chosen in own:
        return ""
    if chosen in usable:
        return chosen
    if answer:
        mend = f"There are: {', '.join([BUILT_IN, *others])}."
        report.error(PLACE, f"The image {answer}, named for {wanted}, is not one to choose here.", mend)
    else:
        report.warn(
            PLACE,
            f"The image {wanted} is not on this server; programs run in the built-in one.",
            f"If they need more, let the operator install it, or map it to another: --map-image {wanted}=NAME.",
        )
    return ""


def _full(name: str) -> str:
    """The name with its tag, as the operator's list has it; the answer itself where it names no image."""
    try:
        return name if name in ("", BUILT_IN) else full_name(name)
    except BadImageName:
        return name
