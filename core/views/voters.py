"""What the voters page shows: figures of each voter, who is left out, and why a figure is blank.

Each column of the table of voters has its name, the figure behind it, and its help.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd
import sqlalchemy as sa

from ..base.numbers_in_words import VoterCount, many, percent, plural
from ..commands.figures.votes import VoterFigures
from ..questions.voting_settings import VotingSettings
from ..store import Store
from ..store import schema as t
from ..store.ballots.ballot_rows import ballots_of
from ..store.votes.checks import voter_names
from ..store.votes.exclusions import Exclusion, exclusions_of
from ..tabular.csv_writing import csv_text, harmless
from ..trust.voter_quality import SIDES, VoterQuality
from ..trust.voter_rules import RULES, propose
from .wording import agreement_text, moment

# The columns of the table: the figure behind each, and its help.
COLUMNS = {
    "voter": ("voter", "The voter's id as it is stored."),
    "state": ("state", "Whether the voter's votes count."),
    "votes": ("votes", "Votes on comparisons that are scored; answers “I don't know” are none."),
    "to ranking": (
        "gap",
        (
            "Agreement with the ranking by all other votes (fitted without this voter), ties aside, less what an "
            "ordinary voter would reach on the same comparisons. 0 is ordinary, a random clicker lies 0.2 to 0.4 lower."
            " The 90% interval stands under “Look at one voter”, and in the download."
        ),
    ),
    "as others": ("same", "Share of the others who gave the same answer, over comparisons that others answered too."),
    "shared": ("shared", "Comparisons of the voter that others answered too."),
    "pairwise": ("pairwise", "Mean over the other voters of the share of equal answers on what the two share."),
    "known right": ("gold", "Share of right answers to comparisons whose answer is known (gold)."),
    "known": ("gold_n", "Answers to comparisons whose answer is known."),
    "consistent": ("consistent", "Share of equal answers where the same comparison came to the voter again."),
    "repeats": ("repeat_n", "Answers to comparisons that the voter had answered before."),
    "left": (
        "left_share",
        "Share of answers for the left pair, or on a phone the upper one. Sides are drawn at random, so near one half.",
    ),
    "p (side)": (
        "p_holm",
        (
            "Chance of a split between sides as uneven or more by luck (exact binomial test), Holm's correction for "
            "the number of voters."
        ),
    ),
    "seconds": ("seconds", "Median time of a comparison."),
    "speed": ("speed", "The voter's median time over the median of all answers; 1 is usual."),
    "lapse ε": (
        "lapse",
        (
            "Probability of naming the wrong item of a clear pair, by the fit of all votes: given its scores, and "
            "drawn towards 3% by a prior where votes are few. A clicker may show as a low sharpness instead."
        ),
    ),
    "sharpness s": (
        "sharpness",
        (
            "How fine a difference the voter tells, 1 for the middle voter, by the same fit; drawn towards 1 where "
            "votes are few."
        ),
    ),
    "camp": (
        "camp",
        "Where the votes are of two opinions: 1 or 2, the fewer voters are 2. Blank where voters are of one opinion.",
    ),
    "ties": ("ties", "Share of votes that are ties."),
    "unknown": ("unknown", "Share of answers “I don't know a word here”."),
}
# What may be blank for everybody, as the reasons name it.
BLANK = {
    "gold": "Known answers",
    "same": "Agreement with others",
    "gap": "Agreement with the ranking",
    "consistent": "Consistency",
    "p_holm": "Sides",
    "speed": "Times",
    "lapse": "Lapse and sharpness",
    "camp": "Whether there are two opinions",
}
COUNTS = {"shared": "as others", "known": "known right", "repeats": "consistent"}  # counts behind a figure
PERCENT = {"as others", "pairwise", "known right", "consistent", "left", "ties", "unknown"}


MOST_SHOWN = 5000  # rows that a page ships; the search and the download have all
NAMED = 5  # voters whom a sentence names
# The rules whose voters look odd: honest voters are hardly ever named by them (docs/quality.md). Pairwise agreement
# names one in six of them by nature.
SUSPECT_RULES = tuple(key for key in RULES if key != "pairwise")


@dataclass(frozen=True)
class VotersView:
    """The figures of a ranking's voters.

    `quality` has them as they are; `names` is how each voter is called, by voter_id; `may_hash` says that ids of the
    voting page are hashed, so that others should not be shown openly either. `simulated` are the voters who are no
    people, `is_open` says that votes of an open ballot are among these.
    """

    quality: VoterQuality
    names: dict[int, str]
    hashed: dict[int, str]
    may_hash: bool
    left_out: tuple[Exclusion, ...]
    simulated: frozenset[int] = frozenset()
    is_open: bool = False

    @property
    def count(self) -> VoterCount:
        """The voters with a vote that counts, and who is left out."""
        table = self.quality.table
        counts = table.loc[~table["left_out"] & (table["votes"] > 0), "voter_id"]
        simulated = int(counts.isin(self.simulated).sum())
        return VoterCount(len(counts) - simulated, simulated, len(self.left_out))

    @property
    def n_votes(self) -> int:
        """Votes that count."""
        table = self.quality.table
        return int(table.loc[~table["left_out"], "votes"].sum())

    @property
    def headline(self) -> str:
        """Voters, votes, and who is left out, in a sentence."""
        now = ", including the open ballot’s" if self.is_open else ""
        out = f"{many(len(self.left_out), 'voter')} left out" if self.left_out else "nobody is left out"
        return plural(
            self.n_votes,
            "{voters} gave {n} vote that counts{now}; {out}.",
            "{voters} gave {n} votes that count{now}; {out}.",
            voters=self.count.named.capitalize() if self.count.named == "nobody" else self.count.named,
            now=now,
            out=out,
        )

    @cached_property
    def odd_reasons(self) -> dict[int, list[str]]:
        """Who counts and looks odd by a rule of `SUSPECT_RULES` at its usual bound: reasons by voter_id, in the table's
        order."""
        proposals = propose(self.quality.table, {key: RULES[key].bound for key in SUSPECT_RULES})
        reasons = proposals.groupby("voter_id")["reason"].agg(list)
        return {id_: reasons[id_] for id_ in self.order if id_ in reasons.index}

    @cached_property
    def order(self) -> list[int]:
        """All voters by their ids, those who stand out most first."""
        return self.table()["voter_id"].tolist()

    def odd(self, hashed: bool = False) -> list[tuple[str, list[str]]]:
        """The names of `odd_reasons` with their reasons."""
        names = self.called(hashed)
        return [(names[id_], reasons) for id_, reasons in self.odd_reasons.items()]

    @property
    def looks_said(self) -> str:
        """How many voters look fine, how many don't, and who is left out, in a sentence."""
        total, n_odd, n_out = self.count.total, len(self.odd_reasons), len(self.left_out)
        out = f"; {n_out:,} left out" if n_out else ""
        named = self.count.named
        if not n_odd:
            return f"{named[:1].upper()}{named[1:]} {'looks' if total == 1 else 'look'} fine{out}."
        odd = plural(n_odd, "{n} looks odd", "{n} look odd")
        return f"{total - n_odd:,} of {named} {'looks' if total - n_odd == 1 else 'look'} fine; {odd}{out}."

    @property
    def camps_said(self) -> str:
        """That the votes are of two opinions, in a sentence; "" where they are of one, or nobody can tell."""
        camp = self.quality.table["camp"].dropna()
        if camp.empty:
            return ""
        first, second = int((camp == 1).sum()), int((camp == 2).sum())
        return (
            f"The votes are of two opinions: {many(second, 'voter')} against {first:,} (column camp). The scores lie "
            "between both; the Scores page says how far apart they are."
        )

    def odd_said(self, hashed: bool = False) -> str:
        """Who the odd ones of `looks_said` are, each with the reasons, in a sentence; "" where there are none."""
        odd = self.odd(hashed)
        if not odd:
            return ""
        named = "; ".join(f"{name} ({'; '.join(reasons)})" for name, reasons in odd[:NAMED])
        if len(odd) > NAMED:
            named = f"{named}; and {len(odd) - NAMED:,} more, whom the rules below name"
        return f"Odd, but still counted: {named}."

    def called(self, hashed: bool) -> dict[int, str]:
        """How voters are called, by voter_id."""
        return self.hashed if hashed else self.names

    def table(self, hashed: bool = False) -> pd.DataFrame:
        """All voters under the names of `COLUMNS`, those who stand out most first."""
        figures = self.quality.table
        names = self.called(hashed)
        shares = figures["left"] / figures["sided"].where(figures["sided"] > 0)
        filled = figures.assign(
            voter=figures["voter_id"].map(names).astype("str"),
            state=["left out" if is_out else "counts" for is_out in figures["left_out"]],
            left_share=shares,
        )
        order = filled.sort_values(["gap", "voter_id"], kind="stable", na_position="last")
        columns = order[["voter_id", *(column for column, _ in COLUMNS.values())]]
        return columns.set_axis(["voter_id", *COLUMNS], axis="columns").reset_index(drop=True)

    def search(self, text: str, hashed: bool = False) -> pd.DataFrame:
        """The rows of `table` whose voter's name holds a text, at most `MOST_SHOWN`."""
        rows = self.table(hashed)
        part = text.strip().casefold()
        hit = rows["voter"].str.casefold().str.contains(part, regex=False)
        return (rows[hit] if part else rows).head(MOST_SHOWN)

    def measured(self) -> list[str]:
        """The columns of `table` that are not blank for everybody, nor counts of what nobody was given."""
        table = self.quality.table
        nobody = {name for name, (column, _) in COLUMNS.items() if column in table and table[column].isna().all()}
        counts = {count for count, figure in COUNTS.items() if figure in nobody}
        return [name for name in COLUMNS if name not in nobody | counts]

    def blank(self) -> list[str]:
        """Why figures are blank for everybody, a sentence each."""
        reasons = self.quality.reasons
        return [f"{label}: {reasons[key].rstrip('.')}." for key, label in BLANK.items() if key in reasons]

    def details(self, voter_id: int) -> pd.DataFrame:
        """One voter's figures: figure, value, 90% interval, based on, or why there is none."""
        figures = self.quality.table
        row = figures[figures["voter_id"] == voter_id].iloc[0]
        fit = f"{many(int(row['votes']), 'vote')}, given the scores"
        agrees, expected = percent(row["agrees"]), percent(row["expected"])
        judged = f"{row['judged']:,} votes: {agrees}, where {expected} is to be expected"
        shared = f"{row['shared']:,} shared comparisons"
        others = many(int(row["others"]), "other voter")
        left = f"{SIDES['left']} in {row['left']:,} of {row['sided']:,}"
        timed = f"{many(int(row['timed']), 'answer')} with a time"
        rows = [
            self._line(row, "Agreement with the ranking of the others", "gap", judged),
            self._line(row, "Same answer as others", "same", shared),
            self._line(row, "Mean pairwise agreement", "pairwise", others),
            self._line(row, "Known answers right", "gold", _share(row, "gold_right", "gold_n")),
            self._line(row, "Same answer again", "consistent", _share(row, "repeat_same", "repeat_n")),
            self._line(row, "Side: p (Holm)", "p_holm", left),
            self._line(row, "Time over the median of all", "speed", timed),
            self._line(row, "Lapse ε", "lapse", fit),
            self._line(row, "Sharpness s", "sharpness", fit),
        ]
        return pd.DataFrame(rows, columns=["figure", "value", "90% interval", "based on", "why blank"])

    def _line(self, row: pd.Series, name: str, key: str, based: str) -> tuple[str, ...]:
        """A row of `details`."""
        reason = self.quality.reason(row, key)
        if reason:
            return name, "–", "–", "–", reason
        form = "+.2f" if key == "gap" else ".2f"
        has_interval = f"{key}_lower" in row and not pd.isna(row[f"{key}_lower"])
        interval = "–"
        if has_interval:
            lower, upper = (format(row[f"{key}_{end}"], form) for end in ("lower", "upper"))
            interval = f"{lower} to {upper}"
        return name, format(row[key], ".2g" if key == "p_holm" else form), interval, based, ""

    @property
    def alpha_said(self) -> str:
        """How far voters agree, in a sentence."""
        alpha = self.quality.alpha
        if alpha is None:
            return f"Krippendorff's α is not defined: {self.quality.no_alpha.rstrip('.')}."
        meaning = "1 is full agreement, 0 what chance gives; answers agree or not."
        return f"{agreement_text(alpha)} {meaning}"

    def csv(self, hashed: bool = False) -> bytes:
        """All figures of all voters, with intervals; what a spreadsheet takes for a formula gets an apostrophe."""
        figures = self.quality.table
        voters = figures["voter_id"].map(self.called(hashed))
        columns = [name for name in figures.columns if name != "voter_id"]
        rows = (
            [harmless(str(name)), *("" if value != value else value for value in values)]
            for name, *values in zip(voters, *(figures[column] for column in columns), strict=True)
        )
        return csv_text(["voter", *columns], rows).encode("utf-8")


def left_out_table(left_out: Sequence[Exclusion], names: Mapping[int, str]) -> pd.DataFrame:
    """Who is left out: voter, since when, why, and the figures that spoke for it."""
    rows = [
        (names.get(e.voter_id, str(e.voter_id)), moment(e.at), e.reason, "; ".join(e.detail.get("proposed", [])))
        for e in left_out
    ]
    return pd.DataFrame(rows, columns=["voter", "since (UTC)", "reason", "proposed because"])


def load_left_out(store: Store, project_id: str) -> tuple[tuple[Exclusion, ...], dict[int, str]]:
    """Who is left out of a project, and how its voters are called, by voter_id."""
    with store.read() as conn:
        return tuple(exclusions_of(conn, project_id)), _called(voter_names(conn, project_id))


def _called(known: pd.DataFrame) -> dict[int, str]:
    """How voters are called by voter_id: by their name, and its platform where another has it too."""
    doubled = known["name"].duplicated(keep=False)
    names = known["name"].where(~doubled, known["name"] + " (" + known["platform"] + ")")
    return dict(zip(known["voter_id"].tolist(), names.tolist(), strict=True))


def _share(row: pd.Series, count: str, total: str) -> str:
    return f"{row[count]:,} of {row[total]:,}"


def load(
    store: Store, project_id: str, area_id: int | None = None, *, quality: VoterQuality | None = None
) -> VotersView:
    """The voters of a ranking, by their figures where these are there already (`quality`), else measured now."""
    figures = VoterFigures(project_id, 0, area_id).measure(store, None)[0] if quality is None else quality
    with store.read() as conn:
        voters = voter_names(conn, project_id)
        left_out = tuple(exclusions_of(conn, project_id))
        secret, may_hash = _hashing(conn, project_id)
        is_open = any(ballot.is_open for ballot in ballots_of(conn, project_id, area_id))
    simulated = voters.loc[voters["kind"] == "simulated", "voter_id"]
    hashed = [
        name if name.startswith("h-") else hashed_name(secret, platform, name)
        for name, platform in zip(voters["name"], voters["platform"], strict=True)
    ]
    ids = voters["voter_id"].tolist()
    out = [exclusion.voter_id for exclusion in left_out]
    return VotersView(
        replace(figures, table=figures.table.assign(left_out=figures.table["voter_id"].isin(out))),
        _called(voters),
        dict(zip(ids, hashed, strict=True)),
        may_hash,
        left_out,
        frozenset(simulated.tolist()),
        is_open,
    )


def hashed_name(secret: str, platform: str, name: str) -> str:
    """A name that doesn't tell who it is, the same each time, by the secret of the voting page's link."""
    digest = hmac.new(secret.encode(), f"{platform}|{name}".encode("utf-8", "replace"), hashlib.sha256)
    return f"h-{digest.hexdigest()[:12]}"


def _hashing(conn: sa.Connection, project_id: str) -> tuple[str, bool]:
    """The secret of the project's voting links ("" without one), and whether a voting page of it hashes ids."""
    link = t.voting_link.c
    query = sa.select(link.voter_secret).where(link.project_id == project_id).order_by(link.id).limit(1)
    secret = conn.execute(query).scalar_one_or_none() or ""
    settings = (
        sa.select(t.voting.c.settings)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(t.ballot.c.project_id == project_id)
    )
    hashes = any(VotingSettings.of(stored).hash_ids for stored in conn.execute(settings).scalars())
    return secret, bool(secret) and hashes
