"""What `mkdocs build` does beside its own work: pages from the project's root, links between them, equations.

The README, the changes and the like stay where people look for them in a repository, and are pages of the site too.
Links are written as they work in the repository; here they become links of the site. A link to a file that is no part
of the site (a module, say) becomes its bare text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Files outside docs/ by their place in the site.
PAGES = {
    "index.md": "README.md",
    "architecture.md": "ARCHITECTURE.md",
    "changes.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "demo-data.md": "data/SOURCE.md",
}
EXAMPLES = ("*.ipynb", "*.csv")  # notebooks, and what they and the tutorial read
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_FROM_ELSEWHERE = re.compile(
    r"<(?:script|img|iframe|source|link(?![^>]*rel=\"canonical\"))\b[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>"
)
_EQUATION = re.compile(r"^\$\$\n(.+?)\n\$\$$", re.MULTILINE | re.DOTALL)


def examples() -> list[Path]:
    """The files of examples/ that can be downloaded."""
    return sorted(path for pattern in EXAMPLES for path in (ROOT / "examples").glob(pattern))


def places() -> dict[str, str]:
    """Where each file of the repository that the site shows stands in it."""
    found = {source: page for page, source in PAGES.items()}
    found |= {path.relative_to(ROOT).as_posix(): path.relative_to(ROOT).as_posix() for path in examples()}
    docs = ROOT / "docs"
    shown = [path for path in docs.rglob("*") if path.is_file() and path.suffix != ".py"]
    return found | {f"docs/{path.relative_to(docs).as_posix()}": path.relative_to(docs).as_posix() for path in shown}


def relinked(text: str, page: str) -> str:
    """A page's Markdown with its links as they must be in the site; `page` is the page's place there."""
    known = places()
    source = PAGES.get(page, f"docs/{page}")

    def link(match: re.Match[str]) -> str:
        image, label, target, anchor = match.groups()
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if meant not in known:
            return label if (ROOT / meant).exists() else match.group()  # what isn't there is mkdocs's to refuse
        place = posixpath.relpath(known[meant], posixpath.dirname(page) or ".")
        return f"{image}[{label}]({place}{anchor or ''})"

    return _LINK.sub(link, text)


def on_files(files: Any, config: Any) -> Any:
    """Add what lies outside docs/."""
    from mkdocs.structure.files import File

    for page, source in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for path in examples():
        place = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links and equations into those of the site."""
    from latex2mathml.converter import convert

    def equation(match: re.Match[str]) -> str:
        return f'<div class="equation">{convert(match.group(1), display="block")}</div>'

    return _EQUATION.sub(equation, relinked(markdown, page.file.src_uri))


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that would load something from another host."""
    from mkdocs.exceptions import PluginError

    if found := from_elsewhere(output):
        raise PluginError(f"{page.file.src_uri} would load from elsewhere: {', '.join(found)}")
    return output


def from_elsewhere(html: str) -> list[str]:
    """The tags of a page that load something from another host."""
    return _FROM_ELSEWHERE.findall(html)
