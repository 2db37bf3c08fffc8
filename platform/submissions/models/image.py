"""Images as they were when runs started in them."""

from django.db import models

from ingestion.image_names import short_id


class BuiltImage(models.Model):
    """One build of an image, by its id: a name like podium-sandbox:latest moves on, this does not."""

    digest = models.CharField(max_length=71, unique=True, help_text="sha256:… as the engine says it.")
    name = models.CharField(max_length=200, help_text="What it was called when a run first started in it.")
    packages = models.JSONField(default=list, help_text="name==version, from its label.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.short_digest})"

    @property
    def short_digest(self) -> str:
        """The first digits of its id, as Docker shows it."""
        return short_id(self.digest)
