"""What the words mean, and how the method works, on one page."""

from __future__ import annotations

import streamlit as st

from ui.help.glossary import FORMULAS, SOURCE, WORDS
from ui.shared import frame

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
2. **Tokens**: give lists of tokens by semantic area; all pairs of an area become items.
3. **Plan**: choose the protocol, how many ballots there are and how many votes they take.
4. **Collect**: draw a ballot, let people vote, upload the results, close it, draw the next.
5. **Voters**: see how each voter voted; leave out careless ones, after a look at what that changes. It can be undone.
6. **Scores**: see the ranking, with intervals and the votes behind each score.
7. **Evaluate**: see how well each embedding ranks the items as people do.
8. **Export**: publish the dataset: one zip with its datasheet and the votes behind it; release versions.
"""
)
st.subheader("How votes are collected today")
st.markdown(
    """
The Collect page asks *How do you collect votes?* and shows the steps and files of the chosen way:

- **Voting page**: people open a link to a page of Runoff's own, and each vote is stored at once. Give the link to a
  class, to colleagues or to a platform.
- **Turkle**: a free program that you run yourself. Runoff publishes there and fetches the votes, or you carry the batch
  and the results by hand.
- **Label Studio**: tasks go there as a file, and its export comes back.
- **Prolific**: paid participants, who vote on the voting page.
- **Files for colleagues**: tables to fill in, or a page in a file that needs no server.
- **Mechanical Turk's format**: it closed in September 2026, but other programs take its files.

Whatever the way, *See a task as voters see it* shows what goes out, and *Try it yourself* asks you 20 comparisons that
count for nothing and tell how long they take. Archived results become a project of their own: *New project* in the side
bar, then *From archived results*.
"""
)
st.subheader("How scores come about")
st.markdown(
    """
Voters see two items and choose the more related one. In ballot 1 each item is shown M times. Then only the top share α
stays, so that later votes go to the top ranks, where they are needed most. What the votes make of scores depends on the
protocol that the plan names:

**The paper's protocol**: an item's score in ballot 1 is the share of its votes that it won. In a later ballot the
others are stronger, so an item wins less often: a line brings the win ratios back to the scale of ballot 1. An
item's score is the mean over its ballots. **Runoff's own**: later ballots let items meet that the votes can't tell
apart yet, and one fit of all votes gives every score; it needs fewer votes for the same accuracy. **Ratings,
best–worst choices and orders** of target groups have scores of their own; they are collected as rounds on the page
Other schemes.

Source of the paper's protocol: Lombardo et al., *Top-Rank-Focused Adaptive Vote Collection for the Evaluation of
Domain-Specific Semantic Models*, EMNLP 2020.
"""
)
with st.expander("The formulas"):
    for name, formula, about in FORMULAS:
        st.markdown(f"**{name}**")
        st.latex(formula)
        st.caption(about)
    st.caption(SOURCE)
st.subheader("Words")
part = st.text_input("Find a word", placeholder="For example: ballot").strip().casefold()
found = [(word, meaning) for word, meaning in WORDS if part in f"{word} {meaning}".casefold()]
for word, meaning in found:
    st.markdown(f"**{word}**: {meaning}")
if not found:
    st.caption("None of the words explained here has that in it.")
