"""Croissant metadata (MLCommons, version 1.1) of a dataset that is public: JSON-LD that search engines read."""

from typing import Any

from django.conf import settings

from datasets.card import Card, Shown, public_card
from datasets.models import Dataset, DatasetVersion
from ingestion.dataset import PUBLIC_SUFFIXES

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
MEANING = {
    "_train.data": "Features of the training part, one sample a line.",
    "_valid.data": "Features of the validation part, one sample a line; its targets are hidden.",
    "_test.data": "Features of the test part, one sample a line; its targets are hidden.",
    "_train.solution": "Targets of the training part, one sample a line.",
    "_feat.type": "Numerical, Binary or Categorical, one line for each feature.",
    "_feat.name": "Names of the features, one a line.",
    "_label.name": "Names of the classes or labels, one a line.",
    "_public.info": "Task, metric, time budget and counts as key = value lines.",
}
# The context that the format gives whole, whatever part of it a dataset needs: readers compare it.
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty fileSet format "
    "includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
    "samplingRate separator source subField transform"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}


def metadata(
    dataset: Dataset, version: DatasetVersion, card: Card, *, url: str = "", download_url: str = ""
) -> dict[str, Any]:
    """The metadata as a dictionary for JSON. It tells of public files alone, and of the card what anybody may see.

    url: the dataset's page. download_url: where its public zip is; by default a file beside the metadata. Both
    become absolute by the site's own address.
    """
    seen = public_card(card, shown=Shown.NAMED)
    assert seen is not None, "a named card is never empty"
    found: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": dataset.title,
        "description": dataset.description or described(seen),
        "version": f"{version.number}.0.0",
        "datePublished": version.created_at.date().isoformat(),
        "isLiveDataset": False,
        "keywords": [seen.task, seen.metric, "AutoML"],
        "creator": {"@type": "sc:Person", "name": dataset.owner.get_full_name() or dataset.owner.get_username()},
        "url": _absolute(url),
        "license": dataset.licence,
        "citeAs": dataset.citation,
        "isBasedOn": dataset.source,
        "distribution": _files(version, download_url),
        "recordSet": [_parts(seen), *_classes(seen)],
    }
    # A key without a value would say that there is none; nobody said.
    return {key: value for key, value in found.items() if value != ""}


def described(card: Card) -> str:
    """One sentence in numbers, for a dataset that nobody described."""
    rows = f"{card.train_rows:,} training, {card.valid_rows:,} validation and {card.test_rows:,} test rows"
    return f"A dataset for {card.task.replace('.', ' ')} with {card.features:,} features; {rows}."


def _absolute(url: str) -> str:
    return f"{settings.PODIUM_URL}{url}" if url.startswith("/") else url


def _files(version: DatasetVersion, download_url: str) -> list[dict[str, Any]]:
    """The public zip, and each file that lies in it."""
    archive = f"{version.name}.zip"
    files: list[dict[str, Any]] = [
        {
            "@type": "cr:FileObject",
            "@id": archive,
            "name": archive,
            "description": "All public files in the AutoML format of the ChaLearn challenges.",
            "contentUrl": _absolute(download_url) or archive,
            "contentSize": f"{version.public_bytes} B",
            "encodingFormat": "application/zip",
            "sha256": version.public_sha256,
        }
    ]
    for suffix in PUBLIC_SUFFIXES:
        name = f"{version.name}{suffix}"
        known = version.checksums.get(name)
        if known:
            files.append(
                {
                    "@type": "cr:FileObject",
                    "@id": name,
                    "name": name,
                    "description": MEANING[suffix],
                    "containedIn": {"@id": archive},
                    "contentUrl": f"{version.name}/{name}",
                    "contentSize": f"{known['bytes']} B",
                    "encodingFormat": "text/plain",
                    "sha256": known["sha256"],
                }
            )
    return files


def _parts(card: Card) -> dict[str, Any]:
    """How many rows each part has, and whether its targets are given."""
    rows = {"train": card.train_rows, "valid": card.valid_rows, "test": card.test_rows}
    columns = {"name": "sc:Text", "rows": "sc:Integer", "targets": "sc:Text"}
    records = [
        {"name": part, "rows": count, "targets": "given" if part == "train" else "hidden"}
        for part, count in rows.items()
        if count
    ]
    return _table("parts", "The parts of the dataset.", columns, records, key="name")


def _classes(card: Card) -> list[dict[str, Any]]:
    """The classes or labels with their training rows; nothing for regression."""
    if not card.shares:
        return []
    records = [
        {"index": index, "label": share.label, "rows": share.rows} for index, share in enumerate(card.shares)
    ]
    columns = {"index": "sc:Integer", "label": "sc:Text", "rows": "sc:Integer"}
    return [_table("classes", "The classes or labels with their training rows.", columns, records, key="index")]


def _table(
    name: str, description: str, columns: dict[str, str], records: list[dict[str, Any]], *, key: str
) -> dict[str, Any]:
    fields = [
        {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column, "dataType": kind}
        for column, kind in columns.items()
    ]
    data = [{f"{name}/{column}": value for column, value in record.items()} for record in records]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": description,
        "key": {"@id": f"{name}/{key}"},
        "field": fields,
        "data": data,
    }
