"""Checks in the ballots: what the plan asks for and costs, how many were answered, and what they say."""

from __future__ import annotations

import streamlit as st

from core.ballots.checks import MOST_OVERLAP_VOTERS, CheckSettings, gold_text, read_gold_pairs
from core.plan import Plan
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.votes.checks import strange_gold
from core.views.plan import answered_text, cost_text, counts_table
from ui.shared import choosers, frame


def known_answers_area(key: str, value: str = "", *, disabled: bool = False) -> str:
    """Where known answers are typed, a comparison a line: those of a plan before its ballots are drawn, and those that
    an open ballot of the voting page gets besides (`checks.read_gold_pairs`)."""
    return st.text_area(
        "Known answers, one per line",
        value,
        key=key,
        disabled=disabled,
        placeholder="cat, dog > saw, mouse",
        help="The more related pair first. Both pairs must be items of the project.",
    )


def checks_form(start: CheckSettings | None, *, key: str, locked: bool) -> CheckSettings | None:
    """The switch and the settings of the plan's checks; None where they are off.

    Raises `PlanError` for a line that is no comparison with a known answer.
    """
    on = st.toggle(
        "Checks in the ballots",
        start is not None,
        key=f"checks-{key}",
        disabled=locked,
        help=(
            "A few extra comparisons, which voters can't tell from the others. They show how good the votes are, and "
            "what was lost at the cuts. They never enter scores."
        ),
    )
    if not on:
        return None
    old = start or CheckSettings()
    with st.expander("Which checks", icon=":material/fact_check:"):
        overlap, voters = _overlap(old, key, locked)
        audit_items, audit_votes = _audit(old, key, locked)
        gold, gold_per, repeats = _gold(old, key, locked)
        pairs = known_answers_area(f"gold-pairs-{key}", gold_text(old.gold_pairs), disabled=locked)
    return CheckSettings(overlap, voters, gold, gold_per, read_gold_pairs(pairs), repeats, audit_items, audit_votes)


def _number(label: str, value: int, lowest: int, highest: int, key: str, locked: bool, about: str) -> int:
    return int(st.number_input(label, lowest, highest, value, key=key, disabled=locked, help=about))


def _overlap(old: CheckSettings, key: str, locked: bool) -> tuple[float, int]:
    """The share of comparisons judged by several voters, 0 to 1, and by how many."""
    left, right = st.columns(2)
    with left:
        percent = st.number_input(
            "Judged by several voters (%)",
            0.0,
            50.0,
            round(old.overlap * 100, 2),
            1.0,
            key=f"overlap-{key}",
            disabled=locked,
            help=(
                "This share of comparisons is put before further voters, for a figure of agreement. The vote that "
                "counts stays one."
            ),
        )
    with right:
        about = "The voter whose vote counts is one of them."
        voters = _number(
            "By how many voters", old.overlap_voters, 2, MOST_OVERLAP_VOTERS, f"overlap-voters-{key}", locked, about
        )
    return round(float(percent) / 100, 6), voters


def _audit(old: CheckSettings, key: str, locked: bool) -> tuple[int, int]:
    """How many cut items come back in a ballot, and the votes on each."""
    left, right = st.columns(2)
    with left:
        about = (
            "How many of the items a ballot cuts come back once, drawn at random, against items near the end of the "
            "top 10; this shows how many of the top were lost. 0: none."
        )
        items = _number("Cut items that come back, per ballot", old.audit_items, 0, 100, f"audit-{key}", locked, about)
    with right:
        votes = _number("Comparisons of each", old.audit_votes, 1, 40, f"audit-votes-{key}", locked, "One vote each.")
    return items, votes


def _gold(old: CheckSettings, key: str, locked: bool) -> tuple[int, str, int]:
    left, middle, right = st.columns(3)
    with left:
        about = (
            "From ballot 2 on they are taken from differences that the votes leave no doubt about; ballot 1 has only "
            "those typed below. 0: none."
        )
        gold = _number("Known answers", old.gold, 0, 10, f"gold-{key}", locked, about)
    with middle:
        kinds = {"task": "in every task", "voter": "for every voter"}
        per = choosers.selectbox(
            "How often",
            kinds,
            old.gold_per,
            key=f"gold-per-{key}",
            disabled=locked,
            help="For every voter: as often as if the tasks were shared out evenly.",
        )
    with right:
        about = "A comparison is shown again later in the task, with sides swapped."
        repeats = _number("Repeats per task", old.repeats, 0, 5, f"repeats-{key}", locked, about)
    return gold, str(per), repeats


def checks_cost(project: Project, area_id: int | None, plan: Plan, settings: PlanSettings) -> None:
    """What the checks of a plan cost, and known answers that can't be asked."""
    if settings.checks is None:
        st.caption("No checks: nothing will tell how far voters agree, or what was lost at the cuts.")
        return
    for tokens in strange_gold(frame.store(), project.id, area_id, settings.checks):
        named = frame.plain(" – ".join(tokens))
        st.warning(f"Among the known answers, {named} is no item here, so that comparison will not be asked.")
    st.markdown(frame.plain(cost_text(plan, settings)))
    with st.expander("Check votes by ballot"):
        table = counts_table(plan, settings)
        st.dataframe(table, hide_index=True, alt="Check votes by ballot")


def collected(store: Store, ballot: Ballot) -> None:
    """How many checks the open ballot carries, and how many answers came."""
    if sentence := answered_text(store, ballot):
        st.caption(frame.plain(sentence))
