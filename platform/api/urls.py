"""Addresses for machines."""

from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from api import readiness
from api.worker import api, transfers

api.add_router("checks", readiness.router)

urlpatterns = [
    # A signed link is its own proof, and no cookie takes part: cross-site requests gain nothing here.
    path("files/<str:token>", csrf_exempt(transfers), name="worker-files"),
    path("", api.urls),
]
