"""The glossary of the Help page: what each term of the app means, and the formulas behind the figures.

A term has a sentence or two; a formula its name, what its letters are, and where it is from.
"""

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
        "lower and upper of a score: if the voters are drawn again many times, 90% of its values lie between them.",
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
    ("R(n₀)", "The share of all weight that the first rank holds in a long ranking; 28% for n₀ = 2."),
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
        (
            "How many voters with equal shares of the votes weigh as much as these: 1/Σp² of the shares p. Two voters "
            "with 90% and 10% weigh as much as 1.2. The fewer, the more the scores are the busiest voters' opinion."
        ),
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


FORMULAS = (
    (
        "Sizes of the ballots",
        r"N^{(1)} = N, \qquad N^{(k)} = \operatorname{round}\bigl(\alpha\, N^{(k-1)}\bigr)",
        "N items, the share α of which stays from one ballot to the next (Eq. 2).",
    ),
    (
        "Comparisons, and votes on an item",
        r"\begin{gathered}"
        r"N_\text{comp} = \sum_{k=1}^{n_b} \left\lceil \tfrac{1}{2} M N^{(k)} \right\rceil \\[1ex]"
        r"M_\text{top} = \sum_{k=1}^{n_b} M, \quad M_\text{unif} = \frac{2 N_\text{comp}}{N}\end{gathered}",
        (
            "n_b ballots, each item M times in each; M_unif is what every item would get if all were treated alike "
            "(Eqs. 3 and 4)."
        ),
    ),
    (
        "Borda score",
        r"x = \frac{\text{wins} + \tfrac{1}{2}\,\text{ties}}{\text{votes}}",
        "Of one item in one ballot (Eq. 1).",
    ),
    (
        "Rescaling",
        r"\begin{gathered}"
        r"y^{(k)} = 1 - \hat b + \hat b\, x^{(k)} \\[1ex]"
        r"\hat b = \frac{\sum (1 - x^{(k)})(1 - \bar y^{(k-1)})}{\sum (1 - x^{(k)})^2}\end{gathered}",
        "Least squares through (1, 1) over the items of ballot k; ȳ is the mean of the y's so far (Eqs. 5 and 6).",
    ),
    (
        "Weighted rank correlations",
        r"\begin{gathered}"
        r"\rho_w = \frac{\sum_i w_i (a_i - \bar a)(b_i - \bar b)}"
        r"{\sqrt{\sum_i w_i (a_i - \bar a)^2 \, \sum_i w_i (b_i - \bar b)^2}} \\[1ex]"
        r"\tau_w = \frac{\sum_{i,j} w_i w_j \operatorname{sgn}(a_j - a_i) \operatorname{sgn}(b_j - b_i)}"
        r"{\sqrt{\sum_{i,j} w_i w_j \operatorname{sgn}^2(a_j - a_i) \, "
        r"\sum_{i,j} w_i w_j \operatorname{sgn}^2(b_j - b_i)}}"
        r"\end{gathered}",
        "a and b are an item's ranks by people and by the model, ā and b̄ their weighted means (Eqs. 7 and 8).",
    ),
    (
        "Weights of the ranks",
        r"w_i \propto \frac{1}{(a_i + n_0)^2} + \frac{1}{(b_i + n_0)^2}, \qquad "
        r"R(n_0) = \frac{1}{(n_0 + 1)^2 \, \psi'(n_0 + 1)}",
        (
            "The smaller n₀, the more the first ranks weigh; R(n₀) is the share of the first one, ψ′ the trigamma "
            "function (Eq. 9)."
        ),
    ),
    (
        "Votes of Runoff's own protocol",
        r"P(i \text{ beats } j \mid v) = \varepsilon_v + (1 - 2 \varepsilon_v)\, "
        r"\frac{1}{1 + e^{-s_v (\theta_i - \theta_j)}}",
        "θ is an item's strength, s the voter's sharpness, ε the lapse (docs/runoff.md).",
    ),
    (
        "Simulated voters",
        r"o_{iv} = F\bigl(z_i + \sigma^*_v (1 - z_i^2)\, \eta_{iv}\bigr), \qquad \eta_{iv} \sim \mathcal N(0, 1)",
        (
            "Voter v's opinion of an item of the true value z, cut at ±1; with the probability ε_v the other item is "
            "named (Eq. 11)."
        ),
    ),
)
SOURCE = (
    "Eq. numbers are those of Lombardo, Boiardi, Colombo, Schiavone and Tamagnone (2020), *Top-Rank-Focused Adaptive "
    "Vote Collection for the Evaluation of Domain-Specific Semantic Models*, EMNLP. docs/method.md has the rest, with "
    "references."
)
