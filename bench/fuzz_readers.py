"""What the fuzzer reads: every reader of Runoff, and for each the valid files that its damaged ones are made of.

The valid files are written by the project itself where it writes such files. A reader takes bytes and may raise
`RunoffError`; anything else is a finding.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.fuzz_scheme_readers import READERS
from core.cli.dataset import replay_bytes
from core.commands.archived import archive_mapping, rebuild
from core.commands.publishing import publish
from core.dataset.files import read_dataset, to_csv, to_tsv
from core.dataset.formats import to_parquet
from core.dataset.published import read_published
from core.embeddings import Embedding, import_embedding, load, open_embedding
from core.encoders.static import TOKENIZER, WEIGHTS, find_static, read_tensors
from core.errors import InputError
from core.evaluation.mteb_files import read_mteb
from core.platforms import guess, open_results, read_opened_results, read_results
from core.platforms.label_studio import write_tasks
from core.platforms.presets import PRESETS
from core.platforms.prolific import read_submissions
from core.questions.order.kind import read_groups
from core.questions.rating.files import read_ratings
from core.simulation.similarities import read_similarities
from core.store.ballots.ballot_rows import read_comparisons
from core.store.engine import open_apart
from core.store.projects.archive import export_project, import_project
from core.store.scores.project_dataset import dataset_of
from core.tabular import CsvTable, column_numbers, open_table, read_lines, read_workbook
from core.tokens.files import open_list, read_areas_file, read_pasted, write_list
from core.tokens.frequencies import read_frequencies
from core.votes.payment import write_review
from tests.campaigns import answer_batch, draw_batch, make_project, run_people
from tests.embedding_files import binary, numbers, text
from tests.workbooks import workbook

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
STATIC = Path(__file__).resolve().parents[1] / "tests" / "reference" / "tiny_static"
Reader = Callable[[bytes], object]


@dataclass(frozen=True)
class Target:
    """A reader: its name, what reads, valid files by their names, whose endings say what they are, and the memory that
    it may take whatever the file."""

    name: str
    read: Reader
    seeds: Callable[[], Sequence[tuple[str, bytes]]]
    base_bytes: int = 64 << 20


@dataclass(frozen=True)
class _Made:
    """A campaign with two ballots: its batch, its results, its project file, its published dataset."""

    batch: bytes
    results: bytes
    tasks: bytes
    project: bytes
    published: bytes
    files: dict[str, bytes]
    dataset: Any


@cache
def _made() -> _Made:
    with tempfile.TemporaryDirectory() as folder, open_apart(Path(folder)) as store:
        project_id = make_project(store)
        run_people(store, project_id, 1)
        batch = draw_batch(store, project_id)
        tasks = write_tasks(read_comparisons(store, project_id, 2))
        published = publish(store, project_id, "1.0").data
        with store.read() as conn:
            dataset = dataset_of(conn, project_id)
        files = dict(read_published(published).files) | {"dataset.parquet": to_parquet(dataset)}
        project = export_project(store, project_id)
    return _Made(batch, answer_batch(batch), tasks, project, published, files, dataset)


# Embeddings


def _embedding(data: bytes) -> None:
    """Into memory, and into a folder that is opened again; with a file of words beside it, as arrays need one."""
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "model.bin"
        path.write_bytes(data)
        (Path(room) / "model.bin.vocab").write_text("anvil\nbarge\ncandle\ndune\n", encoding="utf-8")
        problem: Exception | None = None
        try:
            _used(load(path, tokens=["anvil", "barge"]))
            _used(load(path))
        except ValueError as error:
            problem = error
        import_embedding(path, Path(room) / "imported")
        _used(open_embedding(Path(room) / "imported"))
        if problem is not None:
            raise problem


def _used(embedding: Embedding) -> None:
    embedding.missing(["anvil", "barge", "zzqx"])
    embedding.cosines(["anvil"], ["barge"])


WORDS = ["anvil", "barge", "candle", "dune"]


@cache
def _embeddings() -> list[tuple[str, bytes]]:
    matrix = numbers(4, 6)
    plain = text(WORDS, matrix)
    array = io.BytesIO()
    np.save(array, matrix)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.txt", plain)
    found = {
        "word2vec.bin": binary([*WORDS], matrix),
        "word2vec.txt": plain,
        "glove.txt": text(WORDS, matrix, header=False),
        "fasttext.bin": _fasttext(),
        "array.npy": array.getvalue(),
        "similarities.csv": b"token_a,token_b,similarity\nanvil,barge,0.5\nbarge,dune,-0.25\n",
        "packed.gz": gzip.compress(plain),
        "packed.bz2": bz2.compress(plain),
        "packed.xz": lzma.compress(plain),
        "packed.zip": packed.getvalue(),
        "model.pkl": _pickle(),
    }
    return list(found.items())


def _fasttext() -> bytes:
    """A small model, written by gensim."""
    from gensim.models.fasttext import FastText, save_facebook_model

    sentences = [WORDS, WORDS[::-1]] * 5
    trained = FastText(sentences, vector_size=6, min_count=1, bucket=50, min_n=3, max_n=4, epochs=1, seed=1, workers=1)
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "model.bin"
        save_facebook_model(trained, str(path))
        return path.read_bytes()


def _pickle() -> bytes:
    return pickle.dumps({"anvil": [1.0, 2.0]})


# Tables


def _tokens(data: bytes) -> None:
    """As a table and as a list, by any two columns, in an encoding that somebody chose; what is read can be written."""
    choices: tuple[dict[str, Any], ...] = ({"by_lines": True}, {"by_lines": False}, {"encoding": "gb18030"})
    for more in choices:
        with suppress(InputError):
            opened = open_list(data, "tokens.txt", **more)
            opened.read((None, len(opened.header) - 1) if opened.header else None)
    areas = read_areas_file(data, "tokens.csv").areas
    again = read_areas_file(write_list(areas), "again.csv").areas
    if again != areas:
        raise AssertionError(f"{areas} became {again}")


def _mapped(data: bytes) -> None:
    """As somebody who takes whatever columns are proposed, and the first ones where none are."""
    table = open_results(data, "votes.csv")
    mapping = guess(table)
    names = [name for name in table.header if name] or ["x"]
    if not mapping.voter or not mapping.choice:
        mapping = replace(mapping, voter=mapping.voter or names[0], choice=mapping.choice or names[-1])
    read_opened_results(table, mapping)


def _archived(data: bytes) -> None:
    table = open_results(data, "archived.csv")
    rebuild([table], archive_mapping(table))


def _tabular(data: bytes) -> None:
    """A table as every reader opens it: both ways to read it agree, and its numbers are read or told."""
    with suppress(InputError):  # a workbook has no lines
        read_lines(data, "list.txt")
    table = open_table(data, "table", fits=(lambda header: len(header) > 1,))
    wanted = list(range(len(table.header)))
    texts = table.texts(wanted, len(wanted))
    table.head(5)
    for column in texts.lists[:8]:
        column_numbers(column, texts.numbers.tolist(), "a column")
    if isinstance(table, CsvTable):
        rows = table.read(wanted, len(wanted))
        if (rows.numbers, rows.columns, rows.issues) != (texts.numbers.tolist(), texts.lists, texts.issues):
            raise AssertionError("the fast way and the one row by row differ")


def _results(data: bytes) -> None:
    read_results(data, "results.csv")


def _similarities(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "similarities.csv"
        path.write_bytes(data)
        read_similarities(path)


def _text(reader: Callable[[str], object]) -> Reader:
    return lambda data: reader(data.decode("utf-8", "surrogateescape"))


def _project(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as room, open_apart(Path(room)) as store:
        project_id = import_project(store, data)
        export_project(store, project_id)
        with store.read() as conn:
            dataset_of(conn, project_id)


def _tables() -> list[tuple[str, bytes]]:
    lists = [["area", "token"], ["sea", "ship"], ["sea", "boat"], ["land", "007"], ["land", "café"]]
    table = "\n".join(map(",".join, lists)).encode()
    return [
        ("tokens.csv", table),
        ("tokens.tsv", table.replace(b",", b"\t")),
        ("plain.txt", b"ship\nboat\n"),
        ("tokens.xlsx", workbook({"Sheet": lists})),
        ("sheets.xlsx", workbook({"sea": [["ship"], ["boat"]], "land": [["car"], [7], [0.5], [True]]})),
    ]


def _texts() -> list[tuple[str, bytes]]:
    """Tables in several dialects, workbooks among them."""
    table = 'name,n,note\nsea,"1,234","one ""two"""\nship,985,"three\nfour"\n\ntax,NA,"five, six"\n'
    plain = "\t".join(["name", "n", "note"]) + '\nsea\t1,5\t"\nship\t2\t5" nail\n\t\t\ntax\t\t"\n'
    found = [("quoted.csv", table.encode()), ("plain.tsv", plain.encode()), ("wide.csv", table.encode("utf-16"))]
    found.append(("sep.csv", b"sep=;\r\na;b\r\nx;y;\r\n;;\r\n"))
    found.append(("western.csv", "a;b\nfen\u00eatre;caf\u00e9\n".encode("cp1252")))
    found.append(("stray.csv", "a,b\nt\u00e8,x\n".encode() + b"caff\xe8,y\n"))
    return [*found, *_result_files(), *_tables()]


def _result_files() -> list[tuple[str, bytes]]:
    made = _made()
    found = [("mturk.csv", made.results), ("turkle.csv", made.results.replace(b"WorkerId", b"Turkle.Username"))]
    found += [("label_studio.json", _label_studio(made.tasks)), ("plain.csv", _plain())]
    rows = list(csv.reader(io.StringIO(made.results.decode())))
    width = len(rows[0])
    found.append(("results.xlsx", workbook({"Results": [(row + [""] * width)[:width] for row in rows[:8]]})))
    lines = "\n".join(
        json.dumps({"voter": f"v{n}", "comparison_id": f"b1-0a1b2c3d-0000{n}-1", "choice": "left"}) for n in range(4)
    )
    found += [("lines.json", lines.encode()), ("potato.json", _potato())]
    return [*found, *((f"{preset.name}.csv", _preset(preset.name)) for preset in PRESETS)]


def _label_studio(tasks: bytes) -> bytes:
    """Six tasks as Label Studio exports them."""
    pairwise = {"from_name": "choice", "to_name": ["left", "right"], "type": "pairwise", "value": {"selected": "left"}}
    other = {"from_name": "other", "to_name": "left", "type": "choices", "value": {"choices": ["tie"]}}
    exported = []
    for n, task in enumerate(json.loads(tasks)[:6]):
        told = {"id": n, "completed_by": {"id": n % 2, "email": f"v{n % 2}@example.com"}, "lead_time": 4.25}
        times = {"created_at": "2026-11-01T10:00:00.000000Z", "updated_at": "2026-11-01T12:00:00.000000Z"}
        annotation = {**told, **times, "result": [(pairwise, other)[n % 2]], "was_cancelled": False}
        exported.append({"id": n, "annotations": [annotation], "predictions": [], "data": task["data"]})
    return json.dumps(exported).encode()


def _plain() -> bytes:
    header = "voter,comparison_id,choice,left_a,left_b,right_a,right_b,seconds,submitted_at\n"
    rows = [
        f"v{n},b1-0a1b2c3d-0000{n}-1,{'left' if n % 2 else 'tie'},cat,dog,saw,007,{n},2026-01-05T10:00:0{n}Z\n"
        for n in range(6)
    ]
    return (header + "".join(rows)).encode()


def _potato() -> bytes:
    labels = {f"b1-0a1b2c3d-0000{n}-1": [[{"schema": "choice", "name": "left"}, "true"]] for n in range(3)}
    return json.dumps({"user_id": "anna", "instance_id_to_label_to_value": labels}).encode()


_COLUMNS = {
    "labelstudio": "annotation_id,annotator,choice,left_a,left_b,right_a,right_b,comparison_id,lead_time,updated_at",
    "potato": "instance_id,user_id,choice.left,choice.right",
    "toloka": "INPUT:comparison_id,OUTPUT:choice,ASSIGNMENT:task_id,ASSIGNMENT:assignment_id,ASSIGNMENT:worker_id,"
    "ASSIGNMENT:status,ASSIGNMENT:started",
    "appen": "_unit_id,_worker_id,_started_at,_created_at,comparison_id,choice,_trust",
}


def _preset(name: str) -> bytes:
    """A table of a preset's columns, with the same few values in all of them."""
    columns = _COLUMNS.get(name, "voter,comparison_id,choice")
    width = columns.count(",") + 1
    rows = [",".join(("b1-0a1b2c3d-00001-1", "left", "x", "1")[(n + at) % 4] for at in range(width)) for n in range(4)]
    return "\n".join([columns, *rows, ""]).encode()


def _ratings() -> list[tuple[str, bytes]]:
    long = "token_a,token_b,voter,rating,level,condition,order\nlove,sex,v1,3,w,a,A\ntiger,cat,v2,4,w,b,B\n"
    wide = "word1,word2,Human (mean),1,2\nlove,sex,8,9,7\ntiger,cat,7,7,\n"
    means = "word1\tword2\tSimLex999\tSD(SimLex)\nold\tnew\t1.58\t0.41\nsmart\tbright\t9.2\t0.67\n"
    sts = "main\tMSRpar\t2012\t1\t5.000\tA man is out.\tA man is in.\nmain\tMSRpar\t2012\t2\t1.0\tOne\tTwo\n"
    found = {"long.csv": long, "wide.csv": wide, "means.tsv": means, "sts.csv": sts}
    return [(name, content.encode()) for name, content in found.items()]


def _frequencies() -> list[tuple[str, bytes]]:
    found = {
        "counts.csv": "word,count\nsea,30\nship,10\n",
        "counts.txt": "the 100\nsea 30\nship 10\n",
        "rank.tsv": "rank\tword\tcount\n1\tsea\t3,000\n2\tship\t1.000\n",
    }
    return [(name, content.encode()) for name, content in found.items()]


_GROUPS = b"""singer
musician,0.90,person,0.10
distractors
musician,1.00,song,0.00
randoms
musician,1.00,laptop,0.00
"""


def _datasets() -> list[tuple[str, bytes]]:
    made = _made()
    found = [("dataset.csv", to_csv(made.dataset)), ("dataset.tsv", to_tsv(made.dataset))]
    return [*found, ("dataset.parquet", made.files["dataset.parquet"]), ("published.zip", made.published)]


def _projects() -> list[tuple[str, bytes]]:
    old = [(path.name, path.read_bytes()) for path in sorted(FIXTURES.glob("project-schema-*.zip"))]
    return [("project.zip", _made().project), *old]


_SUBMISSIONS = b"""Submission id,Participant id,Status,Started at,Completed at,Time taken,Completion code
s1,p1,APPROVED,2026-01-05T10:00:00Z,2026-01-05T10:10:00Z,600,ABC
s2,p2,RETURNED,,,,
"""


def _at_a_path(read: Callable[[Path], object], name: str) -> Reader:
    """A reader that wants a file of a name."""

    def reader(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as room:
            path = Path(room) / name
            path.write_bytes(data)
            read(path)

    return reader


def _weights(path: Path) -> None:
    """The file's arrays, whole; a static model's where they are one's."""
    read_tensors(path)
    (path.parent / TOKENIZER).write_text("{}", encoding="utf-8")
    find_static(path.parent, [], {})


def _files_of_mteb() -> list[tuple[str, bytes]]:
    figures = {"hf_subset": "default", "languages": ["eng-Latn"], "cosine_spearman": 0.5, "cosine_pearson": 0.25}
    result = {"task_name": "Shore", "mteb_version": "2.26.24", "scores": {"test": [figures]}}
    held = {"cosine_scores": [0.5, -0.25, 1], "similarity_scores": None}
    about = {"model_name": "org/model", "revision": "1"}
    predictions = {"mteb_model_meta": about, "default": {"test": held}}
    return [("Shore.json", json.dumps(result).encode()), ("predictions.json", json.dumps(predictions).encode())]


TARGETS = {
    target.name: target
    for target in (
        Target("embeddings", _embedding, _embeddings, 384 << 20),
        Target("tabular", _tabular, _texts),
        Target("tokens", _tokens, _tables),
        Target("pasted", _text(lambda found: read_pasted("Area", found)), lambda: [("pasted.txt", b"ship\nboat\n")]),
        Target("results", _results, _result_files),
        Target("mapped", _mapped, _result_files),
        Target("archived", _archived, lambda: [("mturk.csv", _made().results), ("plain.csv", _plain())]),
        Target("dataset", read_dataset, _datasets),
        Target("published", replay_bytes, lambda: [("published.zip", _made().published)]),
        Target("project", _project, _projects),
        Target("ratings", lambda data: read_ratings(data, "ratings.csv"), _ratings),
        Target("groups", _text(read_groups), lambda: [("groups.txt", _GROUPS)]),
        Target("frequencies", lambda data: read_frequencies(data, "counts.csv"), _frequencies),
        Target("similarities", _similarities, lambda: [("similarities.csv", b"item,similarity\na,0.5\nb,-0.25\n")]),
        Target(
            "submissions", lambda data: read_submissions(data, "x.csv"), lambda: [("submissions.csv", _SUBMISSIONS)]
        ),
        Target("review", lambda data: write_review(data, "x.csv", {}), lambda: [("mturk.csv", _made().results)]),
        Target("workbook", lambda data: read_workbook(data, "x.xlsx"), lambda: _tables()[3:]),
        Target("mteb", _at_a_path(lambda path: read_mteb([path]), "Shore.json"), _files_of_mteb),
        Target(
            "weights",
            _at_a_path(_weights, WEIGHTS),
            lambda: [(f"{name}.safetensors", (STATIC / name / WEIGHTS).read_bytes()) for name in ("plain", "shared")],
        ),
        *(Target(name, read, seeds) for name, (read, seeds) in READERS.items()),
    )
}
__all__ = ["TARGETS", "Target"]
