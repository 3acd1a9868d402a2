"""Figures that must not fall under a bound: `evaluate --fail-under rho_w=0.6`, for continuous integration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError


def bounds_of(texts: Sequence[str]) -> list[tuple[str, float]]:
    """The bounds of an option's values, such as rho_w=0.6; `InputError` for one that can't be read.

    >>> bounds_of(["rho_w=0.6", "rho = -.1"])
    [('rho_w', 0.6), ('rho', -0.1)]
    """
    found = []
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        try:
            bound = float(value)
        except ValueError:
            bound = math.nan
        if not sign or not name or not math.isfinite(bound):
            raise InputError(f"--fail-under takes a figure and its bound, such as rho_w=0.6; found {text!r}.")
        found.append((name, bound))
    return found


def held_against(bounds: Sequence[tuple[str, float]], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each bound against the figure of each model over all its items (`rows` as `evaluate --json` has them).

    A figure that is undefined fails, with the reason. Raises `InputError` for a figure that `evaluate` doesn't have.
    """
    results = []
    for row in rows:
        if row.get("area") is not None:
            continue
        known = sorted(name for name, value in row.items() if isinstance(value, Mapping) and "estimate" in value)
        for name, bound in bounds:
            if name not in known:
                raise InputError(f"--fail-under: there is no figure {name!r}; there are {', '.join(known)}.")
            estimate = row[name]["estimate"]
            defined = estimate is not None and math.isfinite(estimate)
            result = {"model": row["model"], "figure": name, "bound": bound, "estimate": estimate}
            result["passed"] = bool(defined and estimate >= bound)
            if not defined:
                result["why"] = f"undefined: {row[name].get('why_undefined') or 'no reason is known'}"
            elif not result["passed"]:
                result["why"] = f"{estimate:.4f} is under {bound:g}"
            results.append(result)
    return results


def bounds_text(results: Sequence[Mapping[str, Any]]) -> str:
    """A line a bound, for people."""
    lines = []
    for result in results:
        figure = "–" if result["estimate"] is None else f"{result['estimate']:.4f}"
        verdict = "passed" if result["passed"] else f"FAILED, {result['why']}"
        lines.append(f"{result['model']}: {result['figure']} = {figure}, bound {result['bound']:g}: {verdict}")
    return "\n".join(lines)
