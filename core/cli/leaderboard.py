"""`evaluate --leaderboard`: many models in one page of HTML and one table of CSV; and the models that options name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .shared import write_file

if TYPE_CHECKING:
    import pandas as pd

    from ..commands.file_evaluation import FileEvaluation
    from ..evaluation import Model
    from ..evaluation.baselines import Baselines
    from ..evaluation.mteb_files import Reported
    from ..evaluation.token_intervals import PairwiseDifference


@dataclass
class NamedModels:
    """Models of options: how each was made, by its name, and remarks; filled while they are opened."""

    recipes: dict[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of_folders(self, folders: Sequence[str], table: pd.DataFrame, *, trust: bool) -> Iterator[Model]:
        """What models of folders make of a dataset's tokens, or of its pairs, one at a time."""
        from ..encoders import digest_of, inspect, open_encoder, open_scorer
        from ..encoders.encoding import scored
        from ..evaluation import encoded, tokens_of

        for folder in folders:
            folder_kind = inspect(folder)
            self.recipes[folder] = recipe = folder_kind.recipe(digest_of(folder_kind))
            if folder_kind.scores_pairs:
                pairs = list(zip(table["token_a"], table["token_b"], strict=True))
                yield scored(open_scorer(folder_kind, trusted=trust), pairs, name=folder, recipe=recipe)
            else:
                yield encoded(open_encoder(folder_kind, trusted=trust), tokens_of(table), name=folder)

    def of_servers(
        self, servers: Sequence[tuple[str, str]], table: pd.DataFrame, *, template: str, batch: int, cache: str | None
    ) -> Iterator[Model]:
        """What models of servers make of a dataset's tokens; what is sent where is told before."""
        import click
        from platformdirs import user_cache_path

        from ..encoders import EmbeddingServer
        from ..encoders.server import fetch
        from ..evaluation import given, tokens_of

        folder = Path(cache) if cache else user_cache_path("runoff", appauthor=False) / "answers"
        for address, model in servers:
            server, tokens = EmbeddingServer(address, model, template, batch), tokens_of(table)
            click.echo(server.says(len(tokens), "dataset"), err=True)
            name = served_name(address, model)
            vectors, self.recipes[name] = fetch(
                server,
                tokens,
                server.kept(folder),
                progress=lambda done, total, said: click.echo(f"{done:,} of {total:,} {said}", err=True),
            )
            yield given(tokens, vectors, name=name)

    def of_predictions(
        self, paths: Sequence[str], table: pd.DataFrame
    ) -> tuple[list[str], list[Model], list[Reported]]:
        """The names and models of mteb's predictions, and the figures of its result files."""
        from ..evaluation.mteb_files import predicted_model, read_mteb

        reported, predicted = read_mteb(Path(path) for path in paths)
        names: list[str] = []
        models: list[Model] = []
        for found in predicted:
            name = next(n for n in _spellings(found.model, found.split, found.subset) if n not in names)
            model, note = predicted_model(found, table, reported, name)
            names.append(name)
            models.append(model)
            self.recipes[name] = model.info.recipe
            self.notes.append(note)
        return names, models, reported


def _spellings(model: str, split: str, subset: str) -> Iterator[str]:
    yield model
    yield f"{model} ({subset}, {split})"
    number = 2
    while True:
        yield f"{model} ({subset}, {split}, {number})"
        number += 1


def served_name(address: str, model: str) -> str:
    """What the model of a server is called."""
    return f"{model} at {address}"


def write_leaderboard(
    out: str,
    found: FileEvaluation,
    title: str,
    first: str,
    floor: Baselines,
    made: NamedModels,
    reported: Sequence[Reported],
) -> tuple[str, str]:
    """Write the page and the table beside each other, and return their paths.

    out : without an ending, or with .html or .csv. first : the figure that models are ranked by. made : how each model
    was made; reported : the figures of mteb's result files.
    """
    from ..views.evaluate.leaderboard import Leaderboard, leaderboard_csv, leaderboard_page
    from ..views.evaluate.token_intervals import by_votes

    found = found.called(distinct(found.names))
    told: dict[str, dict[str, Sequence[PairwiseDifference]]] = {}
    if found.draws is not None:
        told["tokens"] = found.token_differences()
    comparison, differences, no_votes = found.over_votes()
    if not no_votes:
        told["votes"] = {figure: by_votes(differences, figure) for figure in {d.figure for d in differences}}
    board = Leaderboard(
        title=title,
        compared=comparison,
        told=told,
        problems={"tokens": found.no_tokens, "voters": no_votes},
        shares=found.shares["overall" if comparison.policy in ("own", "lowest") else "common"],
        why_no_ceiling=found.no_ceiling,
        first=first,
        reported=reported,
        recipes={new: made.recipes.get(old, ()) for new, old in zip(comparison.names, found.names, strict=True)},
        floor=floor,
        remarks=[*_remarks(found.table), *made.notes],
    )
    stem = out.removesuffix(".html").removesuffix(".csv")
    if not Path(stem).name:
        raise InputError(f"--leaderboard takes the name of a file, such as leaderboard; found {out!r}.")
    paths = (f"{stem}.html", f"{stem}.csv")
    write_file(paths[0], leaderboard_page(board).encode("utf-8"))
    write_file(paths[1], leaderboard_csv(board))
    return paths


def distinct(names: Sequence[str]) -> list[str]:
    """The last part of each path, where that tells all models apart; else the names as they were given, numbered where
    one comes twice.

    >>> distinct(["a/x", "b/x", "a/x"])
    ['a/x', 'b/x', 'a/x (2)']
    """
    short = [Path(name).name if Path(name).exists() else name for name in names]
    if len(set(short)) == len(short):
        return short
    names_apart: list[str] = []
    for name in names:
        tries = (name, *(f"{name} ({number})" for number in range(2, len(names) + 2)))
        names_apart.append(next(each for each in tries if each not in names_apart))
    return names_apart


def _remarks(table: pd.DataFrame) -> list[str]:
    """What a reader must know of the dataset itself."""
    voters = table.attrs.get("voters")
    simulated = voters.get("simulated") if isinstance(voters, dict) else 0
    remarks = []
    if simulated:
        remarks.append(
            f"The votes are of {simulated:,} simulated voters: they are no evidence about what people think."
        )
    if table.attrs.get("by_chance"):
        remarks.append("The votes can't be told from coin tosses, so the scores rank nothing.")
    return remarks
