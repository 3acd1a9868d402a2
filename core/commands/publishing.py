"""A project's dataset published: every file of it, one zip, and versions that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..base.durable import file_stem
from ..dataset.croissant import FILE as CROISSANT
from ..dataset.croissant import croissant
from ..dataset.datasheet.facts import Facts
from ..dataset.datasheet.sheet import card, datasheet, to_markdown
from ..dataset.files import for_gensim, to_csv, to_json, to_tsv
from ..dataset.formats import endings, example, for_mteb, for_simlex, parquet, spelled, to_parquet, to_records
from ..dataset.harnesses import programs
from ..dataset.harnesses.programs import BOTH_ORDERS, both_orders
from ..dataset.published import COMPARED, VOTES, write_published
from ..dataset.splits import Split, split_by_tokens
from ..errors import InputError, StoreError
from ..store import Store
from ..store.chain import dataset_head, n_unsealed
from ..store.command import check_revision, project_row
from ..store.projects.records import record_files, record_of, voter_secret
from ..store.projects.releases import Release, check_is_new, keep_release
from ..store.votes.model_answers import model_answers_file
from . import datasheet_facts as facts_of

MODEL_ANSWERS = "models/answers.json"
WHAT = {
    "README.md": "this card",
    "manifest.json": "size and SHA-256 of every other file",
    "dataset.csv": "all items, best first; reads back exactly",
    "dataset.json": "what the scores mean: notion, estimator, scale, interval, plan, seeds, versions",
    "croissant.json": "the tables, columns and checksums, and what the datasheet says, in Croissant's terms",
    "eval.yaml": "the comparisons in both orders as a benchmark on the Hub",
    "datasheet.md": "the datasheet",
    "datasheet.html": "the same as a page, for screens and paper",
    "data/dev.parquet": "the part to tune on",
    "data/test.parquet": "the part to test on",
    "data/all.parquet": "all items",
    "data/votes.parquet": "campaign/votes.csv as Parquet",
    "data/comparisons.parquet": "campaign/comparisons.csv as Parquet",
    "data/both_orders.parquet": "the comparisons that people decided, each asked with either item first",
    "formats/dataset.tsv": "all items with tabs; cells with a quotation mark are quoted",
    "formats/records.json": "all items as a JSON list",
    "formats/gensim.tsv": "for gensim's evaluate_word_pairs",
    "formats/simlex.tsv": "word1, word2, score, as SimLex-999 is laid out; nothing is quoted",
    "formats/mteb-sts/test.jsonl": "sentence1, sentence2, score, for an MTEB task of the kind STS",
    "evaluation/mteb_task.py": "a task for mteb over formats/mteb-sts/test.jsonl, by ρ_w and τ_w",
    "evaluation/inspect_task.py": "the comparisons in both orders for inspect-ai",
    "evaluation/lm_eval/comparisons.yaml": "the comparisons in both orders for the LM Evaluation Harness",
    "evaluation/lm_eval/both_orders.py": "what comparisons.yaml calls",
    "campaign/items.csv": "all items by number, also those without a score",
    "campaign/ballot_items.csv": "each item in each ballot: tallies and scores",
    "campaign/fitted_scores.csv": "what the protocol runoff fitted to each item",
    "campaign/comparisons.csv": "each comparison drawn, checks among them",
    "campaign/tasks.csv": "which comparisons stood together, and which side was left",
    "campaign/votes.csv": "each answer, counted or not, by a voter's pseudonym",
    "campaign/voters.csv": "the voters' pseudonyms and platforms",
    "campaign/plan.json": "plans, ballots, all seeds, wording, registration",
    MODEL_ANSWERS: "what language models answered, with their prompts; no vote of the campaign, and in no score",
}
# Formats that can't hold every token; for gensim there is a file for each spelling.
_CHOOSY: dict[str, Callable[[pd.DataFrame], bytes]] = {"formats/simlex.tsv": for_simlex}
GENSIM = "formats/gensim.tsv"
UNDECIDED = "No comparison has more votes for one side than for the other."


@dataclass(frozen=True)
class PublishedZip:
    """A published zip, what it is called, figures of it, formats that could not be written (with the reason), and the
    revision of the project that it was made from."""

    data: bytes
    filename: str
    detail: dict[str, Any]
    left_out: dict[str, str]
    revision: int

    @property
    def size(self) -> int:
        """Of the zip, in bytes."""
        return len(self.data)

    def read(self) -> bytes:
        """The zip."""
        return self.data


def publish(
    store: Store,
    project_id: str,
    version: str = "",
    *,
    model_answers: bool = False,
    expected_revision: int | None = None,
) -> PublishedZip:
    """Everything of a project's dataset as one zip; the same state and version give the same bytes.

    model_answers : what language models answered goes in too, as a file of its own, which `replay` doesn't read.
    All of it is read in one look at the store, so that it is of one state though votes come in meanwhile. Takes as
    long as its datasheet: a few seconds for twenty thousand votes. Raises `StoreError` where nothing has a score yet,
    `InputError` where the owner's split leaves nothing, `StaleError` where the project isn't at `expected_revision`.
    """
    secret = voter_secret(store, project_id)
    with store.read() as conn:
        row = project_row(conn, project_id)
        check_revision(row, expected_revision)
        facts, closed = facts_of.store_facts(store, conn, project_id, version)
        if facts.dataset.empty:
            raise StoreError("There is no dataset to publish yet: it needs votes.")
        record = record_of(conn, project_id, secret)
        chain, unsealed = dataset_head(conn, project_id), n_unsealed(conn, project_id)
        of_models = model_answers_file(conn, project_id) if model_answers else []
    facts = facts_of.measured(facts, closed)
    if chain is not None:
        chain_head = {"entry": chain[0], "head": chain[1], "unsealed": unsealed}
        facts = replace(facts, about=facts.about | {"chain": chain_head})
    stem = file_stem(facts.about) + (f"-{version}" if version else "")
    facts, files = dataset_files(facts, stem)
    files |= record_files(record)
    # `datasets` reads all of a folder's configurations in one format.
    files |= {"data/votes.parquet": parquet(record.votes, VOTES)}
    files |= {"data/comparisons.parquet": parquet(record.comparisons, COMPARED)}
    if of_models:
        files[MODEL_ANSWERS] = (json.dumps(of_models, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
    files[programs.MTEB_TASK] = programs.mteb_task(facts, stem)
    asked = both_orders(record.items, record.comparisons, record.votes, facts.dataset, question_of(facts))
    if asked.empty:
        facts = replace(facts, left_out_formats=facts.left_out_formats | {programs.BOTH_ORDERS_FILE: UNDECIDED})
    else:
        files |= {programs.BOTH_ORDERS_FILE: parquet(asked, BOTH_ORDERS), **programs.judges(facts, stem)}
    files[CROISSANT] = croissant(facts, files)
    files["README.md"] = card(facts, configs_of(facts, files), listed(files, facts), stem, programs.task_name(stem))
    data = write_published(files, version=version, title=facts.title)
    voters = facts.about["voters"]
    detail = {
        "items": len(facts.dataset),
        "votes": facts.about["votes"],
        "voters": voters["people"] + voters["simulated"],
        "provisional": facts.is_provisional,
        "simulated": voters["simulated"] > 0,
        "bytes": len(data),
        "licence": facts.fields.licence,
    }
    return PublishedZip(data, f"{stem}.zip", detail, facts.left_out_formats, int(row.revision))


def listed(files: Mapping[str, bytes], facts: Facts) -> list[tuple[str, str]]:
    """The files of a published dataset with what each is, the card and the manifest among them."""
    descriptions: dict[str, str] = {}
    for path, what in (WHAT if facts.split else WHAT | {"data/test.parquet": "all items"}).items():
        descriptions |= gensim_files(facts) if path == GENSIM else {path: what}
    always = ("README.md", "manifest.json")
    return [(path, what) for path, what in descriptions.items() if path in files or path in always]


def dataset_files(facts: Facts, stem: str) -> tuple[Facts, dict[str, bytes]]:
    """The files that hold the dataset and its datasheet; the facts with what the files add to them."""
    dataset = facts.dataset
    split = split_of(facts)
    left_out = {}
    files = {
        "dataset.csv": to_csv(dataset),
        "dataset.json": to_json(facts.about),
        "data/test.parquet": to_parquet(split.test if split else dataset),
        "formats/dataset.tsv": to_tsv(dataset),
        "formats/records.json": to_records(dataset),
        "formats/mteb-sts/test.jsonl": for_mteb(dataset),
    }
    if split:
        files |= {"data/dev.parquet": to_parquet(split.dev), "data/all.parquet": to_parquet(dataset)}
    choosy: dict[str, Callable[[], bytes]] = {path: partial(write, dataset) for path, write in _CHOOSY.items()}
    for path, way in zip(gensim_files(facts), facts.spellings or ({},), strict=True):
        choosy[path] = partial(for_gensim, spelled(dataset, way))
    for path, write in choosy.items():
        try:
            files[path] = write()
        except InputError as error:
            left_out[path] = str(error)
    facts = replace(facts, split=split.sizes if split else None, left_out_formats=left_out)
    page = datasheet(facts)
    files |= {"datasheet.md": to_markdown(page), "datasheet.html": page}
    return facts, files


def gensim_files(facts: Facts) -> dict[str, str]:
    """The files for gensim, one for each spelling, with what each is."""
    spellings = facts.spellings or ({},)
    files = {}
    for way, ending in zip(spellings, endings(spellings), strict=True):
        known = f", with tokens as the compared models spell them, such as {example(way)}" if way else ""
        if len(spellings) > 1 and not way:
            known = ", with tokens as they are in dataset.csv"
        files[f"formats/gensim{ending}.tsv"] = f"{WHAT[GENSIM]}{known}"
    return files


def split_of(facts: Facts) -> Split | None:
    """The split that the owner chose, None for none; `InputError` where a part of it would be empty."""
    if not facts.fields.dev_share:
        return None
    rng = np.random.default_rng([facts.fields.split_seed, 8])
    return split_by_tokens(facts.dataset, dev_share=facts.fields.dev_share, rng=rng)


def question_of(facts: Facts) -> str:
    """What people read before they compared, and so what a language model reads."""
    return f"{facts.instructions}\n\n{facts.question}"


def configs_of(facts: Facts, files: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    """What Hugging Face `datasets` can load by name: the dataset, the votes behind it, and the comparisons again."""
    default = {"test": "data/test.parquet"}
    configs = {"default": {"dev": "data/dev.parquet", **default}, "all": {"test": "data/all.parquet"}}
    tables = {name: {"train": f"data/{name}.parquet"} for name in ("votes", "comparisons")}
    if programs.BOTH_ORDERS_FILE in files:
        tables["both_orders"] = {"test": programs.BOTH_ORDERS_FILE}
    return (configs if facts.split else {"default": default}) | tables


def release(
    store: Store,
    project_id: str,
    version: str,
    note: str = "",
    *,
    model_answers: bool = False,
    expected_revision: int | None = None,
) -> Release:
    """Publish the dataset as it is now as a version, and keep the zip. Errors of `publish` and `keep_release`.

    Votes that come in while the files are made aren't in it, and don't hinder it.
    """
    name = check_is_new(store, project_id, version)
    published = publish(store, project_id, name, model_answers=model_answers, expected_revision=expected_revision)
    data, detail, revision = published.data, published.detail, published.revision
    return keep_release(store, project_id, name, data, note=note, detail=detail, made_at=revision)
