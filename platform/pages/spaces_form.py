"""The form by which sets of models are chosen and compared."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from analysis.spaces.comparing import MOST_COMPARED
from analysis.spaces.modelset import (
    ModelSet,
    Options,
    common_columns,
    label,
    usual_complexities,
    usual_error,
)

MOST_COMPLEXITIES = 2
MOST_BINS = 100
INITIAL = {"bins": 10, "seed": 0}


class OptionsForm(forms.Form):
    """How the chosen sets are compared; its columns are those that all of them have."""

    error = forms.ChoiceField(label="Errors are in")
    is_score = forms.BooleanField(
        label="It holds scores", required=False, help_text="More is better; 1 - score is compared."
    )
    by = forms.MultipleChoiceField(
        label="Normalise by",
        required=False,
        help_text=f"Complexities, at most {MOST_COMPLEXITIES}.",
        widget=forms.CheckboxSelectMultiple,
    )
    bins = forms.IntegerField(label="Bins", min_value=1, max_value=MOST_BINS, required=False)
    low = forms.FloatField(
        label="From", required=False, help_text="Of the first complexity; empty: what all reach."
    )
    high = forms.FloatField(label="To", required=False)
    is_log = forms.BooleanField(
        label="Bins of equal ratio", required=False, help_text="Otherwise of equal width, as in the paper."
    )
    is_strict = forms.BooleanField(
        label="Refuse empty bins",
        required=False,
        help_text="As the paper's notebooks; otherwise they are dropped.",
    )
    threshold = forms.FloatField(label="Share below the error", required=False, help_text="Empty: the median.")
    largest = forms.FloatField(label="Area up to the error", required=False, help_text="Empty: the largest.")
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31 - 1, required=False)

    def __init__(self, data: Mapping[str, Any] | None, sets: Sequence[ModelSet]) -> None:
        names = common_columns(list(sets))
        usual = usual_error(list(sets))
        complexities = list(usual_complexities(list(sets)))
        super().__init__(data, initial={**INITIAL, "error": usual, "by": complexities})
        self.usual = usual
        self.fields["error"].choices = [(name, label(name)) for name in names]  # type: ignore[attr-defined]
        self.fields["by"].choices = [(name, label(name)) for name in names]  # type: ignore[attr-defined]

    def clean_by(self) -> list[str]:
        """Not too many, and not the errors themselves."""
        chosen: list[str] = [name for name in self.cleaned_data["by"] if name != self.cleaned_data.get("error")]
        if len(chosen) > MOST_COMPLEXITIES:
            raise forms.ValidationError(f"Choose at most {MOST_COMPLEXITIES}.")
        return chosen

    def clean(self) -> dict[str, Any]:
        """The range has two ends, the lower one first."""
        found = super().clean() or self.cleaned_data
        low, high = found.get("low"), found.get("high")
        if (low is None) != (high is None) or (low is not None and high is not None and low >= high):
            raise forms.ValidationError("A range has two ends, the lower one first.")
        return found

    @property
    def options(self) -> Options:
        """What was chosen; of a form that was not sent, what is usual."""
        if not self.is_bound:
            return Options(error=self.usual, complexities=tuple(self.initial["by"]))
        found = self.cleaned_data
        by = tuple(found["by"])
        has_range = by and found["low"] is not None
        return Options(
            error=found["error"],
            is_score=found["is_score"],
            complexities=by,
            bins=found["bins"] or INITIAL["bins"],
            is_log=found["is_log"],
            is_strict=found["is_strict"],
            limits={by[0]: (found["low"], found["high"])} if has_range else {},
            threshold=found["threshold"],
            largest=found["largest"],
            seed=found["seed"] or 0,
        )


class UploadForm(forms.Form):
    """A file with sets of models."""

    name = forms.CharField(label="Name", max_length=120, required=False, help_text="Empty: that of the file.")
    file = forms.FileField(
        label="File",
        help_text="A CSV table with a row of column names and a model a row, or the JSON of a published sweep.",
    )


def wished_keys(query: QueryDict) -> list[str]:
    """The keys of the sets that an address asks for, each once; as many as can be compared."""
    return list(dict.fromkeys(query.getlist("set")))[:MOST_COMPARED]
