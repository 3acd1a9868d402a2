"""What readers of result files share: cells, rows in their places, times, and tokens that come back unchanged.

Tokens inside a batch file are written so that no platform changes them, and read back exactly. A batch value ends up in
the middle of a web page, and neither platform treats it kindly: Turkle puts it there unescaped and replaces `${names}`
one after the other, so a token that holds `<b>` or `${left_b}` would change the page; Mechanical Turk refuses
characters outside the Basic Multilingual Plane (emoji, rare CJK). So everything with a meaning in HTML or in a template
is written as a character reference.

Ids that a spreadsheet damaged are emptied, which is said; those that a program wrote as `3.0` are 3. Times become ISO
8601 in UTC, so that they sort.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from html.entities import html5

import numpy as np
import pandas as pd

from ..base.numbers_in_words import many, plural
from ..errors import Issue
from ..tables import ANSWERS, Ints
from ..tabular import Texts
from ..tabular.csv_writing import csv_text
from .platform import ResultFile

# Markup and template characters; control characters, which would break a CSV row or vanish in a page; and
# all code points that UTF-8 writes with four bytes. Lone surrogates can't be written to a file at all.
_UNSAFE = re.compile("[&<>\"'$\x00-\x1f\x7f\ud800-\udfff\U00010000-\U0010ffff]")
_OUTSIDE_ASCII = re.compile("[\x80-\U0010ffff]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_REFERENCE = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,31}));")


def encode(text: str) -> str:
    """Write `text` for a batch file; `decode` gives it back unchanged, whatever it holds.

    >>> encode("R&D 🔥")
    'R&amp;D &#x1F525;'
    """
    return _UNSAFE.sub(_reference, text)


def to_ascii(text: str) -> str:
    """Write what is left outside ASCII in an encoded text as references too; `decode` undoes both at once.

    >>> to_ascii(encode("café & 🔥"))
    'caf&#xE9; &amp; &#x1F525;'
    """
    return text if text.isascii() else _OUTSIDE_ASCII.sub(_reference, text)


def batch_bytes(header: Iterable[str], rows: Iterable[Sequence[str]], *, ascii_only: bool) -> bytes:
    """A batch file of encoded cells, in UTF-8, or in ASCII alone."""
    text = csv_text(header, rows)
    return (to_ascii(text) if ascii_only else text).encode("utf-8")


def needs_references(text: str) -> bool:
    """Whether a text holds characters that Mechanical Turk refuses as they are, such as emoji.

    >>> needs_references("fire 🔥"), needs_references("não")
    (True, False)
    """
    return any(ord(character) > 0xFFFF for character in text)


def decode(text: str) -> str:
    """Undo the character references in a field of a result file, once.

    Only complete references (`&amp;`, `&#x1F525;`, `&#233;`) are replaced, in one pass: a text that was never
    encoded, such as `AT&T` or `<b>`, stays as it is.

    >>> decode("R&amp;D &#x1F525; AT&T")
    'R&D 🔥 AT&T'
    >>> decode(encode("&amp;"))
    '&amp;'
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _reference(match: re.Match[str]) -> str:
    character = match[0]
    return _NAMED.get(character) or f"&#x{ord(character):X};"


def _character(match: re.Match[str]) -> str:
    if match[3] is not None:
        return html5.get(match[3] + ";", match[0])
    code = int(match[1], 16) if match[1] is not None else int(match[2])
    # A half of a surrogate pair is no character, and no file could hold it.
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match[0]


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Hours east of UTC. Mechanical Turk writes Pacific time, Turkle its server's; the American names are those of RFC 822.
_ZONES: dict[str, float] = {
    "UTC": 0, "GMT": 0, "UT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "MSD": 4,
    "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4,
    "AKST": -9, "AKDT": -8, "HST": -10, "NST": -3.5, "NDT": -2.5, "BRT": -3, "ART": -3,
    "SAST": 2, "CAT": 2, "EAT": 3, "WAT": 1, "TRT": 3, "PKT": 5, "NPT": 5.75, "WIB": 7, "WITA": 8, "WIT": 9,
    "HKT": 8, "SGT": 8, "PHT": 8, "JST": 9, "KST": 9,
    "AWST": 8, "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip
# Names that several zones have: what was meant nobody can know.
_SEVERAL = {
    "BST": "Britain in summer, Bangladesh",
    "IST": "India, Ireland, Israel",
    "GST": "the Gulf, South Georgia",
    "AST": "the Atlantic, Arabia",
    "ADT": "the Atlantic, Arabia",
    "AMT": "the Amazon, Armenia",
    "ICT": "Indochina, other places",
    "ECT": "Ecuador, the Caribbean",
    "WST": "Western Australia, Samoa",
}
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)?")
_US = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}) (\d{1,2}):(\d\d)(?::(\d\d))?")
_YEAR, _DAY = re.compile(r"(19|20)[0-9]{2}"), re.compile(r"[0-9]{1,2}")
_ISO_LIKE = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[ T](\d.*?))??(?: ?([A-Za-z]{1,5}|[+-]\d\d:?\d\d))?")
_WORD = re.compile(r"\b[A-Z]{2,5}\b")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d)")


def to_utc(texts: Sequence[str], *, us_dates: bool = False) -> tuple[list[str], int]:
    """Read times such as `Wed Feb 20 11:00:37 PST 2019` or ISO 8601; "" where that isn't possible.

    An ISO time without a zone is taken for UTC, one with a zone's name behind it for that zone; dates that a
    spreadsheet rewrote (`20.02.2019 11:00`, day or month first?) are read only with `us_dates`, which says that the
    month stands first. Returns the times and the number of
    those that could not be read.

    >>> to_utc(["Wed Feb 20 11:00:37 PST 2019", "20.02.2019 11:00"])
    (['2019-02-20T19:00:37Z', ''], 1)
    """
    days: dict[tuple[str, ...], datetime | None] = {}
    times, n_unread = [], 0
    for text in texts:
        if not text:
            times.append("")
            continue
        time = _turk_time(text, days) or _iso_time(text) or (_us_time(text) if us_dates else "")
        n_unread += not time and bool(text.strip())
        times.append(time)
    return times, n_unread


def _turk_time(text: str, days: dict[tuple[str, ...], datetime | None]) -> str:
    """`Wed Feb 20 11:00:37 PST 2019`; `days` keeps the start of each day, as a file has few days and many times."""
    parts = text.split()
    if len(parts) != 6:
        return ""
    clock = _CLOCK.fullmatch(parts[3])
    key = (parts[5], parts[1], parts[2], parts[4])
    if key not in days:
        days[key] = _start_of_day(*key)
    start = days[key]
    if clock is None or start is None:
        return ""
    moment = start + timedelta(hours=int(clock[1]), minutes=int(clock[2]), seconds=int(clock[3]))
    return moment.isoformat() + "Z"


def _start_of_day(year: str, month: str, day: str, zone: str) -> datetime | None:
    """The start of a day in UTC, None where there is no such day or the zone isn't known."""
    hours = _hours(zone)
    if hours is None or month.title() not in _MONTHS or not (_YEAR.fullmatch(year) and _DAY.fullmatch(day)):
        return None
    try:
        return datetime(int(year), _MONTHS.index(month.title()) + 1, int(day)) - timedelta(hours=hours)
    except ValueError:
        return None


def _hours(zone: str) -> float | None:
    """Hours east of UTC of a zone's name or offset, None where it isn't known or stands for several."""
    if offset := _OFFSET.fullmatch(zone):
        return int(offset[1] + "1") * (int(offset[2]) + int(offset[3] or 0) / 60)
    return _ZONES.get(zone.upper())


def _iso_time(text: str) -> str:
    """ISO 8601, also with slashes in the date and a zone's name behind the time."""
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        match = _ISO_LIKE.fullmatch(text)
        if match is None:
            return ""
        year, _, month, day, clock, zone = match.groups()
        hours = _hours(zone) if zone else 0.0
        if hours is None:
            return ""
        try:
            moment = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}T{clock or '00:00'}") - timedelta(hours=hours)
        except (ValueError, OverflowError):
            return ""
        if moment.tzinfo is not None:
            return ""
    return moment.isoformat(timespec="seconds") + "Z"


def unread_times(
    texts: Sequence[str], times: Sequence[str], column: str, sizes: Sequence[int] | None = None
) -> list[Issue]:
    """What to say of times that `to_utc` could not read: how many, and the names of zones that aren't known.

    `sizes` says how often each text occurs, once by default.
    """
    odd = [at for at, time in enumerate(times) if not time and texts[at].strip()]
    n_odd = sum(sizes[at] for at in odd) if sizes is not None else len(odd)
    if not n_odd:
        return []
    text = plural(
        n_odd, "{n} time could not be read and counts as unknown", "{n} times could not be read and count as unknown"
    )
    zones = dict.fromkeys(word for at in odd for word in _WORD.findall(texts[at]) if word not in {*_ZONES, "AM", "PM"})
    named = [f"{zone} ({_SEVERAL[zone]})" for zone in zones if zone in _SEVERAL][:5]
    others = [zone for zone in zones if zone not in _SEVERAL][:5]
    messages = [f"names of several time zones: {', '.join(named)}"] if named else []
    messages += [f"no known time zone: {', '.join(others)}"] if others else []
    return [Issue("; ".join([text, *messages]), column=column, found=texts[odd[0]])]


def _us_time(text: str) -> str:
    """`10/6/2016 01:03:03`, month first, for UTC."""
    match = _US.fullmatch(text.strip())
    if match is None:
        return ""
    month, day, year, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return ""
    return moment.isoformat() + "Z"


# An id that a spreadsheet took for a number: its digits are gone, so that different ids look the same.
_NUMBER = re.compile(r"-?\d(?:[.,]\d+)?E\+\d+", re.IGNORECASE)
# What spreadsheets show of an id that they took for a truth value, and for a date: 2026-03-01, 1/2/26, 01.02.2026,
# 02-Jan, 2. Mrz, Jan-26.
_TRUTH = re.compile(r"TRUE|FALSE|WAHR|FALSCH|VRAI|FAUX|VERDADERO|VERDADEIRO|[Tt]rue|[Ff]alse")
_MONTH = (
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mrz|mai|okt|dez|janv|févr|mars|avr|juin|juil|août|sept|déc|ene|"
    "abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out"
)
_DATE = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}(?:[ T]\d{1,2}:\d\d(?::\d\d)?)?|\d{1,2}([/.])\d{1,2}\1\d{2,4}"
    rf"|\d{{1,2}}[-. ] ?(?:{_MONTH})\.?(?:[- ]\d{{2,4}})?|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-\d{{2}}",
    re.IGNORECASE,
)


def result_file(
    platform: str,
    rows: Texts,
    answers: pd.DataFrame,
    unread: Sequence[Issue],
    notices: Sequence[Issue],
    *,
    shows_texts: bool = True,
) -> ResultFile:
    """The file as read, with each of its rows in its place: rows that are `unread` give no answers."""
    bad = {issue.row for issue in unread}
    if bad:
        answers = answers[~answers["row"].isin(bad)].reset_index(drop=True)
    first = {issue.row: issue for issue in (*reversed(unread), *rows.unread)}
    blank = _without(rows.numbers, answers["row"].to_numpy(), bad)
    answers, evened = with_usual_ids(answers)
    answers = ANSWERS.check(answers[list(ANSWERS.columns)])
    issues = (*rows.issues, *unread, *notices, *evened)
    return ResultFile(platform, answers, rows.n_rows, tuple(first.values()), issues, shows_texts, blank)


def _without(numbers: Ints, answered: Ints, bad: set[int | None]) -> Ints:
    """The rows that aren't answered and not bad either."""
    if np.array_equal(numbers, answered):
        return numbers[:0]
    left = numbers[~np.isin(numbers, answered)]
    return left[~np.isin(left, [row for row in bad if row is not None])] if bad else left


def row_issues(frame: pd.DataFrame) -> tuple[list[Issue], list[Issue]]:
    """Rows whose votes can't be attributed (an id is missing, a voter's was lost to a spreadsheet, the status is
    unknown), and what else to say. Assignments whose ids were lost are told by their voter and task instead."""
    unread = []
    for name, column in (("assignment_id", "AssignmentId"), ("voter", "WorkerId")):
        for row in frame.loc[frame[name] == "", "row"]:
            unread.append(Issue("the id is missing, so the vote can't be attributed", row=int(row), column=column))
    unread += damaged_voters(frame["row"].to_numpy(), frame["voter"], "WorkerId")
    for row in frame.loc[frame["status"] == "", "row"]:
        unread.append(Issue("the status is missing", row=int(row), column="AssignmentStatus"))
    notices: list[Issue] = []
    forget_damaged(frame, "assignment_id", "AssignmentId", notices)
    return unread, notices


def taken_for(id_: str) -> str:
    """What a spreadsheet took an id for, so that nobody knows any more whose it was; "" where it is as it was.

    >>> taken_for("1.23457E+19"), taken_for("TRUE"), taken_for("02-Jan"), taken_for("W1")
    ('a number', 'a truth value', 'a date', '')
    """
    for what, pattern in (("a number", _NUMBER), ("a truth value", _TRUTH), ("a date", _DATE)):
        if pattern.fullmatch(id_):
            return what
    return ""


def why_lost(voter: str) -> str:
    """Why nobody knows whose id this was, "" where it is as it was.

    >>> why_lost("1.2E+19")
    "a spreadsheet took the voter's id for a number, so its digits are lost; upload the file as downloaded"
    """
    took = taken_for(voter)
    lost = "its digits are lost" if took == "a number" else "nobody knows what it was"
    return f"a spreadsheet took the voter's id for {took}, so {lost}; upload the file as downloaded" if took else ""


_WITH_A_ZERO = re.compile(r"(0|[1-9][0-9]{0,15})\.0")


def whole(text: str) -> str:
    """A whole number without the `.0` that pandas and R write in a column of numbers with a gap; others as they are.

    >>> whole("12.0"), whole("1.50"), whole("007.0"), whole("1.000")
    ('12', '1.50', '007.0', '1.000')
    """
    match = _WITH_A_ZERO.fullmatch(text) if text.endswith(".0") else None
    return match[1] if match else text


def usual_id(voter: str) -> str:
    """A voter's id as it is compared: programs write one name in two forms of Unicode, and the number 3 as 3.0.

    >>> usual_id("Zoe\\u0308") == "Zoë", usual_id("3.0")
    (True, '3')
    """
    return whole(unicodedata.normalize("NFC", voter))


def damaged_voters(numbers: Ints, voters: pd.Series, column: str) -> list[Issue]:
    """The rows whose voter a spreadsheet took for something else; `numbers` are the rows of `voters`."""
    codes, different = voters.factorize()
    reasons = [why_lost(voter) for voter in different]
    if not any(reasons):
        return []
    damaged = np.flatnonzero((np.array([*reasons, ""], dtype=object) != "")[codes]).tolist()
    return [Issue(reasons[codes[at]], int(numbers[at]), column, different[codes[at]]) for at in damaged]


def with_usual_ids(answers: pd.DataFrame) -> tuple[pd.DataFrame, list[Issue]]:
    """The answers with voters, assignments and tasks as they are compared (`usual_id`), and what to say of ids that
    were written as 3.0: without it one voter would be two, and a known vote a new one."""
    columns: dict[str, pd.Series] = {}
    is_odd, example = np.zeros(len(answers), dtype=bool), ""
    for name in ("voter", "assignment_id", "task_id"):
        codes, different = answers[name].factorize()
        usual = [usual_id(text) if name == "voter" else whole(text) for text in different]
        if all(text == other for text, other in zip(usual, different, strict=True)):
            continue
        zeros = [text.endswith(".0") and text != other for text, other in zip(different, usual, strict=True)]
        is_odd |= np.array([*zeros, False])[codes]
        example = example or next((text for text, odd in zip(different, zeros, strict=True) if odd), "")
        columns[name] = pd.Series(pd.Series(usual, dtype="str").array.take(codes), answers.index)
    if not columns:
        return answers, []
    rows = answers["row"][is_odd]
    notice = Issue(
        f"in {many(rows.nunique(), 'row')} ids are whole numbers written with a point, as pandas and R write them "
        f"beside an empty cell; they were read without it ({whole(example)} for {example})",
        row=int(rows.min()) if len(rows) else None,
        found=example,
    )
    return answers.assign(**columns), [notice] if example else []


def is_damaged(ids: pd.Series) -> pd.Series:
    """Which ids a spreadsheet took for numbers: their digits are gone, so that different ids look the same."""
    return ids.str.fullmatch(_NUMBER.pattern, case=False)


def forget_damaged(frame: pd.DataFrame, name: str, column: str, notices: list[Issue]) -> None:
    """Empty the ids that a spreadsheet damaged, and say so: what they told is told by voters and words instead."""
    damaged = is_damaged(frame[name])
    if damaged.any():
        instead = "the tokens shown say which comparisons they are" if name == "task_id" else (
            "voter and comparison say which answers they are"
        )  # fmt: skip
        text = f"{int(damaged.sum()):,} ids were taken for numbers by a spreadsheet and lost their digits; {instead}"
        notices.append(Issue(text, column=column, found=str(frame.loc[damaged, name].iloc[0])))
        frame.loc[damaged, name] = ""


def stripped(values: Sequence[str]) -> pd.Series:
    return pd.Series([value.strip() for value in values], dtype="str")


def lowered(values: Sequence[str]) -> list[str]:
    return [value.strip().lower() for value in values]


def decoded(values: Sequence[str]) -> pd.Series:
    return pd.Series([decode(value) if "&" in value else value for value in values], dtype="str")


def numbers(values: Sequence[str]) -> pd.Series:
    return pd.to_numeric(pd.Series(list(values), dtype="str"), errors="coerce").astype("float64")


def seconds_of(column: pd.Series | None) -> pd.Series | float:
    """Times taken as numbers of seconds, NaN where there is none; a comma may stand for the point."""
    if column is None:
        return np.nan
    codes, texts = column.factorize()
    read = pd.to_numeric(pd.Series(texts, dtype="str").str.strip().str.replace(",", "."), errors="coerce")
    values = read.astype("float64").to_numpy()
    values = np.where(np.isfinite(values) & (values >= 0), values, np.nan)
    return pd.Series(np.append(values, np.nan)[codes], column.index)


def utc_times(column: pd.Series | None, name: str, *, us_dates: bool = False) -> tuple[pd.Series | str, list[Issue]]:
    """Times in UTC, "" where they are unknown, and how many could not be read."""
    if column is None:
        return "", []
    codes, texts = column.factorize()
    times, _ = to_utc(list(texts), us_dates=us_dates)
    utc = pd.Series(times, dtype="str")
    found = pd.Series(utc.array.take(codes) if len(utc) else column.array, column.index)
    sizes = np.bincount(codes, minlength=len(times))
    return found, unread_times(list(texts), times, name, sizes.tolist())
