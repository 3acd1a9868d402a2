"""What the export page shows: the dataset, what its files are called, the owner's words, the versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from ..base.durable import file_stem
from ..base.numbers_in_words import VoterCount, many, plural
from ..commands.datasheet_facts import spellings_of
from ..dataset.datasheet.facts import SheetFields
from ..dataset.diff import DatasetDiff, diff
from ..dataset.files import check_for_gensim, for_gensim, read_dataset, to_csv, to_json, to_tsv
from ..dataset.formats import endings, example, for_mteb, for_simlex, spelled, to_parquet, to_records
from ..errors import InputError, StoreError
from ..store import Store
from ..store.command import project_row
from ..store.projects.releases import Release, release_bytes, releases_of
from ..store.scores.project_dataset import dataset_of
from .scores.scores_page import voters_in

NOW = 0  # in place of a release's id: the dataset as it is now


@dataclass(frozen=True)
class Format:
    """A file of its own: what its button says, what it is for, how it is made and called, and what it can't hold."""

    label: str
    about: str
    make: Callable[[pd.DataFrame], bytes]
    ending: str
    mime: str
    check: Callable[[pd.DataFrame], object] | None = None


def _spreadsheet(dataset: pd.DataFrame) -> bytes:
    return to_csv(dataset, spreadsheet=True)


def _description(dataset: pd.DataFrame) -> bytes:
    return to_json({str(key): value for key, value in dataset.attrs.items()})


_TSV = "text/tab-separated-values"
FORMATS = (
    Format("Dataset (CSV)", "For programs. Reads back exactly.", to_csv, ".csv", "text/csv"),
    Format(
        "Description (JSON)",
        "What the scores mean. Keep it beside the CSV, under the same name.",
        _description,
        ".json",
        "application/json",
    ),
    Format("Dataset (TSV)", "The same as the CSV, with tabs.", to_tsv, ".tsv", _TSV),
    Format(
        "Dataset (Parquet)",
        "Typed columns, with the description inside.",
        to_parquet,
        ".parquet",
        "application/vnd.apache.parquet",
    ),
    Format("Items (JSON)", "A list with one object per item.", to_records, "-items.json", "application/json"),
    Format(
        "For gensim",
        "Two words and a score per line, for evaluate_word_pairs.",
        for_gensim,
        "-gensim.tsv",
        _TSV,
        check_for_gensim,
    ),
    Format(
        "Like SimLex-999",
        "Columns word1, word2, score and more, with tabs and no quotes.",
        for_simlex,
        "-simlex.tsv",
        _TSV,
        for_simlex,
    ),
    Format(
        "For MTEB (JSON lines)",
        "sentence1, sentence2, score: the split test of an STS task.",
        for_mteb,
        "-mteb-sts.jsonl",
        "application/jsonl",
    ),
    Format(
        "For a spreadsheet (CSV)",
        "Tokens that a spreadsheet would take for a formula get an apostrophe. Not for programs.",
        _spreadsheet,
        "-spreadsheet.csv",
        "text/csv",
    ),
)


@dataclass(frozen=True, eq=False)
class DatasetFiles:
    """A dataset with the name of its files; the formats, for gensim one for each spelling; why one can't hold it, by
    label; and its description as text."""

    dataset: pd.DataFrame
    stem: str
    formats: tuple[Format, ...]
    problems: dict[str, str]
    description: str


@dataclass(frozen=True, eq=False)
class ExportView(DatasetFiles):
    """The dataset of a project: the owner's fields, and the versions released, newest first."""

    fields: SheetFields
    releases: tuple[Release, ...]

    @property
    def voters(self) -> VoterCount:
        """Whose votes are in the dataset."""
        return voters_in(self.dataset.attrs)

    @property
    def said(self) -> str:
        """What the dataset has, and what the owner has still to describe, in one sentence."""
        about = self.dataset.attrs
        state = "Not final yet" if about["provisional"] else "Ready"
        counts = f"{many(len(self.dataset), 'item')} with scores, from {many(about['votes'], 'vote')}"
        ballots = many(max(about["ballots_closed"], 1), "ballot")
        n_empty = len(self.fields.missing)
        empty = plural(n_empty, "; {n} datasheet field is empty", "; {n} datasheet fields are empty") if n_empty else ""
        return f"{state}: {counts} of {self.voters.said} in {ballots}{empty}."

    @property
    def releases_by_id(self) -> dict[int, str]:
        """What a version is called in a list, by its id; `NOW` is the dataset as it is now."""
        return {NOW: "as it is now"} | {release.id: release.version for release in self.releases}


def _formats(spellings: Sequence[Mapping[str, str]]) -> tuple[Format, ...]:
    """The formats, with the one for gensim in each of these spellings."""
    formats: list[Format] = []
    for each in FORMATS:
        if each.make is not for_gensim:
            formats.append(each)
            continue
        for way, ending in zip(spellings, endings(spellings), strict=True):
            named = f" ({example(way) or 'as written'})" if len(spellings) > 1 else ""
            about = f"{each.about} Tokens as the embeddings spell them: {example(way)}." if way else each.about
            formats.append(
                replace(
                    each,
                    label=f"{each.label}{named}",
                    about=about,
                    make=partial(_for_gensim, way),
                    ending=f"-gensim{ending}.tsv",
                    check=partial(_check_for_gensim, way),
                )
            )
    return tuple(formats)


def _for_gensim(way: Mapping[str, str], dataset: pd.DataFrame) -> bytes:
    return for_gensim(spelled(dataset, way))


def _check_for_gensim(way: Mapping[str, str], dataset: pd.DataFrame) -> None:
    check_for_gensim(spelled(dataset, way))


def load(store: Store, project_id: str, *, dataset: pd.DataFrame | None = None) -> ExportView:
    """The export view of a project; `dataset` is `dataset_of` it as it stands, where it has been read already."""
    with store.read() as conn:
        dataset = dataset_of(conn, project_id) if dataset is None else dataset
        fields = SheetFields.of(project_row(conn, project_id).datasheet)
        releases = tuple(releases_of(conn, project_id))
    files = files_of(store, project_id, dataset, file_stem({str(key): value for key, value in dataset.attrs.items()}))
    return ExportView(files.dataset, files.stem, files.formats, files.problems, files.description, fields, releases)


def files_of(store: Store, project_id: str, dataset: pd.DataFrame, stem: str) -> DatasetFiles:
    """The files that a dataset of the project goes out as, whose names begin with `stem`."""
    with store.read() as conn:
        formats = _formats(spellings_of(store, conn, project_id, dataset))
    problems = {}
    for each in formats:
        if each.check is not None and len(dataset):
            try:
                each.check(dataset)
            except InputError as error:
                problems[each.label] = str(error)
    about = {str(key): value for key, value in dataset.attrs.items()}
    return DatasetFiles(dataset, stem, formats, problems, to_json(about).decode("utf-8"))


def load_diff(store: Store, project_id: str, before: int, after: int) -> DatasetDiff:
    """What changed between two versions by their ids, `NOW` for the dataset as it is now."""
    with store.read() as conn:
        releases = {release.id: release for release in releases_of(conn, project_id)}
        current = dataset_of(conn, project_id)
    tables = []
    for id_ in (before, after):
        if id_ != NOW and id_ not in releases:
            raise StoreError("This version no longer exists in the project. Choose another one.")
        tables.append(current if id_ == NOW else read_dataset(release_bytes(store, releases[id_])))
    return diff(*tables)


def diff_lines(changes: DatasetDiff) -> pd.DataFrame:
    """A diff's counts and figures as a table: what, value; both texts."""
    rows = changes.told({"rho_w": "ρ_w", "tau_w": "τ_w", "rho": "ρ", "tau": "τ"})
    rows += [
        (name.replace("_", " "), f"{_value_text(a)} → {_value_text(b)}")
        for name, (a, b) in changes.described.items()
        if name != "version"
    ]
    return pd.DataFrame(rows, columns=["what", "value"], dtype="str")


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value_text(part)}" for key, part in value.items())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format(value, "g" if isinstance(value, float) else ",")
    return "–" if value in (None, "") else str(value)
