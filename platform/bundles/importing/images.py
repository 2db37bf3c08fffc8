"""Which image of this installation stands for one that a bundle names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bundles.importing.report import ImportReport
from bundles.reading.contest import BundleContest
from bundles.reading.report import Choice, Question
from competitions import images as allowed

BUILT_IN = "podium-bundles:latest"
# Images that hold Python 3 and the usual packages and nothing that a program could miss here.
_KNOWN = re.compile(r"(?:docker\.io/)?(?:codalab/codalab-legacy:(?:py3\d*|latest)|python:3[\w.-]*)")
PLACE = "competition.yaml"
OWN = "built-in"  # the answer that asks for the built-in image


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


def map_images(
    contest: BundleContest, answers: Mapping[str, str], usable: Collection[str], report: ImportReport
) -> ImageMap:
    """Decide every image of a bundle, asking where the installation has none of that name.

    An answer that names an image which the operator does not allow is an error. `usable` are the images that
    the organizer may choose. The public images of CodaLab and Codabench with Python 3 are known: the built-in
    one stands for them without a question.
    """
    names = {}
    old = any(
        program is not None and program.is_python2
        for task in contest.tasks
        for program in (task.scoring_program, task.ingestion_program)
    )
    for wanted in contest.images:
        names[wanted] = _decided(wanted, answers.get(answer_key(wanted), ""), usable, report, has_python2=old)
    return ImageMap(names)


def _decided(wanted: str, answer: str, usable: Collection[str], report: ImportReport, *, has_python2: bool) -> str:
    if wanted in usable and not answer:
        return wanted
    choices = (Choice(OWN, f"the built-in image {BUILT_IN}"), *(Choice(name, name) for name in sorted(usable)))
    text = f"The bundle asks for the image {wanted}. Which one shall its programs run in here?"
    report.questions.append(Question(answer_key(wanted), text, choices, default=OWN, kind="image"))
    if answer and answer != OWN:
        if answer in usable:
            return answer
        mend = f"There are: {', '.join(sorted(usable)) or 'none but the built-in one'}."
        report.error(PLACE, f"The image {answer}, named for {wanted}, is not one to choose here.", mend)
        return ""
    if not answer and (has_python2 or not _KNOWN.fullmatch(wanted)):
        report.warn(
            PLACE,
            f"The image {wanted} is not on this server; programs run in the built-in one.",
            f"If they need more, let the operator install it, or map it to another: --map-image {wanted}=NAME.",
        )
    return own_image()


def own_image() -> str:
    """The name that a phase keeps for the built-in image: empty where phases cannot choose it by its name."""
    return BUILT_IN if allowed.is_allowed(BUILT_IN) else ""
