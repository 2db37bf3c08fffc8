"""A width for pictures in files, as the page's script (charts/draw.js) gives one on a page."""

from typing import Any

WIDE = 720  # pixels
GAP = 70  # what the axes of a picture among others take
SMALLEST = 150
FREE = (None, "container")

Spec = dict[str, Any]


def fitted(spec: Spec, width: int = WIDE) -> Spec:
    """The specification with a width wherever it has none of its own; those side by side share it."""
    for kind in ("hconcat", "concat", "vconcat"):
        if kind in spec:
            beside = len(spec[kind]) if kind == "hconcat" else int(spec.get("columns") or len(spec[kind]))
            count = 1 if kind == "vconcat" else max(1, min(beside, len(spec[kind]), width // 240))
            share = width // count - GAP
            more = {"columns": count} if kind == "concat" else {}
            return {**spec, **more, kind: [_sized(one, share) for one in spec[kind]]}
    if _is_faceted(spec):
        return _faceted(spec, width)
    if spec.get("width") not in FREE:
        return spec
    return {"autosize": {"type": "fit-x", "contains": "padding"}, **spec, "width": width}


def _sized(spec: Spec, width: int) -> Spec:
    own = spec.get("width")
    too_wide = isinstance(own, int | float) and own > width
    return {**spec, "width": max(width, SMALLEST)} if own in FREE or too_wide else spec


def _is_faceted(spec: Spec) -> bool:
    encoding = spec.get("encoding", {})
    return "facet" in spec or any(channel in encoding for channel in ("row", "column", "facet"))


def _faceted(spec: Spec, width: int) -> Spec:
    encoded = spec.get("encoding", {}).get("facet")
    asked = (encoded or {}).get("columns") or spec.get("columns") or 3
    columns = max(1, min(int(asked), width // 210))
    inside = spec.get("spec", spec)
    share = max(SMALLEST - 30, (width - 60) // columns - 24)
    size = {"width": share} if inside.get("width") in FREE else {}
    if encoded:
        return {**spec, **size, "encoding": {**spec["encoding"], "facet": {**encoded, "columns": columns}}}
    if "field" in spec.get("facet", {}):
        return {**spec, "columns": columns, "spec": {**inside, **size}}
    return {**spec, "spec": {**inside, **size}} if "spec" in spec else {**spec, **size}
