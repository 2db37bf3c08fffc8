"""What winners hand in, and the code that they let everybody download."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.refusals import Refused
from competitions.actions.prizes import LONGEST_SHEET, claim_of, hand_in
from competitions.prizes import LICENCES
from leaderboards.prizes import line_of, winners
from pages import frame
from pages.answers import as_stranger_file, tells_refusals
from submissions.models import Submission


class HandIn(forms.Form):
    """The fact sheet and the publication."""

    fact_sheet = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12}),
        max_length=LONGEST_SHEET,
        help_text="How it works, what it was tuned on, on what machine, how long it takes. Organizers read it.",
    )
    publishes_code = forms.BooleanField(
        required=False, label="Everybody may download the submission that won from this site"
    )
    code_url = forms.CharField(
        required=False, max_length=200, label="Or: where the code is published", widget=forms.URLInput
    )
    licence = forms.ChoiceField(
        required=False, choices=[("", "not published yet"), *((name, name) for name in LICENCES)]
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def prize(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The form of an entrant who is in line for a prize of the phase."""
    shown = frame.load(request, slug)
    phase = shown.phase_by_number(str(number))
    entrant = shown.viewer.entrant
    line = line_of(phase, entrant, shown.now) if phase and entrant else None
    if phase is None or entrant is None or line is None:
        raise Http404("There is no prize that waits for you.")
    claim = claim_of(phase, entrant)
    context: dict[str, Any] = {"phase": phase, "line": line, "claim": claim, "entrant": entrant}
    if request.method != "POST":
        fields = ("fact_sheet", "publishes_code", "code_url", "licence")
        context["form"] = HandIn(initial={name: getattr(claim, name) for name in fields}, label_suffix="")
        return render(request, "competitions/prize.html", shown.context("phases", **context))
    form = context["form"] = HandIn(request.POST, label_suffix="")
    if form.is_valid():
        assert request.user.is_authenticated
        try:
            hand_in(phase, entrant, by=request.user, line=line, **form.cleaned_data)
        except Refused as refused:
            context["refused"] = refused
        else:
            messages.success(request, "It was handed in; the organizers look at it.")
            return redirect("phases", slug=slug)
    return render(request, "competitions/prize.html", shown.context("phases", **context), status=400)


@require_safe
def published_code(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """The archive of a winner who lets everybody download it."""
    shown = frame.load(request, slug)
    submission = Submission.objects.filter(pk=submission_id, phase__round__competition=shown.competition).first()
    if submission is None or submission.pk not in {
        winner.published for winner in winners(submission.phase, shown.now)
    }:
        raise Http404("There is no such published code.")
    file = submission.archive.open("rb")
    name = f"{shown.competition.slug}-phase-{submission.phase.number}-entrant-{submission.entrant_id}.zip"
    return as_stranger_file(FileResponse(file, as_attachment=True, filename=name, content_type="application/zip"))
