"""Charts as files for papers: SVG and PNG, on white, made without a network.

The conversion is vl-convert's, which holds Vega-Lite and the font Liberation Sans itself; the system's fonts are only
asked for characters that this font lacks. The same chart gives the same bytes on the same machine.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .charts import Chart

WIDTH = 468  # 6.5 inches at 72 units an inch: the width of a page's text
PPI = 300
_PARTS = ("layer", "hconcat", "vconcat", "concat")
_INK = "#222222"
_CONFIG = {
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


def to_svg(chart: Chart) -> bytes:
    """The chart as SVG (UTF-8); texts stay texts, with markup in them escaped."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(**_arguments(chart))
    return svg.encode("utf-8")


def to_png(chart: Chart, *, ppi: int = PPI) -> bytes:
    """The chart as PNG of `ppi` pixels an inch; an inch is 72 units of the chart."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(**_arguments(chart), ppi=ppi)
    return png


def _arguments(chart: Chart) -> dict[str, Any]:
    """What vl-convert is given; no address is allowed, so that nothing can be fetched."""
    version = "v" + ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return {"vl_spec": specification(chart), "vl_version": version, "config": _CONFIG, "allowed_base_urls": []}


def specification(chart: Chart, *, width: int = WIDTH) -> dict[str, Any]:
    """The chart's Vega-Lite specification, its data inside it, `width` units wide (facets keep their own widths)."""
    spec: dict[str, Any] = _with_values(chart).to_dict()
    if not {"facet", "hconcat", "concat", "vconcat"} & set(spec):
        spec["width"] = width
    return spec


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
