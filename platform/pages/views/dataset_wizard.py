"""From a table to a dataset: first what is to be predicted, then everything else, then the making of it."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.refusals import Refused
from datasets.tables import Kind
from datasets.uploads import receiving
from datasets.uploads.models import Upload
from pages.answers import tells_refusals
from pages.dataset_wizard import ROLES, RecipeForm, columns_of, initial_of, likely_target, proposal, usable_name
from pages.views.dataset_uploads import check_may_send, found

WIZARD_STATES = (Upload.State.TABLE, Upload.State.CHECKED, Upload.State.REFUSED)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def prepare(request: HttpRequest, upload_id: int) -> HttpResponseBase:
    """GET asks for the target, with `target` for the rest; POST has the dataset made, or tried with `try`."""
    upload = found(request, upload_id)
    check_may_send(request)
    if upload.state not in WIZARD_STATES or not upload.table:
        raise Refused("This upload is no table that waits for choices.", status=409)
    given = request.POST if request.method == "POST" else request.GET
    target = _known(given.getlist("target"), upload.table)
    if request.method != "POST":
        if not target and not upload.table.get("has_own_target"):
            return _ask_for_target(request, upload)
        return _show(
            request, upload, RecipeForm(None, table=upload.table, target=target, initial=_begin(upload, target))
        )
    form = RecipeForm(request.POST, table=upload.table, target=target)
    recipe = form.recipe()
    if recipe is None:
        return _show(request, upload, form, status=400)
    job = Upload.Job.TRY if request.POST.get("try") else Upload.Job.PREPARE
    receiving.work_again(upload, job=job, recipe=recipe)
    return redirect(upload)


def _known(names: list[str], table: Mapping[str, Any]) -> list[str]:
    """The given names that are columns, once each; a table that is wider than the page takes others by name."""
    columns = {str(column["name"]) for column in columns_of(table)}
    is_whole = len(columns) == table.get("column_count")
    return [name for name in dict.fromkeys(names) if name in columns or (name and not is_whole)]


def _ask_for_target(request: HttpRequest, upload: Upload) -> HttpResponse:
    context = {
        "upload": upload,
        "columns": columns_of(upload.table),
        "likely": upload.recipe.get("target") or [likely_target(upload.table)],
        "more": upload.table["column_count"] - len(columns_of(upload.table)),
    }
    return render(request, "datasets/choose_target.html", context)


def _begin(upload: Upload, target: list[str]) -> dict[str, Any]:
    if upload.recipe and upload.recipe.get("target") == target:
        return initial_of(upload.recipe, upload.table)
    name = usable_name(upload.filename)
    if upload.dataset is not None:
        last = upload.dataset.versions.order_by("-number").first()
        name = last.name if last else name
    return proposal(upload.table, target, name=name)


def _show(request: HttpRequest, upload: Upload, form: RecipeForm, *, status: int = 200) -> HttpResponse:
    context = {
        "upload": upload,
        "form": form,
        "roles": ROLES.items(),
        "kinds": [kind.value for kind in Kind],
        "more": upload.table["column_count"] - len(columns_of(upload.table)),
    }
    return render(request, "datasets/prepare.html", context, status=status)
