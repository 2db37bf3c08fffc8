"""Every address of the site with every argument that the world offers, and everything that an answer carries."""

import io
import itertools
import json
import re
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.contrib import admin
from django.core.signals import request_finished
from django.db import close_old_connections
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from analysis.inputs.audience import Audience, scopes
from analysis.report import REPORT
from analysis.sections import SECTIONS
from analysis.work import compute_now
from competitions import clock
from competitions.models import Announcement, Page, Phase, Round
from datasets.models import Dataset
from datasets.uploads.models import Upload
from submissions.models import Prediction, Run, Submission

BOARD_QUERIES = ("part=test", "part=valid", "sort=mean_score", "sort=-task0", "sort=task1")
MOST_LINKS = 400


def routes(resolver: URLResolver | None = None, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every pattern of the whole URLconf by its full route."""
    for pattern in (resolver or get_resolver()).url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        else:
            yield route, pattern


def offered(world) -> dict[str, list]:
    """Every argument of an address that leads somewhere in the world, by its name."""
    return {
        "task_id": [task.pk for phase in world.phases.values() for task in phase.tasks.all()],
        "submission_id": list(Submission.objects.values_list("pk", flat=True)),
        "run_id": list(Run.objects.values_list("pk", flat=True)),
        "check_id": [1],
        "file_id": list(Prediction.objects.values_list("pk", flat=True)[:1]),
        "dataset_slug": list(Dataset.objects.values_list("slug", flat=True)),
        "upload_id": list(Upload.objects.values_list("pk", flat=True)),
        "page_slug": ["prizes"],
        "phase_id": list(Phase.objects.values_list("pk", flat=True)),
        "round_id": list(Round.objects.values_list("pk", flat=True)),
        "team_id": list(world.contest.teams.values_list("pk", flat=True)),
        "question_id": list(world.contest.questions.values_list("pk", flat=True)),
        "entrant_id": list(world.contest.entrants.values_list("pk", flat=True)),
        "announcement_id": list(Announcement.objects.values_list("pk", flat=True)),
        "page_id": list(Page.objects.values_list("pk", flat=True)),
        "section": [section.key for section in SECTIONS],
        "which": ["overview", "evaluation", "rules"],
        "step": ["publish", "unpublish", "archive", "delete"],
        "slug": ["series", "elsewhere"],
        "token": ["forged"],
        "content_type_id": [1],
        "object_id": [1],
    }


def arguments(route: str, ids: dict[str, list], run_of: dict[int, int]) -> Iterator[str]:
    """The route with every combination of arguments; `run_of` maps the runs to their submissions."""
    names = re.findall(r"<(?:\w+:)?(\w+)>", route)
    if "^" in route:
        return
    if route.startswith("worker/"):
        ids = {**ids, "run_id": ids["run_id"][:1]}
    for values in itertools.product(*(ids.get(name, ["1"]) for name in names)):
        chosen = dict(zip(names, values, strict=True))
        if {"run_id", "submission_id"} <= chosen.keys() and run_of[chosen["run_id"]] != chosen["submission_id"]:
            continue
        address = "/" + route
        for name, value in chosen.items():
            address = re.sub(rf"<(?:\w+:)?{name}>", str(value), address)
        yield address


def analyses(world, *, sees_hidden: bool) -> dict[str, bytes]:
    """Every analysis for everybody, or for those who see what is hidden, and the report of all: pages, files of
    figures and exports show these, so that one reading of them is one of all.
    """
    found: dict[str, bytes] = {}
    for section in (*SECTIONS, REPORT):
        audience = Audience(sees_hidden)
        wishes = {section.key: audience}
        if section.of_phase:
            chosen = scopes(world.contest, audience, clock.now(world.contest))
            wishes = {f"{section.key} {scope.phase} {scope.part}": scope.audience for scope in chosen}
        for name, wish in wishes.items():
            result = compute_now(world.contest, section, wish)
            found[name] = b"" if result is None else json.dumps(result.to_json()).encode()
    return found


def addresses(world) -> list[str]:
    """Every address that GET may be tried on, with the queries that boards understand."""
    found: list[str] = ["/static/podium/base.css", "/competitions/series/nothing/", "/competitions/nothing/"]
    ids, run_of = offered(world), dict(Run.objects.values_list("pk", "submission"))
    for route, _ in routes():
        for address in arguments(route, ids, run_of):
            found.append(address)
            if address.startswith("/competitions/series/leaderboard"):
                found += [f"{address}?phase={number}" for number in range(1, 1 + len(world.phases))]
                found += [
                    f"{address}?phase={phase.number}&{more}"
                    for title, phase in world.phases.items()
                    if title in ("Final[0]", "AutoML[1]")
                    for more in BOARD_QUERIES
                ]
            if address.endswith("/log/"):
                found.append(address + "?download=1")
    for model in admin.site._registry:
        for entry in model._default_manager.order_by("-pk")[:2]:
            found.append(f"/admin/{model._meta.app_label}/{model._meta.model_name}/{entry.pk}/change/")
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Answer:
    """One answer: how it was asked for, and all that it says: status, headers, body, and files inside a zip."""

    asked: str
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def everything(self) -> bytes:
        """Status, headers and body, with what lies in a zip unpacked."""
        told = "\n".join(f"{name}: {value}" for name, value in self.headers.items())
        return told.encode() + b"\n\n" + self.body + unpacked(self.body)


def unpacked(body: bytes) -> bytes:
    """The names and contents of a zip; nothing for anything else."""
    if not zipfile.is_zipfile(io.BytesIO(body)):
        return b""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return b"\n".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())


def read(response: HttpResponse, asked: str) -> Answer:
    """All of a response."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    headers = {**response.headers, "Set-Cookie": response.cookies.output()}
    if response.streaming:
        # As Django's own test client does: the end of a request would close the test's database, too.
        request_finished.disconnect(close_old_connections)
        response.close()
        request_finished.connect(close_old_connections)
    return Answer(asked, response.status_code, headers, body)


HTMX = {"HX-Request": "true"}
JSON = {"Accept": "application/json"}


def crawl(client: Client, starts: Iterable[str]) -> Iterator[Answer]:
    """Every answer to GET at the given addresses and at those that the answers name.

    Pages that htmx renews are asked for in its way, too, and what was refused is asked for as JSON.
    """
    waiting, seen = deque(starts), set()
    followed = 0
    while waiting:
        address = waiting.popleft()
        if address in seen or "/logout/" in address:
            continue
        seen.add(address)
        answer = read(client.get(address), f"GET {address}")
        yield answer
        if address.startswith("/competitions/series/"):
            if b"hx-get" in answer.body or "submissions/" in address or "leaderboard/" in address:
                yield read(client.get(address, headers=HTMX), f"GET {address} as htmx")
            if answer.status >= 400:
                yield read(client.get(address, headers=JSON), f"GET {address} as JSON")
        for link in links(answer, address):
            if link not in seen and "sort=" not in link and followed < MOST_LINKS:
                waiting.append(link)
                followed += 1


def links(answer: Answer, address: str) -> list[str]:
    """The addresses of this site that a page names. The admin's are in its own list."""
    if "text/html" not in answer.headers.get("Content-Type", "") or address.startswith("/admin/"):
        return []
    found = re.findall(r'(?:href|src|action|hx-get)="([^"#]+)', answer.body.decode())
    base = address.partition("?")[0]
    plain = [link.replace("&amp;", "&") for link in found]
    full = [base + link if link.startswith("?") else link for link in plain]
    return [link for link in full if link.startswith("/") and not link.startswith("//")]
