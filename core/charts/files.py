"""Charts as files for papers: SVG and PNG, on white, made without a network.

The conversion is vl-convert's, which holds Vega-Lite and the font Liberation Sans itself; the system's fonts are only
asked for characters that this font lacks. The same chart gives the same bytes on the same machine.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .campaign_charts import Chart

WIDTH = 468  # 6.5 inches at 72 units an inch: the width of a page's text
COLUMN = 240  # 3⅓ inches: one of a paper's two columns
PPI = 300
_PARTS = ("layer", "hconcat", "vconcat", "concat")
_INK = "#222222"
_CONFIG: dict[str, Any] = {
    "background": "white",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "gridColor": "#e6e6e6",
        "domainColor": "#888888",
        "tickColor": "#888888",
    },
    "legend": {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 11, "titleFontSize": 12},
    "title": {"color": _INK, "fontSize": 13},
}

# Letters of a paper's captions, and legends that break into lines.
_SMALL = {
    "axis": {**_CONFIG["axis"], "labelFontSize": 8, "titleFontSize": 9, "labelLimit": 110},
    "legend": {**_CONFIG["legend"], "labelFontSize": 8, "titleFontSize": 9, "columns": 2, "symbolSize": 50},
    "text": {"fontSize": 8},
}


def to_svg(chart: Chart, *, width: int = WIDTH) -> bytes:
    """The chart as SVG (UTF-8), `width` units of 1/72 inch wide; texts stay texts, with markup in them escaped."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(**_arguments(chart, width))
    return svg.encode("utf-8")


def to_png(chart: Chart, *, width: int = WIDTH, ppi: int = PPI) -> bytes:
    """The chart as PNG of `ppi` pixels an inch, `width` units wide; an inch is 72 units of the chart."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(**_arguments(chart, width), ppi=ppi)
    return png


def _arguments(chart: Chart, width: int) -> dict[str, Any]:
    """The arguments of vl-convert; no address is allowed, so that nothing can be fetched."""
    version = "v" + ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    config = _CONFIG if width > COLUMN else {**_CONFIG, **_SMALL}
    spec = specification(chart, width=width)
    return {"vl_spec": spec, "vl_version": version, "config": config, "allowed_base_urls": []}


def specification(chart: Chart, *, width: int = WIDTH) -> dict[str, Any]:
    """The chart's Vega-Lite specification, its data inside it, `width` units wide with axes and all (facets keep their
    own widths)."""
    spec: dict[str, Any] = _with_values(chart).to_dict()
    if not {"facet", "hconcat", "concat", "vconcat"} & set(spec):
        spec["width"] = width
        if width <= COLUMN and not _has_rows(spec):
            spec["height"] = min(spec.get("height", COLUMN), COLUMN)
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def _has_rows(spec: dict[str, Any]) -> bool:
    """Whether the chart has a row for each thing, and so the height that its rows need."""
    return any(
        layer.get("encoding", {}).get("y", {}).get("type") in ("nominal", "ordinal")
        for layer in (spec, *spec.get("layer", ()))
    )


def _with_values(chart: Any) -> Any:
    """The chart with its tables written out as values.

    Altair's own way asks a setting of the whole process, which Streamlit changes while it draws, in another thread.
    """
    copy = chart.copy(deep=False)
    if isinstance(copy.data, pd.DataFrame):
        copy.data = alt.InlineData(values=alt.to_values(copy.data)["values"])
    for name in _PARTS:
        parts = getattr(copy, name, None)
        if isinstance(parts, list):
            copy[name] = [_with_values(part) for part in parts]
    if isinstance(copy, alt.FacetChart):
        copy.spec = _with_values(copy.spec)
    return copy
