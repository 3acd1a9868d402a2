"""What the values of result columns mean: choices, statuses, marks of decisions. What nobody can know is asked.

A value means what a person said (`ValueMeanings`), else what the platform's documentation or common use says; of any
other value nothing is guessed: its answers wait, and `questions_of` finds what to ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ..base.numbers_in_words import many, plural
from ..errors import InputError, Issue

# What a choice can mean: the value that `tables.ANSWERS` has, and how it is called.
CHOICES = {
    "left": "the left (first) pair",
    "right": "the right (second) pair",
    "tie": "a tie",
    "unknown": "the voter doesn't know a word",
    "": "no answer",
}
STATUSES = {
    "submitted": "the answer counts",
    "approved": "the answer is approved, and counts",
    "rejected": "the answer is rejected: kept, not counted",
}
MARKS = {"yes": "a mark: the answer is approved", "no": "no mark: nothing is decided"}
SERVERS = {
    "1": "the same server as the earlier files, or the only one",
    "2": "another server, the second",
    "3": "another server, the third",
    "4": "another server, the fourth",
}
# The roles whose values may have to be asked about: what they can mean.
MEANT: dict[str, Mapping[str, str]] = {"choice": CHOICES, "status": STATUSES, "approve": MARKS, "server": SERVERS}

# In place of an answer's status: nobody knows what the status, or the word in Approve, means. The note has the value.
ASKED = {"status?": "status", "approve?": "approve"}
STATUS_ASKED, APPROVE_ASKED = ASKED

# How programs write that a cell holds nothing (R, pandas, SQL, spreadsheets), and that something isn't so.
_NOTHING = {"", "na", "<na>", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "–", "—"}
_NO = {"0", "0.0", "false", "no", "n", "off", "falsch", "nein", "faux", "non", "falso"}
NO_MARK = frozenset(_NOTHING | _NO)
MARK = frozenset({"x", "yes", "y", "true", "1", "1.0", "approve", "approved", "on", "wahr", "ja", "vrai", "oui",
                  "verdadero", "vero", "verdadeiro"})  # fmt: skip

_STATUSES = {"submitted": "submitted", "approved": "approved", "accepted": "approved", "rejected": "rejected"}
_SKIPPED = {"true": "rejected", "false": "submitted", "skipped": "rejected"}
# What a platform's own column says besides: Label Studio whether an annotation was skipped, Appen whether a voter
# failed its tests, Prolific that nobody has looked yet.
_OF_PLATFORM = {
    "labelstudio": _SKIPPED,
    "appen": {"true": "rejected", "false": "submitted"},
    "prolific": {"awaiting review": "submitted"},
}
# A choice that is a number, or yes or no: which of the two pairs it stands for is another convention in each program.
_CODE = re.compile(r"[+-]?\d{1,3}(?:[.,]0+)?|true|false|yes|no")


Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ValueMeanings:
    """What a person said that values mean, each as (value, meaning), in any case of the letters: `choices` by
    `CHOICES`, `statuses` by `STATUSES`, `marks` in Approve by `MARKS`.

    With `former`, what nobody said is read as versions before 0.3 did, for uploads taken by them: every text in Approve
    approves, 1 is left, statuses that nobody knows count.

    `server` tells servers apart whose ids count from 1 each (`SERVERS`, "" where nobody said).
    """

    choices: Pairs = ()
    statuses: Pairs = ()
    marks: Pairs = ()
    former: bool = False
    server: str = ""

    def check_said(self) -> None:
        """Raise `InputError` where a value is said to mean what it can't."""
        for role, pairs in zip(MEANT, (self.choices, self.statuses, self.marks), strict=False):
            strange = {meaning for _, meaning in pairs} - set(MEANT[role])
            if strange:
                known = ", ".join(filter(None, MEANT[role]))
                what = "A choice" if role == "choice" else "A status" if role == "status" else "A word in Approve"
                raise InputError(f"{what} means one of {known}; found {sorted(strange)}.")


NO_MEANINGS = ValueMeanings()


def meanings_of(answers: Mapping[tuple[str, str], str]) -> ValueMeanings:
    """What answers to questions say, by role and value.

    >>> meanings_of({("choice", "0"): "left", ("server", ""): "2"})
    ValueMeanings(choices=(('0', 'left'),), statuses=(), marks=(), former=False, server='2')
    """
    pairs = {role: tuple((v, meaning) for (r, v), meaning in answers.items() if r == role) for role in MEANT}
    server = next((meaning for _, meaning in pairs["server"]), "")
    return ValueMeanings(pairs["choice"], pairs["status"], pairs["approve"], server=server)


def key_of(value: str) -> str:
    """What two values share that mean the same."""
    return value.strip().casefold()


def meanings_by_value(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What was said, by the value's key; of several meanings the last."""
    return {key_of(value): meaning for value, meaning in pairs}


def is_code(choice: str) -> bool:
    """Whether a choice is a number, or yes or no, so that somebody must say which pair it stands for.

    >>> is_code("0"), is_code("1.0"), is_code("TRUE"), is_code("left")
    (True, True, True, False)
    """
    return _CODE.fullmatch(key_of(choice)) is not None


def status_of(status: str, said: ValueMeanings, platform: str = "", rejected: Sequence[str] = ()) -> str:
    """What a status means, `STATUS_ASKED` where nobody knows.

    `rejected` are values that reject whatever the platform.

    >>> said = ValueMeanings(statuses=(("expired", "rejected"),))
    >>> status_of("Approved", said), status_of("EXPIRED", said), status_of("Returned", said)
    ('approved', 'rejected', 'status?')
    """
    key = key_of(status)
    known = _STATUSES | {"": "submitted"} | _OF_PLATFORM.get(platform, {}) | {key_of(v): "rejected" for v in rejected}
    told = meanings_by_value(said.statuses).get(key) or known.get(key, "")
    if not told and said.former:
        return "approved" if key.startswith(("approv", "accept")) else "submitted"
    return told or STATUS_ASKED


def approves(mark: str, said: ValueMeanings) -> bool | None:
    """Whether a cell of Approve is a mark; None where nobody knows.

    >>> approves("X", ValueMeanings()), approves("NA", ValueMeanings()), approves("perhaps", ValueMeanings())
    (True, False, None)
    """
    key = key_of(mark)
    if said.former:
        return key != ""
    meaning = meanings_by_value(said.marks).get(key)
    if meaning is not None:
        return meaning == "yes"
    return True if key in MARK else False if key in NO_MARK else None


def reason_of(reject: str, said: ValueMeanings) -> str:
    """The reason in a cell of Reject, "" where the cell holds nothing, or says no."""
    return "" if key_of(reject) in NO_MARK and not said.former else reject.strip()


def with_choices(choices: pd.Series, said: ValueMeanings) -> pd.Series:
    """The choices of a reader with what a person said of them; all else as it is."""
    pairs = meanings_by_value(said.choices)
    if not pairs:
        return choices
    codes, different = choices.factorize()
    meant = pd.Series([pairs.get(key_of(value), value) for value in different], dtype="str")
    return pd.Series(meant.array.take(codes), choices.index) if len(meant) else choices


@dataclass(frozen=True)
class ValueQuestion:
    """A value whose meaning somebody must say: `role` is one of `MEANT`, `n` answers hold the value, the first in
    `row`, where `example` says what was shown."""

    role: str
    value: str
    n: int
    row: int
    example: str = ""

    @property
    def asks(self) -> str:
        """The question in a sentence."""
        if self.role == "server":
            return "Is this file from a different server than the earlier files?"
        value = self.value or "(an empty cell)"
        what = {"choice": f"the choice “{value}”", "status": f"the status “{value}”"}
        return f"What does {what.get(self.role, f'“{value}” in the column Approve')} mean?"

    @property
    def found(self) -> str:
        """How many answers wait for it, and an example."""
        waiting = plural(self.n, "{answers} waits for it", "{answers} wait for it", answers=many(self.n, "answer"))
        return f"{waiting}, the first in row {self.row}{f' ({self.example})' if self.example else ''}."

    @property
    def issue(self) -> Issue:
        """The question as a remark on the file."""
        return Issue(f"{self.asks} {self.found} Nothing of it counts until somebody says.")


class OpenQuestionsError(InputError):
    """Values of a file mean nothing that is sure, so that nothing was made of it; `questions` says which."""

    def __init__(self, name: str, questions: Sequence[ValueQuestion]) -> None:
        message = " ".join(f"{question.asks} {question.found}" for question in questions)
        super().__init__(f"{name} can't be read before somebody says what its values mean. {message}")
        self.questions = tuple(questions)


def questions_of(rows: pd.DataFrame, shown: pd.DataFrame | None = None) -> tuple[ValueQuestion, ...]:
    """What must be asked about answers that wait: of each value once, in the order of the file.

    `rows` are the answers that wait, with the columns row, choice, status, note, the four texts (`left_a` …), and
    reason where there is one; `shown` has the texts in their place, row by row, where the file has none.
    """
    if rows.empty:
        return ()
    role = rows["status"].map(ASKED).fillna("choice")
    value = rows["note"].where(role != "choice", rows["choice"])
    if "reason" in rows:
        is_server = rows["reason"] == SERVER_ASKED
        role, value = role.mask(is_server, "server"), value.mask(is_server, "")
    codes, different = value.factorize()
    same = pd.factorize(pd.Series([key_of(text) for text in different], dtype="str"))[0]
    keys = pd.DataFrame({"role": role, "key": same[codes]})
    counts = keys.groupby(["role", "key"], sort=False)["key"].transform("size")
    texts = (rows if shown is None else shown)[["left_a", "left_b", "right_a", "right_b"]]
    first = (~keys.duplicated()).to_numpy()
    columns = (role, value, counts, rows["row"], *(texts[name] for name in texts))
    told = zip(*(column.to_numpy()[first].tolist() for column in columns), strict=True)
    return tuple(_question(*values) for values in told)


def _question(role: str, value: str, n: int, row: int, *texts: str) -> ValueQuestion:
    """A question with the words of its first row as an example, where a choice between them is asked about."""
    left_a, left_b, right_a, right_b = texts
    example = f"left: {left_a} – {left_b}; right: {right_a} – {right_b}" if role == "choice" and left_a else ""
    return ValueQuestion(role, value.strip(), n, row, example)


SERVER_ASKED = (
    "the store has this assignment id of this voter with another time or task; ids that are plain numbers are unique "
    "on one server only, and nobody has said whether this is another server"
)
_WAITS = {
    "choice": "nobody has said which pair the choice {value!r} stands for",
    "status": "nobody has said what the status {value!r} means",
    "approve": "nobody has said whether {value!r} in the column Approve approves",
}


def waits_for(role: str, value: str) -> str:
    """Why an answer waits whose value of this role means nothing that is sure."""
    return _WAITS[role].format(value=value)
