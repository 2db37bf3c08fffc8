from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CompetitionsConfig(AppConfig):
    name = "competitions"

    def ready(self) -> None:
        from competitions import (
            kept,
            receivers,  # noqa: F401  (connects the receivers)
        )

        post_migrate.connect(kept.keep, sender=self)
