"""Every score of a campaign computed anew from its recorded votes, and held against what was stored, bit for bit.

Another kind of processor, numpy, scipy or BLAS library may round otherwise: an exponential function, a sum of many
numbers or a factorised matrix then has other last bits. So values within `LAST_BITS` are told apart from others; of a
fit that an older Runoff made by other steps, those within `SETTLED`. Bounds are made as they were then.

What an older Runoff published is ranked by the rule of its version: see `rounding_of`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, RunoffError
from ..metrics import Rounding, absolutely_rounded_scores, rounded_scores
from ..protocols import protocol_of
from ..protocols.base import PLAIN
from ..scores import BallotVotes
from ..store.ballots.ballot_rows import Ballot
from ..store.projects.plans import PILOT
from ..store.projects.records import CampaignRecord
from ..store.schema.ballots import CAMPAIGN, TRIAL
from ..store.scores.project_dataset import build_dataset
from ..store.scores.scoring import columns_of, scores_of
from ..tables import BALLOT_SCORES, DATASET

_TALLIES = ("wins", "ties", "losses", "unknowns")
RELATIVE_SINCE = (0, 3)  # the version from which on scores are compared relatively to their column
LAST_BITS = 1e-12  # of a value, or of 1 where it is smaller: a few thousand roundings
SETTLED = 1e-4  # as `LAST_BITS`, of a fit by other steps than today's, which it names: they end so near one optimum


@dataclass(frozen=True)
class ScoreMismatch:
    """A value that came out otherwise: where (ranking, ballot, column), of which item, stored and recomputed."""

    where: str
    item: str
    stored: float | str | None
    recomputed: float | str | None

    def __str__(self) -> str:
        of = f" of {self.item}" if self.item else ""
        return f"{self.where}{of}: stored {self.stored!r}, recomputed {self.recomputed!r}"


@dataclass
class Replayed:
    """What a replay found: values compared a kind, how many differ, by how much at most, and the first of them.

    n_beyond : how many of those that differ do so by more than `bits`; the first is one of them, if there is any.
    chain : the newest entry of the log that the chain of hashes reaches to, and its head; None for none
    chain_faults : links of it that break, the first of them first (of project files; a published dataset has no links)
    bits : what counts as last bits, of a value or of 1 where it is smaller: more where an older Runoff fitted.
    """

    compared: dict[str, int] = field(default_factory=dict)
    n_different: int = 0
    n_beyond: int = 0
    largest: float = 0.0
    bits: float = LAST_BITS
    first: ScoreMismatch | None = None
    n_ballots: int = 0
    n_votes: int = 0
    chain: tuple[int, str] | None = None
    chain_faults: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Everything that was stored came out the same, and there was something to compare."""
        return self.n_different == 0 and sum(self.compared.values()) > 0

    @property
    def outcome(self) -> str:
        """In a word or two: nothing (to compare), same (bit for bit), last bits (see `LAST_BITS`), different."""
        if not self.n_compared:
            return "nothing"
        return "different" if self.n_beyond else "last bits" if self.n_different else "same"

    @property
    def n_compared(self) -> int:
        return sum(self.compared.values())

    def add(self, where: str, kind: str, stored: Any, computed: Any, names: Sequence[str] = ()) -> None:
        """Compare two rows of numbers, of items called `names`; NaN equals NaN and nothing else, 0 isn't −0."""
        one, two = np.atleast_1d(np.asarray(stored, float)), np.atleast_1d(np.asarray(computed, float))
        self.compared[kind] = self.compared.get(kind, 0) + max(len(one), len(two))
        if len(one) != len(two):
            self.note(ScoreMismatch(f"{where}, {kind}", "", f"{len(one)} values", f"{len(two)} values"), np.inf, 1, 1)
            return
        both = np.isnan(one) & np.isnan(two)
        wrong = np.flatnonzero((one.view(np.int64) != two.view(np.int64)) & ~both)
        if len(wrong):
            gap = np.abs(one[wrong] - two[wrong])
            gap[np.isnan(gap)] = np.inf
            beyond = ~(np.isfinite(gap) & (gap <= self.bits * np.maximum(1.0, np.abs(one[wrong]))))
            at = int(wrong[beyond.argmax()])  # the first of them all where none is beyond
            found = ScoreMismatch(f"{where}, {kind}", names[at] if len(names) else "", _value(one[at]), _value(two[at]))
            self.note(found, float(gap.max()), len(wrong), int(beyond.sum()))

    def add_text(self, where: str, kind: str, stored: Sequence[Any], computed: Sequence[Any]) -> None:
        """Compare two lists of anything but numbers."""
        self.compared[kind] = self.compared.get(kind, 0) + max(len(stored), len(computed))
        if list(stored) != list(computed):
            pairs = list(zip(stored, computed, strict=False))
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))
            one, two = (str(v[at]) if at < len(v) else "nothing" for v in (stored, computed))
            self.note(ScoreMismatch(f"{where}, {kind}", "", one, two), np.inf, 1, 1)

    def note(self, found: ScoreMismatch, gap: float, n: int, n_beyond: int) -> None:
        """Take `n` values more that differ, by `gap` at most, `n_beyond` of them by more than last bits."""
        if self.first is None or (n_beyond and not self.n_beyond):
            self.first = found
        self.n_different += n
        self.n_beyond += n_beyond
        self.largest = max(self.largest, gap)


def _value(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def rounding_of(version: str) -> Rounding:
    """How the Runoff of this version compared scores for the dataset's ranks: before 0.3.0 to 12 decimals, absolutely.

    >>> rounding_of("0.2.0").__name__, rounding_of("0.10.1").__name__
    ('absolutely_rounded_scores', 'rounded_scores')
    """
    return absolutely_rounded_scores if _is_before(RELATIVE_SINCE, version) else rounded_scores


def _is_before(since: tuple[int, int], version: str) -> bool:
    """Whether a version is older than that of `since`; one that can't be read isn't."""
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) < since


def replay_record(record: CampaignRecord, dataset: pd.DataFrame, *, made_by: str = "") -> Replayed:
    """Recompute all that `record` and `dataset` store of scores, ballot by ballot; see `Replayed`.

    That is the tallies of every ballot, x, y, ȳ and the slope (paper's protocol) or θ, its standard error and the
    expected Borda score (runoff), the intervals of scores and ranks, drawn again from the ballots' seeds, and the
    dataset's rows: items, scores, ranks, intervals, votes, ballots. Not recomputed: what another ballot would change.

    made_by : the version of Runoff that made the dataset; what its description says, if it isn't given.

    Raises `InputError` for a record that contradicts itself.
    """
    parts = []
    versions = dataset.attrs.get("versions")
    told = versions.get("runoff") if isinstance(versions, dict) else None
    version = made_by or str(told or "")
    found = Replayed()
    rounding = rounding_of(version)
    try:
        for described in record.plan["rankings"]:
            parts.append(_Ranking(record, described, rounding).replay(found))
        held = [part for part in parts if len(part)] or parts[:1]
        computed = pd.concat(held, ignore_index=True) if held else DATASET.empty()
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"The record of the campaign can't be read ({error!r}).") from error
    _compare_dataset(found, dataset, computed)
    return found


def closed_votes_of(record: CampaignRecord) -> list[tuple[str, list[Ballot], list[BallotVotes]]]:
    """The area ("" for all), the closed ballots in order and their counted votes, of each ranking that has any.

    Raises `InputError` for a record that contradicts itself.
    """
    found = []
    try:
        for described in record.plan["rankings"]:
            ranking = _Ranking(record, described, rounded_scores)
            closed = [ballot for ballot in ranking.ballots if not ballot.is_pilot and not ballot.is_open]
            if closed:
                found.append((ranking.area, closed, [ranking.votes_of(ballot.number)[0] for ballot in closed]))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"The record of the campaign can't be read ({error!r}).") from error
    return found


def _compare_dataset(found: Replayed, stored: pd.DataFrame, computed: pd.DataFrame) -> None:
    keys = ["area", "token_a", "token_b"]
    named = [list(frame[keys].itertuples(index=False, name=None)) for frame in (stored, computed)]
    found.add_text("dataset", "items", *named)
    names = [" – ".join(row[1:]) for row in named[0]]
    for column in DATASET.columns:
        if column not in keys and column in stored and (column in computed or stored[column].notna().any()):
            there = computed[column] if column in computed else pd.Series([], dtype=float)
            found.add("dataset", column, stored[column], there, names)


class _Ranking:
    """One ranking of a record: its ballots from 1 on, with the votes that count."""

    def __init__(self, record: CampaignRecord, described: dict[str, Any], rounding: Rounding) -> None:
        self.area, self.rounding = str(described["area"]), rounding
        self.items = record.items if not self.area else record.items[record.items["area"] == self.area]
        self.names = (record.items["token_a"] + " – " + record.items["token_b"]).tolist()
        self.code = pd.Series(np.arange(len(record.voters)), index=record.voters["voter"])
        self.ballots: list[Ballot] = []
        self.fits: list[dict[str, Any]] = []
        for about in described["ballots"]:
            values = {f.name: about[f.name] for f in fields(Ballot) if f.name in about}
            values["purpose"] = TRIAL if about["number"] == PILOT else CAMPAIGN
            self.ballots.append(Ballot(id=len(self.ballots), **values))
            self.fits.append(about["fit"])
        tables = ("ballot_items", "fit_scores", "comparisons", "votes")
        self.tables = {name: _of(getattr(record, name), self.area) for name in tables}

    def of(self, name: str, number: int) -> pd.DataFrame:
        """A table's rows of one ballot."""
        frame = self.tables[name]
        return frame[frame["ballot"] == number]

    def votes_of(self, number: int) -> tuple[BallotVotes, pd.DataFrame]:
        """The counted votes of a ballot's main comparisons, in the stored order; and all answers with their items."""
        compared = self.of("comparisons", number).set_index("comparison")
        votes = self.of("votes", number)
        known = votes["comparison"].isin(compared.index) & votes["voter"].isin(self.code.index)
        if not known.all():
            raise InputError(
                f"Ballot {number}: {int((~known).sum())} votes are on comparisons, or of voters, not there."
            )
        told = votes.join(compared[["role", "first", "second"]], on="comparison")
        counted = told[(told["status"] == "counted") & (told["role"] == "main")]
        voter = self.code.loc[counted["voter"]].to_numpy(dtype=np.int64)
        items = self.of("ballot_items", number)["item"].to_numpy(dtype=np.int64)
        first, second = (counted[side].to_numpy(dtype=np.int64) for side in ("first", "second"))
        return BallotVotes(items, first, second, counted["value"].to_numpy(dtype=float), voter), told

    def replay(self, found: Replayed) -> pd.DataFrame:
        """Recompute the ballots; the dataset that follows."""
        held: list[BallotVotes] = []
        by_ballot = [BALLOT_SCORES.empty()]
        last = None
        for ballot, fit in zip(self.ballots, self.fits, strict=True):
            where = f"{self.area}, {ballot.called}" if self.area else ballot.called
            votes, told = self.votes_of(ballot.number)
            found.n_ballots, found.n_votes = found.n_ballots + 1, found.n_votes + len(votes.first)
            rows = self._tallies(found, where, ballot, told)
            if ballot.is_pilot:
                continue
            held.append(votes)
            if not ballot.is_open:
                try:
                    last = self._closed(found, where, ballot, fit, held, rows)
                except RunoffError as error:
                    note = ScoreMismatch(f"{where}, scores", "", "scores", f"none: {error}")
                    found.note(note, np.inf, 1, 1)
            by_ballot.append(rows.assign(ballot=ballot.number))
        ballots = [ballot for ballot in self.ballots if not ballot.is_pilot]
        kinds = {name: "int64" if kind == "int" else "float64" for name, kind in BALLOT_SCORES.columns.items()}
        scores = pd.concat(by_ballot, ignore_index=True)[list(BALLOT_SCORES.columns)].astype(kinds)
        return build_dataset(self.items, scores, ballots, last, rounding=self.rounding)

    def _tallies(self, found: Replayed, where: str, ballot: Ballot, told: pd.DataFrame) -> pd.DataFrame:
        """The wins, ties, losses and unknowns of a ballot's items, compared."""
        stored = self.of("ballot_items", ballot.number)
        items = stored["item"].to_numpy(dtype=np.int64)
        main = told[(told["role"] == "main") & told["status"].isin(["counted", "unknown"])]
        value = main["value"].where(main["status"] == "counted").to_numpy(dtype=float)
        place = np.searchsorted(items, np.concatenate([main["first"], main["second"]]).astype(np.int64))
        both = np.concatenate([value, 1 - value])
        rows = pd.DataFrame({"item": items})
        for name, kind in zip(_TALLIES, (both == 1.0, both == 0.5, both == 0.0, np.isnan(both)), strict=True):
            rows[name] = np.bincount(place[kind], minlength=len(items))[: len(items)]
            found.add(where, name, stored[name], rows[name], self._called(items))
        return rows.assign(**dict.fromkeys(("x", "y", "mean", "lower", "upper"), np.nan))

    def _called(self, items: np.ndarray) -> list[str]:
        return [self.names[item] for item in items.tolist()]

    def _closed(
        self,
        found: Replayed,
        where: str,
        ballot: Ballot,
        fit: dict[str, Any],
        held: list[BallotVotes],
        rows: pd.DataFrame,
    ) -> pd.DataFrame | None:
        """Compare what a closed ballot stored. `rows`, its items, gets the scores; those of all items are returned."""
        scored = scores_of(held, ballot, bounds=fit.get("bounds", PLAIN))
        order = np.argsort(scored.items)
        items = scored.items[order]
        values = {name: column[order] for name, column in columns_of(ballot, scored).items()}
        whole = protocol_of(ballot.protocol).about.whole_field
        stored = self.of("fit_scores" if whole else "ballot_items", ballot.number)
        by_other_steps = fit.get("steps") != scored.fit.get("steps")
        if by_other_steps:
            found.bits = SETTLED
        found.add(where, "items", stored["item"], items)
        for name, column in values.items():
            found.add(where, name, stored[name], column, self._called(items))
        found.add_text(where, "why no intervals", [ballot.interval_note or ""], [scored.note])
        for name in sorted(set(fit) & set(scored.fit) - ({"iterations"} if by_other_steps else set())):
            if not isinstance(fit[name], str):  # a wording may have changed since
                found.add(where, f"fit: {name}", fit[name], scored.fit[name])
        if whole:
            frame = pd.DataFrame(values, index=pd.Index(items, name="item"))
            return frame.drop(columns=["theta", "error"]).rename(columns={"score": "mean"})
        found.add(where, "slope", [_nan(ballot.slope)], [_nan(scored.slope)])
        for name in values.keys() & set(rows.columns):
            rows[name] = values[name]
        return None


def _nan(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _of(frame: pd.DataFrame, area: str) -> pd.DataFrame:
    return frame[frame["ranking"] == area] if area else frame
