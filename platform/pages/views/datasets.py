"""The library of datasets."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from datasets.uploads.policy import may_upload


@require_safe
def library(request: HttpRequest) -> HttpResponse:
    """Public datasets for everybody; one's own and shared ones."""
    return render(request, "datasets/library.html", {"may_upload": may_upload(request.user)})
