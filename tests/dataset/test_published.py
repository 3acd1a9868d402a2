"""The published zip: the same bytes for the same state, whole and checked, and read by other programs."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from campaigns import PLAN, make_project, run_people, run_simulated
from test_voting import Voter, start

from core.commands import publishing
from core.commands.archived import import_archived
from core.commands.publishing import WHAT, publish, release
from core.dataset.datasheet.facts import SheetFields
from core.dataset.files import read_dataset, to_csv
from core.dataset.published import MANIFEST, is_published, read_published, write_published
from core.errors import InputError, StaleError, StoreError
from core.store.command import command
from core.store.engine import open_apart
from core.store.projects.plans import save_plan
from core.store.projects.project_commands import create_project
from core.store.projects.releases import read_releases, release_bytes, save_fields
from core.store.scores.project_dataset import read_project_dataset as read_stored
from core.store.tokens.areas import add_areas
from core.tabular.zips import checksum, pack
from core.tokens.files import AreaTokens


@pytest.fixture
def project(store):
    project_id = make_project(store)
    run_people(store, project_id, 2)
    return project_id


def test_the_same_state_gives_the_same_bytes(store, project):
    made = publish(store, project)
    again = publish(store, project)
    assert made.data == again.data
    assert made.filename == "test-provisional.zip"
    assert made.detail["items"] == 21
    assert publish(store, project, "1.0").data != made.data
    assert publish(store, project, "1.0").filename == "test-provisional-1.0.zip"


def test_the_manifest_lists_every_file_with_its_checksum(store, project):
    with zipfile.ZipFile(io.BytesIO(publish(store, project).data)) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        names = set(archive.namelist()) - {MANIFEST}
        assert set(manifest["files"]) == names
        for name, listed in manifest["files"].items():
            data = archive.read(name)
            assert (listed["bytes"], listed["sha256"]) == (len(data), checksum(data))
        assert all(entry.date_time == (1980, 1, 1, 0, 0, 0) for entry in archive.infolist())
    assert names <= set(WHAT)


def test_the_dataset_in_it_is_the_projects(store, project):
    data = publish(store, project, "2.0").data
    stored = read_stored(store, project)
    back = read_dataset(data)
    pd.testing.assert_frame_equal(back, stored, check_exact=True)
    assert back.attrs["version"] == "2.0"
    assert back.attrs["votes"] == stored.attrs["votes"]
    files = read_published(data).files
    assert files["dataset.csv"] == to_csv(stored)
    parquet = pd.read_parquet(io.BytesIO(files["data/test.parquet"]))
    assert parquet["token_a"].tolist() == stored["token_a"].tolist()
    assert parquet["score"].tolist() == stored["score"].tolist()
    csv = pd.read_csv(io.BytesIO(files["dataset.csv"]), keep_default_na=False, dtype={"token_a": str, "token_b": str})
    assert csv["token_a"].tolist() == stored["token_a"].tolist()
    votes = pq.read_table(io.BytesIO(files["data/votes.parquet"])).to_pandas()
    assert (votes["status"] == "counted").sum() == stored.attrs["votes"]


def test_gensim_evaluates_its_file(store, project, tmp_path):
    from gensim.models import KeyedVectors
    from scipy.stats import spearmanr

    stored = read_stored(store, project)
    tokens = sorted(set(stored["token_a"]) | set(stored["token_b"]))
    vectors = KeyedVectors(5)
    vectors.add_vectors(tokens, np.random.default_rng(1).normal(size=(len(tokens), 5)))
    path = tmp_path / "pairs.tsv"
    path.write_bytes(read_published(publish(store, project).data).files["formats/gensim.tsv"])
    _, found, missing = vectors.evaluate_word_pairs(str(path), case_insensitive=False)
    cosines = [vectors.similarity(a, b) for a, b in zip(stored["token_a"], stored["token_b"], strict=True)]
    assert found.statistic == pytest.approx(spearmanr(stored["score"], cosines).statistic, abs=1e-12)
    assert missing == 0


KITCHEN = ("rolling pin", "Turkey", "sea salt", "whisk", "oven mitt")
MODELS = {  # as they spell the tokens: underscores, spaces, lower case, and what none has
    "joined": ("rolling_pin", "Turkey", "sea_salt", "whisk"),
    "spaced": ("rolling-pin", "Turkey", "sea salt", "oven_mitt"),
    "lower": ("rolling_pin", "turkey", "whisk"),
}


def test_gensim_covers_what_runoff_covers(store, tmp_path):
    """With every model in one of the files, by gensim's own count; items and ρ are Runoff's by cos."""
    from embedding_files import write
    from gensim.models import KeyedVectors

    from core.embeddings import LookUp
    from core.evaluation import evaluate
    from core.store.projects.embedding_library import import_into, open_library, read_embeddings, set_lookup

    project_id = create_project(store, "Kitchen", notion="similarity", seed=3)
    add_areas(store, project_id, [AreaTokens("Kitchen", KITCHEN)])
    save_plan(store, project_id, replace(PLAN, n_ballots=1))
    run_people(store, project_id, 1)
    rng = np.random.default_rng(2)
    for name, words in MODELS.items():
        rows = rng.normal(size=(len(words), 5))
        import_into(store, project_id, write(tmp_path, array(words, rows), f"{name}.kv"), trusted=True)
    lower = next(of for of in read_embeddings(store, project_id) if of.name == "lower")
    set_lookup(store, project_id, lower.id, LookUp(lower=True))
    files = read_published(publish(store, project_id).data).files
    names = [name for name in files if name.startswith("formats/gensim")]
    assert names == ["formats/gensim-2.tsv", "formats/gensim-3.tsv", "formats/gensim.tsv"]
    card = files["README.md"].decode()
    assert "with tokens as the compared models spell them, such as rolling\\_pin" in card
    stored = read_stored(store, project_id)
    for of in read_embeddings(store, project_id):
        model = KeyedVectors.load(str(tmp_path / f"{of.name}.kv"))
        ours = evaluate(stored, open_library(store, of), notion="similarity").overall
        found = {}
        for name in names:
            path = tmp_path / "pairs.tsv"
            path.write_bytes(files[name])
            try:
                told = model.evaluate_word_pairs(str(path), case_insensitive=False, restrict_vocab=len(model))
            except ValueError:  # of fewer than two pairs that it covers
                continue
            _, rho, missing = told
            found[round(ours.n_items * (1 - missing / 100))] = rho.statistic
        assert max(found) == ours.n_covered
        assert found[ours.n_covered] == pytest.approx(ours.rho.estimate)


def array(words, rows) -> bytes:
    """Words, some with a space in them, as gensim's own file holds them."""
    import pickle

    from gensim.models import KeyedVectors

    vectors = KeyedVectors(rows.shape[1])
    vectors.add_vectors(list(words), rows.astype(np.float32))
    return pickle.dumps(vectors, protocol=4)


def test_one_file_for_gensim_where_the_models_agree(store, project, tmp_path):
    """And none of its tokens is spelled otherwise where no model is there, as before."""
    files = read_published(publish(store, project).data).files
    assert [name for name in files if "gensim" in name] == ["formats/gensim.tsv"]
    lines = files["formats/gensim.tsv"].decode().splitlines()
    stored = read_stored(store, project)
    pairs = list(zip(stored["token_a"], stored["token_b"], strict=True))
    assert [tuple(line.split("\t")[:2]) for line in lines] == pairs


def test_the_card_has_the_baselines_as_the_command_tells_them(store, project, tmp_path, capsys):
    from core.__main__ import main

    made = publish(store, project)
    (tmp_path / "dataset.zip").write_bytes(made.data)
    card = read_published(made.data).files["README.md"].decode()
    (seed,) = re.findall(r"--baselines --seed (\d+)`", card)
    ask = ["evaluate", str(tmp_path / "dataset.zip"), "--spelling", "substring", "--baselines", "--seed", seed]
    with pytest.raises(SystemExit):
        main([*ask, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in told["baselines"]] == [
        "a random ranking", "spelling: longest common substring", "spelling: Jaro–Winkler",
        "spelling: character n-grams",
    ]  # fmt: skip
    for row in told["baselines"]:
        figures = (f"{row[key]['estimate']:.3f}".replace("-", "−") for key in ("rho_w", "tau_w", "rho", "tau"))
        assert f"| {row['model']} | {' | '.join(figures)} |" in card
    assert told["baselines"][1]["rho_w"]["estimate"] == told["models"][0]["rho_w"]["estimate"]
    assert "*chance* above is the mean of others" in card  # where the two tables part in their last digits
    with pytest.raises(SystemExit):
        main(ask)
    assert "a random ranking" in capsys.readouterr().out


def test_a_split_is_by_tokens_and_told(store, project):
    save_fields(store, project, SheetFields(dev_share=0.4, split_seed=3))
    files = read_published(publish(store, project).data).files
    parts = {name: pd.read_parquet(io.BytesIO(files[f"data/{name}.parquet"])) for name in ("dev", "test", "all")}
    tokens = {name: set(part["token_a"]) | set(part["token_b"]) for name, part in parts.items()}
    assert not tokens["dev"] & tokens["test"]
    assert len(parts["all"]) == 21
    said = files["datasheet.md"].decode()
    assert f"dev has {len(parts['dev'])} items" in said
    assert "  - split: dev\n    path: data/dev.parquet" in files["README.md"].decode()


def test_a_format_that_cannot_hold_the_tokens_is_left_out_and_named(store):
    project = create_project(store, "Tags")
    add_areas(store, project, [AreaTokens("Tags", ("#a", "#b", "#c", "#d"))])
    save_plan(store, project, PLAN)
    run_people(store, project, 1, lambda shown: "left")
    made = publish(store, project)
    assert list(made.left_out) == ["formats/gensim.tsv"]
    files = read_published(made.data).files
    assert "formats/gensim.tsv" not in files
    card = files["README.md"].decode()
    assert "| `formats/gensim.tsv`" not in card
    assert "Not in it: formats/gensim.tsv. " in card
    assert "evaluate_word_pairs" not in card
    assert "formats/simlex.tsv" in files


SECOND = Path(__file__).parents[1] / "cases" / "second"
ODD_TOKENS = ("null", "NA", "nan", "None", "007", "1e5", "TRUE", "-", "N/A", "inf", "a, b", "ice cream")


def blocks_of(card: bytes) -> list[str]:
    """The Python that a card shows."""
    return re.findall(r"```python\n(.*?)```", card.decode(), re.DOTALL)


def unpacked(data: bytes, folder: Path, stem: str) -> Path:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder / stem)
    return folder / stem


def archived(store, file: str) -> str:
    return import_archived(store, "words", [(file, (SECOND / file).read_bytes())]).project_id


def of_tokens(store, tokens) -> str:
    project_id = create_project(store, "Odd words")
    add_areas(store, project_id, [AreaTokens("NA", tuple(tokens))])
    save_plan(store, project_id, PLAN)
    run_people(store, project_id, 1)
    return project_id


@pytest.fixture(scope="module", params=["the case", "words that look like values", "words with marks", "marks inside"])
def odd_words(request, tmp_path_factory):
    """A dataset of odd words as it is published, and as it is stored."""
    with open_apart(tmp_path_factory.mktemp("odd") / "workspace") as store:
        if request.param == "the case":
            project_id = archived(store, "100-missing-words.csv")
        else:
            marked = ('5" nail', 'a "b"', "it's", "#tag", "a", *(() if "inside" in request.param else ('"', '"air')))
            project_id = of_tokens(store, marked if "marks" in request.param else ODD_TOKENS)
        return publish(store, project_id), read_stored(store, project_id)


class TestOtherPeoplesReaders:
    """What the card says in code is carried out as it stands there, after the zip was unpacked as it says."""

    @pytest.fixture
    def made(self, odd_words, tmp_path, monkeypatch):
        published, _ = odd_words
        card = read_published(published.data).files["README.md"].decode()
        [(file, folder)] = re.findall(r"^    unzip (\S+) -d (\S+)$", card, re.MULTILINE)
        assert file == published.filename
        unpacked(published.data, tmp_path, folder)
        monkeypatch.chdir(tmp_path)
        return odd_words

    def block(self, made, holds: str) -> str:
        """The one piece of Python of the card that has this in it."""
        [code] = [block for block in blocks_of(read_published(made.data).files["README.md"]) if holds in block]
        return code

    def run(self, made, holds: str) -> dict:
        found: dict = {}
        exec(self.block(made, holds), found)  # as a reader of the card would
        return found

    def same(self, frame: pd.DataFrame, stored: pd.DataFrame) -> None:
        assert len(frame) == len(stored)
        for column in stored.columns:
            pd.testing.assert_series_equal(
                frame[column], stored[column], check_dtype=False, check_names=False, check_index_type=False
            )

    def test_pandas(self, made):
        self.same(self.run(made[0], "pd.read_csv(")["dataset"], made[1])
        self.same(self.run(made[0], "pd.read_parquet(")["dataset"], made[1])

    def test_pyarrow(self, made):
        self.same(self.run(made[0], "csv.read_csv(")["table"].to_pandas(), made[1])

    def test_pandas_with_tabs_as_the_card_says_in_a_sentence(self, made):
        code = next(
            block for block in blocks_of(read_published(made[0].data).files["README.md"]) if "read_csv(\n" in block
        )
        for path, skipped in (("formats/dataset.tsv", []), ("formats/simlex.tsv", ["word1", "word2"])):
            if path in made[0].left_out:
                continue
            moved = code.replace("dataset.csv", path).replace("    dtype=", '    sep="\\t",\n    dtype=')
            moved = moved.replace('"token_a": str', '"token_a": str, "word1": str, "word2": str')
            found: dict = {}
            exec(moved, found)
            frame = found["dataset"].rename(columns={"word1": "token_a", "word2": "token_b"})
            assert frame["token_a"].tolist() == made[1]["token_a"].tolist()
            assert frame["token_b"].tolist() == made[1]["token_b"].tolist()
            # pandas' ordinary way to read decimals may miss the last bit, and in version 2.2 it does.
            assert frame["score"].tolist() == pytest.approx(made[1]["score"].tolist(), rel=1e-15)
            assert set(skipped).isdisjoint(frame.columns)

    def test_gensim(self, made, tmp_path):
        from gensim.models import KeyedVectors
        from scipy.stats import spearmanr

        stored = made[1]
        tokens = sorted({*stored["token_a"], *stored["token_b"]})
        vectors = KeyedVectors(5)
        vectors.add_vectors(tokens, np.random.default_rng(1).normal(size=(len(tokens), 5)))
        code = self.block(made[0], "KeyedVectors")
        code = code.replace('KeyedVectors.load_word2vec_format("model.vec")', "given")
        found = {"given": vectors}
        exec(code.replace("\nmodel.eval", "\nfound = model.eval"), found)
        _, rho, missing = found["found"]
        cosines = [vectors.similarity(a, b) for a, b in zip(stored["token_a"], stored["token_b"], strict=True)]
        assert missing == 0
        assert rho.statistic == pytest.approx(spearmanr(stored["score"], cosines).statistic, abs=1e-12)

    def test_a_file_that_a_default_reader_garbles_is_left_out_and_named(self, made):
        files = read_published(made[0].data).files
        has_marks = any(token.startswith('"') for token in {*made[1]["token_a"], *made[1]["token_b"]})
        assert ("formats/simlex.tsv" in made[0].left_out) == has_marks == ("formats/simlex.tsv" not in files)
        assert ("Not in it: formats/simlex.tsv. " in files["README.md"].decode()) == has_marks
        if not has_marks:
            frame = pd.read_csv(io.BytesIO(files["formats/simlex.tsv"]), sep="\t", dtype=str, keep_default_na=False)
            assert frame["word1"].tolist() == made[1]["token_a"].tolist()

    def test_what_defaults_lose_is_counted(self, made):
        stored = made[1]
        plain = pd.read_csv(io.BytesIO(read_published(made[0].data).files["dataset.csv"]))
        lost = {
            token
            for column in ("token_a", "token_b")
            for token, there in zip(stored[column], plain[column].notna(), strict=True)
            if not there
        }
        card = read_published(made[0].data).files["README.md"].decode()
        n = len({*stored["token_a"], *stored["token_b"]})
        assert (f"would lose {len(lost)} of {n} tokens" in card) == bool(lost)

    @pytest.mark.libraries
    def test_datasets(self, libraries, made, tmp_path):
        names = ["token_a", "token_b", "score"]
        code = self.block(made[0], "the unpacked folder")
        code += f"import json\nprint(json.dumps([list(dataset[name]) for name in {names}]))"
        env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")}
        run = subprocess.run([libraries, "-c", code], capture_output=True, text=True, env=env, check=True, cwd=tmp_path)
        assert json.loads(run.stdout) == [made[1][name].tolist() for name in names]


@pytest.fixture
def voted(store):
    """A project with its voting page open, and somebody at it who gave three votes."""
    project_id, code = start(store)
    voter = Voter(store, code)
    for _ in range(3):
        voter.vote()
    return project_id, voter


def test_the_files_are_of_one_state_though_votes_come_in_while_they_are_read(store, voted, monkeypatch):
    project_id, voter = voted
    before = publish(store, project_id)
    record_of = publishing.record_of

    def meanwhile(*args):
        voter.vote()
        return record_of(*args)

    monkeypatch.setattr(publishing, "record_of", meanwhile)
    made = publish(store, project_id)
    assert made.data == before.data
    monkeypatch.undo()
    after = publish(store, project_id)
    assert [one.detail["votes"] for one in (before, made, after)] == [3, 3, 4]
    assert after.revision == before.revision


def test_votes_that_come_in_meanwhile_hinder_no_version_and_a_command_does(store, voted, monkeypatch):
    project_id, voter = voted
    before = publish(store, project_id, "1.0").data
    measured = publishing.facts_of.measured

    def voting(*args):
        voter.vote()
        return measured(*args)

    def changing(*args):
        with command(store, project_id, "something else"):
            return measured(*args)

    monkeypatch.setattr(publishing.facts_of, "measured", voting)
    assert release_bytes(store, release(store, project_id, "1.0")) == before
    monkeypatch.setattr(publishing.facts_of, "measured", changing)
    with pytest.raises(StoreError, match="changed while"):
        release(store, project_id, "1.1")
    monkeypatch.undo()
    with pytest.raises(StaleError):
        release(store, project_id, "1.1", expected_revision=1)
    assert [found.version for found in read_releases(store, project_id)] == ["1.0"]


def test_nothing_to_publish(store):
    with pytest.raises(StoreError, match="needs votes"):
        publish(store, make_project(store))


def test_simulated_votes_are_named_everywhere(store):
    project = make_project(store, kind="trial")
    run_simulated(store, project, 1)
    made = publish(store, project)
    assert "simulated" in made.filename
    files = read_published(made.data).files
    for name in ("README.md", "datasheet.md", "datasheet.html"):
        assert "simulated voters" in files[name].decode(), name


class TestReading:
    FILES: ClassVar = {"dataset.csv": b"token_a,token_b,score\na,b,0.5\n", "dataset.json": b"{}"}

    def test_whole(self):
        data = write_published(self.FILES, version="1", title="t")
        assert is_published(data)
        assert read_published(data).files == self.FILES
        assert read_dataset(data)["score"].tolist() == [0.5]

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            (lambda m: {**m, "dataset.csv": b"token_a,token_b,score\na,b,0.6\n"}, "dataset.csv: was changed"),
            (lambda m: {k: v for k, v in m.items() if k != "dataset.json"}, "dataset.json: is missing"),
            (lambda m: {**m, "more.csv": b""}, "more.csv: isn't in the manifest"),
            (lambda m: {**m, "../up.csv": b""}, "such a name"),
            (lambda m: {**m, "/etc/x": b""}, "such a name"),
            (lambda m: {k: v for k, v in m.items() if k != MANIFEST}, "no manifest.json"),
            (lambda m: {**m, MANIFEST: b"{"}, "isn't that of a published dataset"),
            (lambda m: {**m, MANIFEST: b'{"format": "runoff dataset 9", "files": {}}'}, "format 'runoff dataset 9'"),
        ],
    )
    def test_changed(self, change, what):
        with zipfile.ZipFile(io.BytesIO(write_published(self.FILES, version="1", title="t"))) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with pytest.raises(InputError, match=what):
            read_published(pack(change(members).items()))

    @pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"x" * 99])
    def test_no_zip(self, data):
        assert not is_published(data)
        with pytest.raises(InputError, match="isn't a zip file"):
            read_published(data)

    def test_a_cut_file(self):
        data = write_published(self.FILES, version="1", title="t")
        for n in (10, len(data) // 2, len(data) - 5):
            with pytest.raises(InputError):
                read_published(data[:n])


@pytest.mark.libraries
def test_hugging_face_datasets_loads_the_folder(libraries, store, project, tmp_path):
    save_fields(store, project, SheetFields(title='A "title": of *tokens* # and more', dev_share=0.4, split_seed=3))
    folder = tmp_path / "published"
    with zipfile.ZipFile(io.BytesIO(publish(store, project).data)) as archive:
        archive.extractall(folder)
    code = (
        "import json, sys; from datasets import load_dataset\n"
        "d = load_dataset(sys.argv[1]); v = load_dataset(sys.argv[1], 'votes')\n"
        "whole = load_dataset(sys.argv[1], 'all', split='test')\n"
        "print(json.dumps([{k: len(p) for k, p in d.items()}, len(v['train']),"
        " list(whole['token_a']), list(whole['score'])]))"
    )
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")}
    run = subprocess.run([libraries, "-c", code, str(folder)], capture_output=True, text=True, env=env, check=True)
    sizes, n_votes, tokens, scores = json.loads(run.stdout)
    stored = read_stored(store, project)
    dev = pd.read_parquet(folder / "data" / "dev.parquet")
    assert sizes["dev"] == len(dev)
    assert n_votes == stored.attrs["votes"]
    assert tokens == stored["token_a"].tolist()
    assert scores == stored["score"].tolist()


def test_the_card_says_what_a_models_figure_lies_between_and_the_command_gives_its_share(
    store, project, tmp_path, capsys
):
    """By hand: chance by `chance`, the best of the project's own page, and the share of them."""
    from core.__main__ import main
    from core.commands.figures import evaluation
    from core.evaluation.chance import chance

    made = publish(store, project)
    dataset = read_stored(store, project)
    scores = dataset["score"].dropna().to_numpy()
    by_chance = {name: of.mean for name, of in chance(scores, np.arange(len(scores))).items()}
    best = evaluation.top_of(store, project, 2.0).ceilings
    card = read_published(made.data).files["README.md"].decode()
    for name, sign in (("rho_w", "ρ_w"), ("tau_w", "τ_w")):
        ends = (f"{value:.3f}".replace("-", "−") for value in (by_chance[name], best[name]))
        assert f"| {sign} | {' | '.join(ends)} |" in card
    assert "    share = (figure − chance) / (best − chance)" in card

    (tmp_path / "dataset.zip").write_bytes(made.data)
    pairs = dataset.rename(columns={"score": "similarity"})[["token_a", "token_b", "similarity"]]
    pairs.assign(similarity=pairs["similarity"].rank() / 100).to_csv(tmp_path / "same.csv", index=False)
    ask = ["evaluate", str(tmp_path / "dataset.zip"), str(tmp_path / "same.csv")]
    with pytest.raises(SystemExit):
        main([*ask, "--json"])
    figures = json.loads(capsys.readouterr().out)["models"][0]
    for name in ("rho_w", "tau_w"):
        ends = chance(scores, scores)[name].mean, best[name]
        assert (figures[name]["chance"], figures[name]["ceiling"]) == pytest.approx(ends)
        assert figures[name]["share"] == pytest.approx((figures[name]["estimate"] - ends[0]) / (ends[1] - ends[0]))
    assert figures["rho_w"]["estimate"] == pytest.approx(1)  # it ranks as the votes do, better than the truth would
    assert figures["rho_w"]["share"] > 1
    assert "share" not in figures["rho"]
    with pytest.raises(SystemExit):
        main(ask)
    text = capsys.readouterr().out
    assert text.splitlines()[2].split() == ["model", "covered", "ρ_w", "share", "τ_w", "share", "ρ", "τ"]
    assert f"{figures['rho_w']['share']:.4f}" in text
    assert "share: 0 is chance, 1 the best that these votes allow" in text
