"""The sections of a datasheet on the collection: ballots, voters, pay, votes, agreement, and how scores are made."""

from __future__ import annotations

from collections.abc import Sequence

from ..percent import percent
from ..protocols import protocol_of
from ..voting_settings import TRAITS
from .blocks import Block, Heading, Paragraph, table
from .facts import Facts, Reliability
from .methods import BOOTSTRAP, KRIPPENDORFF, protocol_blocks
from .money import pay_rows

UNSAID = "Not recorded."


def collection(facts: Facts) -> list[Block]:
    """Plan, ballots and registration."""
    numbers = ("Ballot", "Items", "Appearances", "Comparisons", "Counted votes", "Slope b")
    rows = [
        ((r.area,) if len(facts.rankings) > 1 else ())
        + (
            "pilot" if b.number == 0 else b.number,
            b.n_items,
            b.appearances,
            b.n_comparisons,
            b.n_votes,
            None if b.slope is None else f"{b.slope:.3f}",
            b.drawn,
            b.closed or "open",
        )
        for r in facts.rankings
        for b in r.ballots
    ]
    header = (*(("Area",) if len(facts.rankings) > 1 else ()), *numbers, "Drawn", "Closed")
    return [
        Heading("How votes were collected"),
        Paragraph(
            "Voters compare two items at a time, in successive ballots that keep only the leading items. "
            "Who goes on follows from the votes alone; no embedding has a say."
        ),
        table(header, rows, (*numbers, "Drawn", "Closed")),
        Paragraph(_planned(facts)),
        Paragraph(_registered(facts)),
    ]


def _planned(facts: Facts) -> str:
    told = []
    for r in facts.rankings:
        if r.plan:
            kept = f"{r.plan['n_ballots']} ballots, {r.plan['keep']:g} of the items kept each time"
            told.append(f"{r.area}: {kept}" if r.area else kept)
    return f"Plan: {'; '.join(told) or 'not recorded'}. Seeds stand in campaign/plan.json."


def _registered(facts: Facts) -> str:
    found = facts.about.get("registration")
    if not found:
        return "The plan was not registered before the first vote."
    kept = "all of it was kept" if found["kept"] else f"{len(found['changed'])} parts differ from it"
    return f"The plan was registered on {found['at'][:10]}, before the first vote (SHA-256 {found['sha256']}); {kept}."


def voters(facts: Facts) -> list[Block]:
    """Who voted, and what is published of them."""
    voters = facts.voters
    blocks: list[Block] = [
        Heading("Voters"),
        Paragraph(facts.fields.voters_note or f"Who they are and how they were found: {UNSAID.lower()}"),
        table(("Platform", "Kind", "Voters"), voters.platforms, ("Voters",)),
    ]
    if voters.largest_share is not None:
        blocks.append(
            Paragraph(
                f"The voter with the most votes gave {percent(voters.largest_share, 1)} of them; the effective number "
                f"of voters, 1/Σp², is {voters.effective:.1f} of {voters.n_people + voters.n_simulated:,}."
            )
        )
    if voters.traits:
        blocks.append(Paragraph("What voters told of themselves, in totals over the ballots in which they were asked:"))
        rows = [(TRAITS[trait][0] if trait in TRAITS else trait, value, n) for trait, value, n in voters.traits]
        blocks.append(table(("Question", "Answer", "Voters"), rows, ("Voters",)))
    else:
        blocks.append(Paragraph("Voters' traits: not asked, or too few told."))
    consent = facts.fields.consent or f"Consent and ethics: {UNSAID.lower()}"
    privacy = (
        "Published files name voters by pseudonyms: the start of an HMAC-SHA256 over platform and id, with a secret "
        "that stays with the project. They hold no times of votes, no address and no free text of voters."
    )
    return [*blocks, Paragraph(consent), Paragraph(privacy)]


def pay(facts: Facts) -> list[Block]:
    """What voters were to be paid."""
    return [
        Heading("Pay"),
        table(("Figure", "Value"), pay_rows(facts)),
        Paragraph("As planned, in the currency of the platform; what was really paid is not recorded here."),
    ]


def votes(facts: Facts) -> list[Block]:
    """Answers by status, checks, who was left out."""
    names = {
        "counted": "counted",
        "unknown": "“I don't know a word here”: no vote",
        "rejected": "of rejected assignments: not counted",
        "repeat": "the same voter on the same comparison again: not counted",
        "withdrawn": "taken back: not counted",
        "excluded": "of voters left out: not counted",
    }
    votes = facts.votes
    rows = [(names.get(status, status), n) for status, n in votes.by_status.items()]
    exclusions: list[Block] = [
        table(("Voters left out because", "Voters"), [(e.reason, e.n_voters) for e in facts.exclusions], ("Voters",))
    ]
    answered = votes.check_right + votes.check_wrong
    checked = (
        f"Checks: {votes.n_checks:,} comparisons with a known answer; {votes.check_right:,} of {answered:,} answers "
        "right. Answers to checks never enter scores."
        if votes.n_checks
        else "Checks: none, no comparison had a known answer."
    )
    if votes.n_other_checks:
        checked += f" Other checks, such as repeats and overlaps: {votes.n_other_checks:,} comparisons."
    timed = (
        f"Median time of an answer: {votes.seconds:.1f} s, over {votes.n_timed:,} timed answers of people."
        if votes.seconds is not None
        else "Time of an answer: not recorded."
    )
    return [
        Heading("Votes, checks and exclusions"),
        table(("Answers of all ballots from 1 on", "Number"), rows, ("Number",)),
        Paragraph(f"Ties among the counted votes: {votes.n_ties:,}. {timed}"),
        Paragraph(checked),
        *(exclusions if facts.exclusions else [Paragraph("Voters left out by the owner: none.")]),
    ]


def agreement(facts: Facts) -> list[Block]:
    """α, halves of the voters, noise ceiling, each with what it rests on."""
    rows: list[tuple[str | None, ...]] = []
    for r in facts.rankings:
        a = r.alpha
        rows += [
            (
                r.area,
                "Krippendorff's α of voters",
                None
                if a is None
                else f"{a.alpha:.3f}"
                if a.lower != a.lower
                else f"{a.alpha:.3f} ({a.lower:.3f} to {a.upper:.3f})",
                r.no_alpha
                if a is None
                else f"{a.n_units:,} comparisons with several answers, {a.n_answers:,} answers, {a.n_voters:,} voters; "
                f"{percent(a.level)} interval; 0 is chance",
            ),
            (r.area, "ρ_w between two halves of the voters", *_measured(r.halves, "random splits")),
            (r.area, "ρ_w of a model with the true ranking", *_measured(r.ceiling, "simulations")),
        ]
    header: Sequence[str] = ("Area", "Figure", "Value", "Behind it")
    if len(facts.rankings) == 1:
        rows, header = [row[1:] for row in rows], header[1:]
    return [
        Heading("Agreement and reliability"),
        table(header, rows),
        Paragraph(
            "Halves have half of the votes each, and no correction for that is made, so scores of all voters are more "
            "reliable than the figure. The last line is the noise ceiling: no model can be seen to be better than that."
        ),
        Paragraph(f"Reference for α: {KRIPPENDORFF}"),
    ]


def _measured(found: Reliability, repetitions: str) -> tuple[str | None, str]:
    if found.value is None:
        return None, found.why_not
    return f"{found.value:.3f}", f"mean of {found.n} {repetitions}"


def scores(facts: Facts) -> list[Block]:
    """The estimator in words, and what intervals mean."""
    blocks: list[Block] = [Heading("How scores are made")]
    for protocol in facts.protocols:
        blocks += protocol_blocks(protocol)
    notes = "; ".join(dict.fromkeys(r.interval_note for r in facts.rankings if r.interval_note))
    level = percent(facts.about["interval"]["level"])
    ranked = " and of its rank" if any(protocol_of(name).about.whole_field for name in facts.protocols) else ""
    return [
        *blocks,
        Paragraph(
            f"Intervals: lower and upper bound the {level} interval of an item's score{ranked}. Voters are drawn "
            "again with replacement, with all their votes, and everything is scored anew; the interval holds the "
            f"middle {level} of what comes out. It says how far a score would move with other voters like these. It "
            "knows nothing of other tokens, other instructions or other kinds of people, and which items went on is "
            "taken as "
            "it was." + (f" No intervals: {notes}" if notes else "")
        ),
        Paragraph(f"Reference: {BOOTSTRAP}"),
        Paragraph(
            "Every score, rank and interval can be computed again from the votes in this dataset, bit for bit: "
            "python -m core replay FILE.zip"
        ),
    ]
