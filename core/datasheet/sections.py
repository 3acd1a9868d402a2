"""A datasheet, section by section, from the facts of a project."""

from __future__ import annotations

from ..protocols.paper import REFERENCE
from ..splits import RULE
from . import evidence
from .blocks import Block, Bullets, Document, Heading, Paragraph, count, shown, table
from .checklist import checklist
from .evidence import UNSAID
from .facts import Facts
from .limits import known_limits
from .methods import OSHEA


def datasheet(facts: Facts) -> Document:
    """The whole datasheet; what nobody recorded is called so, never left out."""
    blocks: list[Block] = [
        *_summary(facts),
        *_purpose(facts),
        *_tokens(facts),
        *_asked(facts),
        *evidence.collection(facts),
        *evidence.voters(facts),
        *evidence.pay(facts),
        *evidence.votes(facts),
        *evidence.agreement(facts),
        *evidence.scores(facts),
        Heading("Known limits"),
        Bullets(known_limits(facts)),
        *_checked(facts),
        *_terms(facts),
    ]
    return Document(facts.title, tuple(blocks))


def _summary(facts: Facts) -> list[Block]:
    about, people = facts.about, facts.about["voters"]
    warnings = []
    if people["simulated"]:
        warnings.append(
            f"This dataset holds votes of {people['simulated']:,} simulated voters. It is for trying things out, and "
            "is no evidence about what people think."
        )
    if facts.is_provisional:
        warnings.append("Provisional: the collection is not finished, and scores will change.")
    rows = [
        ("Version", facts.version or "not released"),
        ("What is scored", f"{about['notion']} of two tokens of one area, by pairwise votes"),
        ("Items with a score", f"{len(facts.dataset):,} of {facts.n_items:,}"),
        ("Areas and tokens", f"{len(facts.areas):,} and {facts.n_tokens:,}"),
        ("Votes in the scores", f"{about['votes']:,}"),
        ("Voters in the scores", f"{count(people['people'], 'person', 'people')}, {people['simulated']:,} simulated"),
        ("Ballots closed", f"{about['ballots_closed']} of {shown(about['ballots_planned'])} planned"),
        ("Collected", _period(facts)),
        ("Language", facts.fields.language or UNSAID),
        ("Licence", facts.fields.licence_said if facts.fields.licence else "not chosen yet"),
        ("Made with", f"Runoff {facts.runoff}"),
    ]
    told: list[Block] = [Paragraph(text) for text in warnings]
    return [*told, table(("Figure", "Value"), rows)]


def _period(facts: Facts) -> str:
    days = [day for r in facts.rankings for b in r.ballots for day in (b.drawn, b.closed) if day]
    return f"{min(days)} to {max(days)} (UTC; first draw to last closing)" if days else UNSAID


def _purpose(facts: Facts) -> list[Block]:
    f = facts.fields
    rows = [("Authors", f.authors), ("Contact", f.contact), ("Funding", f.funding)]
    return [
        Heading("Purpose and makers"),
        Paragraph(f.purpose or f"Purpose: {UNSAID.lower()}"),
        table(("Who", "Said by the owner"), [(name, value or UNSAID) for name, value in rows]),
    ]


def _tokens(facts: Facts) -> list[Block]:
    rows = [
        (a.name, a.n_tokens, a.n_proposed, "not known" if a.n_rare is None else a.n_rare, a.n_items)
        for a in facts.areas
    ]
    proposed = [f"{name} proposed {n:,} tokens; they favour that embedding." for name, n in facts.proposed_by]
    return [
        Heading("Tokens and areas"),
        Paragraph(facts.fields.token_source or f"Where the token lists come from: {UNSAID.lower()}"),
        table(
            ("Area", "Tokens", "Proposed by an embedding", "Rare", "Items"),
            rows,
            ("Tokens", "Proposed by an embedding", "Rare", "Items"),
        ),
        Paragraph(f"Items: {facts.item_rules}."),
        Paragraph(f"Frequencies: {facts.frequencies}." if facts.frequencies else f"Frequencies: {UNSAID.lower()}"),
        *([Bullets(tuple(proposed))] if proposed else []),
    ]


def _asked(facts: Facts) -> list[Block]:
    return [
        Heading("What voters were asked"),
        Paragraph(f"Question: {facts.question}"),
        Paragraph(f"Instructions: {facts.instructions}"),
        Paragraph(
            f"Worked examples shown: {facts.n_examples}. An answer is the left pair, the right pair, "
            + ("a tie, " if any(r.plan.get("ties_allowed") for r in facts.rankings) else "")
            + "or “I don't know a word here”, which is no vote."
        ),
    ]


def _checked(facts: Facts) -> list[Block]:
    rows = [(c.name, c.verdict, c.ground) for c in checklist(facts)]
    return [
        Heading("Gold-standard checklist"),
        Paragraph(
            "What can spoil a dataset that is to be a gold standard, after section 3 of O'Shea et al. (2010), and what "
            "holds of it here."
        ),
        table(("Criterion", "Here", "Grounds"), rows),
        Paragraph(f"Reference: {OSHEA}"),
    ]


def _terms(facts: Facts) -> list[Block]:
    f = facts.fields
    cite = f.citation or (f"{f.authors}: {facts.title}." + (f" Version {facts.version}." if facts.version else ""))
    split: list[Block] = []
    if facts.split:
        s = facts.split
        split = [
            Paragraph(
                f"Split by tokens (share {f.dev_share:g}, seed {f.split_seed}): dev has {s['dev_items']:,} items of "
                f"{s['dev_tokens']:,} tokens, test {s['test_items']:,} of {s['test_tokens']:,}; "
                f"{s['left_out_items']:,} items have a token in each and are in neither. {RULE}"
            )
        ]
    return [
        Heading("Files, licence, citation"),
        *split,
        Paragraph(f"Licence: {f.licence_said if f.licence else 'not chosen yet: ask the owner before using it.'}"),
        Paragraph(f"Cite the dataset: {cite if f.citation or f.authors else UNSAID.lower()}"),
        Paragraph(f"Cite the protocol and the metrics: {REFERENCE}"),
    ]
