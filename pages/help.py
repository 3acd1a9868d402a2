"""What the words mean, and how the method works, on one page."""

from __future__ import annotations

import streamlit as st

from core.protocols import collectable
from ui.help.glossary import FORMULAS, SOURCE, terms
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
3. **Plan**: choose the kind of question, the protocol, how many ballots there are and how many votes they take.
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
"""
)
for protocol in collectable().values():
    about = protocol.about
    st.markdown(f"- **{about.offered}.** {about.in_words or about.advice}")
st.markdown(
    """
**Ratings, best–worst choices and orders** of target groups are other kinds of question, with scores of their own; they
are collected in rounds, on the same pages. The kind is chosen where a project is made, or on the Plan page.

Source of the paper's protocol: Lombardo et al., *Top-Rank-Focused Adaptive Vote Collection for the Evaluation of
Domain-Specific Semantic Models*, EMNLP 2020.
"""
)
with st.expander("The formulas"):
    for name, formula, explanation in FORMULAS:
        st.markdown(f"**{name}**")
        st.latex(formula)
        st.caption(explanation)
    st.caption(SOURCE)
st.subheader("Terms")
part = st.text_input("Find a term", placeholder="For example: ballot").strip().casefold()
matches = [(word, meaning) for word, meaning in terms() if part in f"{word} {meaning}".casefold()]
for word, meaning in matches:
    st.markdown(f"**{word}**: {meaning}")
if not matches:
    st.caption("None of the terms explained here contains that.")
