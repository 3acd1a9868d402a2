"""A datasheet's page as GitHub-flavoured Markdown, and texts that Markdown shows as they are."""

from __future__ import annotations

import re
from html.parser import HTMLParser

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
