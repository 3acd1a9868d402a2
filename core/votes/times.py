"""Times of a result file, as ISO 8601 in UTC so that they sort."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ..base.plurals import plural
from ..errors import Issue

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
    told = [f"names of several time zones: {', '.join(named)}"] if named else []
    told += [f"no known time zone: {', '.join(others)}"] if others else []
    return [Issue("; ".join([text, *told]), column=column, found=texts[odd[0]])]


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
