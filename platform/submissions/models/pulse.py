"""When the site last looked after its runs."""

import datetime as dt

from django.db import models


class Pulse(models.Model):
    """The last moment at which the reconciler looked; one row. A gap tells that the site itself was down."""

    ONLY = 1

    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.seen_at:%Y-%m-%d %H:%M:%S}"

    @classmethod
    def beat(cls, now: dt.datetime) -> dt.timedelta:
        """Note that the reconciler looks now; returns how long nobody had looked, nothing at the first time."""
        before = cls.objects.filter(pk=cls.ONLY).first()
        cls.objects.update_or_create(pk=cls.ONLY, defaults={"seen_at": now})
        return now - before.seen_at if before is not None else dt.timedelta(0)
