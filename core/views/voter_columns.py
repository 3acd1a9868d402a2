"""The columns of the table of voters: what each is called, the figure behind it, and its help."""

from __future__ import annotations

from ..spoken import to_say

# The columns of the table: the figure behind each, and its help.
COLUMNS = {
    to_say("voter"): ("voter", to_say("The voter's id as it is stored.")),
    to_say("state"): ("state", to_say("Whether the voter's votes count.")),
    to_say("votes"): ("votes", to_say("Votes on comparisons that are scored; answers “I don't know” are none.")),
    to_say("to ranking"): (
        "gap",
        to_say(
            "Agreement with the ranking by all other votes (fitted without this voter), ties aside, less what an "
            "ordinary voter would reach on the same comparisons. 0 is ordinary, a random clicker lies 0.2 to 0.4 lower."
        ),
    ),
    to_say("from"): ("gap_lower", to_say("Lower bound of its 90 % interval.")),
    to_say("to"): ("gap_upper", to_say("Upper bound of its 90 % interval.")),
    to_say("as others"): (
        "same",
        to_say("Share of the others who gave the same answer, over comparisons that others answered too."),
    ),
    to_say("shared"): ("shared", to_say("Comparisons of the voter that others answered too.")),
    to_say("pairwise"): (
        "pairwise",
        to_say("Mean over the other voters of the share of equal answers on what the two share."),
    ),
    to_say("known right"): ("gold", to_say("Share of right answers to comparisons whose answer is known (gold).")),
    to_say("known"): ("gold_n", to_say("Answers to comparisons whose answer is known.")),
    to_say("consistent"): (
        "consistent",
        to_say("Share of equal answers where the same comparison came to the voter again."),
    ),
    to_say("repeats"): ("repeat_n", to_say("Answers to comparisons that the voter had answered before.")),
    to_say("left"): (
        "left_share",
        to_say("Share of answers for the item on the left. Sides are drawn at random, so near one half."),
    ),
    to_say("p (side)"): (
        "p_holm",
        to_say(
            "Chance of a split between sides as uneven or more by luck (exact binomial test), Holm's correction for "
            "the number of voters."
        ),
    ),
    to_say("seconds"): ("seconds", to_say("Median time of a comparison.")),
    to_say("speed"): ("speed", to_say("The voter's median time over the median of all answers; 1 is usual.")),
    to_say("lapse ε"): (
        "lapse",
        to_say(
            "Probability of naming the wrong item of a clear pair, by the fit of all votes: given its scores, and "
            "drawn towards 3 % by a prior where votes are few. A clicker may show as a low sharpness instead."
        ),
    ),
    to_say("sharpness s"): (
        "sharpness",
        to_say(
            "How fine a difference the voter tells, 1 for the middle voter, by the same fit; drawn towards 1 where "
            "votes are few."
        ),
    ),
    to_say("ties"): ("ties", to_say("Share of votes that are ties.")),
    to_say("unknown"): ("unknown", to_say("Share of answers “I don't know a word here”.")),
}
# What may be blank for everybody, as the reasons name it.
BLANK = {
    "gold": to_say("Known answers"),
    "same": to_say("Agreement with others"),
    "gap": to_say("Agreement with the ranking"),
    "consistent": to_say("Consistency"),
    "p_holm": to_say("Sides"),
    "speed": to_say("Times"),
    "lapse": to_say("Lapse and sharpness"),
}
COUNTS = {"shared": "as others", "known": "known right", "repeats": "consistent"}  # counts behind a figure
PERCENT = {"as others", "pairwise", "known right", "consistent", "left", "ties", "unknown"}
