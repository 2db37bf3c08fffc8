"""Compute workers, known by a token."""

import datetime as dt
import hashlib
import hmac
import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone

from ingestion.budget import Capacity


def token_hash(token: str) -> str:
    """The form in which a token is kept. Tokens are 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


class Worker(models.Model):
    """A machine's slot that runs submissions. It knows its token; the site keeps only the hash."""

    name = models.CharField(max_length=80, unique=True)
    token_hash = models.CharField(max_length=64, unique=True)
    resource_class = models.SlugField(max_length=40, default="default")
    is_trusted = models.BooleanField(default=False, help_text="May run blind phases.")
    competitions = models.ManyToManyField(
        "competitions.Competition", blank=True, help_text="Empty: runs of all competitions."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    sandbox = models.CharField(max_length=20, blank=True)
    cores = models.PositiveIntegerField(null=True, blank=True, help_text="What one run gets.")
    memory_bytes = models.PositiveBigIntegerField(null=True, blank=True, help_text="What one run gets.")
    machine_cores = models.PositiveIntegerField(null=True, blank=True)
    machine_memory_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    default_image = models.CharField(max_length=200, blank=True, help_text="For runs that name none.")
    images = models.JSONField(null=True, blank=True, help_text="Those of the allowed images that it has.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def with_new_token(cls, name: str, **fields: object) -> "tuple[Worker, str]":
        """Make the worker `name`, or give it a new token; returns it with the token, which is not kept."""
        token = secrets.token_urlsafe(32)
        worker, _ = cls.objects.update_or_create(
            name=name, defaults={"token_hash": token_hash(token), "revoked_at": None, **fields}
        )
        return worker, token

    @classmethod
    def by_token(cls, token: str) -> "Worker | None":
        """The worker that holds this token, unless it was revoked."""
        digest = token_hash(token)
        worker = cls.objects.filter(token_hash=digest, revoked_at=None).first()
        return worker if worker and hmac.compare_digest(worker.token_hash, digest) else None

    def is_alive(self, now: dt.datetime) -> bool:
        """Whether it was heard lately."""
        return self.seen_at is not None and now - self.seen_at <= settings.WORKER_ALIVE

    @property
    def capacity(self) -> Capacity | None:
        """What a run gets here, as it announced; None before it was ever heard."""
        if self.cores is None or self.memory_bytes is None:
            return None
        return Capacity(cores=self.cores, memory_bytes=self.memory_bytes)


def living_workers() -> list[Worker]:
    """The workers heard lately, in the order of their names."""
    return list(_living().prefetch_related("competitions"))


def _living() -> "models.QuerySet[Worker]":
    since = timezone.now() - settings.WORKER_ALIVE
    return Worker.objects.filter(revoked_at=None, seen_at__gte=since)


def code_runs_unconfined() -> bool:
    """Whether a living worker runs code without a sandbox, so that strangers' code must stay out."""
    return _living().filter(sandbox="unconfined").exists()
