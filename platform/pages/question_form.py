"""The form of one question of a fact sheet."""

from typing import Any

from django import forms

from accounts.refusals import Refused
from competitions import fact_sheets
from competitions.models import Question


class QuestionForm(forms.ModelForm):  # type: ignore[type-arg]
    """What is asked, and of what kind the answer is; fields of other kinds are left empty."""

    choices = forms.CharField(
        label="Answers to choose from",
        widget=forms.Textarea(attrs={"rows": 5}),
        required=False,
        help_text="For a choice: one answer a line.",
    )

    class Meta:
        model = Question
        fields = ("text", "help", "kind", "choices", "unit", "minimum", "maximum", "is_required")
        labels = {
            "text": "Question",
            "help": "Explanation",
            "kind": "Answer",
            "minimum": "Smallest number",
            "maximum": "Largest number",
            "is_required": "An entrant takes no place on a leaderboard before this is answered",
        }
        help_texts = {
            "help": "Stands below the question.",
            "unit": "Of a number, for example hours.",
            "minimum": "",
            "maximum": "",
            "is_required": "",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        self.initial["choices"] = "\n".join(self.instance.choices)

    def clean_choices(self) -> list[str]:
        """The lines that hold something."""
        lines = str(self.cleaned_data["choices"]).splitlines()
        return [line.strip() for line in lines if line.strip()]

    def _post_clean(self) -> None:
        """Put what was sent into the question, and say what would keep people from answering it."""
        super()._post_clean()  # type: ignore[misc]
        if not self.errors:
            try:
                fact_sheets.check_question(self.instance)
            except Refused as refused:
                self.add_error(None, str(refused))
