"""What the terms of the app mean, a sentence or two each; the Help page shows them."""

from __future__ import annotations

from core.protocols import collectable

WORDS = (
    ("Token", "A word, or several that name one thing, such as *machine learning*."),
    (
        "Semantic area",
        "A named list of tokens. Only tokens of one area are paired, so that each is read in its right sense.",
    ),
    ("Item", "A pair of tokens of one area. Each item gets a score."),
    (
        "Comparison",
        "Two items put before one voter, who says which one's words are more related (or more similar, where the "
        "project asks for similarity).",
    ),
    (
        "Question",
        "What a voter answers at once: a comparison or, of another kind, a rating of an item, a best and a worst of "
        "a few items, or an order of a target's words.",
    ),
    (
        "Kind of question",
        "What people are asked: comparisons, ratings, best–worst choices, or orders of target groups. A project asks "
        "one, chosen where it is made or on the Plan page; rounds of others may stand beside it.",
    ),
    ("Scheme", "A kind of question with the way its questions are drawn: what the Plan page compares at equal time."),
    (
        "Round",
        "To ratings, best–worst choices and orders what a ballot is to comparisons. Its answers never change the "
        "votes' scores.",
    ),
    ("Ballot", "One stage of the collection by comparisons. Ballot 1 holds all items; each later one those that lead."),
    ("Task", "The questions that one voter answers in one sitting (a HIT on Mechanical Turk)."),
    ("Batch", "All tasks of a ballot or round in one file."),
    ("Assignment", "One voter's finished task."),
    ("Vote", "One voter's answer to one comparison. A tie counts half for each item."),
    ("Plan", "How many ballots (n_b), which share of items stays (α), how often an item is shown in a ballot (M)."),
    (
        "Protocol",
        "Which items stay, how opponents are drawn and how votes become scores. The plan names it.",
    ),
    ("Registration", "The plan frozen and hashed before the first vote, so that others can see what was kept of it."),
    ("x", "Borda score: the share of its comparisons in a ballot that an item won; a tie counts half."),
    (
        "y and ȳ",
        "By the paper's protocol: y is x brought to the scale of ballot 1; ȳ is the mean of an item's y's. The last ȳ "
        "is its score.",
    ),
    (
        "Interval",
        "lower and upper of a score: if the voters are drawn again many times, 90 % of its values lie between them.",
    ),
    (
        "b̂",
        "By the paper's protocol: the slope of the line that brings a ballot's x to the scale of ballot 1; the line "
        "goes through (1, 1).",
    ),
    (
        "θ and expected Borda score",
        (
            "By Runoff's own protocol: θ is an item's strength in one Bradley–Terry fit of all votes, and its score "
            "is the share of votes it would win against all other items."
        ),
    ),
    ("ρ_w and τ_w", "Rank correlations in which top ranks weigh more: rank n has the weight 1/(n + n₀)²."),
    ("R(n₀)", "The share of all weight that the first rank holds in a long ranking; 28 % for n₀ = 2."),
    (
        "Check",
        (
            "An extra comparison, which never enters scores: its answer is known, a voter answers it again, or several "
            "voters answer it. Voters can't tell it from the others."
        ),
    ),
    (
        "Audit",
        "Items that were cut come back as checks and meet items of the top: that shows what was lost at the cuts.",
    ),
    ("Quota", "The tasks one voter should give at most, so that the fastest don't decide the ballot."),
    ("Left out", "A voter whose votes are kept but count no more. It needs a reason, and can be undone."),
    ("Lapse ε", "Probability that a voter names the wrong item of a clear pair, by oversight."),
    ("Sharpness s", "How fine a difference a voter tells; 1 for the middle voter."),
    (
        "Noise ceiling",
        "What a model with the true ranking would score against these votes. No embedding can be seen to be better.",
    ),
    (
        "Krippendorff's α",
        (
            "How far voters agree where they answered the same comparisons. 1 is full agreement, 0 what chance gives."
            " It needs comparisons that several voters answered."
        ),
    ),
    ("Campaign", "One whole collection: its plan, ballots, votes and scores."),
    ("Panel", "Who votes, or is thought to: a number of voters with their noise and lapses. Forecasts simulate one."),
    (
        "Effective voters",
        "As many as would give votes so unevenly shared if all gave equally many: 1/Σp² of the shares p.",
    ),
    ("Coverage", "The share of items whose tokens an embedding has. Of the others it says nothing."),
    ("Hub", "A word that is near to nearly every other in an embedding, which says little about its meaning."),
    ("Seed", "The number that a draw follows from. The same seed gives the same ballot again."),
    ("Relatedness", "Any strong tie of meaning counts, opposites too; embeddings rank by |cos|."),
    ("Similarity", "Only likeness of meaning counts; embeddings rank by cos."),
    (
        "Simulated voter",
        "A program that votes by the paper's model, in demo and trial projects only. Its votes are permanently marked.",
    ),
)


def terms() -> list[tuple[str, str]]:
    """Every term with its meaning, and with the protocols there are."""
    offered = " ".join(protocol.about.advice for protocol in collectable().values())
    return [(term, f"{meaning} {offered}" if term == "Protocol" else meaning) for term, meaning in WORDS]


def of(term: str) -> str:
    """What a term means, for the help of a heading or a box; `KeyError` for one that isn't explained."""
    return dict(terms())[term]
