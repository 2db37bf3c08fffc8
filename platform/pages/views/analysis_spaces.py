"""Comparing sets of models: one's own files, entrants' submissions, algorithms of benchmarks."""

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import IO, cast
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.cache import cache
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.refusals import Refused
from analysis.benchmarks.grid import opened
from analysis.benchmarks.policy import visible_benchmarks
from analysis.inputs.boards import Loaded
from analysis.kept import packed, unpacked
from analysis.models import Benchmark
from analysis.results import VERSION, Result
from analysis.spaces import keeping
from analysis.spaces.comparing import compare
from analysis.spaces.modelset import ModelSet, Options
from analysis.spaces.sources import Offer, chosen_benchmark, offers
from competitions.policy import Person, visible_competitions
from pages.answers import refusal, tells_refusals
from pages.figure_files import answer
from pages.middleware import without_nul
from pages.spaces_form import OptionsForm, UploadForm, wished_keys
from pages.views.upload import FORM_BYTES, drain

KEPT_SECONDS = 900
BUSY_SECONDS = 120  # after which a comparison that was cut off keeps nobody waiting
MOST_LISTED = 200  # competitions and benchmarks to choose from


@dataclass(frozen=True)
class Asked:
    """What the address asks for: the sets that are offered, those chosen, how to compare them."""

    offered: list[Offer]
    chosen: list[str]
    sets: list[ModelSet]
    form: OptionsForm
    contest: str
    benchmark: str
    dataset: str

    @property
    def options(self) -> Options | None:
        """How to compare; None where there is nothing to, or the form has errors."""
        if not self.sets or (self.form.is_bound and not self.form.is_valid()):
            return None
        return self.form.options

    @property
    def groups(self) -> list[tuple[str, list[Offer]]]:
        """The offered sets by where they come from."""
        return [(group, list(found)) for group, found in groupby(self.offered, lambda offer: offer.group)]


def asked(request: HttpRequest) -> Asked:
    """What the address asks for; keys of what the person may not see are left out."""
    query = request.GET
    contest, benchmark, dataset = (query.get(name, "")[:200] for name in ("contest", "benchmark", "dataset"))
    offered = offers(request.user, contest=contest, benchmark=benchmark, dataset=dataset)
    by_key = {offer.key: offer for offer in offered}
    chosen = [key for key in wished_keys(query) if key in by_key]
    sets = [by_key[key].load() for key in chosen]
    form = OptionsForm(query if "error" in query else None, sets)
    return Asked(offered, chosen, sets, form, contest, benchmark, dataset)


def result_of(asked: Asked, user: Person) -> Result | None:
    """The comparison, computed once for the same sets and options within a quarter of an hour.

    Large ones take the web server's time: a person has one at a time.
    """
    options = asked.options
    if options is None:
        return None
    sets = [(one.name, one.columns) for one in asked.sets]
    key = Loaded((), {"sets": sets, "options": asdict(options)}).fingerprint("spaces", VERSION)
    kept = cache.get(key)
    if kept is not None:
        return unpacked(kept)
    busy = f"spaces-of-{user.pk}"
    if not cache.add(busy, True, BUSY_SECONDS):
        raise Refused(
            "Another comparison of yours is still being computed.", status=429, mend="Try again when it is shown."
        )
    try:
        found = compare(asked.sets, options)
    finally:
        cache.delete(busy)
    cache.set(key, packed(found), KEPT_SECONDS)
    return found


@login_required
@never_cache
@require_safe
@tells_refusals
def spaces(request: HttpRequest) -> HttpResponse:
    """The sets to choose from, and what comes of comparing those that are chosen."""
    return _page(request)


def _page(request: HttpRequest, refused: Refused | None = None) -> HttpResponse:
    wish = asked(request)
    benchmark = chosen_benchmark(request.user, wish.benchmark)
    query = request.GET.urlencode()
    context = {
        "wish": wish,
        "result": result_of(wish, request.user),
        "files": reverse("spaces"),
        "query": f"?{query}" if query else "",
        "contests": visible_competitions(request.user).order_by("title")[:MOST_LISTED],
        "benchmarks": visible_benchmarks(request.user).filter(state=Benchmark.State.READY)[:MOST_LISTED],
        "datasets": _datasets(benchmark) if benchmark else (),
        "upload": UploadForm(),
        "most_bytes": keeping.MOST_BYTES,
        "refused": refused,
    }
    return render(request, "analysis/spaces.html", context, status=refused.status if refused else 200)


def _datasets(benchmark: Benchmark) -> tuple[str, ...]:
    with benchmark.content.open("rb") as content:
        return opened(content).datasets


@login_required
@never_cache
@require_safe
@tells_refusals
def file(request: HttpRequest, name: str, suffix: str) -> HttpResponse:
    """A figure or table of the comparison that the query asks for."""
    result = result_of(asked(request), request.user)
    if result is None:
        raise Http404("There is nothing to compare.")
    return answer(result.named(name), suffix, of="spaces")


@csrf_exempt
@never_cache
def upload(request: HttpRequest) -> HttpResponseBase:
    """Keep the sets of a file. Who sends and how much is checked before the body is read."""
    if not request.user.is_authenticated:
        drain(request)
        return redirect_to_login(reverse("spaces"))
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    if length > keeping.MOST_BYTES + FORM_BYTES:
        drain(request)
        return refusal(request, _too_large())
    request.upload_handlers = [TemporaryFileUploadHandler(request)]
    return _received(request)


def _too_large() -> Refused:
    mend = "The command analyse_spaces reads larger ones."
    return Refused(f"A file may have at most {keeping.MOST_BYTES // 2**20} MiB.", status=413, mend=mend)


@csrf_protect
def _received(request: HttpRequest) -> HttpResponse:
    request.POST = without_nul(request.POST)  # type: ignore[assignment]
    given = request.FILES.get("file")
    try:
        if given is None:
            raise Refused("No file was sent.", mend="Choose the file that holds the models.")
        name = request.POST.get("name", "")
        kept = keeping.keep(cast(User, request.user), cast(IO[bytes], given), given.name or "", name)
    except Refused as refused:
        return _page(request, refused)
    query = urlencode([("set", f"own-{one.pk}") for one in kept])
    return redirect(f"{reverse('spaces')}?{query}")


@login_required
@require_POST
def delete(request: HttpRequest, population_id: int) -> HttpResponse:
    """Delete one of one's own sets."""
    keeping.delete(request.user, population_id)
    return redirect("spaces")
