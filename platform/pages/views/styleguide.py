"""The page that shows every component in every state. It holds no data of the site."""

import datetime as dt
from types import SimpleNamespace

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

GROUNDS = ("paper", "surface", "raised", "line", "line-strong", "accent-soft", "gold-soft")
SIGNALS = ("good-soft", "bad-soft", "live-soft", "ink", "muted", "accent", "accent-strong", "gold", "good", "bad")
COLOURS = (*GROUNDS, *SIGNALS, "live")
BUTTONS = (
    ("The main thing", "", False),
    ("Something else", "quiet", False),
    ("Remove", "danger", False),
    ("In a row", "quiet small", False),
    ("Not possible now", "", True),
)
CHIPS = (
    ("queued", "waiting"),
    ("running", "live moving"),
    ("collected", "live"),
    ("finished", "good"),
    ("failed", "bad"),
    ("draft", "gold"),
    ("released", "accent"),
    ("cancelled", ""),
    ("a word", "plain"),
)
NOTES = (
    ("", "A fact that matters here.", ""),
    ("success", "The phase is saved.", ""),
    ("warning", "Three entrants have used up their submissions.", "The new limit holds from tomorrow."),
    ("error", "This date is before the phase opens.", "Choose one after 1 March 2026."),
)
TILES = (
    ("Participants", "1,204", "31 wait for you", "#tiles"),
    ("Submissions", "18,377", "212 today", ""),
    ("Waiting runs", "0", "", ""),
    ("Typical run", "4 min", "of 20", ""),
)
FACTS = (("Metric", "BAC"), ("Budget", "1,200 s, 8 cores, 56 GiB"), ("Left out, because it has no value", ""))
CHECKLIST = (
    SimpleNamespace(is_done=True, text="It has a title and an overview."),
    SimpleNamespace(is_done=False, text="Phase 2 has no dataset.", href="#checklist", label="Choose one"),
)


class Example(forms.Form):
    """One field of each kind."""

    title = forms.CharField(help_text="As it stands in lists.", max_length=80)
    summary = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    email = forms.EmailField(label="E-mail")
    counts = forms.ChoiceField(
        choices=(("latest", "the latest"), ("best", "the best")),
        widget=forms.RadioSelect,
        label="Which submission counts",
    )
    parts = forms.MultipleChoiceField(
        choices=(("valid", "validation"), ("test", "test")), widget=forms.CheckboxSelectMultiple, required=False
    )
    metric = forms.ChoiceField(choices=(("bac", "BAC"), ("auc", "AUC")), help_text="What is ranked.")
    opens_at = forms.DateTimeField(
        label="Opens", widget=forms.DateTimeInput(attrs={"type": "datetime-local"}), required=False
    )
    is_public = forms.BooleanField(label="Show it to everybody", required=False, help_text="It can be taken back.")
    locked = forms.CharField(label="Cannot be changed", initial="round-1", disabled=True, required=False)


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    """Every component with made-up contents."""
    now = timezone.now()
    wrong = Example({"title": "", "email": "nobody", "counts": "latest"}, prefix="wrong")
    wrong.add_error(None, "Two fields do not fit together.")
    context = {
        "colours": COLOURS,
        "buttons": BUTTONS,
        "chips": CHIPS,
        "notes": NOTES,
        "tiles": TILES,
        "facts": FACTS,
        "checklist": CHECKLIST,
        "choices": (("all", "?", True, 214), ("waiting", "?state=waiting", False, 12), ("failed", "#", False, 0)),
        "form": Example(),
        "wrong": wrong,
        "moments": (now - dt.timedelta(hours=3), now + dt.timedelta(days=12)),
    }
    return render(request, "styleguide.html", context)
