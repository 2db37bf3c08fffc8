"""Fact sheets: what organizers want to know of every entrant's method, and the answers."""

from django.db import models

from competitions.models.contest import Competition
from competitions.models.people import Entrant


class Question(models.Model):
    """A question of a competition's fact sheet."""

    class Kind(models.TextChoices):
        TEXT = "text", "text"
        CHOICE = "choice", "one of several choices"
        CHOICES = "choices", "several choices"
        NUMBER = "number", "a number"
        YES_NO = "yes_no", "yes or no"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="questions")
    order = models.PositiveIntegerField(default=0)
    key = models.SlugField(max_length=64, blank=True, help_text="Its name in bundles.")
    text = models.CharField(max_length=300)
    help = models.CharField(max_length=300, blank=True)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.TEXT)
    choices = models.JSONField(default=list, blank=True, help_text="The choices, as a list of texts.")
    minimum = models.FloatField(null=True, blank=True, help_text="Of a number.")
    maximum = models.FloatField(null=True, blank=True, help_text="Of a number.")
    unit = models.CharField(max_length=30, blank=True, help_text="Of a number.")
    is_required = models.BooleanField(default=False, help_text="Who has not answered it takes no rank.")

    is_on_board = models.BooleanField(default=False, help_text="Answers are shown beside scores.")

    class Meta:
        ordering = ["order", "id"]

    def __str__(self) -> str:
        return self.text


class Answer(models.Model):
    """An entrant's answer to a question: a text, a number, or a list of choices."""

    question = models.ForeignKey(Question, models.CASCADE, related_name="answers")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="answers")
    value = models.JSONField()
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["question", "entrant"], name="one_answer_per_question")]

    def __str__(self) -> str:
        return f"{self.entrant}: {self.question}"
