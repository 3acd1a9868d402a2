"""The columns of the table of voters: what each is called, the figure behind it, and its help."""

from __future__ import annotations

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
        ),
    ),
    "from": ("gap_lower", "Lower bound of its 90 % interval."),
    "to": ("gap_upper", "Upper bound of its 90 % interval."),
    "as others": ("same", "Share of the others who gave the same answer, over comparisons that others answered too."),
    "shared": ("shared", "Comparisons of the voter that others answered too."),
    "pairwise": ("pairwise", "Mean over the other voters of the share of equal answers on what the two share."),
    "known right": ("gold", "Share of right answers to comparisons whose answer is known (gold)."),
    "known": ("gold_n", "Answers to comparisons whose answer is known."),
    "consistent": ("consistent", "Share of equal answers where the same comparison came to the voter again."),
    "repeats": ("repeat_n", "Answers to comparisons that the voter had answered before."),
    "left": ("left_share", "Share of answers for the item on the left. Sides are drawn at random, so near one half."),
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
            "drawn towards 3 % by a prior where votes are few. A clicker may show as a low sharpness instead."
        ),
    ),
    "sharpness s": (
        "sharpness",
        (
            "How fine a difference the voter tells, 1 for the middle voter, by the same fit; drawn towards 1 where "
            "votes are few."
        ),
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
}
COUNTS = {"shared": "as others", "known": "known right", "repeats": "consistent"}  # counts behind a figure
PERCENT = {"as others", "pairwise", "known right", "consistent", "left", "ties", "unknown"}
