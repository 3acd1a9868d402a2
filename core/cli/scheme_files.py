"""`python -m core compare-schemes`, `best-worst`, `draw-tuples`, `group-orders`: files of other kinds of question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..plan.campaign_plan import n_kept
from .shared import read_file, text_table, with_encoding, with_json, write_file, write_json

if TYPE_CHECKING:
    from ..base.estimates import Estimate
    from ..questions.best_worst.files import BestWorstReport, Halves, Named
    from ..questions.order.orders import GroupAgreement

FIGURES = {
    "rho": "Spearman's ρ",
    "rho_w": "ρ_w (both tops)",
    "rho_w_one": "ρ_w (top of the first)",
    "rho_w_other": "ρ_w (top of the second)",
    "tau": "Kendall's τ",
}


def with_named(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option `--named`."""
    help_text = "What best and worst name, where the file itself can't tell: its items are numbers."
    return click.option("--named", type=click.Choice(["items", "places"]), help=help_text)(command)


@contextmanager
def _asking() -> Iterator[None]:
    """What a reader asks about best and worst is asked with the option that answers it."""
    from ..questions.best_worst.files import NamedError

    try:
        yield
    except NamedError as error:
        raise InputError(f"{error} On the command line: --named items or --named places.") from error


def estimate_text(estimate: Estimate) -> str:
    """An estimate with its interval or the reason."""
    if estimate.estimate is None:
        return f"undefined: {estimate.reason}"
    if estimate.lower is None or estimate.upper is None:
        return f"{estimate.estimate:.3f} ({estimate.reason})"
    return f"{estimate.estimate:.3f} ({estimate.lower:.3f} to {estimate.upper:.3f})"


@click.command("compare-schemes")
@click.argument("first", type=click.Path())
@click.argument("second", type=click.Path())
@click.option(
    "--items", "n_items", type=int, default=20, show_default=True, help="How many items that part are listed."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals: same seed, same figures.")
@with_named
@with_encoding
@with_json
def compare_schemes_command(
    first: str, second: str, n_items: int, seed: int, named: Named | None, encoding: str | None, as_json: bool
) -> None:
    """Set the scores of FIRST and SECOND side by side: datasets, ratings or best-worst judgements of the same items."""
    from ..dataset.side_by_side import read_scored, side_by_side

    with _asking():
        one, other = (
            read_scored(read_file(path, "scores"), Path(path).name, named=named, encoding=encoding)
            for path in (first, second)
        )
    compared, notes = side_by_side(one, other, seed=seed)
    notes = (*notes, *one.notes, *other.notes)
    issues = [f"{scored.name}, {issue}" for scored in (one, other) for issue in scored.issues]
    if as_json:
        figures = {name: asdict(figure) for name, figure in compared.figures.items()}
        only = {"only_first": list(compared.only_one), "only_second": list(compared.only_other)}
        rows = compared.table.to_dict("records")
        head = {"first": first, "second": second, "n": compared.n, "over": compared.over, "figures": figures}
        write_json({**head, **only, "items": rows, "notes": list(notes), "issues": issues})
        return
    lines = [("items both scored", f"{compared.n:,}")]
    lines += [(FIGURES[name], estimate_text(figure)) for name, figure in compared.figures.items()]
    only_said = [
        (f"only in {name}", f"{len(ids):,} items") for name, ids in zip(compared.names, _only(compared), strict=True)
    ]
    width = max(len(label) for label, _ in [*lines, *only_said])
    parts = ["\n".join(f"{label.ljust(width)}  {value}" for label, value in [*lines, *only_said])]
    if compared.over:
        parts.append(f"In brackets: 90% intervals over {compared.over}; votes and ratings are taken as they are.")
    if compared.n and n_items > 0:
        parts.append("Where they part most (gap above 0: the first puts it higher):")
        header = ("item", "rank, first", "rank, second", "gap")
        columns = ("item", "rank_one", "rank_other", "gap")
        worst = compared.table.head(n_items)[list(columns)].itertuples(index=False)
        parts.append(text_table(header, [[str(item), f"{a:g}", f"{b:g}", f"{gap:+g}"] for item, a, b, gap in worst]))
    click.echo("\n\n".join([*parts, *(f"Note: {note}" for note in notes), *issues]))


def _only(compared: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return compared.only_one, compared.only_other


@click.command("best-worst")
@click.argument("file", type=click.Path())
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of splits and intervals: same seed, same figures."
)
@with_named
@with_encoding
@with_json
def best_worst_command(file: str, seed: int, named: Named | None, encoding: str | None, as_json: bool) -> None:
    """Counts, scores, intervals and reliability of best-worst judgements FILE (a row per judgement)."""
    from ..questions.best_worst.files import read_best_worst, report

    with _asking():
        read = read_best_worst(read_file(file, "best–worst"), Path(file).name, named=named, encoding=encoding)
    scored = report(read, seed=seed)
    if as_json:
        write_json({"file": file, **_best_worst_json(scored)})
    else:
        click.echo(_best_worst_text(scored))


def _rows(scored: BestWorstReport) -> list[tuple[Any, ...]]:
    columns: list[Any] = [scored.read.items, scored.shown.tolist(), scored.best.tolist(), scored.worst.tolist()]
    for scores in (scored.counts, scored.theta):
        columns += [scores.score.tolist(), scores.lower.tolist(), scores.upper.tolist()]
    rows = list(zip(*columns, strict=True))
    key = 4 if scored.theta.score[0] != scored.theta.score[0] else 7
    return sorted(rows, key=lambda row: -row[key])


def _best_worst_json(scored: BestWorstReport) -> dict[str, Any]:
    names = ("item", "shown", "best", "worst", "count", "count_lower", "count_upper", "theta", "lower", "upper")
    read = scored.read
    return {
        "n_judgements": read.n_judgements,
        "n_voters": len(read.voters),
        "halves_of_judgements": asdict(scored.by_judgement),
        "halves_of_voters": asdict(scored.by_voter),
        "why_undefined": {"count": scored.counts.reason, "theta": scored.theta.reason},
        "items": [dict(zip(names, row, strict=True)) for row in _rows(scored)],
        "issues": [str(issue) for issue in read.issues],
        "notes": list(read.notes),
    }


def _best_worst_text(scored: BestWorstReport) -> str:
    read = scored.read
    who = f"{len(read.voters):,} voters" if read.voters else "voters unknown"
    parts = [f"{read.n_judgements:,} judgements of {len(read.items):,} items, {who}."]
    halves = (("judgements", scored.by_judgement), ("voters", scored.by_voter))
    parts.append("\n".join(f"Halves of the {what}: {halves_text(each)}" for what, each in halves))
    header = ("item", "shown", "best", "worst", "count (90%)", "score θ (90%)")
    rows = [
        [str(row[0]), *(f"{n:,}" for n in row[1:4]), _bounded(*row[4:7]), _bounded(*row[7:10])] for row in _rows(scored)
    ]
    parts.append(text_table(header, rows))
    parts += sorted({reason for reason in (scored.counts.reason, scored.theta.reason) if reason})
    return "\n\n".join([*parts, *(f"Note: {note}" for note in read.notes), *map(str, read.issues)])


def halves_text(halves: Halves) -> str:
    """ρ and r of halves, or why there are none."""
    if halves.spearman is None or halves.pearson is None:
        return f"undefined: {halves.reason}."
    return f"Spearman's ρ {halves.spearman:.3f}, Pearson's r {halves.pearson:.3f} (mean of {halves.n_splits:,} splits)."


def _bounded(value: float, lower: float, upper: float) -> str:
    if value != value:
        return "–"
    return f"{value:.3f}" + ("" if lower != lower else f" ({lower:.3f} to {upper:.3f})")


@click.command("draw-tuples")
@click.argument("items", type=click.Path())
@click.option("--output", required=True, type=click.Path(), help="CSV to write: a row per tuple, with room to answer.")
@click.option("--appearances", type=int, default=8, show_default=True, help="How often each item is shown.")
@click.option("--size", type=int, default=4, show_default=True, help="Items in a tuple.")
@click.option("--after", type=click.Path(), help="Answers so far: only the leading items go on, and neighbours meet.")
@click.option("--keep", type=float, default=0.5, show_default=True, help="Share of the items that go on after answers.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same tuples.")
@with_named
@with_encoding
@with_json
def draw_tuples_command(
    items: str, output: str, appearances: int, size: int, after: str | None, keep: float, seed: int,
    named: Named | None, encoding: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Draw best-worst tuples of ITEMS (one per line, or a table with token_a and token_b) into a file to fill in."""
    import numpy as np

    from ..questions.best_worst.files import read_best_worst, read_item_list, report, write_tuples
    from ..questions.best_worst.kind import draw_tuples, next_round

    listed = read_item_list(read_file(items), Path(items).name, encoding=encoding)
    texts = listed.items
    rng = np.random.default_rng(seed)
    if after is None:
        tuples = draw_tuples(range(len(texts)), appearances, size=size, rng=rng)
    else:
        if not 0 < keep <= 1:
            raise InputError(f"--keep is a share above 0, at most 1; found {keep:g}.")
        with _asking():
            read = read_best_worst(read_file(after, "best–worst"), Path(after).name, named=named, encoding=encoding)
        scored = report(read, seed=seed, resamples=1, splits=1)
        if np.isnan(scored.theta.score).all():
            raise InputError(f"The answers of {after} give no scores. {scored.theta.reason}.")
        known = dict(zip(scored.read.items, scored.theta.score.tolist(), strict=True))
        unknown = [text for text in known if text not in texts]
        if unknown:
            raise InputError(f"{after} has items that {items} lacks, {unknown[0]!r} for one.")
        scores = np.array([known.get(text, np.nan) for text in texts])
        tuples = next_round(scores, max(size, n_kept(len(texts), keep)), appearances, rng=rng, size=size)
    write_file(output, write_tuples(texts, tuples))
    if as_json:
        counts = {"n_tuples": len(tuples), "n_items": len(np.unique(tuples))}
        write_json({"output": output, **counts, "seed": seed, "notes": list(listed.notes)})
    else:
        message = f"{len(tuples):,} tuples of {len(np.unique(tuples)):,} items are in {output}."
        click.echo("\n\n".join([message, *(f"Note: {note}" for note in listed.notes)]))


@click.command("group-orders")
@click.argument("file", type=click.Path())
@click.option("--groups", type=click.Path(), help="The target groups, in the authors' format: distractors and randoms.")
@click.option("--leave-out", multiple=True, help="Leave this voter's orders out; can be repeated.")
@click.option("--leave-out-proposed", is_flag=True, help="Leave out all who lie over one SD under the mean.")
@click.option("--output", type=click.Path(), help="Write the groups with their shares, in the authors' format.")
@with_encoding
@with_json
def group_orders_command(
    file: str,
    groups: str | None,
    leave_out: tuple[str, ...],
    leave_out_proposed: bool,
    output: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """How far people agree in their orders FILE (target, voter, word, place), and the shares R they come to."""
    from ..questions.order.kind import groups_of, read_group_file, write_groups
    from ..questions.order.orders import comparisons_of, group_agreement, read_orders, without

    known, notes = [], []
    if groups is not None:
        group_file = read_group_file(read_file(groups, "target groups"), Path(groups).name, encoding=encoding)
        known, notes = groups_of(group_file.comparisons), [f"{groups}: {note}" for note in group_file.notes]
    read = read_orders(read_file(file, "orders"), Path(file).name, known, encoding=encoding)
    notes += read.notes
    strange = sorted(set(leave_out) - set(read.orders))
    if strange:
        raise InputError(f"{file} has no voter {', '.join(strange)} to leave out.")
    agreement = group_agreement(read.orders)
    out = [*leave_out, *(agreement.proposed if leave_out_proposed else ())]
    orders = without(read.orders, out)
    comparisons = comparisons_of(orders, known)
    if output is not None:
        write_file(output, write_groups(comparisons).encode("utf-8"))
    after = group_agreement(orders) if out else agreement
    if as_json:
        counts = {"n_targets": len(read.targets), "n_comparisons": len(comparisons), "left_out": sorted(set(out))}
        texts = {"issues": list(map(str, read.issues)), "notes": notes}
        write_json({"file": file, **counts, "agreement": asdict(agreement), "agreement_after": after.mean, **texts})
        return
    parts = [_agreement_text(agreement, len(read.targets))]
    if out:
        parts.append(f"Without {', '.join(sorted(set(out)))}: mean ρ {after.mean:.3f}.")
    parts.append(f"{len(comparisons):,} comparisons" + (f" are in {output}." if output else "; --output writes them."))
    click.echo("\n\n".join([*parts, *(f"Note: {note}" for note in notes), *map(str, read.issues)]))


def _agreement_text(agreement: GroupAgreement, n_targets: int) -> str:
    people = sorted(agreement.people, key=lambda one: (one.agreement is None, one.agreement))
    rows = [
        [one.voter, "–" if one.agreement is None else f"{one.agreement:.3f}", f"{one.n:,}", f"{one.n_targets:,}"]
        for one in people
    ]
    bound = "undefined: fewer than three people" if agreement.bound is None else f"{agreement.bound:.3f}"
    proposed = ", ".join(agreement.proposed) or "nobody"
    return "\n\n".join(
        [
            f"{n_targets:,} targets, {len(agreement.people):,} people; mean pairwise ρ {agreement.mean:.3f} over "
            f"{agreement.n_pairs:,} pairs of people.",
            f"Mean minus one SD: {bound}. Proposed for exclusion: {proposed}.",
            text_table(("voter", "mean ρ with others", "others", "targets"), rows),
        ]
    )
