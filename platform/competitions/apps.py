from django.apps import AppConfig


class CompetitionsConfig(AppConfig):
    name = "competitions"

    def ready(self) -> None:
        from competitions import receivers  # noqa: F401  (connects the receivers)
