"""The widgets of the plan page, and the settings as they stand in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.errors import PlanError
from core.protocols import collectable, protocol_of
from core.protocols.base import AIMS, BOTH
from core.store.projects.plans import PlanSettings, set_ranking, with_budget
from core.store.projects.project_commands import Project
from core.store.tokens.areas import read_areas
from core.views.overview import RankingStatus
from core.views.plan import appearances_text
from ui.plan.checks_box import checks_form, show_checks
from ui.plan.plan_fields import NumberField, show_facts
from ui.plan.wording_form import show_wording, wording_form
from ui.shared import choosers, frame

TIES = "Voters may answer “equal”"
APPEARANCES = (
    "Appearances, M",
    "How often each item is shown in a ballot: one number, or one per ballot (20, 20, 30). Best even.",
)
SPREAD = (
    "Votes are spread for",
    "ρ_w asks for ranks that are near, all over the field: the first two ballots have all items, and appearances "
    "hardly rise to the top. τ_w asks for the right order of the very top: most votes go there. What one gains the "
    "other loses. From some 25 votes per item on, both gain by a second ballot of all items; with fewer, the first one "
    "now and then loses a good item.",
)
NUMBERS = (
    NumberField("n_ballots", "Ballots, n_b", 1, 20, 1,
                "Votes are collected in this many rounds; only the leading items go on to the next. Advised: 2 to 10."),
    NumberField("keep", "Share that stays, α", 0.01, 0.99, 0.05,
                "The fraction of a ballot's items that goes on."),
    NumberField("task_size", "Comparisons per task", 1, 50, 1,
                "A task is what one voter answers in one sitting."),
    NumberField("n_voters", "Voters", 1, 1_000_000, 1,
                "How many people you expect. The Collect page warns when few of them give most votes."),
    NumberField("seconds_per_comparison", "Seconds per comparison", 0.1, 3600.0, 1.0,
                "The average time t̄ of one comparison; hours follow from it (Eq. 10)."),
    NumberField("reward", "Reward per task", 0.0, 10_000.0, 0.05,
                "In your currency; 0 where nobody is paid."),
    NumberField("fee", "Platform's fee (%)", 0.0, 1000.0, 5.0,
                "What the platform takes on top of the reward; Mechanical Turk took 20%.", scale=100.0),
    NumberField("seed", "Seed", 0, 2**31 - 1, 1,
                "The same seed draws the same ballots from the same votes."),
)  # fmt: skip


def ranking_choice(project: Project, standings: Sequence[RankingStatus]) -> None:
    """Whether all areas are ranked together or each for itself; nothing to choose with one area, or after a draw."""
    n_areas = len(read_areas(frame.store(), project.id))
    if n_areas < 2:
        return
    kinds = {"all": "One ranking over all areas", "area": "One ranking for each area"}
    if drawn := [standing.fixed_by for standing in standings if standing.fixed_by]:
        st.caption(f"{kinds[project.ranking]}: fixed, as {min(drawn)} is drawn.")  # "ballot 1" comes first
        return
    chosen = choosers.segmented_control(
        "Ranking",
        kinds,
        project.ranking,
        key=f"ranking-{project.id}-{project.ranking}",
        help=(
            "One ranking compares items of all areas with each other. With one for each area, no comparison crosses "
            "areas: each has its own plan, ballots and scores, and its scores don't compare with another area's."
        ),
    )
    if chosen != project.ranking:
        frame.carry_out(
            set_ranking,
            frame.store(),
            project.id,
            chosen,
            expected_revision=frame.expected(),
            done=f"{kinds[chosen]}: make its plan.",
        )


def settings_form(start: PlanSettings, notion: str, n_items: int, *, key: str) -> PlanSettings:
    """Draw the widgets, filled from `start`, and return the settings as they stand in them.

    Where the protocol changes, or the ballots of one that has M ballot by ballot, M is found anew for the same votes.
    Raises `PlanError` for a text that is no number of appearances, and for a plan that can't be.
    """
    again = partial(_spread_again, start, n_items, key)
    protocol = _protocol(start, key, again)
    aim = _aim(start, protocol, key, again)
    places = [column for _ in range(3) for column in st.columns(3)]
    appearances = _appearances(places.pop(2), start, key)
    values: dict[str, Any] = {}
    for place, field in zip(places, NUMBERS, strict=True):
        on_change = again if field.name in ("n_ballots", "keep") else None
        values[field.name] = field.input(place, getattr(start, field.name), key=key, on_change=on_change)
    ties = st.toggle(TIES, start.ties_allowed, key=f"ties-{key}")
    checks, mistyped = None, None
    try:
        checks = checks_form(start.checks, key=key)
    except PlanError as error:
        mistyped = error  # raised once all widgets are drawn: what stands in one that isn't drawn is lost
    wording = wording_form(start.wording, notion, key=key, ties_allowed=ties)
    if mistyped is not None:
        raise mistyped
    settings = replace(
        start,
        **values,
        protocol=protocol,
        aim=aim,
        appearances=read_appearances(appearances),
        ties_allowed=ties,
        wording=wording,
        checks=checks,
    )
    st.session_state[f"_votes-{key}"] = settings.plan(n_items).n_comparisons
    return settings


def show_drawn(settings: PlanSettings, notion: str) -> None:
    """The settings of a plan whose ballots are drawn, as text: nothing of it can be changed any more."""
    about = protocol_of(settings.protocol).about
    facts = [("Protocol", about.offered, _protocol_help())]
    if about.own_appearances:
        facts.append((SPREAD[0], AIMS[settings.aim], SPREAD[1]))
    show_facts(facts, per_row=2)
    numbers = [field.fact(getattr(settings, field.name)) for field in NUMBERS]
    numbers.insert(2, (APPEARANCES[0], written_appearances(settings), APPEARANCES[1]))
    show_facts([*numbers, (TIES, "yes" if settings.ties_allowed else "no", None)])
    show_checks(settings.checks)
    show_wording(settings.wording, notion)


def _spread_again(start: PlanSettings, n_items: int, key: str) -> None:
    """Put the M that spends as many votes as before into its box, where the ballots have M of their own."""
    state = st.session_state
    protocol = state[f"protocol-{key}"]
    if protocol == state.get(f"_protocol-{key}", start.protocol) and "," not in state[f"m-{key}"]:
        return
    state[f"_protocol-{key}"] = protocol
    own = collectable()[protocol].about.own_appearances
    aim = state.get(f"aim-{key}", start.aim) if own else BOTH
    shape = replace(start, protocol=protocol, aim=aim, n_ballots=state[f"n_ballots-{key}"], keep=state[f"keep-{key}"])
    # Where nothing can be found the page says why, as for any plan that can't be.
    with suppress(PlanError):
        plan = with_budget(shape, n_items, state[f"_votes-{key}"]).plan(n_items)
        state[f"m-{key}"] = appearances_text(plan.appearances_by_ballot)


def _protocol(start: PlanSettings, key: str, on_change: Callable[[], None]) -> str:
    """The choice of a protocol; its name."""
    offered = {name: protocol.about.offered for name, protocol in collectable().items()}
    chosen = choosers.segmented_control(
        "Protocol", offered, start.protocol, key=f"protocol-{key}", on_change=on_change, help=_protocol_help()
    )
    return str(chosen)


def _protocol_help() -> str:
    advice = (protocol.about.advice for protocol in collectable().values())
    return " ".join(["Ballot after ballot only the leading items stay.", *advice])


def _aim(start: PlanSettings, protocol: str, key: str, on_change: Callable[[], None]) -> str:
    """What appearances are spread for, where the protocol has ways for it."""
    if not collectable()[protocol].about.own_appearances:
        return BOTH
    label, about = SPREAD
    chosen = choosers.segmented_control(
        label,
        AIMS,
        start.aim,
        key=f"aim-{key}",
        on_change=on_change,
        help=about,
    )
    return str(chosen)


def _appearances(place: Any, start: PlanSettings, key: str) -> str:
    """The field of M; its text, one number or one a ballot."""
    # Not the box's own default: `_spread_again` writes there too, and Streamlit wants one or the other.
    st.session_state.setdefault(f"m-{key}", written_appearances(start))
    label, about = APPEARANCES
    return place.text_input(label, key=f"m-{key}", help=about)


def written_appearances(settings: PlanSettings) -> str:
    """M as it is typed: one number, or one per ballot."""
    stored = settings.appearances
    return str(stored) if isinstance(stored, int) else ", ".join(map(str, stored))


def read_appearances(text: str) -> int | tuple[int, ...]:
    """M from its text box: one number, or one per ballot."""
    try:
        numbers = tuple(int(part) for part in text.replace(";", ",").split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise PlanError(
            f"“{text}” isn't a number of appearances. Type one whole number, or one per ballot such as 20, 20, 30."
        )
    return numbers[0] if len(numbers) == 1 else numbers
