"""Adding and removing the pictures of a competition's pages."""

import datetime as dt
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, BinaryIO, ClassVar

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Sum
from django.utils.text import slugify

from accounts.refusals import Refused
from competitions import pictures
from competitions.actions.base import Preview
from competitions.actions.queue import OfCompetition
from competitions.models import Competition, PageImage
from ingestion.budget import format_size

MOST_PICTURES = 100
MOST_BYTES = 100 * 2**20


@dataclass
class AddPicture(OfCompetition):
    """Keep a picture, encoded anew, under a name that texts refer to: `![what it shows](name.png)`."""

    file: BinaryIO
    filename: str
    size: int
    image: PageImage = field(init=False)

    name: ClassVar[str] = "add_picture"

    @cached_property
    def encoded(self) -> pictures.Picture:
        """The picture encoded anew; raises Refused where it is none."""
        return pictures.encoded(self.file, self.size)

    def execute(self) -> str:
        """Encode it first: that takes a second, for which nobody else should wait."""
        self.permit()
        assert self.encoded
        return super().execute()

    def check(self, now: dt.datetime) -> None:
        """There must be room for it, and it must be a picture."""
        kept = self.contest.images
        if kept.count() >= MOST_PICTURES:
            raise Refused(f"A competition has at most {MOST_PICTURES} pictures.", status=409)
        if (kept.aggregate(all=Sum("size"))["all"] or 0) + len(self.encoded.content) > MOST_BYTES:
            raise Refused(f"The pictures of a competition have at most {format_size(MOST_BYTES)} together.")

    def preview(self, now: dt.datetime) -> Preview:
        """That nothing shows it yet."""
        return Preview(["It is kept with the competition; a text that names it shows it."])

    def change(self, now: dt.datetime) -> str:
        """Keep it."""
        found = self.encoded
        name = free_picture_name(self.contest, PurePath(self.filename).stem, found.suffix)
        self.image = PageImage(
            competition=self.contest,
            name=name,
            size=len(found.content),
            width=found.width,
            height=found.height,
            uploaded_by=self.by,
        )
        self.image.file.save(name, ContentFile(found.content), save=True)
        return f"The picture {name} was added."

    def details(self) -> dict[str, Any]:
        """Its name and size."""
        return {"picture": self.image.name, "bytes": self.image.size}


def free_picture_name(competition: Competition, stem: str, suffix: str) -> str:
    """A name that no other picture of the competition has, and that needs no escaping anywhere."""
    wanted = slugify(stem).replace("_", "-").strip("-")[:60] or "picture"
    taken = set(competition.images.values_list("name", flat=True))
    numbered = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in (f"{one}{suffix}" for one in numbered) if name not in taken)


@dataclass
class RemovePicture(OfCompetition):
    """Remove a picture; texts that name it show its description in its place."""

    image: PageImage

    name: ClassVar[str] = "remove_picture"

    def uses(self) -> list[str]:
        """The titles of the pages that name it."""
        texts = [
            ("Overview", self.contest.overview),
            ("Evaluation", self.contest.evaluation),
            ("Rules", self.contest.rules),
            *self.contest.pages.values_list("title", "body"),
        ]
        return [title for title, text in texts if f"]({self.image.name}" in text]

    def check(self, now: dt.datetime) -> None:
        """It must be there."""
        if not self.contest.images.filter(pk=self.image.pk).exists():
            raise Refused("This picture was removed in the meantime.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """Which pages lose it."""
        uses = self.uses()
        where = f"{', '.join(uses)} will show its description in its place." if uses else "No page shows it."
        return Preview([f"{self.image.name} goes. {where}"])

    def change(self, now: dt.datetime) -> str:
        """Remove the row, and the file once that is certain."""
        storage, path = self.image.file.storage, str(self.image.file.name)
        PageImage.objects.filter(pk=self.image.pk).delete()
        transaction.on_commit(lambda: storage.delete(path))
        return f"The picture {self.image.name} was removed."

    def details(self) -> dict[str, Any]:
        """Its name."""
        return {"picture": self.image.name}
