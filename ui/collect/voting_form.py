"""The settings of the voting page, in a form."""

from __future__ import annotations

import streamlit as st

from core.i18n import Language, language
from core.questions.voting_settings import ADDRESS_KEPT, TRAITS, VotingSettings
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.plans import PlanSettings
from ui.shared import choosers

_ACTIONS = {
    "nothing": "goes on, and I look at the answers myself",
    "stop": "gets no more comparisons, and no code",
    "set aside": "goes on, but the votes aren't counted",
}
_IDENTIFY = {
    "name": "known by a name they type",
    "none": "known by their browser only",
    "id": "not let in without a platform's id or a personal link",
    "invited": "not let in: personal links only",
}
LATER = "Then what isn't answered goes to somebody else."
_COMPLETION = {"none": "no code", "shared": "the same code for all", "own": "a code of each voter's own"}


def settings_form(
    old: VotingSettings, plan: PlanSettings, ballot: Ballot, hashes: bool | None, *, is_new: bool
) -> VotingSettings | None:
    """The form, folded; its settings once it is sent, else None. `hashes`: see `VotingView`."""
    with st.expander("Settings of the voting page"), st.form(f"voting-{ballot.id}"):
        key, spoken = str(ballot.id), language(plan.wording.language)
        values = _workload_fields(old) | _checks(old, key) | _voters(old, key, hashes) | _texts(old, key, spoken)
        if st.form_submit_button("Save and open voting" if is_new else "Save (and open)"):
            return VotingSettings(**values)
    return None


def round_form(
    old: VotingSettings, key: str, spoken: Language, hashes: bool | None, *, is_new: bool
) -> VotingSettings | None:
    """The form for a round of another kind, which asks for no ties, checks or examples; its settings once sent.

    `spoken` is the language of its standard texts; `hashes`: see `VotingView`.
    """
    with st.expander("Settings of the voting page"), st.form(f"voting-{key}"):
        with st.container(horizontal=True):
            values: dict = {
                "task_size": _number(
                    "Questions per task", old.task_size, 1, 50, "What a voter answers in one sitting."
                ),
                "tasks_per_voter": _number("Tasks per voter", old.tasks_per_voter, 1, 1000, "At most."),
                "minutes_per_task": _number("Minutes per task", old.minutes_per_task, 1, 1440, LATER),
            }
        values |= _voters(old, key, hashes) | _texts(old, key, spoken, has_examples=False)
        if st.form_submit_button("Save and open voting" if is_new else "Save (and open)"):
            return VotingSettings(**values)
    return None


def _number(label: str, value: int, lowest: int, highest: int, about: str) -> int:
    return int(st.number_input(label, lowest, highest, value, help=about))


def _workload_fields(old: VotingSettings) -> dict:
    """The settings of tasks and votes per voter."""
    left, right = st.columns(2)
    with left:
        values = {
            "task_size": _number("Comparisons per task", old.task_size, 1, 50, "What a voter answers in one sitting."),
            "votes_per_comparison": _number(
                "Votes per comparison", old.votes_per_comparison, 1, 20, "From this many different voters."
            ),
        }
    with right:
        values |= {
            "tasks_per_voter": _number(
                "Tasks per voter, at most", old.tasks_per_voter, 1, 1000, "So that no single opinion decides."
            ),
            "minutes_per_task": _number("Minutes per task", old.minutes_per_task, 1, 1440, LATER),
        }
    ties = st.checkbox("Voters may answer “equal”", old.ties_allowed)
    adaptive = st.checkbox(
        "Close the ballot by itself once it has its votes, and open the next one",
        old.adaptive,
        help="While the voting page is served. The link stays the same.",
    )
    return values | {"ties_allowed": ties, "adaptive": adaptive}


def _checks(old: VotingSettings, key: str) -> dict:
    """The settings of checks."""
    st.markdown("**Checks** (comparisons that never enter scores)")
    left, middle, right = st.columns(3)
    with left:
        n_gold = _number(
            "Known answers per task",
            old.n_gold,
            0,
            10,
            "Comparisons whose answer is known. Choose them under “Known answers” below.",
        )
    with middle:
        allowed = _number("Wrong answers allowed", old.gold_allowed, 0, 100, "Per voter, in the whole ballot.")
    with right:
        repeats = _number("Repeats per task", old.n_repeats, 0, 10, "From a voter's earlier tasks, with sides swapped.")
    action = choosers.selectbox(
        "A voter beyond that",
        dict(_ACTIONS),
        old.gold_action,
        key=f"gold-action-{key}-{old.gold_action}",
    )
    return {"n_gold": n_gold, "gold_allowed": allowed, "n_repeats": repeats, "gold_action": action}


def _voters(old: VotingSettings, key: str, hashes: bool | None) -> dict:
    """The settings of how voters are recognised."""
    st.markdown("**Voters**")
    identify = choosers.selectbox(
        "Voters who come by the plain link are",
        dict(_IDENTIFY),
        old.identify,
        key=f"identify-{key}-{old.identify}",
        help=(
            "By the plain link somebody may vote twice, under two names. Platforms' ids can be made up: compare them "
            "with the platform's list. A personal link is one voter."
        ),
    )
    word = st.text_input(
        "Code word (empty: none)",
        old.code_word,
        max_chars=100,
        help=(
            "Asked of all who begin without a personal link; capitals and spaces don't matter. Say it in the room, or "
            "where strangers with the link don't read it."
        ),
    )
    hashed = st.checkbox(
        "Store a hash in place of a platform's id",
        old.hash_ids if hashes is None else hashes,
        disabled=hashes is not None,
        help="The id can't be read from it. Without the id you can't tell the platform whom to pay for which votes."
        if hashes is None
        else "People have begun to vote here, so this stays as it is: the other way, all of them could vote again.",
    )
    ask = choosers.multiselect(
        "Ask voters about themselves (each may leave it out)",
        {trait: words for trait, (words, *_) in TRAITS.items()},
        old.ask,
        key=f"ask-{key}-{'-'.join(old.ask)}",
        placeholder="Choose options",
        help="Only totals are stored, and nothing leads back to a voter. Say in the consent what it is for.",
    )
    return {"identify": identify, "code_word": word.strip(), "hash_ids": hashed, "ask": tuple(ask)}


def _texts(old: VotingSettings, key: str, spoken: Language, *, has_examples: bool = True) -> dict:
    """The texts that voters read."""
    st.markdown(
        "**Texts** (the question, the instructions and the examples are the plan's)" if has_examples else "**Texts**"
    )
    consent = st.text_area(
        "Consent, shown before anything is asked",
        spoken.text(old.consent),
        max_chars=5000,
        help=f"Below it the page says: “{spoken.text(ADDRESS_KEPT)}”",
    )
    examples = has_examples and st.checkbox("Let voters try the plan's examples first, with the answer", old.examples)
    closing = st.text_area("Thanks at the end", spoken.text(old.closing), max_chars=5000)
    completion = choosers.selectbox(
        "Completion code",
        dict(_COMPLETION),
        old.completion,
        key=f"completion-{key}-{old.completion}",
    )
    code = st.text_input("The code for all", old.code, max_chars=100)
    url = st.text_input("Address to go back to (https://…)", old.return_url, max_chars=500)
    texts = {"consent": consent, "examples": examples, "closing": closing, "completion": completion}
    return texts | {"code": code.strip(), "return_url": url.strip()}
