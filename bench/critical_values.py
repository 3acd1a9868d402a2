"""`python -m bench.critical_values`: the table of docs/evaluation.md, of what chance reaches by number of items."""

from __future__ import annotations

import click
import numpy as np

from core.evaluation.chance import critical_values

TOKENS = (5, 7, 10, 15, 20, 32, 45)
LEVELS = (0.1, 0.05, 0.01)


@click.command()
@click.option("--simulations", default=4000, show_default=True)
@click.option("--n0", default=2.0, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(simulations: int, n0: float, seed: int) -> None:
    """Print upper critical values of ρ_w and τ_w: for items apart, and for all pairs of tokens."""
    click.echo("items | tokens | ρ_w 10% | 5% | 1% | τ_w 10% | 5% | 1% | ρ_w of tokens 5% | τ_w of tokens 5%")
    for n_tokens in TOKENS:
        n_items = n_tokens * (n_tokens - 1) // 2
        rng = np.random.default_rng([seed, n_tokens])
        apart = critical_values(n_items, n0=n0, levels=LEVELS, simulations=simulations, rng=rng)
        shared = critical_values(n_items, n0=n0, levels=LEVELS, n_tokens=n_tokens, simulations=simulations, rng=rng)
        values = [*apart["rho_w"], *apart["tau_w"], shared["rho_w"][1], shared["tau_w"][1]]
        click.echo(f"{n_items} | {n_tokens} | " + " | ".join(f"{value:.2f}" for value in values))


if __name__ == "__main__":
    main()
