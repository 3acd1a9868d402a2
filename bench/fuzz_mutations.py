"""Files damaged on purpose: any bytes changed, and tables, zip archives and JSON changed where it hurts.

Everything is drawn from a `random.Random`, so that a seed gives the same file again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import struct
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

from core.tabular.zips import DAMAGED

Mutation = Callable[[bytes, random.Random], bytes]

# Cells that programs trip over: nothing, numbers that aren't, formulas, markup, what can't be encoded, other scripts.
NASTY = (
    "", " ", "0", "-1", "1e309", "-1e-400", "nan", "inf", "9" * 25, "9" * 5000, "1_000", "٣", "½", "²",
    "Wed Feb 99999999999999999999 11:00:37 PST 2019", "0x10", "1,5", "=1+1",
    "@SUM(A1)", "-2+3", "\x00", "\x1b[31m", "\ufeff", "\u202e", "\u200b", "e\u0301" * 50, "\U0001f525", "\u2028",
    "\x85", '"', '""', "'", "\\", "\\N", "<script>alert(1)</script>", "${left_b}", "&#x110000;", "&#55296;", "&#0;",
    "[", "{", "[[[[", '{"a":{"a":1}}', '["\\ud800"]', "true", "null", "None", "../../etc/passwd", "C:\\x", "%s%n",
    "$x^2$", ":red[x]", "2020-02-30", "9999-12-31T23:59:59Z", "0001-01-01", "Mon Jan 05 10:00:00 PST 2026",
    "b1-0a1b2c3d-00001-0", "b1-0a1b2c3d-00001-1", ".", "0.0", "A" * 5000,
)  # fmt: skip
_INTERESTING = (
    b"\x00",
    b"\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\r\n",
    b'"',
    b",",
    b";",
    b"\t",
    b"\x80",
    b"PK\x03\x04",
)
_NAMES = ("../x", "/etc/x", "C:\\x", "a" * 300, "tables/x.csv", "\x00")
_COUNTS = (0, 1, -1, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1)


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """One to eight of: a byte changed, a piece cut, doubled, moved or put in, a number written over, the end lost."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(changed) + 1)
        length = rng.choice((1, 1, 2, 4, 16, 100))
        kind = rng.randrange(7)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at : at + length]
        elif kind == 2:
            changed[at:at] = changed[at : at + length] * rng.choice((1, 2, 50))
        elif kind == 3:
            changed[at:at] = rng.choice(_INTERESTING)
        elif kind == 4:
            number = rng.choice(_COUNTS)
            size, form = rng.choice(((2, "<H"), (4, "<I"), (8, "<Q")))
            changed[at : at + size] = struct.pack(form, number % 2 ** (8 * size))
        elif kind == 5:
            del changed[rng.randrange(len(changed) + 1) :]
        else:
            changed[at : at + length] = rng.randbytes(length)
    return bytes(changed)


def damage_text(data: bytes, rng: random.Random) -> bytes:
    """A nasty text put in at a random place, or a line doubled, moved or lost."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        place = rng.randrange(len(lines[at]) + 1)
        nasty = rng.choice(NASTY).encode("utf-8", "surrogatepass")
        lines[at] = lines[at][:place] + nasty + lines[at][place:]
    elif kind == 1:
        lines.insert(at, lines[rng.randrange(len(lines))])
    elif kind == 2:
        del lines[at]
    else:
        rng.shuffle(lines)
    return b"\n".join(lines)


def damage_table(data: bytes, rng: random.Random) -> bytes:
    """A CSV with cells, columns or rows changed; in another dialect or encoding at times."""
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig", "replace").replace("\0", ""), newline="")))
    if not rows or not rows[0]:
        return damage_text(data, rng)
    for _ in range(rng.choice((1, 1, 2, 5))):
        _damage_rows(rows, rng)
    out = io.StringIO(newline="")
    dialect: dict[str, Any] = {
        "delimiter": rng.choice(",,,,;\t|"),
        "lineterminator": rng.choice(("\n", "\n", "\r\n", "\r")),
        "quoting": rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
    }
    csv.writer(out, **dialect).writerows(rows)
    return out.getvalue().encode(rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252")), "replace")


def _damage_rows(rows: list[list[str]], rng: random.Random) -> None:
    row = rng.choice(rows)
    kind = rng.randrange(9)
    column = rng.randrange(max(map(len, rows), default=0) + 1)
    if kind <= 2 and row:
        row[rng.randrange(len(row))] = rng.choice(NASTY)
    elif kind == 3:
        value = rng.choice(NASTY)
        for each in rows[1:]:
            if column < len(each):
                each[column] = value
    elif kind == 4:
        for each in rows:
            del each[column : column + 1]
    elif kind == 5:
        for each in rows:
            each.insert(column, each[column - 1] if 0 < column <= len(each) else "")
    elif kind == 6:
        rows.insert(rng.randrange(len(rows)), list(row))
    elif kind == 7:
        row += [rng.choice(NASTY)] * rng.choice((1, 3))
    elif len(rows) > 1:
        del rows[rng.randrange(len(rows))]
    if not rows:
        rows.append([""])


def damage_json(data: bytes, rng: random.Random) -> bytes:
    """JSON with one of its values replaced, doubled, taken away or put deep."""
    try:
        found = json.loads(data)
    except ValueError:
        return damage_bytes(data, rng)
    places: list[tuple[Any, Any]] = []
    stack = [found]
    while stack:
        value = stack.pop()
        inner = (
            list(value.items())
            if isinstance(value, dict)
            else list(enumerate(value))
            if isinstance(value, list)
            else []
        )
        places += [(value, key) for key, _ in inner]
        stack += [each for _, each in inner]
    if not places:
        return json.dumps(rng.choice(NASTY)).encode()
    holder, key = rng.choice(places)
    from_elsewhere, place = rng.choice(places)
    other = from_elsewhere[place]
    nasty = rng.choice((*NASTY, "\ud800"))
    choices: tuple[Any, ...] = (None, True, -1, 1.5, 2**70, 1e308, nasty, nasty, [], {}, [None], {"": {}}, str(other))
    holder[key] = rng.choice(choices)
    if isinstance(holder, dict) and rng.random() < 0.2:
        del holder[key]
    text = json.dumps(found, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.05:
        text = "[" * 100_000
    return text.encode("utf-8", "surrogatepass")


def damage_zip(data: bytes, rng: random.Random) -> bytes:
    """A zip archive with a member changed, renamed, doubled, packed otherwise or lost.

    At times its manifest is made to agree with the change, so that what lies behind the checksums is reached.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    except DAMAGED:
        return damage_bytes(data, rng)
    at = rng.randrange(len(members))
    name, content = members[at]
    kind = rng.randrange(8)
    if kind <= 4:
        members[at] = (name, damage_any(content, name, rng))
    elif kind == 5:
        members[at] = (rng.choice((*_NAMES, name + "/", name.upper())), content)
    elif kind == 6:
        members.append((name, content))
    else:
        del members[at]
    if rng.random() < 0.8:
        members = _agreeing(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for each, inner in members:
            entry = zipfile.ZipInfo(each)
            entry.compress_type = (
                rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)) if rng.random() < 0.98 else zipfile.ZIP_LZMA
            )
            archive.writestr(entry, inner)
    packed = out.getvalue()
    return damage_bytes(packed, rng) if rng.random() < 0.1 else packed


def _agreeing(members: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The members with sizes and checksums in manifest.json brought in line."""
    contents = dict(members)
    try:
        manifest = json.loads(contents["manifest.json"])
        listed = manifest["files"] if "files" in manifest else manifest["members"]
        for name in [*listed]:
            if name not in contents:
                del listed[name]
        for name, data in contents.items():
            if name != "manifest.json":
                listed[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for table in manifest.get("rows", {}):
            if f"tables/{table}.csv" in contents:
                rows = csv.reader(io.StringIO(contents[f"tables/{table}.csv"].decode("utf-8"), newline=""))
                manifest["rows"][table] = max(0, sum(1 for _ in rows) - 1)
    except (KeyError, ValueError, TypeError, AttributeError, csv.Error):
        return members
    text = json.dumps(manifest).encode("utf-8", "surrogatepass")
    return [(name, text if name == "manifest.json" else data) for name, data in members]


def damage_any(data: bytes, name: str, rng: random.Random) -> bytes:
    """Whatever fits a file of that name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that a zip has twice
            return _fitting(data, name, rng)(data, rng)
    except (*DAMAGED, csv.Error):  # damaged beyond its own format already
        return damage_bytes(data, rng)


def _fitting(data: bytes, name: str, rng: random.Random) -> Mutation:
    if data[:2] == b"PK":
        return damage_zip
    if name.endswith(".json") or data[:1] in (b"{", b"["):
        return rng.choice((damage_json, damage_json, damage_bytes))
    if name.endswith((".csv", ".tsv")):
        return rng.choice((damage_table, damage_table, damage_table, damage_text, damage_bytes))
    return rng.choice((damage_bytes, damage_bytes, damage_text))


__all__ = ["NASTY", "damage_any", "damage_bytes", "damage_json", "damage_table", "damage_text", "damage_zip"]
