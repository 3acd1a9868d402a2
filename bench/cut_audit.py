"""`python -m bench.cut_audit`: what a cut audit finds of the items that were lost, on simulated voters.

The paper's setting (990 items, seven ballots, α = ½, 100 voters; Lombardo et al. 2020, section 4.2), by the paper's
protocol or by `runoff`. Each draw from ballot 2 on audits some of the items it cuts; audit votes enter no score and
choose no item. Campaign s has the seed (seed, s).
"""

from __future__ import annotations

from dataclasses import replace

import click
import numpy as np

from core.ballots.audit import CutAudit, draw_audit, estimate_lost
from core.ballots.quick_draw import quick_comparisons
from core.plan import Plan
from core.protocols import Held, Mode
from core.protocols.runoff import spread_appearances
from core.scores.bradley_terry import BradleyTerry, fit_with_voters
from core.scores.posterior import Posteriors, item_posteriors
from core.simulation.campaign import Crowd
from core.simulation.conventions import convention_of, method_of
from core.tables import Floats, Ints
from core.voters.model import PAPER_PANEL, Panel, draw_panel, exponential, power_law

N_TOP = 10
SIMILARITIES = {"exponential": exponential, "power law": power_law}


def fit_of(held: list[Held], n_items: int, fit: BradleyTerry | None) -> BradleyTerry:
    """The fit of all votes so far, whatever the protocol."""
    columns = [np.concatenate([getattr(b.votes, name) for b in held]) for name in ("first", "second", "outcome")]
    voter = np.concatenate([b.votes.voter for b in held])
    start = None if fit is None else fit.theta
    return fit_with_voters(*columns, n_items=n_items, voter=voter, start=start, tolerance=0.01)


def one_campaign(
    z: Floats,
    plan: Plan,
    protocol: str,
    n_items: int,
    n_votes: int,
    rng: np.random.Generator,
    panel: Panel = PAPER_PANEL,
) -> tuple[CutAudit, int]:
    """The audit of one campaign, and how many of the true first were cut."""
    rules = convention_of("paper")
    method, voters = method_of(rules, protocol), draw_panel(panel, rng)
    crowd = Crowd(z, voters, "relatedness", rules, rng)
    items, n = np.arange(plan.n_items), plan.n_items
    held: list[Held] = []
    fit: BradleyTerry | None = None
    audited: dict[int, float] = {}
    asked: list[tuple[Ints, Ints, Floats, Ints]] = []
    for number, (size, n_comparisons) in enumerate(method.sizes(plan)):
        if number:
            before, items = items, method.select(held, size, rng).items
            fit = fit_of(held, n, fit)
            cut = np.setdiff1d(before, items)
            drawn = draw_audit(item_posteriors(fit), cut, items, n_top=N_TOP, n_items=n_items, n_votes=n_votes, rng=rng)
            for item in cut.tolist():  # one that came back and is cut again is chosen, or not, anew
                audited.pop(item, None)
            audited |= dict(zip(drawn.items.tolist(), drawn.inclusion.tolist(), strict=True))
            voter = np.concatenate([rng.permutation(len(voters))[: len(drawn.pairs) // max(1, len(drawn.items))]
                                    for _ in drawn.items])  # fmt: skip
            answers = crowd.answer(items, drawn.pairs, rng, voter)
            asked.append((answers.first, answers.second, answers.outcome, answers.voter))
        pairs = method.draw(items, n_comparisons, held, rng, quick_comparisons)
        dealt = method.assign(pairs, held, len(voters), rng)
        votes = crowd.answer(items, pairs, rng, dealt)
        held.append(Held(votes, method.score(votes, held, Mode.QUICK)))
    fit = fit_of(held, n, fit)
    gone = np.setdiff1d(np.arange(n), items)
    seen = np.array([item for item in audited if item in set(gone.tolist())], dtype=np.int64)
    first, second, outcome, by = (np.concatenate(column) for column in zip(*asked, strict=True))
    posteriors: Posteriors = item_posteriors(fit)
    inclusion = [audited[item] for item in seen.tolist()]
    columns = (first, second, outcome, by)
    found = estimate_lost(fit, posteriors, gone, audited=seen, inclusion=inclusion, votes=columns, n_top=N_TOP)
    truth = np.argsort(-np.abs(z), kind="stable")[:N_TOP]
    return found, int(np.isin(truth, gone).sum())


@click.command()
@click.option("--campaigns", default=100)
@click.option("--seed", default=30_001)
@click.option("--protocol", default="paper", type=click.Choice(["paper", "runoff"]))
@click.option("--similarity", default="exponential", type=click.Choice(list(SIMILARITIES)))
@click.option("--items", "n_items", default=6, help="Cut items that come back in a ballot.")
@click.option("--votes", "n_votes", default=6, help="Comparisons of each.")
@click.option("--clickers", default=0.0, help="Share of voters who click at random.")
@click.option("--spread", default=1.0, help="σ* times so much.")
def main(
    campaigns: int,
    seed: int,
    protocol: str,
    similarity: str,
    n_items: int,
    n_votes: int,
    clickers: float,
    spread: float,
) -> None:
    """Print the mean estimate, the model's, and the truth."""
    plan = Plan(990, 7, 0.5, 20) if protocol == "paper" else spread_appearances(990, 7, 0.5, 19_660)
    z = SIMILARITIES[similarity](990)
    low, high = PAPER_PANEL.nonconformity
    panel = replace(PAPER_PANEL, random_clickers=clickers, nonconformity=(spread * low, spread * high))
    rows = []
    held = 0
    for number in range(campaigns):
        rng = np.random.default_rng((seed, number))
        found, lost = one_campaign(z, plan, protocol, n_items, n_votes, rng, panel)
        rows.append((lost, found.lost, found.modelled, found.n_votes, found.upper - found.lower))
        held += found.lower <= lost <= found.upper
    table = np.array(rows, dtype=float)
    error = table.std(axis=0, ddof=1) / np.sqrt(campaigns)
    off = table[:, 1] - table[:, 0]
    click.echo(f"{protocol}, {similarity}, {campaigns} campaigns, {n_items} items × {n_votes} votes a ballot")
    if clickers or spread != 1.0:
        click.echo(f"{clickers:.0%} random clickers, σ* times {spread:g}")
    for name, at in (("lost in truth", 0), ("by the audit", 1), ("by the ballots' votes alone", 2)):
        click.echo(f"{name:>28}: {table[:, at].mean():.3f} ± {error[at]:.3f}")
    click.echo(f"audit − truth: {off.mean():.3f} ± {off.std(ddof=1) / np.sqrt(campaigns):.3f}")
    model = table[:, 2] - table[:, 0]
    click.echo(f"model − truth: {model.mean():.3f} ± {model.std(ddof=1) / np.sqrt(campaigns):.3f}")
    click.echo(f"root mean square error: audit {np.sqrt((off**2).mean()):.3f}, model {np.sqrt((model**2).mean()):.3f}")
    click.echo(f"90% interval holds the truth: {held / campaigns:.2f}; votes {table[:, 3].mean():.0f}")


if __name__ == "__main__":
    main()
