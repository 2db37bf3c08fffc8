"""The analyses that belong to no competition, and the definitions of design spaces."""

from functools import lru_cache

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from analysis.measures.spaces.definitions import BY_KEY, FLOPS_CAP, PARAMS_CAP, SPACES, NetworkSpace
from analysis.results import Result
from analysis.spaces.described import BINS, Limits, described, sample_csv
from pages.figure_files import answer

MOST_SAMPLED = 20_000
LARGEST = 10**13  # parameters or flops: more than any network of the spaces has


class LimitsForm(forms.Form):
    """The networks that count."""

    params = forms.IntegerField(label="Fewer parameters than", min_value=1, max_value=LARGEST, initial=PARAMS_CAP)
    flops = forms.IntegerField(label="Fewer flops than", min_value=1, max_value=LARGEST, initial=FLOPS_CAP)
    bins = forms.IntegerField(label="Bins", min_value=1, max_value=200, initial=BINS)


class SampleForm(forms.Form):
    """How many models of a space to draw."""

    space = forms.ChoiceField(label="Space", choices=[(space.key, space.name) for space in SPACES])
    count = forms.IntegerField(label="Models", min_value=1, max_value=MOST_SAMPLED, initial=1000)
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31 - 1, initial=0)
    is_limited = forms.BooleanField(
        label="Below the paper's limits", required=False, help_text="Of networks: parameters and flops of R-56."
    )


@never_cache
@require_safe
def hub(request: HttpRequest) -> HttpResponse:
    """Where the analyses are."""
    return render(request, "analysis/hub.html")


@require_safe
def definitions(request: HttpRequest) -> HttpResponse:
    """The nine spaces, and how large their models are."""
    form = LimitsForm(request.GET if "params" in request.GET else None)
    query = request.GET.urlencode()
    context = {
        "form": form,
        "sample": SampleForm(),
        "result": _result(form),
        "files": reverse("space_definitions"),
        "query": f"?{query}" if query else "",
    }
    return render(request, "analysis/definitions.html", context)


def _result(form: LimitsForm) -> Result:
    """What the form asks for; the paper's limits where it is empty or wrong."""
    if form.is_bound and form.is_valid():
        return _described(Limits(**form.cleaned_data))
    return _described(Limits())


@lru_cache(maxsize=16)
def _described(limits: Limits) -> Result:
    return described(limits)


@require_safe
def file(request: HttpRequest, name: str, suffix: str) -> HttpResponse:
    """A figure or table of the definitions."""
    result = _result(LimitsForm(request.GET if "params" in request.GET else None))
    return answer(result.named(name), suffix, of="spaces")


@require_safe
def sample(request: HttpRequest) -> HttpResponse:
    """Models of a space, drawn uniformly, as CSV."""
    form = SampleForm(request.GET)
    if not form.is_valid():
        raise Http404("There is no such sample.")
    given = form.cleaned_data
    space = BY_KEY[given["space"]]
    limits = Limits() if given["is_limited"] and isinstance(space, NetworkSpace) else None
    text = sample_csv(space, given["count"], given["seed"], limits)
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = (
        f'attachment; filename="{space.key}-{given["count"]}-seed{given["seed"]}.csv"'
    )
    return response
