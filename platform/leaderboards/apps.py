from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    name = "leaderboards"

    def ready(self) -> None:
        from leaderboards import receivers  # noqa: F401  (connects the receivers)
        from leaderboards.columns import receivers as of_columns  # noqa: F401  (the same)
