"""The charts' colours: seen on white paper and on the dark page, and told apart without green cones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.charts.campaign_charts import BALLOT_COLOURS, BLUE, GREEN, GREY, NOTE, ORANGE, PURPLE

GROUNDS = {"paper": "#FFFFFF", "the dark page": "#171614"}
# Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE TVCG
# 15(6), 2009, Table 1, deuteranomaly of severity 1.0; it works on linear RGB.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
# IEC 61966-2-1: linear sRGB to XYZ, white D65.
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    """A colour's linear RGB (IEC 61966-2-1), 0 to 1."""
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Contrast as WCAG 2 defines it, 1 to 21."""
    lighter, darker = sorted((float(linear(colour) @ TO_XYZ[1]) for colour in (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE 1976 L*a*b* of a linear colour, white D65."""
    x = TO_XYZ @ np.clip(rgb, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: str, other: str, seen_by: np.ndarray) -> float:
    """ΔE*ab of two colours; about 2 can just be seen side by side."""
    return float(np.linalg.norm(lab(seen_by @ linear(one)) - lab(seen_by @ linear(other))))


def test_the_measures_against_known_values():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)  # the usual example of just too faint
    assert lab(linear("#FF0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)  # sRGB's red
    assert pytest.approx([1, 1, 1], abs=1e-5) == DEUTERANOPIA.sum(axis=1)  # greys stay
    assert difference("#FF0000", "#808000", DEUTERANOPIA) < difference("#FF0000", "#808000", np.eye(3)) / 2


def test_every_colour_stands_out_on_every_ground():
    colours = {*BALLOT_COLOURS, BLUE, ORANGE, GREEN, PURPLE, GREY}
    faint = [(colour, name) for colour in colours for name, ground in GROUNDS.items() if contrast(colour, ground) < 3]
    assert faint == []  # WCAG 2.2, 1.4.11


def test_words_of_charts_can_be_read_on_paper():
    assert contrast(NOTE, GROUNDS["paper"]) >= 4.5  # WCAG 2.2, 1.4.3; pages give them a colour of their theme


def test_any_two_colours_differ_without_green_cones():
    apart = {pair: difference(*pair, DEUTERANOPIA) for pair in combinations(BALLOT_COLOURS, 2)}
    assert min(apart.values()) > 15, min(apart, key=apart.__getitem__)
    first = [apart[pair] for pair in combinations([BLUE, ORANGE, GREEN, PURPLE], 2)]
    assert min(first) > 25  # the ones that most charts use


def test_any_two_colours_differ_for_others():
    assert min(difference(*pair, np.eye(3)) for pair in combinations(BALLOT_COLOURS, 2)) > 20
