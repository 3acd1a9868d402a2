"""Target groups as the text files in which Avraham and Goldberg published theirs.

    singer                       the target
    musician,0.90,person,0.10    two positives, each with the share of people that put it above the other
    distractors
    musician,1.00,song,0.00      a positive above a distractor
    randoms
    musician,1.00,laptop,0.00    a positive above a random

An empty line may stand between groups; a line without a comma that is no heading begins one. Words stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...errors import InputError, Issue
from ...tabular import decode_bytes
from .groups import GroupComparison, Kind, TargetGroup, compared

_HEADINGS: dict[str, Kind] = {"distractors": "distractor", "randoms": "random", "positives": "positive"}
_LINE_END = re.compile(r"\r\n|\r|\n")  # and no other: U+2028 and the like are characters of a word
_TOLERANCE = 0.011  # shares are written with two digits


@dataclass(frozen=True)
class GroupFile:
    """What a file holds: `comparisons` in its order, each once, the preferred word first.

    `repeated` are the lines that said once more what an earlier one had said; they are not in `comparisons` again.
    `notes` say how the file was read.
    """

    comparisons: tuple[GroupComparison, ...]
    repeated: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()


def read_group_file(data: bytes, name: str, *, encoding: str | None = None) -> GroupFile:
    """The comparisons of a file, in an encoding that is found by looking unless it is given; see `read_groups`."""
    decoded = decode_bytes(data, name, encoding=encoding, braces=True)
    return replace(read_groups(decoded.text), notes=tuple(map(str, decoded.notes)))


def read_groups(text: str) -> GroupFile:
    """Read comparisons of target groups.

    Raises `InputError` naming every line that isn't one of the module's, whose shares don't add up to 1, or which
    says otherwise than an earlier one of the same two words, and for a text without comparisons.
    """
    found: dict[tuple[str, frozenset[str]], GroupComparison] = {}
    issues: list[Issue] = []
    repeated: list[Issue] = []
    target, kind = "", "positive"
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        cells = [cell.strip() for cell in line.split(",")]
        if cells == [""]:
            continue
        if len(cells) == 1:
            target, kind = (target, _HEADINGS[cells[0]]) if cells[0] in _HEADINGS else (cells[0], "positive")
            continue
        try:
            comparison = _comparison(target, kind, cells)
            key = (target, frozenset((comparison.first, comparison.second)))
            if found.get(key, comparison) != comparison:
                raise InputError("an earlier line says otherwise of these two words")
        except InputError as error:
            issues.append(Issue(str(error).rstrip("."), row=number, found=line))
            continue
        if key in found:
            repeated.append(Issue("says what an earlier line said", row=number, found=line))
        found[key] = comparison
    if issues:
        raise InputError("These target groups can't be read.", issues)
    if not found:
        raise InputError("There are no comparisons of target groups in it.")
    return GroupFile(tuple(found.values()), tuple(repeated))


def _comparison(target: str, kind: str, cells: list[str]) -> GroupComparison:
    if not target:
        raise InputError("a comparison comes before any target")
    if len(cells) != 4:
        raise InputError(f"a comparison has four parts (word, share, word, share), found {len(cells)}")
    one, other = cells[0], cells[2]
    if not one or not other or len({one, other, target}) < 3:
        raise InputError("a comparison needs two different words that aren't the target")
    try:
        shares = float(cells[1]), float(cells[3])
    except ValueError:
        raise InputError("a share is no number") from None
    if not (abs(sum(shares) - 1) <= _TOLERANCE and min(shares) >= 0):
        raise InputError("the two shares must add up to 1")
    if kind == "positive":
        return compared(target, one, other, shares[0] / sum(shares))
    if shares[0] < shares[1]:
        one, other, shares = other, one, shares[::-1]
    if shares[1] > 0:
        raise InputError(f"a {kind} lies below by definition: its share is 0")
    return GroupComparison(target, one, other, "distractor" if kind == "distractor" else "random", 1.0)


def write_groups(comparisons: Iterable[GroupComparison]) -> str:
    """The text of `read_groups`; shares with as many digits as they need, so that it reads back the same."""
    by_target: dict[str, list[GroupComparison]] = {}
    for comparison in comparisons:
        by_target.setdefault(comparison.target, []).append(comparison)
    blocks = []
    for target, rows in by_target.items():
        lines = [target]
        for heading, kind in (("", "positive"), ("distractors", "distractor"), ("randoms", "random")):
            of_kind = [row for row in rows if row.kind == kind]
            if of_kind and heading:
                lines.append(heading)
            lines += [f"{row.first},{_share(row.r)},{row.second},{_share(1 - row.r)}" for row in of_kind]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _share(value: float) -> str:
    text = f"{round(value, 12):.12f}".rstrip("0")
    whole, _, digits = text.partition(".")
    return f"{whole}.{digits:0<2}"


def groups_of(comparisons: Iterable[GroupComparison]) -> list[TargetGroup]:
    """The groups that comparisons belong to, words in the order in which they come.

    A target with a comparison of one positive and no other still has that positive.
    """
    words: dict[str, dict[Kind, dict[str, None]]] = {}
    for comparison in comparisons:
        of_target = words.setdefault(comparison.target, {"positive": {}, "distractor": {}, "random": {}})
        of_target["positive"].setdefault(comparison.first)
        of_target[comparison.kind].setdefault(comparison.second)
    return [
        TargetGroup(target, tuple(of["positive"]), tuple(of["distractor"]), tuple(of["random"]))
        for target, of in words.items()
    ]
