"""The library of datasets, the page of one with its card, its files and its exports."""

import json

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from datasets import croissant, datasheet
from datasets.card import Card
from datasets.models import DatasetVersion
from datasets.policy import LEAST, Access, File
from datasets.uploads.policy import awaited_by, may_upload
from pages import meta_features
from pages.answers import as_stranger_file
from pages.datasets import WHO, ShownDataset, class_bars, library_lines, load


@never_cache
@require_safe
def library(request: HttpRequest) -> HttpResponse:
    """One's own datasets, shared ones, those of one's competitions, and public ones for everybody."""
    own, public = library_lines(request.user, timezone.now())
    context = {
        "own": own,
        "public": public,
        "may_upload": may_upload(request.user),
        "unfinished": awaited_by(request.user),
    }
    return render(request, "datasets/library.html", context)


@never_cache
@require_safe
def dataset(request: HttpRequest, dataset_slug: str) -> HttpResponse:
    """One dataset: its card, what the checks found, its texts and its downloads, each to whom it may be shown."""
    shown = load(request, dataset_slug)
    card = shown.card
    context = {
        "shown": shown,
        "dataset": shown.dataset,
        "version": shown.version,
        "card": card,
        "bars": class_bars(card) if card else None,
        "kinds": [(kind, count) for kind, count in card.types.items() if count] if card else [],
        "meta": meta_features.panel(shown),
        "active": "card",
    }
    return render(request, "datasets/dataset.html", context)


@never_cache
@require_safe
def versions(request: HttpRequest, dataset_slug: str) -> HttpResponse:
    """Every version with its files, their checksums, whether runs used it, and who may see what of it."""
    shown = load(request, dataset_slug, least=Access.USER)
    found = list(shown.dataset.versions.order_by("-number"))
    used = set(
        DatasetVersion.objects.filter(dataset=shown.dataset, runs__isnull=False).values_list("pk", flat=True)
    )
    context = {
        "shown": shown,
        "dataset": shown.dataset,
        "lines": [(version, version.pk in used) for version in found],
        "who": [(file.value, _who(file)) for file in File],
        "sees_checksums": shown.may_read(File.CHECKSUMS),
        "active": "versions",
    }
    return render(request, "datasets/versions.html", context)


def _who(file: File) -> str:
    return WHO[LEAST[file]] if file in LEAST else "nobody: the site scores with them, and gives them to no one"


def found_version(shown: ShownDataset, number: int) -> DatasetVersion:
    """A version by its number, or 404."""
    version = shown.dataset.versions.filter(number=number).first()
    if version is None:
        raise Http404("There is no such version.")
    return version


@require_safe
def download(request: HttpRequest, dataset_slug: str, number: int) -> HttpResponseBase:
    """The public files of a version as a zip: everybody gets those of the current one of a public dataset."""
    shown = load(request, dataset_slug)
    version = found_version(shown, number)
    if not shown.may_read(File.PUBLIC_FILES) or not (shown.organizes or version == shown.version):
        raise Http404("There is no such version.")
    name = f"{version.name}.zip"
    answer = FileResponse(version.public_zip.open("rb"), as_attachment=True, filename=name)
    answer.headers["Content-Type"] = "application/zip"
    return as_stranger_file(answer)


@require_safe
def recipe(request: HttpRequest, dataset_slug: str, number: int) -> HttpResponseBase:
    """How a version was made of a table, as JSON, for its editors."""
    shown = load(request, dataset_slug, least=Access.EDITOR)
    version = found_version(shown, number)
    if not version.recipe or not shown.may_read(File.RECIPE):
        raise Http404("This version was not made of a table.")
    return _file(_json(version.recipe), f"{version.name}-{number}-recipe.json", "application/json")


@require_safe
def croissant_file(request: HttpRequest, dataset_slug: str) -> HttpResponseBase:
    """The Croissant metadata of the current version."""
    shown = load(request, dataset_slug)
    version, card = _exported(shown)
    found = croissant.metadata(
        shown.dataset,
        version,
        card,
        url=reverse("dataset", args=[dataset_slug]),
        download_url=reverse("dataset_file", args=[dataset_slug, version.number]),
    )
    return _file(_json(found), f"{version.name}-croissant.json", "application/ld+json")


@require_safe
def datasheet_file(request: HttpRequest, dataset_slug: str) -> HttpResponseBase:
    """The datasheet of the current version, as Markdown."""
    shown = load(request, dataset_slug)
    version, card = _exported(shown)
    text = datasheet.markdown(shown.dataset, version, card)
    return _file(text, f"{version.name}-datasheet.md", "text/markdown; charset=utf-8")


def _exported(shown: ShownDataset) -> tuple[DatasetVersion, Card]:
    """What exports are made of. They tell what everybody may see, whoever asks."""
    if shown.version is None or shown.card is None:
        raise Http404("This dataset has no card.")
    return shown.version, shown.card


def _json(found: object) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False)


def _file(text: str, name: str, content_type: str) -> HttpResponseBase:
    answer = HttpResponse(text, content_type=content_type)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return as_stranger_file(answer)
