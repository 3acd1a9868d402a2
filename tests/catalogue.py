"""The catalogues of what people read, kept in step with the sources: `python -m tests.catalogue`.

New texts are added with an empty translation, those that no source has any more are dropped; the rest stays as it is.
Voters' texts stand as literals in `translatable(…)`, `….text(…)` and `….many(n, …, …)`, or in `runoffSays.text(…)` and
`runoffSays.many(…)` of a script; those of the app in `say(…)`, `say_many(n, …, …)`, `tell(…)`,
`tell_many(n, …, …)`, `to_say(…)`, `many(n, "noun")` and `said_columns(…)`.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages import Catalog, Message
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from core.language import LANGUAGES, STANDARD

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "core" / "languages"
Key = str | tuple[str, str]
VOTERS, APP = "", "app"
KINDS = (VOTERS, APP)
# Each names the place of its texts among the arguments; what counts does so with the first.
_CALLS = {
    VOTERS: {"translatable": (0,), "text": (0,), "many": (1, 2)},
    APP: {"say": (0,), "tell": (0,), "to_say": (0,), "say_many": (1, 2), "tell_many": (1, 2), "many": (1,)},
}
_IN_SCRIPTS = {"runoffSays.text": (1,), "runoffSays.many": (2, 3)}
_KEPT = ('"Language:', '"MIME', '"Content', '"Plural')
HEADERS = {VOTERS: "# What voters read.", APP: "# What the app says to who works in it."}
_UPDATED = " Brought up to date by `python -m tests.catalogue`."
# Other functions are called like these, so a module must have ours.
_OURS = {
    VOTERS: re.compile(r"^from \.+(language|door) import", re.M),
    APP: re.compile(r"^from (\.+|core\.)(spoken|views\.words|words) import|^from ui\.tables import", re.M),
}
_PLACEHOLDER = re.compile(r"\{(\w+(?::[^{}]+)?)\}|<[^>]*>")


def sources(kind: str = VOTERS) -> list[Path]:
    """Whatever may hold a text for voters, or of the app."""
    if kind == APP:
        return sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("ui/*.py"), *ROOT.glob("pages/*.py")])
    mine = [path for path in ROOT.glob("core/**/*.py") if path.parent.name != "views" and path.name != "spoken.py"]
    found = [*mine, *ROOT.glob("core/platforms/*.js")]
    return sorted([*found, *ROOT.glob("voting/*.py"), *ROOT.glob("voting/static/*.js")])


def file_of(code: str, kind: str = VOTERS) -> Path:
    """The catalogue's file."""
    return FOLDER / (f"{code}.{kind}.po" if kind else f"{code}.po")


def texts(path: Path, kind: str = VOTERS) -> Iterator[Key]:
    """The texts of a source: one, or the two of what is counted."""
    if path.suffix == ".js":
        with path.open("rb") as file:
            for _, message, _, _ in extract("javascript", file, _IN_SCRIPTS, options={"encoding": "utf-8"}):
                yield message if isinstance(message, str) else (str(message[0]), str(message[1]))
        return
    source = path.read_text("utf-8")
    if not _OURS[kind].search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if kind == APP and name == "said_columns":
            yield from (text for argument in node.args for text in _literals(argument))
        if name not in _CALLS[kind] or ast.unparse(node.func).startswith("sa."):
            continue
        if (kind == APP) == isinstance(node.func, ast.Attribute) and name == "many":
            continue  # a language's method is the voters', a view's function the app's
        arguments = [_literals(node.args[at]) for at in _CALLS[kind][name] if at < len(node.args)]
        if name == "many" and kind == APP:
            yield from ((f"{{n}} {noun}", f"{{n}} {noun}s") for noun in arguments[0])
        elif len(arguments) == 2 and all(arguments):
            yield arguments[0][0], arguments[1][0]
        elif len(arguments) == 1:
            yield from arguments[0]


def _literals(node: ast.expr) -> list[str]:
    """The texts that an argument may be; none where it is no literal."""
    if isinstance(node, ast.IfExp):
        return _literals(node.body) + _literals(node.orelse)
    if isinstance(node, ast.JoinedStr):
        raise ValueError(f"A text is put together: {ast.unparse(node)}. Give its parts as values.")
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value else []


def wanted(kind: str = VOTERS) -> dict[Key, set[str]]:
    """Every text with the sources that it stands in, as the catalogues name them."""
    found: dict[Key, set[str]] = {}
    for path in sources(kind):
        for key in texts(path, kind):
            found.setdefault(key, set()).add(path.relative_to(ROOT).as_posix())
    for key in [key for key in found if isinstance(key, tuple)]:
        found[key] |= found.pop(key[0], set())  # a catalogue has one entry for a text, counted or not
    # The app's words are all over its pages: one place is enough to find them by.
    return {key: {min(places)} for key, places in found.items()} if kind == APP else found


def catalogue(code: str, kind: str = VOTERS) -> Catalog:
    """The catalogue of a language as it stands."""
    with file_of(code, kind).open("rb") as file:
        return read_po(file, locale=code)


def key_of(message: Message) -> Key:
    """The texts of an entry."""
    return message.id if isinstance(message.id, str) else (message.id[0], message.id[1])


def faults(code: str, kind: str = VOTERS) -> list[str]:
    """What is wrong with a catalogue: missing and stale texts, sources, placeholders and tags that differ."""
    there = {key_of(message): message for message in catalogue(code, kind) if message.id}
    found = wanted(kind)
    wrong = [f"missing: {key}" for key in found if key not in there]
    wrong += [f"in no source: {key}" for key in there if key not in found]
    for key, message in there.items():
        forms = [message.string] if isinstance(message.string, str) else list(message.string)
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


def updated(code: str, kind: str = VOTERS) -> bytes:
    """The catalogue with the texts of the sources, for a language that has one or is to get one."""
    template = Catalog()
    found = wanted(kind)
    for key in sorted(found, key=lambda key: (min(found[key]), key if isinstance(key, str) else key[0])):
        template.add(key, locations=[(place, 0) for place in sorted(found[key])])
    header = HEADERS[kind] + _UPDATED
    is_there = file_of(code, kind).exists()
    whole = catalogue(code, kind) if is_there else Catalog(code, header_comment=header, fuzzy=False)
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
        for kind in KINDS:
            path = file_of(code, kind)
            path.write_bytes(updated(code, kind))
            wrong = faults(code, kind)
            print(
                f"{path.relative_to(ROOT)}: {len(catalogue(code, kind))} texts, {len(wrong)} faults", *wrong, sep="\n  "
            )
