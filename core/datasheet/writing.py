"""A document as Markdown, and as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files

from .blocks import Block, Bullets, Document, Formula, Heading, Paragraph, Table

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


def to_markdown(document: Document) -> bytes:
    """The document as GitHub-flavoured Markdown in UTF-8."""
    parts = [f"# {quiet(document.title)}", *(_md_block(block) for block in document.blocks)]
    return ("\n\n".join(part for part in parts if part) + "\n").encode("utf-8")


def _md_block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"## {quiet(block.text)}"
    if isinstance(block, Paragraph):
        return "\n\n".join(
            "  \n".join(md(line) for line in part.split("\n")) for part in re.split(r"\n{2,}", block.text)
        )
    if isinstance(block, Formula):
        longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}text\n{block.text}\n{fence}"
    if isinstance(block, Bullets):
        return "\n".join(f"* {md(text)}" for text in block.texts)
    rules = ["---:" if name in block.numbers else "---" for name in block.header]
    rows = [[quiet(cell) for cell in row] for row in (block.header, *block.rows)]
    lines = [f"| {' | '.join(cells)} |" for cells in (rows[0], rules, *rows[1:])]
    return "\n".join(lines) if block.rows else ""


def to_html(document: Document, *, language: str = "en") -> bytes:
    """The document as one page: its own style for light, dark and print, no script, nothing loaded from elsewhere."""
    css = files(__package__).joinpath("sheet.css").read_text(encoding="utf-8").strip()
    contents = "".join(
        f'<li><a href="#s{number}">{escape(text)}</a></li>' for number, text in enumerate(document.headings, 1)
    )
    number = 0
    body = []
    for block in document.blocks:
        number += isinstance(block, Heading)
        body.append(_html_block(block, number))
    page = (
        f'<!DOCTYPE html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{css}\n</style>\n</head>\n<body>\n<main>\n"
        f'<h1 dir="auto">{escape(document.title)}</h1>\n<nav aria-label="Contents"><ol>{contents}</ol></nav>\n'
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )
    return page.encode("utf-8")


def _html_block(block: Block, number: int) -> str:
    if isinstance(block, Heading):
        return f'<h2 id="s{number}">{escape(block.text)}</h2>'
    if isinstance(block, Paragraph):
        parts = [escape(part).replace("\n", "<br>\n") for part in re.split(r"\n{2,}", block.text)]
        return "\n".join(f'<p dir="auto">{part}</p>' for part in parts)
    if isinstance(block, Formula):
        return f"<pre><code>{escape(block.text)}</code></pre>"
    if isinstance(block, Bullets):
        return "<ul>" + "".join(f'<li dir="auto">{escape(text)}</li>' for text in block.texts) + "</ul>"
    return _html_table(block) if block.rows else ""


def _html_table(block: Table) -> str:
    kinds = [' class="n"' if name in block.numbers else "" for name in block.header]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(block.header, kinds, strict=True))
    rows = [
        "<tr>"
        + "".join(f'<td dir="auto"{kind}>{escape(cell)}</td>' for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in block.rows
    ]
    label = escape(", ".join(block.header))
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="Table: {label}"><table>\n<thead><tr>{head}</tr>'
        "</thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody></table></div>"
    )
