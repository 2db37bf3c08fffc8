"""Changing a dataset: its texts, whom it is shared with, whether it is public, which version runs use."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from accounts.refusals import Refused
from datasets import sharing, versions
from datasets.models import Dataset, DatasetShare
from datasets.policy import Access
from pages.answers import tells_refusals
from pages.datasets import ShownDataset, load
from pages.views.datasets import found_version
from submissions.swaps import Runs, SwapIn

RUNS = {
    Runs.KEEP: "They keep the version that they have.",
    Runs.SCORE: "Their predictions are scored again with the new solutions.",
    Runs.RUN: "Their code runs again on the new data.",
}


class Texts(forms.ModelForm):  # type: ignore[type-arg]
    """The texts of a dataset."""

    class Meta:
        model = Dataset
        fields = sharing.TEXTS
        widgets = {
            name: forms.Textarea(attrs={"rows": 4})
            for name in ("description", "private_description", "citation", "source")
        }


class Share(forms.Form):
    """With whom, and as what."""

    person = forms.CharField(max_length=150, label="User name", help_text="Of another organizer.")
    role = forms.ChoiceField(choices=DatasetShare.Role.choices)


class Swap(forms.Form):
    """What becomes of the runs that stand on boards."""

    runs = forms.ChoiceField(
        label="Runs that stand on boards",
        choices=[(value.value, text) for value, text in RUNS.items()],
        widget=forms.RadioSelect,
        initial=Runs.KEEP,
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def edit(request: HttpRequest, dataset_slug: str) -> HttpResponseBase:
    """The texts, and for the owner sharing and publishing."""
    shown = load(request, dataset_slug, least=Access.EDITOR)
    given = request.POST if request.method == "POST" else None
    form = Texts(given, instance=Dataset.objects.get(pk=shown.dataset.pk), label_suffix="")
    if request.method == "POST" and form.is_valid():
        sharing.describe(shown.dataset, by=_user(request), **form.cleaned_data)
        messages.success(request, "The texts are kept.")
        return redirect("dataset", dataset_slug)
    return _edit_page(request, shown, form=form, status=400 if request.method == "POST" else 200)


def _edit_page(
    request: HttpRequest, shown: ShownDataset, *, form: forms.Form | Texts, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "shown": shown,
        "dataset": shown.dataset,
        "form": form,
        "share_form": Share(label_suffix=""),
        "shares": shown.dataset.shares.select_related("user"),
        "active": "edit",
        **more,
    }
    return render(request, "datasets/edit.html", context, status=status)


def _user(request: HttpRequest) -> User:
    assert request.user.is_authenticated
    return request.user


@login_required
@require_POST
@tells_refusals
def share(request: HttpRequest, dataset_slug: str) -> HttpResponseBase:
    """Share it with another person, or give a share another role."""
    shown = load(request, dataset_slug, least=Access.EDITOR)
    form = Share(request.POST, label_suffix="")
    with_user = _named(form)
    if with_user is None:
        texts = Texts(instance=Dataset.objects.get(pk=shown.dataset.pk), label_suffix="")
        return _edit_page(request, shown, form=texts, share_form=form, status=400)
    made = sharing.share(shown.dataset, with_user=with_user, role=form.cleaned_data["role"], by=_user(request))
    messages.success(request, f"{made.user.display_name} {made.get_role_display()}.")
    return redirect("edit_dataset", dataset_slug)


def _named(form: Share) -> User | None:
    """The person whose name was given, or None where there is none, which the form then says."""
    if not form.is_valid():
        return None
    username = form.cleaned_data["person"].strip()
    found = User.objects.filter(is_active=True, username=username).first()
    if found is None:
        form.add_error("person", f"Nobody here has the user name {username}.")
    return found


@login_required
@require_POST
@tells_refusals
def unshare(request: HttpRequest, dataset_slug: str) -> HttpResponseBase:
    """End a share: the owner any, everybody else their own."""
    shown = load(request, dataset_slug, least=Access.USER)
    user = User.objects.filter(username=request.POST.get("person", "")).first()
    if user is None:
        raise Refused("Say whose share is to end.")
    sharing.unshare(shown.dataset, user=user, by=_user(request))
    messages.success(request, f"{shown.dataset} is no longer shared with {user.display_name}.")
    return redirect("library") if user == request.user else redirect("edit_dataset", dataset_slug)


@login_required
@require_POST
@tells_refusals
def publish(request: HttpRequest, dataset_slug: str) -> HttpResponseBase:
    """Show its card and give its public files to everybody (`public=1`), or end that."""
    shown = load(request, dataset_slug, least=Access.EDITOR)
    public = request.POST.get("public") == "1"
    sharing.publish(shown.dataset, public=public, by=_user(request))
    messages.success(request, "Everybody may see it now." if public else "It is no longer public.")
    return redirect("edit_dataset", dataset_slug)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def use_version(request: HttpRequest, dataset_slug: str, number: int) -> HttpResponseBase:
    """Swap a version in: what becomes of the runs, then what would happen, then the deed (`confirm=yes`)."""
    shown = load(request, dataset_slug, least=Access.EDITOR)
    version = found_version(shown, number)
    form = Swap(request.POST if request.method == "POST" else None, label_suffix="")
    context: dict[str, Any] = {
        "shown": shown,
        "dataset": shown.dataset,
        "version": version,
        "form": form,
        "active": "versions",
    }
    chosen = Runs(form.cleaned_data["runs"]) if form.is_bound and form.is_valid() else Runs.KEEP
    swap = SwapIn(version=version, by=_user(request), runs=chosen)
    if request.method == "POST" and form.is_valid() and request.POST.get("confirm") == "yes":
        messages.success(request, swap.execute())
        return redirect("dataset_versions", dataset_slug)
    context["effects"] = swap.effects()
    context["chosen"] = (chosen.value, RUNS[chosen]) if form.is_bound and form.is_valid() else None
    status = 400 if form.is_bound and not form.is_valid() else 200
    return render(request, "datasets/use_version.html", context, status=status)


@login_required
@require_POST
@tells_refusals
def remove_version(request: HttpRequest, dataset_slug: str, number: int) -> HttpResponseBase:
    """Remove a version that no run has used."""
    shown = load(request, dataset_slug, least=Access.EDITOR)
    version = found_version(shown, number)
    versions.remove_version(version, by=_user(request))
    messages.success(request, f"Version {number} was removed.")
    return redirect("dataset_versions", dataset_slug)
