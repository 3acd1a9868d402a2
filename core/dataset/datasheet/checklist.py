"""A checklist of whether a dataset is fit to be a gold standard, and of what it can't be used for.

The criteria are those that O'Shea et al. (2010, section 3) look at. They name what can spoil such a dataset: who was
sampled, which items, how precise and how accurate the judgements are, the scale, and five ways in which experiments
differed without saying so (materials, order, instructions, anchors of the scale, voters). Each line says what is known,
with its number; what nobody recorded is marked as such.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...base.numbers_in_words import many, plural
from ...protocols import protocol_of
from ...trust.report import FAIR_CEILING, FAIR_HALVES, GOOD_CEILING, GOOD_HALVES
from .facts import Facts, RankingFacts, Reliability

HOLDS, PARTLY, NOT, UNKNOWN = "holds", "in part", "does not hold", "not recorded"


@dataclass(frozen=True)
class Criterion:
    """One line: what is asked, whether it holds (HOLDS, PARTLY, NOT, UNKNOWN), and what that rests on."""

    name: str
    verdict: str
    ground: str


def checklist(facts: Facts) -> tuple[Criterion, ...]:
    """The criteria in the order of the source's section 3."""
    return (
        _people(facts),
        _items(facts),
        _precision(facts),
        _accuracy(facts),
        _stability(facts),
        Criterion(
            "Measurement scale",
            HOLDS,
            "Ordinal by design: voters only say which of two pairs is more. The scores are shares of votes won; "
            "their differences say how often one item is chosen over others, not how much more it means.",
        ),
        _materials(facts),
        Criterion(
            "Random order",
            HOLDS,
            "Opponents, sides, the order of the two tokens of a pair and the order of comparisons are drawn at random "
            f"and balanced; all draws follow from recorded seeds (project seed {facts.seed}).",
        ),
        _instructions(facts),
        Criterion(
            "Anchors of the scale",
            HOLDS,
            "None are needed: no voter rates on a scale, so no two voters can use one differently. "
            + (
                f"{facts.n_examples} worked examples were shown."
                if facts.n_examples
                else "No worked example was shown."
            ),
        ),
        _described_voters(facts),
        _blunders(facts),
    )


def _people(facts: Facts) -> Criterion:
    name, voters = "Voters represent the people the dataset is about", facts.voters
    if not voters.n_people:
        return Criterion(name, NOT, f"No person voted; {many(voters.n_simulated, 'simulated voter')} did.")
    sentence = plural(voters.n_people, "{n} person voted", "{n} people voted")
    if voters.n_simulated:
        sentence += f", and {many(voters.n_simulated, 'simulated voter')}"
    if facts.fields.voters_note:
        return Criterion(
            name, PARTLY, f"{sentence}. The owner says who they are; whether they stand for others isn't tested."
        )
    return Criterion(name, UNKNOWN, f"{sentence}. How they were chosen isn't said.")


def _items(facts: Facts) -> Criterion:
    name = "Items represent the domain"
    tokens, areas = many(facts.n_tokens, "token"), many(len(facts.areas), "area")
    sentence = f"{tokens} of {areas}, {many(facts.n_items, 'item')}"
    n_proposed = sum(area.n_proposed for area in facts.areas)
    if n_proposed:
        proposed = plural(n_proposed, "{n} token was proposed", "{n} tokens were proposed")
        sentence += f"; {proposed} by an embedding, which favours it"
    if not facts.fields.token_source:
        return Criterion(name, UNKNOWN, f"{sentence}. Where the token lists come from isn't said.")
    verdict = PARTLY if n_proposed or not facts.frequencies else HOLDS
    rare = [area.n_rare for area in facts.areas if area.n_rare is not None]
    n_rare = plural(sum(rare), "{n} token is rare", "{n} tokens are rare")
    sentence += f"; {n_rare}" if rare else "; how frequent the tokens are isn't known"
    return Criterion(name, verdict, f"{sentence}. Source: see “Tokens and areas”.")


def _named(ranking: RankingFacts, text: str) -> str:
    return f"{ranking.area}: {text}" if ranking.area else text


def _precision(facts: Facts) -> Criterion:
    name = "Precision: voters agree with each other"
    sentences, verdicts = [], []
    for ranking in facts.rankings:
        alpha = ranking.alpha
        if alpha is None:
            sentences.append(_named(ranking, ranking.no_alpha))
            verdicts.append(UNKNOWN)
            continue
        sentences.append(
            _named(
                ranking,
                f"α = {alpha.alpha:.2f} ({alpha.interval()}; 0 is chance) over {alpha.n_units:,} comparisons "
                "with several answers",
            )
        )
        verdicts.append(HOLDS if alpha.lower > 0 else NOT if alpha.upper < 0 else PARTLY)
    return Criterion(name, _worst(verdicts), "; ".join(sentences))


def _accuracy(facts: Facts) -> Criterion:
    name = "Accuracy: scores are near what all voters would say"
    sentence = "a model with the true ranking would score ρ_w = {0.value:.3f} (mean of {0.n} simulations)"
    return _measured(name, facts, lambda ranking: ranking.ceiling, sentence, GOOD_CEILING, FAIR_CEILING)


def _stability(facts: Facts) -> Criterion:
    name = "Stability: other voters would rank alike"
    sentence = "two random halves of the voters correlate by ρ_w = {0.value:.2f} (mean of {0.n} splits)"
    measured = _measured(name, facts, lambda ranking: ranking.halves, sentence, GOOD_HALVES, FAIR_HALVES)
    return replace(
        measured, ground=f"{measured.ground.removesuffix('.')}. The same voters at another time: not recorded."
    )


def _measured(
    name: str, facts: Facts, of: Callable[[RankingFacts], Reliability], said: str, good: float, fair: float
) -> Criterion:
    """A criterion by a figure of each ranking, the worst of them."""
    sentences, verdicts = [], []
    for ranking in facts.rankings:
        figure = of(ranking)
        if figure.value is None:
            sentences.append(_named(ranking, figure.why_not))
            verdicts.append(UNKNOWN)
        else:
            sentences.append(_named(ranking, said.format(figure)))
            verdicts.append(_graded(figure.value, good, fair))
    return Criterion(name, _worst(verdicts), "; ".join(sentences))


def _graded(value: float, good: float, fair: float) -> str:
    return HOLDS if value >= good else PARTLY if value >= fair else NOT


def _worst(verdicts: list[str]) -> str:
    order = (NOT, UNKNOWN, PARTLY, HOLDS)
    return min(verdicts, key=order.index, default=UNKNOWN)


def _materials(facts: Facts) -> Criterion:
    sizes = sorted({ranking.plan["task_size"] for ranking in facts.rankings if ranking.plan})
    sentence = f"{' or '.join(map(str, sizes))} comparisons per task" if sizes else "Not planned yet"
    return Criterion(
        "The same materials for all voters",
        PARTLY,
        f"{sentence}, one page for all platforms. Each voter sees a part of the items only, so that nobody sees the "
        "whole set before answering.",
    )


def _instructions(facts: Facts) -> Criterion:
    verdict = HOLDS if facts.question else UNKNOWN
    return Criterion("Instructions are published", verdict, "Word for word under “What voters were asked”.")


def _described_voters(facts: Facts) -> Criterion:
    name = "Voters are described (language, education, age, gender)"
    traits = sorted({trait for trait, _, _ in facts.voters.traits})
    if traits:
        wanted = {"native", "education", "age", "gender"}
        verdict = HOLDS if wanted <= set(traits) else PARTLY
        return Criterion(name, verdict, f"Told by voters, as totals: {', '.join(traits)}.")
    if facts.fields.voters_note:
        return Criterion(name, PARTLY, "By the owner, under “Voters”; voters were not asked.")
    return Criterion(name, UNKNOWN, "Voters were not asked, and the owner says nothing.")


def _blunders(facts: Facts) -> Criterion:
    name, votes = "Blunders are caught", facts.votes
    answered = votes.check_right + votes.check_wrong
    n_out = sum(reason.n_voters for reason in facts.exclusions)
    parts = [f"{many(n_out, 'voter')} left out"] if n_out else []
    if answered:
        parts.insert(0, f"{votes.check_right:,} of {answered:,} answers to checks were right")
        return Criterion(name, HOLDS, "; ".join(parts) + ".")
    if votes.n_checks:
        parts.insert(0, f"{votes.n_checks:,} check comparisons, none answered yet")
        return Criterion(name, PARTLY, "; ".join(parts) + ".")
    if any(protocol_of(ranking.protocol).about.weighs_voters for ranking in facts.rankings):
        parts.insert(0, "no comparison with a known answer; the estimator gives careless voters less weight")
        return Criterion(name, PARTLY, "; ".join(parts).capitalize() + ".")
    parts.insert(0, "no comparison with a known answer")
    return Criterion(name, PARTLY if n_out else NOT, "; ".join(parts).capitalize() + ".")


def known_limitations(facts: Facts) -> tuple[str, ...]:
    """The limits that hold here, a sentence each, with the numbers behind them."""
    about, limits = facts.about, []
    if facts.voters.n_simulated:
        limits.append(
            f"{many(facts.voters.n_simulated, 'simulated voter')}: these scores say what a model believes, not people."
        )
    if facts.ranks_nothing:
        limits.append(facts.ranks_nothing)
    if camps := about.get("two_camps"):
        limits.append(
            f"The votes are of two opinions: {many(camps[1], 'voter')} against {camps[0]:,}. The scores lie between "
            "both."
        )
    if facts.is_provisional:
        planned = about.get("ballots_planned")
        of = f" of {planned}" if planned else ""
        limits.append(f"Provisional: {about['ballots_closed']}{of} ballots are closed; scores will change.")
    if about.get("unscored_items"):
        limits.append(f"{about['unscored_items']:,} of {facts.n_items:,} items have no score and are left out.")
    limits.append(
        "Exact at the top, less so below: later ballots ask about leading items only. "
        + _votes_text(facts)
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


def _votes_text(facts: Facts) -> str:
    dataset = facts.dataset
    if dataset.empty or "votes" not in dataset:
        return ""
    n = max(1, min(10, len(dataset) // 2))  # the two ends share no item
    top, rest = dataset["votes"].head(n).mean(), dataset["votes"].tail(n).mean()
    return f"The first {n} items have {top:.0f} votes on average, the last {n} have {rest:.0f}."
