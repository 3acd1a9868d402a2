"""What people read is set in one way: 73%, a real minus sign, one kind of dash, “for example” in full, votes per item.

It reads the texts of the app, the command line and the documentation; voters' pages in other languages follow their own
language. The figures that a command prints keep the hyphen that other programs read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.syntax import nodes, reads_the_code

ROOT = Path(__file__).resolve().parents[1]
DOCS = ("*.md", "docs/**/*.md", "data/*.md")
CODE = ("core/**/*.py", "ui/**/*.py", "pages/*.py", "voting/*.py", "app.py", "bench/*.py")
TEMPLATES = ("core/**/*.html.j2", "core/**/*.md.j2", "voting/**/*.j2")
PAGES = ("core/views/**/*.py", "ui/**/*.py", "pages/*.py", "voting/*.py")
HELPERS = "core/base/numbers_in_words.py"

BLANKS = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
PER_CENT = re.compile(rf"[0-9}}][{BLANKS}]+%(?![{{}}]| ?[\d({{])")  # not “{{% if %}}”, nor a remainder: `i // 2 % 3`
FORMAT = re.compile(rf"\.\d?[fg][{BLANKS}]+%%")
BY_HAND = re.compile(r"\{[^{}]*:\.\d?%\}|100 \* [^{}]*:\.\d?[fg]\}%|\* 100:\.\d?[fg]\}")
MINUS_BY_HAND = re.compile(r"""replace\(["']-["'], ["'](?:−|\\N\{MINUS)""")
MINUS = re.compile(r"(?:^|[\s|(±])-\.?\d")
SHORT = re.compile(r"\b(?:e\.\s?g|i\.\s?e|etc|vs)\.", re.IGNORECASE)
DOTS = re.compile(r"(?<=\w)\.\.\.(?!\w)")
PER = re.compile(
    r"\b(?:[\d.,]*\d|votes|campaigns|cents|items|one|once) an? "
    r"(?:item|line|cell|kind|second|hour|minute|task|pair|rating|vote|assignment|project)\b"
)
DASHES = re.compile(r"(?<=\w) (?:--?|—) (?=\w)|\w—\w")

Places = Iterable[tuple[str, str]]


def found_by(rule: re.Pattern[str], places: Places) -> list[str]:
    """Where a rule finds something, with what stands around it."""
    return [
        f"{place}: {text[max(0, match.start() - 30) : match.end() + 20]!r}"
        for place, text in places
        for match in rule.finditer(text)
    ]


@cache
def lines(*patterns: str) -> tuple[tuple[str, str], ...]:
    """The lines of files, by where they stand."""
    return tuple(
        (f"{path.relative_to(ROOT)}:{number}", line)
        for pattern in patterns
        for path in sorted(ROOT.glob(pattern))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
    )


@cache
def prose() -> tuple[tuple[str, str], ...]:
    """The lines of the documentation without code, formulas and addresses, and of the templates without theirs."""
    apart, found = False, []
    for place, line in lines(*DOCS):
        is_edge = line.strip().startswith(("```", "$$"))
        apart ^= is_edge
        if not (apart or is_edge or line.startswith("    ")):
            found.append((place, re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>", "", line)))
    found += [(place, re.sub(r"\{[{%#].*?[#%}]\}", "", line)) for place, line in lines(*TEMPLATES)]
    return tuple(found)


def texts(*patterns: str) -> Iterator[tuple[str, str]]:
    """The texts of modules that aren't formulas, without what is put into them."""
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\\" not in node.value:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def test_per_cent_has_no_blank_before_it():
    of_all = (*lines(*DOCS), *lines(*CODE), *lines(*TEMPLATES))
    assert found_by(PER_CENT, [(place, line) for place, line in of_all if "%" in line]) == []
    assert found_by(FORMAT, lines(*CODE)) == []


def test_shares_and_minus_signs_are_made_by_the_helpers_alone():
    """`percent` says “over 99%” of what isn't all, where a format of one's own says 100%."""
    apart = ("bench/", HELPERS)
    of_pages = [(place, text) for place, text in lines(*CODE) if not place.startswith(apart)]
    assert found_by(BY_HAND, of_pages) == []
    assert found_by(MINUS_BY_HAND, of_pages) == []


def test_documents_have_minus_signs():
    assert found_by(MINUS, prose()) == []


@reads_the_code
def test_a_rate_is_told_by_per():
    """Votes per item, 0.10 per task: “a” and “an” are articles."""
    assert found_by(PER, [*prose(), *texts("core/**/*.py", *PAGES)]) == []


@reads_the_code
def test_nothing_is_set_in_a_second_way():
    for rule in (SHORT, DOTS, DASHES):
        assert found_by(rule, [*prose(), *texts(*PAGES)]) == []


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        (PER_CENT, ("73 %", "{share:.0f} %", "5\N{NO-BREAK SPACE}% of"), ("73%", "{% endif %}", "i % 2", "i // 2 % 3")),
        (FORMAT, ("%.0f %%",), ("%.0f%%",)),
        (BY_HAND, ("{share:.0%}", "{100 * share:.0f}%", "{share * 100:.3g}"), ("{share:.3f}",)),
        (MINUS_BY_HAND, ('replace("-", "−")',), ('replace("-", "_")',)),
        (MINUS, ("| -0.5 |", "(-.1)", "-2"), ("−0.5", "a-2", "2029-01-02", "- 2")),
        (SHORT, ("e.g. this", "and so on, etc."), ("Eqs. 1", "i.i.d.")),
        (DOTS, ("wait...",), ("wait…",)),
        (
            PER,
            ("8 votes an item", "$0.10 a task", "one a pair"),
            ("8 votes per item", "one is a pair", "votes on an item"),
        ),
        (DASHES, ("this - that", "this—that", "this -- that"), ("this – that", "x-axis")),
    ],
)
def test_the_rules_see_what_they_are_for(rule, wrong, right):
    assert [text for text in wrong if not rule.search(text)] == []
    assert [text for text in right if rule.search(text)] == []
