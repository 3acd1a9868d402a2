"""Which column of a table is which: what a person says once, and what is then read from it.

A name may hold `{n}`: then the columns where a number stands in its place, 1, 2, …, are the comparisons of a row.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from ..errors import InputError, Issue
from ..tabular import same_name
from ..tabular.json_texts import known_values
from ..votes.meanings import Pairs, Said, said_of

NUMBER = "{n}"
_PAIRS = {"choices", "statuses", "marks"}
TEXT_COLUMNS = ("left_a", "left_b", "right_a", "right_b")
ROLES = {
    "voter": "Voter",
    "choice": "Choice",
    "choice_too": "Second column of the choice",
    "comparison": "Id of the comparison",
    "task": "Id of the task",
    "left_a": "Left pair, first token",
    "left_b": "Left pair, second token",
    "right_a": "Right pair, first token",
    "right_b": "Right pair, second token",
    "area_left": "Area of the left pair",
    "area_right": "Area of the right pair",
    "submitted_at": "Time of the answer",
    "seconds": "Seconds it took",
    "status": "Status (approved, rejected)",
    "reason": "Reason of a rejection",
    "assignment": "Id of the assignment",
}


@dataclass(frozen=True)
class Mapping(Said):
    """The column of each of `ROLES`, "" where there is none, and what values mean (`meanings.Said`).

    Needed are a voter, a choice, and the id of the comparison (as in the table of comparisons), of the task, or the
    words: four columns, or one a pair with the `separator` that stands between its tokens. `rejected` are the values of
    `status` that reject an answer. `platform` names where the votes come from: the same name with another one is
    another voter. With `us_dates` the month stands first in a date. Without any column it is for files whose columns
    are a platform's own.
    """

    voter: str = ""
    choice: str = ""
    choice_too: str = ""
    comparison: str = ""
    task: str = ""
    left_a: str = ""
    left_b: str = ""
    right_a: str = ""
    right_b: str = ""
    area_left: str = ""
    area_right: str = ""
    submitted_at: str = ""
    seconds: str = ""
    status: str = ""
    reason: str = ""
    assignment: str = ""
    separator: str = ""
    rejected: tuple[str, ...] = ("rejected",)
    platform: str = "table"
    us_dates: bool = False

    @classmethod
    def of(cls, stored: AnyMapping[str, Any]) -> Mapping:
        """A mapping as JSON keeps it; what another version knows besides is left out."""
        values = known_values(cls, stored)
        for name in _PAIRS & values.keys():
            values[name] = tuple((str(value), str(meaning)) for value, meaning in values[name])
        if "rejected" in values:
            values["rejected"] = tuple(map(str, values["rejected"]))
        return cls(**values)

    def stored(self) -> dict[str, Any]:
        """The mapping as JSON, without what is at its default."""
        told = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        told |= {name: [list(pair) for pair in told[name]] for name in _PAIRS & told.keys()}
        return told | ({"rejected": list(self.rejected)} if "rejected" in told else {})

    def named(self) -> dict[str, str]:
        """The columns by role, those that are there."""
        return {role: getattr(self, role) for role in ROLES if getattr(self, role)}

    @property
    def told(self) -> dict[str, Any]:
        """What somebody said of values, by what they are; for the log."""
        told: dict[str, Any] = {name: dict(getattr(self, name)) for name in sorted(_PAIRS) if getattr(self, name)}
        return told | ({"server": self.server} if self.server else {})

    def saying(self, said: Said) -> Self:
        """The mapping with what was said besides, which goes before what it says itself."""
        return replace(
            self,
            choices=_joined(self.choices, said.choices),
            statuses=_joined(self.statuses, said.statuses),
            marks=_joined(self.marks, said.marks),
            former=self.former or said.former,
            server=said.server or self.server,
        )

    @property
    def shows_texts(self) -> bool:
        """Whether the words that voters saw are among the columns."""
        if self.separator:
            return bool(self.left_a and self.right_a)
        return all(getattr(self, name) for name in TEXT_COLUMNS)

    @property
    def is_complete(self) -> bool:
        """Whether votes can be read by it."""
        return bool(self.voter and self.choice and (self.comparison or self.task or self.shows_texts))

    def check(self, header: Sequence[str]) -> None:
        """Raise `InputError` where a column isn't in the header, or where something that is needed is missing."""
        issues = []
        for role, name in self.named().items():
            if not columns_of(header, name):
                issues.append(Issue(f"there is no such column for “{ROLES[role]}”", found=name))
        if issues:
            raise InputError("These columns are not in the file.", issues)
        for role, name in self.named().items():
            if doubled := _doubled(header, name):
                issues.append(Issue(f"several columns have the name for “{ROLES[role]}”", found=", ".join(doubled)))
        if issues:
            raise InputError("Two columns of one name say different things. Keep one of each, or name another.", issues)
        lacking = [ROLES[role].lower() for role in ("voter", "choice") if not getattr(self, role)]
        if not (self.comparison or self.task or self.shows_texts):
            lacking.append("either the id of the comparison or the four tokens shown")
        if lacking:
            raise InputError(f"Say also which columns hold {', '.join(lacking)}.")
        self.check_said()


def _joined(before: Pairs, after: Pairs) -> Pairs:
    return tuple((said_of(before) | said_of(after)).items())


def _doubled(header: Sequence[str], name: str) -> list[str]:
    """The columns of which nobody can say which one is meant by a name; none where that is plain.

    >>> _doubled(["a", "a"], "a"), _doubled(["a", "A"], "A"), _doubled(["c1", "C1", "c2"], "c{n}")
    (['a', 'a'], [], ['c1', 'C1'])
    """
    if header.count(name) == 1:
        return []
    by_number: dict[str, list[str]] = {}
    for column in header:
        if columns_of([column], name):
            by_number.setdefault(same_name(column), []).append(column)
    return [column for columns in by_number.values() if len(columns) > 1 for column in columns]


def columns_of(header: Sequence[str], name: str) -> dict[int, int]:
    """The positions of a column by the number of the comparison, {1: position} for a name without `{n}`.

    Names match in any case of the letters; of several that do, the one written so goes first, then the first.

    >>> columns_of(["Choice1", "choice2"], "choice{n}"), columns_of(["a", "A"], "A"), columns_of(["a"], "b")
    ({1: 0, 2: 1}, {1: 1}, {})
    """
    folded = [column.strip().casefold() for column in header]
    if NUMBER not in name:
        exact = [at for at, column in enumerate(header) if column == name]
        same = exact or [at for at, column in enumerate(folded) if column == name.strip().casefold()]
        return {1: same[0]} if name and same else {}
    before, _, after = name.strip().casefold().partition(NUMBER)
    found: dict[int, int] = {}
    for at, column in enumerate(folded):
        middle = column[len(before) : len(column) - len(after)]
        fits = column.startswith(before) and column.endswith(after) and len(column) > len(before) + len(after)
        if fits and middle.isascii() and middle.isdigit() and len(middle) < 5 and int(middle) > 0:
            found.setdefault(int(middle), at)
    return dict(sorted(found.items()))
