"""What people read is set in one way: 73%, a real minus sign, an ellipsis, an en dash, “for example”.

It reads the texts of the app, the command line and the documentation; voters' pages in other languages follow their own
language. The figures that a command prints keep the hyphen that other programs read.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROSE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "docs/**/*.md", "data/*.md")
CODE = ("core/**/*.py", "ui/**/*.py", "pages/*.py", "voting/*.py", "app.py")
TEMPLATES = ("core/**/*.j2", "voting/**/*.j2")
HELPERS = ROOT / "core" / "base" / "numbers_in_words.py"

SPACES = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
PER_CENT = re.compile(rf"(?:[0-9]|\}})[{SPACES}]+%(?![{{}}])")
# In `"%.0f %%"` and `"{:.0f} %"`; a remainder, `i % 2`, is no text.
SPRINTF = re.compile(rf"[fgd][{SPACES}]+%%")
MADE_BY_HAND = re.compile(r"\.[0-9]?%\}|100 \* [a-z_.]+(\):|:|\)?:)\.?[0-9]*[fg]\}%|\* 100:[.0-9]*[fg]\}")
MINUS = re.compile(r"(?:^|[\s|(±])-[.\d]")
SHORT = re.compile(r"\b(?:e\.\s?g|i\.\s?e|etc|vs)\.", re.IGNORECASE)
DOTS = re.compile(r"(?<=\w)\.\.\.(?!\w)")
DASHES = re.compile(r"(?<=\w) (?:--?|—) (?=\w)|\w—\w")


def found_by(rule: re.Pattern[str], places: Iterator[tuple[str, str]]) -> list[str]:
    return [f"{place}: {match.group()!r} in {text[max(0, match.start() - 30) : match.end() + 20]!r}"
            for place, text in places for match in rule.finditer(text)]  # fmt: skip


def files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def prose() -> Iterator[tuple[str, str]]:
    """The lines of the documentation, without its code, formulas and addresses."""
    for path in files(*PROSE):
        text = re.sub(
            r"```.*?```|\$\$.*?\$\$", lambda m: "\n" * m.group().count("\n"), path.read_text("utf-8"), flags=re.S
        )
        for number, line in enumerate(text.splitlines(), 1):
            if not line.startswith("    "):
                yield f"{path.relative_to(ROOT)}:{number}", re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>", "", line)


def strings(*patterns: str, comments: bool = False) -> Iterator[tuple[str, str]]:
    """The texts that stand in modules: their strings, and their comments where asked for."""
    kinds = {tokenize.STRING, *((tokenize.COMMENT,) if comments else ()), *_PARTS}
    for path in files(*patterns):
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
            if token.type in kinds:
                yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


_PARTS = {getattr(tokenize, name) for name in ("FSTRING_MIDDLE",) if hasattr(tokenize, name)}  # from Python 3.12 on


def lines(*patterns: str) -> Iterator[tuple[str, str]]:
    for path in files(*patterns):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


def everything() -> Iterator[tuple[str, str]]:
    yield from prose()
    yield from strings(*CODE, comments=True)
    yield from lines(*TEMPLATES)


def test_per_cent_has_no_blank_before_it():
    assert found_by(PER_CENT, everything()) == []
    assert found_by(SPRINTF, strings(*CODE)) == []


def test_shares_are_said_by_the_helpers_alone():
    """`percent` says “over 99%” of what isn't all; a format of one's own says 100%."""
    hand = [
        place for place in found_by(MADE_BY_HAND, strings(*CODE)) if not place.startswith("core/base/numbers_in_words")
    ]
    assert hand == []


def test_minus_signs_are_made_in_one_place():
    made = [place for place, text in lines(*CODE) if 'replace("-", "−")' in text]
    assert made == []


def test_documents_have_real_minus_signs():
    assert found_by(MINUS, prose()) == []


@pytest.mark.parametrize("rule", [SHORT, DOTS, DASHES], ids=["short forms", "dots", "dashes"])
def test_one_way_for(rule):
    assert found_by(rule, prose()) == []
    assert found_by(rule, strings("ui/**/*.py", "pages/*.py", "voting/*.py", "core/views/**/*.py")) == []
    assert found_by(rule, lines(*TEMPLATES)) == []


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        (PER_CENT, ["73 %", "{share:.0f} %", "5\N{NO-BREAK SPACE}% of"], ["73%", "{% endif %}", "i % 2"]),
        (SPRINTF, ["%.0f %%"], ["%.0f%%"]),
        (MADE_BY_HAND, ["{share:.0%}", "{100 * share:.0f}%", "{share * 100:.3g}%"], ["{share:.3f}"]),
        (MINUS, ["| -0.5 |", "(-.1)", "-2"], ["−0.5", "a-2", "2029-01-02"]),
        (SHORT, ["e.g. this", "and so on, etc."], ["Eqs. 1", "i.i.d."]),
        (DOTS, ["wait..."], ["wait…"]),
        (DASHES, ["this - that", "this—that", "this -- that"], ["this – that", "x-axis"]),
    ],
)  # fmt: skip
def test_the_rules_see_what_they_are_for(rule, wrong, right):
    assert all(rule.search(text) for text in wrong)
    assert not any(rule.search(text) for text in right)
