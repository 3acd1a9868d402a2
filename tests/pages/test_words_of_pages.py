"""Every text of the pages is in the catalogue: in a language that puts marks around its texts, nothing lacks them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from core import spoken
from core.language import Language, language
from core.store import Store
from core.store.areas import read_areas
from core.store.library import embeddings_of
from core.store.projects import create_project, get_project
from core.store.voter_answers import voter_names
from tests import catalogue
from ui.frame import PAGES

ROOT = Path(__file__).resolve().parents[2]
# Fields of Streamlit's messages that a person reads.
SHOWN = {"label", "body", "help", "placeholder", "options", "caption", "text", "title", "tooltip", "message", "name"}
NEVER = {"id", "key", "icon", "element_type", "page_script_hash", "url_pathname"}
_MARKED = re.compile(r"⟦[^⟦⟧]*⟧")
_CODE = re.compile(
    r"`[^`]*`|\$\$[^$]*\$\$|\$[^$]*\$|<[^>]*>|:material/\w+:|\]\([^)]*\)|https?://\S+|\b\w+\.\w+\b|\b[0-9a-f]{32}\b"
    r"|(?<!\S)/[\w./-]+"
)
# What voters read is in the plan's language.
VOTERS = {text for text in catalogue.wanted(catalogue.VOTERS) if isinstance(text, str)}
_WORD = re.compile(r"[A-Za-z]{3,}")
# Names of things, which no language translates.
NAMES = {"Runoff", "runoff", "Turkle", "Prolific", "Label", "Studio", "Mechanical", "Turk", "MTurk", "CSV", "JSON",
         "TSV", "Parquet", "SVG", "PNG", "English", "italiano", "Borda", "Bradley", "Terry", "SimLex", "GloVe", "UTC",
         "Hugging", "Face", "MTEB", "gensim", "word2vec", "Krippendorff", "cos"}  # fmt: skip


class Marked(Language):
    """English with a mark around each text of the catalogue."""

    def text(self, message: str, /, **values: Any) -> str:
        return f"⟦{message}⟧" if message else message

    def many(self, n: int, one: str, other: str, /, **values: Any) -> str:
        return f"⟦{(one if n == 1 else other).replace('{n}', self.number(n))}⟧"


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    english = language("en")
    monkeypatch.setattr(spoken, "language", lambda *_: Marked("en", english._texts, english._catalogue))


def shown(message: Message) -> Iterator[str]:
    """The texts of a message of Streamlit's that a person reads."""
    for field, value in message.ListFields():
        several = [value] if isinstance(value, Message | str | bytes | int | float) else value
        if field.name in NEVER:
            continue
        for one in several:
            if isinstance(one, Message):
                yield from shown(one)
            elif isinstance(one, str) and field.name in SHOWN:
                yield one
            elif isinstance(one, str) and field.name == "columns":
                columns = json.loads(one)
                for column in columns.values() if isinstance(columns, dict) else columns:
                    yield from (str(column[name]) for name in ("label", "help") if column.get(name))
            elif isinstance(one, str) and field.name == "spec":
                yield from titles(json.loads(one))


def titles(spec: Any) -> Iterator[str]:
    """Titles of a chart: its own, those of axes, legends and tooltips."""
    if isinstance(spec, list):
        for part in spec:
            yield from titles(part)
    elif isinstance(spec, dict):
        for name, part in spec.items():
            if name == "title" and isinstance(part, str):
                yield part
            elif name == "title" and isinstance(part, list):
                yield from (line for line in part if isinstance(line, str))
            elif name != "datasets":
                yield from titles(part)


def unmarked(text: str, known: set[str]) -> list[str]:
    """The words of a text that stand outside the marks and are no names."""
    while (less := _MARKED.sub(" ", text)) != text:
        text = less
    return [word for word in _WORD.findall(_CODE.sub(" ", text)) if word not in NAMES | known]


def names_in(store: Store, project: str) -> set[str]:
    """Words that come from the project: its tokens, areas, embeddings, voters, its own name."""
    texts = [text for area in read_areas(store, project) for text in (area.name, *area.tokens)]
    with store.read() as conn:
        texts += [row.name for row in embeddings_of(conn, project)]
        texts += voter_names(conn, project)["name"].tolist()
    texts.append(get_project(store, project).name)
    return {word for text in texts for word in _WORD.findall(text)}


def lacking(app: AppTest, known: set[str]) -> list[str]:
    """Each text of a page that isn't marked, with the words that show it."""
    found = (text for block in (app._tree.main, app._tree.sidebar) for text in shown_in(block))
    return sorted(
        {f"{words}: {text[:300]}" for text in found if text not in VOTERS and (words := unmarked(text, known))}
    )


def shown_in(block: Any) -> Iterator[str]:
    """The texts of a block of a page and all within it."""
    for child in block.children.values():
        proto = getattr(child, "proto", None)
        if isinstance(proto, Message):
            yield from shown(proto)
        if hasattr(child, "children"):
            yield from shown_in(child)


@pytest.mark.parametrize("key", [page[0] for page in PAGES])
@pytest.mark.usefixtures("marked")
def test_every_text_of_a_page_is_in_the_catalogue(key: str, demo: Store, visit: Callable[..., AppTest]) -> None:
    app = visit(key, "demo")
    assert not app.exception
    assert lacking(app, names_in(demo, "demo")) == []


@pytest.mark.parametrize("key", [page[0] for page in PAGES])
@pytest.mark.usefixtures("marked")
def test_every_text_of_an_empty_workspace_is_in_the_catalogue(
    key: str, empty: Store, visit: Callable[..., AppTest]
) -> None:
    (empty.folder / "tour-seen").touch()
    app = visit(key)
    assert not app.exception
    assert lacking(app, set()) == []


@pytest.mark.parametrize("key", [page[0] for page in PAGES])
@pytest.mark.usefixtures("marked")
def test_every_text_of_an_empty_project_is_in_the_catalogue(
    key: str, empty: Store, visit: Callable[..., AppTest]
) -> None:
    (empty.folder / "tour-seen").touch()
    project_id = create_project(empty, "Zzz")
    app = visit(key, project_id)
    assert not app.exception
    assert lacking(app, names_in(empty, project_id)) == []
