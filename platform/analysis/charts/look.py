"""The look of pictures: one Vega-Lite configuration, whose colours are the page's or, in files, those on paper.

Values that begin with `--` are the page's colours: the browser puts in what the style sheet says at that moment,
light or dark, and files take `PAPER`. A chart says only what a mark means, by the named styles below
(`mark_point(style="good")`); categories take their colours in order, and are told apart by shape or label, too.
"""

from typing import Any

# The light scheme of base.css and analysis.css; a test compares them.
PAPER = {
    "--surface": "#ffffff",
    "--ink": "#1b2023",
    "--muted": "#586169",
    "--line": "#e1e3df",
    "--line-strong": "#8b9499",
    "--accent": "#0b6b61",
    "--gold": "#8a5a00",
    "--good": "#1d6b37",
    "--bad": "#a8241c",
    "--live": "#1f5b99",
    "--chart-1": "#0b66a8",
    "--chart-2": "#c9501a",
    "--chart-3": "#0a8464",
    "--chart-4": "#96509f",
    "--chart-5": "#946600",
    "--chart-6": "#3a93c7",
    "--chart-7": "#bd3d69",
    "--chart-8": "#5b6570",
    "--ramp-low": "#eaf3f1",
    "--ramp-middle": "#5aa79c",
    "--ramp-high": "#063b36",
    "--below": "#b6541b",
    "--below-soft": "#e0ae8d",
    "--between": "#f1f2ef",
    "--above-soft": "#86b4d5",
    "--above": "#0b66a8",
}
CATEGORIES = [f"--chart-{number}" for number in range(1, 9)]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke", "triangle-right"]
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"
_TEXT = {
    "labelColor": "--muted",
    "titleColor": "--ink",
    "labelFontSize": 11,
    "titleFontSize": 12,
    "titleFontWeight": 500,
}

CONFIG: dict[str, Any] = {
    "background": None,
    "aria": False,
    "font": SANS,
    "padding": 4,
    "view": {"stroke": None, "cursor": "default"},
    "axis": {
        **_TEXT,
        "domainColor": "--line-strong",
        "tickColor": "--line-strong",
        "gridColor": "--line",
        "labelLimit": 190,
        "labelOverlap": True,
        "titleLimit": 420,
    },
    "axisX": {"tickCount": 8},
    "axisY": {"tickCount": 6},
    "axisXDiscrete": {"labelAngle": -35},
    "legend": {**_TEXT, "symbolSize": 70, "symbolStrokeWidth": 1.5, "labelLimit": 220},
    "header": {**_TEXT, "labelColor": "--ink", "labelLimit": 220},
    "title": {"color": "--ink", "subtitleColor": "--muted", "fontSize": 13, "fontWeight": 600, "anchor": "start"},
    "mark": {"color": "--chart-1", "tooltip": {"content": "encoding"}},
    "text": {"color": "--ink", "fontSize": 11},
    "rule": {"color": "--line-strong"},
    "line": {"strokeWidth": 1.75},
    "point": {"size": 48, "strokeWidth": 1.5},
    "circle": {"size": 48, "opacity": 0.85},
    "tick": {"thickness": 1.5},
    "area": {"opacity": 0.18, "line": False},
    "bar": {"color": "--chart-1"},
    "boxplot": {"box": {"fillOpacity": 0.35}, "median": {"color": "--ink", "strokeWidth": 2}},
    "range": {
        "category": CATEGORIES,
        "ordinal": ["--ramp-low", "--ramp-middle", "--ramp-high"],
        "ramp": ["--ramp-low", "--ramp-middle", "--ramp-high"],
        "heatmap": ["--ramp-low", "--ramp-middle", "--ramp-high"],
        "diverging": ["--below", "--below-soft", "--between", "--above-soft", "--above"],
        "symbol": SHAPES,
    },
    "style": {
        "accent": {"color": "--accent"},
        "muted": {"color": "--muted"},
        "good": {"color": "--good"},
        "bad": {"color": "--bad"},
        "warn": {"color": "--gold"},
        "first": {"color": "--chart-1"},
        "second": {"color": "--chart-2"},
        "third": {"color": "--chart-3"},
        "ink": {"color": "--ink"},
        "reference": {"color": "--muted", "strokeDash": [5, 4], "strokeWidth": 1.25, "tooltip": None},
        "band": {"color": "--chart-1", "opacity": 0.18, "strokeWidth": 0},
        "region": {"color": "--line", "opacity": 0.55, "strokeWidth": 0, "tooltip": None},
        "label": {"color": "--ink", "fontSize": 11, "tooltip": None},
        "faint": {"color": "--muted", "opacity": 0.35, "strokeWidth": 1},
    },
}


def on_paper(value: Any = CONFIG) -> Any:
    """The configuration, or a part of it, with the colours of paper."""
    if isinstance(value, dict):
        return {key: on_paper(one) for key, one in value.items()}
    if isinstance(value, list):
        return [on_paper(one) for one in value]
    return PAPER[value] if isinstance(value, str) and value.startswith("--") else value
