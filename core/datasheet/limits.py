"""What a dataset can't be used for, as far as it knows itself."""

from __future__ import annotations

from .blocks import count
from .facts import Facts


def known_limits(facts: Facts) -> tuple[str, ...]:
    """The limits that hold here, a sentence each, with the numbers behind them."""
    about, limits = facts.about, []
    if about.get("by_chance"):
        limits.append(
            "Different voters agree on the same items no more than coin tosses would: these scores rank no model."
        )
    if facts.voters.n_simulated:
        limits.append(
            f"{count(facts.voters.n_simulated, 'simulated voter')}: these scores say what a model believes, not people."
        )
    if facts.is_provisional:
        planned = about.get("ballots_planned")
        of = f" of {planned}" if planned else ""
        limits.append(f"Provisional: {about['ballots_closed']}{of} ballots are closed; scores will change.")
    if about.get("unscored_items"):
        limits.append(f"{about['unscored_items']:,} of {facts.n_items:,} items have no score and are left out.")
    limits.append(
        "Exact at the top, less so below: later ballots ask about leading items only. "
        + _votes_said(facts)
        + " Compare models by the top-weighted figures ρ_w and τ_w, with their intervals."
    )
    notion = about["notion"]
    other = "similarity (ship and boat)" if notion == "relatedness" else "relatedness (ship and sea)"
    ranks = "|cos|" if notion == "relatedness" else "cos"
    limits.append(f"It is about {notion}, not {other}: rank models by {ranks} of their vectors.")
    if len(facts.areas) > 1 and about.get("ranking") == "area":
        limits.append("Each area has a ranking of its own: scores of different areas don't compare.")
    else:
        limits.append("Only tokens of the same area were paired: it says nothing of pairs across areas.")
    limits.append("Items share tokens, so they aren't independent: test and split by tokens, not by items.")
    if about.get("tokens_proposed_by"):
        names = ", ".join(name for name, _ in facts.proposed_by)
        limits.append(f"Tokens proposed by {names} favour that embedding; `evaluate` warns and gives figures without.")
    if facts.exclusions:
        limits.append("Voters were left out, which the intervals don't know of.")
    return tuple(limits)


def _votes_said(facts: Facts) -> str:
    dataset = facts.dataset
    if dataset.empty or "votes" not in dataset:
        return ""
    n = min(10, len(dataset))
    top, rest = dataset["votes"].head(n).mean(), dataset["votes"].tail(n).mean()
    return f"The first {n} items have {top:.0f} votes on average, the last {n} have {rest:.0f}."
