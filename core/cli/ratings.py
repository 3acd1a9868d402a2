"""Commands of the terminal for rating sets, target groups and written items, from files alone, without a workspace.

`ratings` and `groups` say what a rating set or target groups show; `draw-writing` and `written-items` make items by
writing smaller texts for wanted ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .shared import read_file, text_table, with_encoding, with_json, write_file, write_json

if TYPE_CHECKING:
    from ..evaluation.rating_report import Anova, ConditionComparison, RatingReport
    from ..questions.order.groups import GroupScores
    from ..questions.order.kind import GroupFile
    from ..questions.rating.scales import Qualified, RatingSet
    from ..questions.rating.statistics import Deviation, ModelPlace
    from ..trust.agreement import KrippendorffAlpha


@click.command("ratings")
@click.argument("file", type=click.Path())
@click.option(
    "--scale", type=click.Choice(["STSS", "CLSS"]), help="Leave out, and report, ratings that it doesn't allow."
)
@click.argument("models", metavar="MODEL...", nargs=-1, type=click.Path())
@click.option("--held-out", multiple=True, help="A genre that models couldn't prepare for; can be repeated.")
@click.option("--gold", type=click.Path(), help="Gold ratings: who rated all of these pairs near enough.")
@click.option("--tolerance", type=float, default=1.0, show_default=True, help="Points that near enough allows.")
@click.option("--experts", type=click.Path(), help="Experts' ratings of the items: how far the crowd lies from them.")
@with_encoding
@with_json
def ratings_command(
    file: str,
    models: tuple[str, ...],
    scale: str | None,
    held_out: tuple[str, ...],
    gold: str | None,
    tolerance: float,
    experts: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Agreement in a rating set FILE, and how each MODEL stands against its means.

    FILE is long, has a column per person, or means: noise, leave-one-out, α, adjudication.
    """
    from ..evaluation.rating_report import report
    from ..questions.rating.files import crowd_minus_experts, qualify_people, read_ratings
    from ..questions.rating.scales import SCALES

    def read(path: str) -> RatingSet:
        scale_of = SCALES[scale] if scale else None
        return read_ratings(read_file(path, "ratings"), Path(path).name, scale=scale_of, encoding=encoding)

    rated = report(read(file))
    qualified = qualify_people(rated.ratings, read(gold), tolerance=tolerance) if gold else []
    deviation = crowd_minus_experts(rated.ratings, read(experts)) if experts else {}
    standings = _standings(rated, models, held_out) if models or held_out else []
    if as_json:
        more: dict[str, Any] = {"models": [_place_json(one) for one in standings]} if standings else {}
        if gold:
            rows = [(q.voter, q.result.n_within, q.result.n, q.missing, q.result.passed) for q in qualified]
            more["qualified"] = [dict(zip(QUALIFIED, row, strict=True)) for row in rows]
        if experts:
            more["crowd_minus_experts"] = {name: one and asdict(one) for name, one in deviation.items()}
        write_json({"file": file, **_ratings_json(rated), **more})
        return
    parts = [_ratings_text(rated)]
    parts += [_qualified_text(qualified, tolerance)] if gold else []
    parts += [_deviation_text(deviation)] if experts else []
    parts += [_standings_text(standings)] if standings else []
    click.echo("\n\n".join(parts))


QUALIFIED = ("voter", "n_within", "n", "n_missing", "passed")


def _standings(rated: RatingReport, models: tuple[str, ...], held_out: tuple[str, ...]) -> list[ModelPlace]:
    from ..embeddings import load
    from ..evaluation.baselines import text_similarities, words_of
    from ..evaluation.rating_report import stand

    first, second = rated.ratings.first, rated.ratings.second
    tokens = sorted(words_of([*first, *second]))
    similarities = {model: text_similarities(load(model, tokens=tokens), first, second) for model in models}
    return stand(rated.ratings, rated.mean, similarities, held_out=held_out)


def _place_json(one: ModelPlace) -> dict[str, Any]:
    genres = [{"level": level, "genre": genre, **asdict(fit)} for (level, genre), fit in one.by_genre.items()]
    return {
        "model": one.model,
        "place": one.place,
        "sum_pearson": one.sum_pearson,
        "sum_spearman": one.sum_spearman,
        "levels": {level: asdict(fit) for level, fit in one.by_level.items()},
        "genres": genres,
        "held_out": one.unseen and asdict(one.unseen),
    }


def _standings_text(standings: list[ModelPlace]) -> str:
    levels = list(standings[0].by_level)
    header = ["model", "place", "Σ r", "Σ ρ", *(f"r {level}" for level in levels), "r held out", "covered"]
    rows = []
    for one in standings:
        fits = [one.by_level[level] for level in levels]
        values = [*(fit.pearson for fit in fits), one.unseen.pearson if one.unseen else None]
        cells = ["–" if value is None else f"{value:.3f}" for value in values]
        covered = f"{sum(fit.n for fit in fits):,}/{sum(fit.n_items for fit in fits):,}"
        rows.append([one.model, str(one.place), f"{one.sum_pearson:.3f}", f"{one.sum_spearman:.3f}", *cells, covered])
    reasons = [
        f"{one.model}, {level}: {fit.reason}" for one in standings for level, fit in one.by_level.items() if fit.reason
    ]
    return "\n\n".join([text_table(header, rows), *reasons])


def _qualified_text(qualified: list[Qualified], tolerance: float) -> str:
    n = sum(one.result.passed for one in qualified)
    rows = [
        [one.voter, f"{one.result.n_within}/{one.result.n}", str(one.missing), "yes" if one.result.passed else "no"]
        for one in qualified
    ]
    head = f"{n:,} of {len(qualified):,} people rated every gold pair within ±{tolerance:g}."
    return head + "\n\n" + text_table(("voter", "near enough", "not rated", "passed"), rows)


def _deviation_text(deviations: Mapping[str, Deviation | None]) -> str:
    rows = [
        [name, "–", "–", "–", "–", "0"]
        if one is None
        else [
            name,
            *(f"{v:+.3f}" for v in (one.mean, one.lower_quartile, one.median, one.upper_quartile)),
            f"{one.n:,}",
        ]
        for name, one in deviations.items()
    ]
    header = ("crowd − experts", "mean", "quartile", "median", "quartile", "items")
    return text_table(header, rows)


def _agreement(alpha: KrippendorffAlpha | str) -> dict[str, Any]:
    return {"estimate": None, "why_undefined": alpha} if isinstance(alpha, str) else asdict(alpha)


def _ratings_json(rated: RatingReport) -> dict[str, Any]:
    ratings, loo = rated.ratings, rated.leave_one_out
    people = () if isinstance(loo, str) else loo.people
    one_out: dict[str, Any] = {"why_undefined": loo} if isinstance(loo, str) else {}
    if not isinstance(loo, str):
        one_out = {"mean": loo.mean, "best": loo.best, "worst": loo.worst, "n_people": len(loo.defined)}
    anova = {"why_undefined": rated.anova} if isinstance(rated.anova, str) else asdict(rated.anova)
    columns = zip(ratings.first, ratings.second, rated.mean.tolist(), rated.sd.tolist(), rated.n.tolist(), strict=True)
    return {
        "n_items": ratings.n_items,
        "n_people": len(ratings.people),
        "n_ratings": len(ratings.rating),
        "noise": rated.noise.estimate,
        "leave_one_out": one_out,
        "pairwise": asdict(rated.pairwise),
        "alpha": _agreement(rated.alpha),
        "alpha_by_genre": {name: _agreement(each) for name, each in rated.by_genre.items()},
        "alpha_by_level": {name: _agreement(each) for name, each in rated.by_level.items()},
        "to_adjudicate": len(rated.waiting),
        "conditions": [asdict(each) for each in rated.conditions],
        "anova": anova if rated.anova else None,
        "order_in_pair": {ratings.items[at]: asdict(test) for at, test in rated.order_tests.items()},
        "people": [{"voter": ratings.people[p.row], "r": p.r, "n_items": p.n_items} for p in people],
        "items": [dict(zip(("first", "second", "mean", "sd", "n"), row, strict=True)) for row in columns],
        "issues": [str(issue) for issue in ratings.issues],
        "notes": list(ratings.notes),
    }


def _ratings_text(rated: RatingReport) -> str:
    ratings, loo = rated.ratings, rated.leave_one_out
    noise = f"{rated.noise.estimate:.3f}" if rated.noise.estimate is not None else f"undefined: {rated.noise.reason}"
    rows = [("items", f"{ratings.n_items:,}"), ("people", f"{len(ratings.people):,}"), ("noise (mean SD)", noise)]
    rows.insert(2, ("ratings", f"{len(ratings.rating):,}"))
    if isinstance(loo, str):
        rows.append(("leave-one-out r", loo))
    elif loo.mean is None:
        rows.append(("leave-one-out r", "undefined for everybody: " + (loo.people[0].reason if loo.people else "")))
    else:
        sentence = f"{loo.mean:.3f} mean, {loo.best:.3f} best, {loo.worst:.3f} worst of {len(loo.defined):,} people"
        rows.append(("leave-one-out r", sentence))
    pairs = rated.pairwise
    rows.append(
        (
            "pairwise ρ",
            pairs.reason if pairs.mean is None else f"{pairs.mean:.3f} over {pairs.n_pairs:,} pairs of people",
        )
    )
    rows.append(("α (interval)", _alpha_text(rated.alpha)))
    rows += [(f"α, {name}", _alpha_text(each)) for name, each in (*rated.by_level.items(), *rated.by_genre.items())]
    rows.append(("to adjudicate", f"{len(rated.waiting):,} items, a point or more apart"))
    width = max(len(name) for name, _ in rows)
    parts = ["\n".join(f"{name.ljust(width)}  {value}" for name, value in rows)]
    parts += [_condition_text(each) for each in rated.conditions]
    if rated.anova:
        parts.append(rated.anova if isinstance(rated.anova, str) else _anova_text(rated.anova))
    return "\n\n".join([*parts, *(f"Note: {note}" for note in ratings.notes), *map(str, ratings.issues)])


def _alpha_text(alpha: KrippendorffAlpha | str) -> str:
    if isinstance(alpha, str):
        return f"undefined: {alpha}"
    return f"{alpha.alpha:.3f} ({alpha.interval(3)}) over {alpha.n_units:,} items"


def _condition_text(condition: ConditionComparison) -> str:
    r = "undefined" if condition.r is None else f"{condition.r:.3f}"
    values = (condition.noise_one, condition.noise_other, condition.noise_p)
    noise = ["–" if each is None else f"{each:.3f}" for each in values]
    over = f"r = {r} over {condition.n_items:,} items; noise {noise[0]}, {noise[1]}, p {noise[2]}"
    return f"{condition.one} and {condition.other}: {over}" + (f" ({condition.reason})" if condition.reason else "")


def _anova_text(anova: Anova) -> str:
    return "\n".join(
        f"{effect.name}: difference {effect.difference:+.3f}, "
        f"F(1, {anova.df_error}) = {effect.f:.2f}, p = {effect.p:.3g}"
        for effect in (anova.order, anova.anchors, anova.interaction)
    )


@click.command("groups")
@click.argument("file", type=click.Path())
@click.argument("models", metavar="MODEL...", nargs=-1, type=click.Path())
@with_encoding
@with_json
def groups_command(file: str, models: tuple[str, ...], encoding: str | None, as_json: bool) -> None:
    """Target groups FILE in the authors' format: what it holds, and how each MODEL (any known format) scores on it."""
    from ..embeddings import load
    from ..questions.order.groups import score_groups
    from ..questions.order.kind import groups_of, read_group_file

    read = read_group_file(read_file(file, "target groups"), Path(file).name, encoding=encoding)
    groups = groups_of(read.comparisons)
    tokens = sorted({token for group in groups for token in (group.target, *group.words)})
    scores = [score_groups(read.comparisons, load(model, tokens=tokens).cosines) for model in models]
    if as_json:
        counts = {"n_groups": len(groups), "n_comparisons": len(read.comparisons), "repeated": len(read.repeated)}
        rows = [{"model": model, **asdict(score)} for model, score in zip(models, scores, strict=True)]
        write_json({"file": file, **counts, "models": rows, "notes": list(read.notes)})
    else:
        click.echo(_groups_text(read, len(groups), models, scores))


def _groups_text(read: GroupFile, n_groups: int, models: tuple[str, ...], scores: list[GroupScores]) -> str:
    parts = [f"{n_groups:,} groups, {len(read.comparisons):,} comparisons, {len(read.repeated):,} lines repeated."]
    if models:
        header = ("model", "overall", "positive", "distractor", "random", "Spearman", "covered")
        rows = []
        for model, score in zip(models, scores, strict=True):
            figures = [score.overall, score.positive, score.distractor, score.random]
            values = [*(figure.value for figure in figures), score.spearman]
            n = score.overall.n
            cells = ["–" if value is None else f"{value:.3f}" for value in values]
            rows.append([model, *cells, f"{n}/{n + score.overall.n_missing}"])
        parts.append(text_table(header, rows))
        for model, score in zip(models, scores, strict=True):
            reasons = {score.of(kind).reason for kind in ("positive", "distractor", "random")} | {score.reason}
            parts += [f"{model}: {reason}" for reason in sorted(filter(None, reasons))]
    return "\n\n".join([*parts, *(f"Note: {note}" for note in read.notes), *map(str, read.repeated)])


@click.command("draw-writing")
@click.argument("texts", type=click.Path())
@click.option(
    "--pool", type=click.Path(), help="Smaller texts (text, genre, level): drawn for pairs that should get 0."
)
@click.option("--output", required=True, type=click.Path(), help="CSV to write, with room for the smaller texts.")
@click.option("--batch", type=click.Path(), help="CSV to write: the tasks in which people write on a platform.")
@click.option("--page", type=click.Path(), help="HTML to write: the task page of that batch.")
@click.option("--task-size", type=int, default=5, show_default=True, help="Texts per task.")
@click.option("--target", default="turkle", show_default=True, help="Platform of the page: turkle or mturk.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Letters outside ASCII as character references, for Turkle.")
@click.option("--smaller", default="sentence", show_default=True, help="What people are asked to write.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same form.")
@with_encoding
@with_json
def draw_writing_command(
    texts: str, pool: str | None, output: str, batch: str | None, page: str | None, task_size: int, target: str,
    ascii_only: bool, smaller: str, seed: int, encoding: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Wanted ratings of larger TEXTS (text, genre, level): a form to write smaller texts in, or a batch of tasks."""
    import numpy as np

    from ..platforms.round_files import write_writing
    from ..questions.writing import draw_writing, pair_by_lot, pool_of, read_texts, task_page, write_form

    read = [read_texts(read_file(path), Path(path).name, encoding=encoding) for path in (texts, pool) if path]
    larger, pool_texts = read[0].texts, pool_of(read[1].texts) if pool else []
    notes = [f"{path}: {note}" for path, one in zip((texts, pool), read, strict=False) for note in one.notes]
    rng = np.random.default_rng(seed)
    tasks, aside = draw_writing(larger, rng=rng)
    lots, without = pair_by_lot(aside, pool_texts, rng=rng)
    if batch is not None:
        write_file(batch, write_writing(tasks, task_size=task_size, ascii_only=ascii_only))
    if page is not None:
        html = task_page("writing", {"smaller": smaller}, task_size=task_size, target=target)
        write_file(page, html.encode("utf-8"))
    write_file(output, write_form(tasks, lots, without))
    if as_json:
        counts = {"n_texts": len(larger), "n_pool": len(pool_texts), "n_to_write": len(tasks), "n_by_lot": len(lots)}
        write_json({"output": output, "batch": batch, "page": page, **counts, "n_aside": len(without), "seed": seed,
                    "notes": notes})  # fmt: skip
        return
    for note in notes:
        click.echo(f"Note: {note}")
    click.echo(
        f"{len(larger):,} texts with wanted ratings are in {output}: {len(tasks):,} to write for, {len(lots):,} pairs "
        f"by lot, {len(without):,} set aside for what others write."
    )


@click.command("written-items")
@click.argument("file", type=click.Path())
@click.option("--results", multiple=True, type=click.Path(), help="Result file of the task page; can be repeated.")
@click.option("--output", required=True, type=click.Path(), help="CSV to write: the pairs, to be rated.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same order.")
@with_encoding
@with_json
def written_items_command(
    file: str, results: tuple[str, ...], output: str, seed: int, encoding: str | None, as_json: bool
) -> None:  # fmt: skip
    """The pairs of a filled-in form FILE, or of its task page, in random order and without what was wanted."""
    import numpy as np

    from ..platforms.round_files import read_writing
    from ..questions.writing import pair_by_lot, pairs_to_rate, read_form, read_written, write_pairs

    form = read_form(read_file(file), Path(file).name, encoding=encoding)
    sources = [[answer for answer in form.answers if answer.text or not results]]
    sources += [read_writing(read_file(path), Path(path).name) for path in results]
    answers = [answer for source in sources for answer in source]
    written, issues = read_written(form.tasks, answers)
    rng = np.random.default_rng(seed)
    by_lot, without = pair_by_lot(form.aside, [pair.smaller for pair in written], rng=rng)
    pairs = pairs_to_rate([*written, *form.lots, *by_lot], rng=rng)
    blank = sum(not answer.text.strip() for answer in answers)
    if not pairs:
        raise InputError(f"{file} has no pair of texts: all were left blank.")
    write_file(output, write_pairs(pairs))
    if as_json:
        counts = {"n_pairs": len(pairs), "n_by_lot": len(form.lots) + len(by_lot), "n_aside": len(without)}
        issue_texts = [str(issue) for issue in issues]
        write_json({"output": output, **counts, "n_blank": blank, "issues": issue_texts, "seed": seed,
                    "notes": list(form.notes)})  # fmt: skip
        return
    click.echo(f"{len(pairs):,} pairs are in {output}; {blank:,} were left blank.")
    if without:
        click.echo(f"{len(without):,} texts set aside have no smaller text of their genre and level.")
    for note in form.notes:
        click.echo(f"Note: {note}")
    for issue in issues:
        click.echo(str(issue))
