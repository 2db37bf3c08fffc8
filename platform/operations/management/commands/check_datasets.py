"""`./podium manage check_datasets`: whether the stored files are those that were imported."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from datasets.files import build_cache, damages
from datasets.models import Dataset, DatasetVersion
from ingestion.dataset import DataError
from operations.commands import AT_FAULT, OK, PodiumCommand


class Command(PodiumCommand):
    """Read every stored file of the datasets and compare it with its checksum."""

    help = "Compare the stored files of datasets with their checksums; build binary caches that are missing."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("slug", nargs="*", help="the datasets to look at (default: all)")
        parser.add_argument("--build-caches", action="store_true", help="build binary caches that are missing")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Look at every version."""
        versions = DatasetVersion.objects.select_related("dataset").order_by("dataset__slug", "number")
        if options["slug"]:
            known = set(Dataset.objects.filter(slug__in=options["slug"]).values_list("slug", flat=True))
            missing = [slug for slug in options["slug"] if slug not in known]
            if missing:
                raise Refused(f"There is no dataset {missing[0]}.", status=404)
            versions = versions.filter(dataset__slug__in=known)
        rows = [_row(version, build=options["build_caches"]) for version in versions]
        is_right = not any(row["problems"] for row in rows)
        return {"ok": is_right, "versions": rows}, OK if is_right else AT_FAULT

    def explain(self, result: dict[str, Any]) -> str:
        """Return every problem on its own line, then how many versions are right."""
        problems = [problem for row in result["versions"] for problem in row["problems"]]
        right = sum(not row["problems"] for row in result["versions"])
        without = sum(not row["cache"] for row in result["versions"])
        lines = [*problems, f"{right} of {len(result['versions'])} versions are as they were imported."]
        if without:
            lines.append(f"{without} have no binary cache; --build-caches builds it.")
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal in the fields of a report."""
        return {
            "ok": False,
            "versions": [{"slug": None, "number": None, "problems": [str(refusal)], "cache": True}],
        }


def _row(version: DatasetVersion, *, build: bool) -> dict[str, Any]:
    """What was found for one version, its binary cache built before where that was asked for."""
    problems = damages(version)
    if build and not version.cache_zip and not problems:
        try:
            build_cache(version)
        except (DataError, OSError) as problem:
            problems.append(f"The binary cache of {version} cannot be built: {problem}")
    return {
        "slug": version.dataset.slug,
        "number": version.number,
        "problems": problems,
        "cache": bool(version.cache_zip),
    }
