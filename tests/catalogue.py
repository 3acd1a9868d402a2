"""The catalogues of what voters read, kept in step with the sources: `python -m tests.catalogue`.

New texts are added with an empty translation, those that no source has any more are dropped; the rest stays as it is.
Texts stand as literals in `translatable(…)`, `….text(…)`, `….html(…)` and `….many(n, …, …)`, in `language.text(…)` and
so on of a template, or in `runoffSays.text(…)` and `runoffSays.many(…)` of a script.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.messages import Catalog, Message
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment, nodes

from core.i18n import LANGUAGES, STANDARD
from tests import syntax

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "core" / "languages"
Key = str | tuple[str, str]
# Each names the place of its texts among the arguments.
_CALLS = {"translatable": (0,), "text": (0,), "html": (0,), "many": (1, 2)}
_IN_SCRIPTS = {"runoffSays.text": (1,), "runoffSays.many": (2, 3)}
_KEPT = ('"Language:', '"MIME', '"Content', '"Plural')
_HEADER = "# What voters read. Brought up to date by `python -m tests.catalogue`."
# Other functions are called like these, so a module must have ours.
_OURS = re.compile(r"^from \.+(i18n|api) import", re.M)
_PLACEHOLDER = re.compile(r"\{\w+\}|<[^>]*>")


def sources() -> list[Path]:
    """Whatever may hold a text for voters."""
    mine = [path for path in ROOT.glob("core/**/*.py") if "views" not in path.parts]
    found = [*mine, *ROOT.glob("core/questions/*.js"), *ROOT.glob("core/questions/templates/*.j2")]
    return sorted(
        [*found, *(path for kind in ("*.py", "static/*.js", "templates/*.j2") for path in ROOT.glob(f"voting/{kind}"))]
    )


def file_of(code: str) -> Path:
    """The catalogue's file."""
    return FOLDER / f"{code}.po"


def texts(path: Path) -> Iterator[Key]:
    """The texts of a source: one, or the two of what is counted."""
    if path.suffix == ".js":
        with path.open("rb") as file:
            for _, message, _, _ in extract("javascript", file, _IN_SCRIPTS, options={"encoding": "utf-8"}):
                yield message if isinstance(message, str) else (str(message[0]), str(message[1]))
        return
    source = path.read_text("utf-8")
    if path.suffix == ".j2":
        yield from _in_template(source)
        return
    if not _OURS.search(source):
        return
    for node in syntax.nodes(path):
        if not isinstance(node, ast.Call):
            continue
        is_method = isinstance(node.func, ast.Attribute)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        # A language's own method counts for voters; the function `many` is of the app.
        if name not in _CALLS or ast.unparse(node.func).startswith("sa.") or (name == "many" and not is_method):
            continue
        yield from _keys([_literals(node.args[at]) for at in _CALLS[name] if at < len(node.args)])


def _keys(arguments: list[list[str]]) -> Iterator[Key]:
    if len(arguments) == 2 and all(arguments):
        yield arguments[0][0], arguments[1][0]
    elif len(arguments) == 1:
        yield from arguments[0]


def _in_template(source: str) -> Iterator[Key]:
    for node in Environment(autoescape=True).parse(source).find_all(nodes.Call):
        method = node.node
        if isinstance(method, nodes.Getattr) and isinstance(method.node, nodes.Name) and method.node.name == "language":
            yield from _keys([_template_literals(node.args[at]) for at in _CALLS.get(method.attr, ())])


def _template_literals(node: nodes.Expr | None) -> list[str]:
    if isinstance(node, nodes.CondExpr):
        return _template_literals(node.expr1) + _template_literals(node.expr2)
    if isinstance(node, nodes.Concat):
        raise ValueError(f"A text is put together in line {node.lineno} of a template. Give its parts as values.")
    return [node.value] if isinstance(node, nodes.Const) and isinstance(node.value, str) else []


def _literals(node: ast.expr) -> list[str]:
    """The texts that an argument may be; none where it is no literal."""
    if isinstance(node, ast.IfExp):
        return _literals(node.body) + _literals(node.orelse)
    if isinstance(node, ast.JoinedStr):
        raise ValueError(f"A text is put together: {ast.unparse(node)}. Give its parts as values.")
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value else []


@cache
def wanted() -> dict[Key, set[str]]:
    """Every text with the sources that it stands in, as the catalogues name them."""
    found: dict[Key, set[str]] = {}
    for path in sources():
        for key in texts(path):
            found.setdefault(key, set()).add(path.relative_to(ROOT).as_posix())
    for key in [key for key in found if isinstance(key, tuple)]:
        found[key] |= found.pop(key[0], set())  # a catalogue has one entry for a text, counted or not
    return found


def catalogue(code: str) -> Catalog:
    """The catalogue of a language as it stands."""
    with file_of(code).open("rb") as file:
        return read_po(file, locale=code)


def key_of(message: Message) -> Key:
    """The texts of an entry."""
    return message.id if isinstance(message.id, str) else (message.id[0], message.id[1])


def faults(code: str) -> list[str]:
    """What is wrong with a catalogue: missing and stale texts, sources, placeholders and tags that differ."""
    there = {key_of(message): message for message in catalogue(code) if message.id}
    found = wanted()
    wrong = [f"missing: {key}" for key in found if key not in there]
    wrong += [f"in no source: {key}" for key in there if key not in found]
    for key, message in there.items():
        forms = [message.string] if isinstance(message.string, str) else list(message.string or ())
        if "fuzzy" in message.flags or not all(forms):
            wrong.append(f"not translated: {key}")
        if {place for place, _ in message.locations} != found.get(key, set()):
            wrong.append(f"stands in other sources: {key}")
        marks = sorted({match[0] for match in _PLACEHOLDER.finditer(key if isinstance(key, str) else key[1])})
        for form in forms:
            # What is counted may leave out its number.
            told = sorted({match[0] for match in _PLACEHOLDER.finditer(form)})
            if told != marks and not (isinstance(key, tuple) and told == [mark for mark in marks if mark != "{n}"]):
                wrong.append(f"other placeholders: {key}")
    return wrong


def updated(code: str) -> bytes:
    """The catalogue with the texts of the sources, for a language that has one or is to get one."""
    template = Catalog()
    found = wanted()
    for key in sorted(found, key=lambda key: (min(found[key]), key if isinstance(key, str) else key[0])):
        template.add(key, locations=[(place, 0) for place in sorted(found[key])])
    is_there = file_of(code).exists()
    whole = catalogue(code) if is_there else Catalog(code, header_comment=_HEADER, fuzzy=False)
    whole.update(template, no_fuzzy_matching=True)
    whole.obsolete.clear()
    out = io.BytesIO()
    write_po(out, whole, width=120, include_lineno=False)
    about, blank, entries = out.getvalue().decode("utf-8").partition("\n\n")
    # The clock, people's addresses and Babel's version say nothing about the texts.
    lines = [line for line in about.split("\n") if not re.match(r'"[A-Z][\w-]+: ', line) or line.startswith(_KEPT)]
    return ("\n".join(lines) + blank + entries).encode()


if __name__ == "__main__":
    for code in [code for code in LANGUAGES if code != STANDARD]:
        path = file_of(code)
        path.write_bytes(updated(code))
        wrong = faults(code)
        print(f"{path.relative_to(ROOT)}: {len(catalogue(code))} texts, {len(wrong)} faults", *wrong, sep="\n  ")
