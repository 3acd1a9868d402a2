"""The README.md of a published dataset: a card as Hugging Face reads it, with what to load and how. Its text is
`templates/card.md.j2`; values are worked out here, and written so that Markdown shows them as they are.

A datasheet's page as GitHub-flavoured Markdown, and texts that Markdown shows as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser

from ...base.templating import environment
from ...protocols.paper import REFERENCE
from ...tables import DATASET
from .checklist import known_limits
from .facts import Facts

# All that can begin something in CommonMark or GitHub's tables inside a line, HTML and mathematics among it.
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&^])")
_STARTS = re.compile(r"(?m)^(\s*)([-+=]|\d+[.)](?=\s|$))")
_AUTOLINK = re.compile(r"(?i)(https?|ftp|mailto)(:)|(www)(\.)|(\w)(@)(?=\w)")


def md(text: str) -> str:
    """A text that Markdown shows as it is, on one line; tokens may hold anything.

    >>> md("*a* <b>|$x$")
    '\\\\*a\\\\* \\\\<b\\\\>\\\\|\\\\$x\\\\$'
    """
    marked = _MARKS.sub(r"\\\1", " ".join(text.split("\n")))
    return _STARTS.sub(lambda found: found[1] + _escaped_start(found[2]), marked)


def _escaped_start(text: str) -> str:
    return f"{text[:-1]}\\{text[-1]}"


def quiet(text: str) -> str:
    """As `md`, and an address in it becomes no link: for words of others.

    >>> quiet("http://a.b"), quiet("www.x.y"), quiet("a@b")
    ('http\\\\://a.b', 'www\\\\.x.y', 'a\\\\@b')
    """
    return _AUTOLINK.sub(lambda m: "".join(g if i % 2 == 0 else f"\\{g}" for i, g in enumerate(_groups(m))), md(text))


def _groups(match: re.Match[str]) -> list[str]:
    return [group for group in match.groups() if group is not None]


def to_markdown(page: bytes) -> bytes:
    """A page of headings, paragraphs, lists, tables and `pre` (templates/blocks.html.j2) as Markdown in UTF-8."""
    reader = _Page()
    reader.feed(page.decode("utf-8"))
    reader.close()
    return ("\n\n".join(part for part in reader.parts if part) + "\n").encode("utf-8")


class _Page(HTMLParser):
    """What stands in the body of a page, its list of contents left out, block by block."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._text = ""
        self._lines: list[str] = []  # of the list or the table that is being read
        self._cells: list[str] = []
        self._rules: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("h1", "h2", "p", "pre", "li", "th", "td"):
            self._text = ""
        if tag == "th":
            self._rules.append("---:" if ("class", "n") in attrs else "---")
        elif tag in ("ul", "table"):
            self._lines, self._rules = [], []
        elif tag == "tr":
            self._cells = []

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "h1":
            self.parts.append(f"# {quiet(self._text)}")
        elif tag == "h2":
            self.parts.append(f"## {quiet(self._text)}")
        elif tag == "p":
            self.parts.append("  \n".join(md(line) for line in self._text.split("\n")))
        elif tag == "pre":
            self.parts.append(_fenced(self._text))
        elif tag == "li":
            self._lines.append(f"* {md(self._text)}")
        elif tag in ("th", "td"):
            self._cells.append(quiet(self._text))
        elif tag == "tr":
            self._lines.append(f"| {' | '.join(self._cells)} |")
        elif tag == "thead":
            self._lines.append(f"| {' | '.join(self._rules)} |")
        elif tag in ("ul", "table"):
            self.parts.append("\n".join(self._lines))


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGE = "1M<n<10M"
_TEXTS = ("area", "token_a", "token_b")
# What pandas reads as a missing value unless it is told otherwise.
_TAKEN_FOR_MISSING = frozenset(
    [
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    ]
)


def card(facts: Facts, configs: Mapping[str, Mapping[str, str]], files: Sequence[tuple[str, str]], stem: str) -> bytes:
    """The card: a YAML header (`configs`: what to load by name, a file a split), and the text.

    files : path and what it is, for people. stem : what the folder is called in the examples.
    """
    dataset = facts.dataset
    tokens = {*dataset["token_a"], *dataset["token_b"]}
    numbers = [name for name in dataset.columns if name not in _TEXTS]
    scales = [(ranking.area, scale) for ranking in facts.rankings for scale in ranking.scales]
    page = environment(__package__, quiet).get_template("card.md.j2")
    return page.render(
        facts=facts,
        configs=configs,
        first_split=next(iter(configs["default"])),
        files=files,
        stem=stem,
        size=next((name for most, name in _SIZES if len(dataset) < most), _LARGE),
        numbers=numbers,
        floats=[name for name in numbers if DATASET.columns.get(name) == "float"],
        n_tokens=len(tokens),
        lost=sorted(tokens & _TAKEN_FOR_MISSING),
        several=len(facts.rankings) > 1,
        scales=scales,
        reasons=dict.fromkeys(f"{area}: {of.why_not}" if area else of.why_not for area, of in scales if of.why_not),
        limits=known_limits(facts),
        reference=REFERENCE,
        json=json.dumps,
        md=md,
        three=_three,
        yaml_text=yaml_text,
    ).encode("utf-8")


def yaml_text(text: str) -> str:
    """A text as a double-quoted YAML scalar: JSON's form, with what YAML can't print as escapes.

    >>> yaml_text('a "b": c')
    '"a \\\\"b\\\\": c"'
    """
    return "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in json.dumps(text, ensure_ascii=False)
    )


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("-", "−")
