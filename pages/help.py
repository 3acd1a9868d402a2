"""What the words mean, and how the method works, on one page."""

from __future__ import annotations

import streamlit as st

from ui import frame

WORDS = (
    ("Token", "A word, or several that name one thing, such as *machine learning*."),
    (
        "Semantic area",
        "A named list of tokens. Only tokens of one area are paired, so that each is read in its right sense.",
    ),
    ("Item", "A pair of tokens of one area. Each item gets a score."),
    ("Comparison", "Two items put before one voter, who says which one's words are more related."),
    ("Ballot", "One round of the collection. Ballot 1 holds all items, each later one the best of the ballot before."),
    ("Task", "The comparisons that one voter answers in one sitting (a HIT on Mechanical Turk)."),
    ("Batch", "All tasks of a ballot in one file."),
    ("Assignment", "One voter's finished task."),
    ("Vote", "One voter's answer to one comparison. A tie counts half for each item."),
    ("Plan", "How many ballots (n_b), which share of items stays (α), how often an item is shown in a ballot (M)."),
    (
        "Protocol",
        "How opponents are drawn and votes become scores. The paper's draws them at random; Runoff's own lets near "
        "neighbours meet from ballot 2 on, and fits all votes together.",
    ),
    ("Registration", "The plan frozen and hashed before the first vote, so that others can see what was kept of it."),
    ("x", "Borda score: the share of its comparisons in a ballot that an item won, ties half."),
    ("y and ȳ", "y is x brought to the scale of ballot 1; ȳ is the mean of an item's y's. The last ȳ is its score."),
    (
        "Interval",
        "lower and upper of a score: if the voters are drawn anew many times, 90 % of its values lie between them.",
    ),
    ("b̂", "Slope of the line that brings a ballot's x to the scale of ballot 1; the line goes through (1, 1)."),
    (
        "θ and expected Borda score",
        "By Runoff's own protocol: θ is an item's strength in one Bradley–Terry fit of all votes, and its score is the "
        "share of votes it would win against all other items.",
    ),
    ("ρ_w and τ_w", "Rank correlations in which top ranks weigh more: rank n has the weight 1/(n + n₀)²."),
    ("R(n₀)", "The share of all weight that the first rank holds in a long ranking; 28 % for n₀ = 2."),
    (
        "Krippendorff's α",
        "How far voters agree where they answered the same comparisons. 1 is full agreement, 0 what "
        "chance gives. It needs comparisons that several voters answered.",
    ),
    ("Relatedness", "Any strong tie of meaning counts, opposites too; embeddings rank by |cos|."),
    ("Similarity", "Only likeness of meaning counts; embeddings rank by cos."),
    (
        "Simulated voter",
        "A program that votes by the paper's model. Its votes are marked for ever, in demo and trial projects only.",
    ),
)

st.title("Help")
st.markdown(
    "**Runoff builds a list of word pairs ranked by how related people find them, most exact at the top, and ranks "
    "word embeddings with it.**"
)
if st.session_state.get("project_id"):
    frame.next_step("project", "see where the project stands")
st.markdown(
    """
1. **Embeddings**: load the models you want to compare.
2. **Tokens**: give lists of words by semantic area; all pairs of an area become items.
3. **Plan**: choose how many ballots there are and how many votes they take.
4. **Collect**: draw a ballot, give its batch to voters, upload their answers, close it, draw the next.
5. **Scores**: see the ranking, with intervals and the votes behind each score.
6. **Evaluate**: see how well each embedding ranks the items as people do.
7. **Export**: publish the dataset: one zip with its datasheet and the votes behind it; release versions.
"""
)
st.subheader("How votes are collected today")
st.markdown(
    """
**By a link**: on the Collect page, *let people vote by a link* serves the ballot on a voting page of Runoff's own, and
stores each vote at once. Give the link to Prolific, CloudResearch Connect, a class or colleagues. Without a server,
*let people vote without a server* makes pages that people open from a file; they send a small table back.

**By Turkle**: Amazon Mechanical Turk closed in September 2026, but its files live on. Turkle, a free program that you
run yourself, takes the same batch and task page and gives the same result files. On the Collect page:

1. Look at a task, or *try it yourself*: 20 comparisons that count for nothing and tell how long they take.
2. Download the *batch* and the *task page for Turkle*.
3. In Turkle, make a project and paste the task page as its template; then publish the batch with it.
4. When voters are done, download the results from Turkle's administration page and upload them on the Collect page.

Archived results in Mechanical Turk's format are read as well. Without any platform, download the *comparisons as a
table*, let people fill in the columns voter and choice, and upload it.
"""
)
st.subheader("How scores come about")
st.markdown(
    """
Voters see two items and choose the more related one. In ballot 1 each item is shown M times; its score is the share it
won. Then only the top share α stays, so that later votes go to the top ranks, where they are needed most.

**The paper's protocol**: in a later ballot the others are stronger, so an item wins less often: a line brings the win
ratios back to the scale of ballot 1. An item's score is the mean over its ballots. **Runoff's own**: later ballots let
items meet that the votes can't tell apart yet, and one fit of all votes gives every score; it needs fewer votes for the
same accuracy. Source of the paper's: Lombardo et al., *Top-Rank-Focused Adaptive Vote Collection for
the Evaluation of Domain-Specific Semantic Models*, EMNLP 2020.
"""
)
st.subheader("Words")
for word, meaning in WORDS:
    st.markdown(f"**{word}**: {meaning}")
