"""What the words of the app mean, a sentence or two each; the Help page shows them."""

from __future__ import annotations

from core.spoken import say, to_say

WORDS = (
    (to_say("Token"), to_say("A word, or several that name one thing, such as *machine learning*.")),
    (
        to_say("Semantic area"),
        to_say("A named list of tokens. Only tokens of one area are paired, so that each is read in its right sense."),
    ),
    (to_say("Item"), to_say("A pair of tokens of one area. Each item gets a score.")),
    (to_say("Comparison"), to_say("Two items put before one voter, who says which one's words are more related.")),
    (
        to_say("Ballot"),
        to_say("One round of the collection. Ballot 1 holds all items, each later one the best of the ballot before."),
    ),
    (to_say("Task"), to_say("The comparisons that one voter answers in one sitting (a HIT on Mechanical Turk).")),
    (to_say("Batch"), to_say("All tasks of a ballot in one file.")),
    (to_say("Assignment"), to_say("One voter's finished task.")),
    (to_say("Vote"), to_say("One voter's answer to one comparison. A tie counts half for each item.")),
    (
        to_say("Plan"),
        to_say("How many ballots (n_b), which share of items stays (α), how often an item is shown in a ballot (M)."),
    ),
    (
        to_say("Protocol"),
        to_say(
            "How opponents are drawn and votes become scores. The paper's draws them at random; Runoff's own lets "
            "near neighbours meet from ballot 2 on, and fits all votes together."
        ),
    ),
    (
        to_say("Registration"),
        to_say("The plan frozen and hashed before the first vote, so that others can see what was kept of it."),
    ),
    (to_say("x"), to_say("Borda score: the share of its comparisons in a ballot that an item won, ties half.")),
    (
        to_say("y and ȳ"),
        to_say("y is x brought to the scale of ballot 1; ȳ is the mean of an item's y's. The last ȳ is its score."),
    ),
    (
        to_say("Interval"),
        to_say(
            "lower and upper of a score: if the voters are drawn anew many times, 90 % of its values lie between them."
        ),
    ),
    (
        to_say("b̂"),
        to_say("Slope of the line that brings a ballot's x to the scale of ballot 1; the line goes through (1, 1)."),
    ),
    (
        to_say("θ and expected Borda score"),
        to_say(
            "By Runoff's own protocol: θ is an item's strength in one Bradley–Terry fit of all votes, and its score "
            "is the share of votes it would win against all other items."
        ),
    ),
    (
        to_say("ρ_w and τ_w"),
        to_say("Rank correlations in which top ranks weigh more: rank n has the weight 1/(n + n₀)²."),
    ),
    (to_say("R(n₀)"), to_say("The share of all weight that the first rank holds in a long ranking; 28 % for n₀ = 2.")),
    (
        to_say("Check"),
        to_say(
            "A comparison more, which never enters scores: its answer is known, a voter answers it again, or several "
            "voters answer it. Voters can't tell it from the others."
        ),
    ),
    (
        to_say("Audit"),
        to_say(
            "Items that were cut come back as checks and meet items of the top: that shows what was lost at the cuts."
        ),
    ),
    (to_say("Quota"), to_say("The tasks one voter should give at most, so that the fastest don't decide the ballot.")),
    (
        to_say("Left out"),
        to_say("A voter whose votes are kept but count no more. It needs a reason, and can be undone."),
    ),
    (to_say("Lapse ε"), to_say("Probability that a voter names the wrong item of a clear pair, by oversight.")),
    (to_say("Sharpness s"), to_say("How fine a difference a voter tells; 1 for the middle voter.")),
    (
        to_say("Noise ceiling"),
        to_say(
            "What a model with the true ranking would score against these votes. No embedding can be seen to be better."
        ),
    ),
    (
        to_say("Krippendorff's α"),
        to_say(
            "How far voters agree where they answered the same comparisons. 1 is full agreement, 0 what chance gives."
            " It needs comparisons that several voters answered."
        ),
    ),
    (to_say("Campaign"), to_say("One whole collection: its plan, ballots, votes and scores.")),
    (
        to_say("Panel"),
        to_say("Who votes, or is thought to: a number of voters with their noise and lapses. Forecasts simulate one."),
    ),
    (
        to_say("Effective voters"),
        to_say("As many as would give votes so unevenly shared if all gave equally many: 1/Σp² of the shares p."),
    ),
    (to_say("Coverage"), to_say("The share of items whose tokens an embedding has. Of the others it says nothing.")),
    (
        to_say("Hub"),
        to_say("A word that is near to nearly every other in an embedding, which says little about its meaning."),
    ),
    (to_say("Seed"), to_say("The number that a draw follows from. The same seed gives the same ballot again.")),
    (to_say("Relatedness"), to_say("Any strong tie of meaning counts, opposites too; embeddings rank by |cos|.")),
    (to_say("Similarity"), to_say("Only likeness of meaning counts; embeddings rank by cos.")),
    (
        to_say("Simulated voter"),
        to_say(
            "A program that votes by the paper's model. Its votes are marked for ever, in demo and trial projects only."
        ),
    ),
)


def of(word: str) -> str:
    """What a word means, for the help of a heading or a box; `KeyError` for one that isn't explained."""
    return say(dict(WORDS)[word])
