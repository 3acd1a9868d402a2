"""Times of a result file, as ISO 8601 in UTC so that they sort."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Hours east of UTC. Mechanical Turk writes Pacific time, Turkle its server's; the American names are those of RFC 822.
_ZONES = {
    "UTC": 0,
    "GMT": 0,
    "Z": 0,
    "PST": -8,
    "PDT": -7,
    "MST": -7,
    "MDT": -6,
    "CST": -6,
    "CDT": -5,
    "EST": -5,
    "EDT": -4,
    "WET": 0,
    "WEST": 1,
    "CET": 1,
    "CEST": 2,
    "EET": 2,
    "EEST": 3,
    "JST": 9,
    "KST": 9,
}
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)?")
_US = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}) (\d{1,2}):(\d\d)(?::(\d\d))?")
_YEAR, _DAY = re.compile(r"(19|20)[0-9]{2}"), re.compile(r"[0-9]{1,2}")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d)")


def to_utc(texts: Sequence[str], *, us_dates: bool = False) -> tuple[list[str], int]:
    """Read times such as `Wed Feb 20 11:00:37 PST 2019` or ISO 8601; "" where that isn't possible.

    An ISO time without a zone is taken for UTC; dates that a spreadsheet rewrote (`20.02.2019 11:00`, day or month
    first?) are read only with `us_dates`, which says that the month stands first. Returns the times and the number of
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
    hours: float | None = _ZONES.get(zone.upper())
    if offset := _OFFSET.fullmatch(zone):
        hours = int(offset[1] + "1") * (int(offset[2]) + int(offset[3] or 0) / 60)
    if hours is None or month.title() not in _MONTHS or not (_YEAR.fullmatch(year) and _DAY.fullmatch(day)):
        return None
    try:
        return datetime(int(year), _MONTHS.index(month.title()) + 1, int(day)) - timedelta(hours=hours)
    except ValueError:
        return None


def _iso_time(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


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
