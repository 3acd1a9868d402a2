"""The widgets of the plan page, and the settings as they stand in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from core.errors import PlanError
from core.protocols import collectable
from core.protocols.base import AIMS, BOTH
from core.store.projects.plans import PlanSettings, set_ranking, with_budget
from core.store.projects.project_commands import Project
from core.store.tokens.areas import read_areas
from core.views.overview import RankingStatus
from core.views.plan import appearances_text
from ui.plan.checks_box import checks_form
from ui.plan.wording_form import wording_form
from ui.shared import choosers, frame


@dataclass(frozen=True)
class NumberField:
    """A number of the plan: its name in the settings, its label and limits, and what it means."""

    name: str
    label: str
    lowest: float
    highest: float
    step: float | None
    help: str
    scale: float = 1.0  # shown = stored × scale


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


def settings_form(start: PlanSettings, notion: str, n_items: int, *, key: str, locked: bool) -> PlanSettings:
    """Draw the widgets, filled from `start`, and return the settings as they stand in them.

    Where the protocol changes, or the ballots of one that has M ballot by ballot, M is found anew for the same votes.
    Raises `PlanError` for a text that is no number of appearances, and for a plan that can't be.
    """
    again = partial(_spread_again, start, n_items, key)
    protocol = _protocol(start, key, locked, again)
    aim = _aim(start, protocol, key, locked, again)
    places = [column for _ in range(3) for column in st.columns(3)]
    appearances = _appearances(places.pop(2), start, key, locked)
    values: dict[str, Any] = {}
    for place, field in zip(places, NUMBERS, strict=True):
        on_change = again if field.name in ("n_ballots", "keep") else None
        values[field.name] = _number(place, field, getattr(start, field.name), key, locked, on_change)
    ties = st.toggle("Voters may answer “equal”", start.ties_allowed, key=f"ties-{key}", disabled=locked)
    checks, mistyped = None, None
    try:
        checks = checks_form(start.checks, key=key, locked=locked)
    except PlanError as error:
        mistyped = error  # raised once all widgets are drawn: what stands in one that isn't drawn is lost
    wording = wording_form(start.wording, notion, key=key, locked=locked, ties_allowed=ties)
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


def _protocol(start: PlanSettings, key: str, locked: bool, on_change: Callable[[], None]) -> str:
    """The choice of a protocol; its name."""
    offered = {name: protocol.about for name, protocol in collectable().items()}
    chosen = choosers.segmented_control(
        "Protocol",
        {name: about.offered for name, about in offered.items()},
        start.protocol,
        key=f"protocol-{key}",
        disabled=locked,
        on_change=on_change,
        help=" ".join(
            ["Ballot after ballot only the leading items stay.", *(about.advice for about in offered.values())]
        ),
    )
    return str(chosen)


def _aim(start: PlanSettings, protocol: str, key: str, locked: bool, on_change: Callable[[], None]) -> str:
    """What appearances are spread for, where the protocol has ways for it."""
    if not collectable()[protocol].about.own_appearances:
        return BOTH
    chosen = choosers.segmented_control(
        "Votes are spread for",
        AIMS,
        start.aim,
        key=f"aim-{key}",
        disabled=locked,
        on_change=on_change,
        help=(
            "ρ_w asks for ranks that are near, all over the field: the first two ballots have all items, and "
            "appearances hardly rise to the top. τ_w asks for the right order of the very top: most votes go there. "
            "What one gains the other loses. From some 25 votes per item on, both gain by a second ballot of all "
            "items; with fewer, the first one now and then loses a good item."
        ),
    )
    return str(chosen)


def _number(
    place: Any, field: NumberField, before: float, key: str, locked: bool, on_change: Callable[[], None] | None
) -> float:
    """A number field; its value in the unit of the settings."""
    is_whole = isinstance(before, int)
    kind = int if is_whole else float
    typed = place.number_input(
        field.label,
        kind(field.lowest),
        kind(field.highest),
        kind(before) if field.scale == 1.0 else round(before * field.scale, 6),
        None if field.step is None else kind(field.step),
        key=f"{field.name}-{key}",
        disabled=locked,
        help=field.help,
        on_change=on_change,
    )
    return kind(typed) if field.scale == 1.0 else round(float(typed) / field.scale, 6)


def _appearances(place: Any, start: PlanSettings, key: str, locked: bool) -> str:
    """The field of M; its text, one number or one a ballot."""
    before = start.appearances
    # Not the box's own default: `_spread_again` writes there too, and Streamlit wants one or the other.
    st.session_state.setdefault(f"m-{key}", str(before) if isinstance(before, int) else ", ".join(map(str, before)))
    return place.text_input(
        "Appearances, M",
        key=f"m-{key}",
        disabled=locked,
        help="How often each item is shown in a ballot: one number, or one per ballot (20, 20, 30). Best even.",
    )


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
