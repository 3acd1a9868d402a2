"""Tokens that an embedding proposes: which, where that is kept, and what follows when the embedding is evaluated."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from campaigns import answer_batch, draw_batch
from embedding_files import text, write

from core.__main__ import main
from core.dataset.files import to_csv, to_json
from core.embeddings import LookUp, import_embedding, load
from core.errors import InputError, StaleError, StoreError
from core.evaluation import compare, evaluate
from core.evaluation.compare import KEY, proposed_by
from core.store.projects.archive import copy_without_ballots, export_project, import_project
from core.store.projects.embedding_library import (
    add_embedding,
    adopt_import,
    open_library,
    read_embeddings,
    record_import,
    set_lookup,
)
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project, read_log
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import (
    add_areas,
    add_tokens,
    change_area,
    change_areas,
    correct_spelling,
    origins_of,
    read_areas,
)
from core.store.votes.intake import accept_upload
from core.tokens.files import AreaTokens
from core.tokens.spellings import near_tokens
from core.views import embeddings as embedding_view
from core.views import tokens as tokens_view
from core.views.evaluate import evaluate_page as evaluate_view

# Cosines with the middle of ship and boat, which lies at 45 degrees, can be read off.
WORDS = {
    "ship": [1, 0, 0],
    "boat": [0, 2, 0],
    "Boat": [0, 1, 0.1],
    "deep_sea": [1, 1, 0],
    "ferry": [2, 1, 0],
    "boats": [0, 1, 0],
    "---": [1, 1, 0.01],
    "</s>": [1, 1, 0],
    "void": [0, 0, 0],
    "moon": [0, 0, 1],
    "sea": [1, 2, 0],
    "harbour": [-1, -1, 0],
}
SEA = AreaTokens("Sea", ("ship", "boat", "kraken"))
OTHER = {word: list(row) for word, row in zip(WORDS, np.random.default_rng(3).normal(size=(12, 3)), strict=True)}


@pytest.fixture
def model(tmp_path):
    return write(tmp_path, text(list(WORDS), np.array(list(WORDS.values()), float)), "model.vec")


@pytest.fixture
def other(tmp_path):
    return write(tmp_path, text(list(OTHER), np.array(list(OTHER.values()))), "other.vec")


def put(store, path) -> str:
    """Import a file into the workspace; its id."""
    work = store.incoming / f"{path.name}-work"
    info = import_embedding(path, work)
    id_ = adopt_import(store, work, info.identity)
    with store.write() as conn:
        record_import(conn, id_, name=path.stem, source=str(path), info=info)
    return id_


@pytest.fixture
def project(store, model):
    """A project with the area and the embedding; both ids."""
    project_id, embedding_id = create_project(store, "Sea", kind="trial", seed=4), put(store, model)
    add_embedding(store, project_id, embedding_id)
    add_areas(store, project_id, [SEA])
    return project_id, embedding_id


# Which tokens


def test_the_nearest_words_by_hand(model):
    found = near_tokens(SEA, load(model), 5)
    root = np.sqrt(0.5)
    expected = [("deep sea", 1.0), ("ferry", 3 * root / np.sqrt(5)), ("sea", 3 * root / np.sqrt(5)), ("boats", root)]
    assert found["token"].tolist() == [*(token for token, _ in expected), "Boat"]
    assert found["cosine"].tolist()[:4] == pytest.approx([cosine for _, cosine in expected])
    assert found["nearest"].tolist() == ["ship", "ship", "boat", "boat", "boat"]  # ties go to the first token
    assert found["like"].tolist() == ["", "", "", "boat", "boat"]


def test_fewer_are_asked_for_and_the_rest_stays_away(model):
    assert near_tokens(SEA, load(model), 2)["token"].tolist() == ["deep sea", "ferry"]
    everything = near_tokens(SEA, load(model), 100)["token"].tolist()
    assert not {"ship", "boat", "---", "</s>", "void"} & set(everything)
    assert everything[-1] == "harbour"


def test_a_token_in_another_spelling_is_not_proposed_again(model):
    area = AreaTokens("Sea", ("ship", "deep sea", "BOATS"))
    proposed = near_tokens(area, load(model, look_up=LookUp(lower=True)), 100)["token"].tolist()
    assert not {"deep sea", "deep_sea", "boats"} & set(proposed)


def test_proposals_that_hardly_differ_from_a_nearer_one_say_so(tmp_path):
    words = {"ship": [1, 0], "vessels": [1, 0.1], "vessel": [1, 0.2], "Vessel": [1, 0.3]}
    model = write(tmp_path, text(list(words), np.array(list(words.values()), float)), "m.vec")
    found = near_tokens(AreaTokens("x", ("ship",)), load(model))
    assert found["like"].tolist() == ["", "vessels", "vessel"]  # the most alike of those before


@pytest.mark.parametrize(
    ("tokens", "said"), [(("kraken", "squid"), "none of the tokens"), (("deep sea", "harbour"), "cancel out")]
)
def test_what_has_no_middle_is_told(model, tokens, said):
    with pytest.raises(InputError, match=said):
        near_tokens(AreaTokens("Sea", tokens), load(model))


def test_similarities_have_no_neighbours_of_an_area(tmp_path):
    pairs = load(write(tmp_path, b"token_a,token_b,similarity\nship,boat,0.5\n", "s.csv"))
    with pytest.raises(InputError, match="no vectors"):
        near_tokens(SEA, pairs)


# Where that is kept


def test_added_tokens_keep_their_origin_through_changes_copies_and_files(store, project):
    project_id, embedding_id = project
    add_tokens(store, project_id, SEA, ["ferry", "deep sea"], embedding_id=embedding_id)
    (area,) = read_areas(store, project_id)
    assert area.tokens == (*SEA.tokens, "ferry", "deep sea")
    assert read_log(store, project_id, 1)[0]["detail"]["proposed by"] == embedding_id
    change_area(store, project_id, area, ("ferry", "boat", "deep sea", "ship", "sail"))
    correct_spelling(store, project_id, "Sea", "deep sea", "the deep sea")
    (area,) = read_areas(store, project_id)
    change_areas(store, project_id, [area], [AreaTokens("Ocean", (*area.tokens, "mast"))])
    expected = {("Ocean", "ferry"): embedding_id, ("Ocean", "the deep sea"): embedding_id}
    copies = [import_project(store, export_project(store, project_id)), copy_without_ballots(store, project_id, "Copy")]
    for each in (project_id, *copies):
        with store.read() as conn:
            assert origins_of(conn, each) == expected
        assert tokens_view.load(store, each).proposed == dict.fromkeys(expected, "model")


def test_a_token_that_was_deleted_and_typed_again_is_the_persons_own(store, project):
    project_id, embedding_id = project
    add_tokens(store, project_id, SEA, ["ferry"], embedding_id=embedding_id)
    (area,) = read_areas(store, project_id)
    change_area(store, project_id, area, SEA.tokens)
    change_area(store, project_id, SEA, area.tokens)
    with store.read() as conn:
        assert origins_of(conn, project_id) == {}


def test_tokens_that_are_there_or_of_an_area_that_changed_are_not_added(store, project):
    project_id, embedding_id = project
    with pytest.raises(InputError, match="Sea has boat already"):
        add_tokens(store, project_id, SEA, ["ferry", "boat"], embedding_id=embedding_id)
    with pytest.raises(StaleError):
        add_tokens(store, project_id, AreaTokens("Sea", ("ship", "boat")), ["ferry"], embedding_id=embedding_id)
    assert read_areas(store, project_id) == [SEA]


def test_the_page_gets_proposals_or_the_reason_why_there_are_none(store, project):
    project_id, embedding_id = project
    found = tokens_view.load_proposed(store, project_id, embedding_id, "Sea")
    assert (found.area, found.problem, found.proposed["token"].iat[0]) == (SEA, "", "deep sea")
    change_area(store, project_id, SEA, ("kraken", "squid"))
    assert "none of the tokens" in tokens_view.load_proposed(store, project_id, embedding_id, "Sea").problem
    with pytest.raises(InputError, match="no area Moon"):
        tokens_view.load_proposed(store, project_id, embedding_id, "Moon")


# What follows


def dataset(**attrs) -> pd.DataFrame:
    tokens = ["ship", "boat", "ferry", "deep sea", "sea", "moon"]
    rows = [("Sea", a, b) for at, a in enumerate(tokens) for b in tokens[at + 1 :]]
    frame = pd.DataFrame(rows, columns=["area", "token_a", "token_b"], dtype="str")
    frame["score"] = np.random.default_rng(1).permutation(len(frame)) / len(frame)
    frame.attrs |= attrs
    return frame


def said_by(model, *tokens: str, **changes) -> dict:
    info = load(model, tokens=[]).info
    entry = {"name": "model", "source": info.source, "sha256": info.sha256, "content_hash": info.identity}
    entry["tokens"] = [{"area": "Sea", "token": token} for token in tokens]
    return {KEY: [entry | changes]}


def test_figures_without_the_models_own_tokens_are_those_of_the_smaller_dataset(model, other):
    table = dataset(**said_by(model, "ferry", "moon"))
    rest = table[~table["token_a"].isin(["ferry", "moon"]) & ~table["token_b"].isin(["ferry", "moon"])]
    rest.attrs.clear()
    mine, others = (load(path) for path in (model, other))
    found = evaluate(table, mine)
    assert found.proposed == (("Sea", "ferry"), ("Sea", "moon"))
    assert found.without_proposed == evaluate(rest, mine).overall
    assert found.overall == evaluate(dataset(), mine).overall
    assert found.without_proposed != found.overall
    both = compare(table, [others, mine])
    assert [bool(e.proposed) for e in both.evaluations] == [False, True]
    assert both.without_proposed == (evaluate(rest, others).overall, evaluate(rest, mine).overall)
    assert compare(dataset(), [others, mine]).without_proposed == ()


@pytest.mark.parametrize(
    ("changes", "matches"),
    [
        ({}, True),
        ({"source": "x", "sha256": "x"}, True),
        ({"source": "x", "content_hash": "x"}, True),
        ({"sha256": "x", "content_hash": "x"}, True),  # another version of the file
        ({"source": "x", "sha256": "x", "content_hash": "x"}, False),
    ],
)
def test_a_model_is_known_by_content_file_or_name(model, changes, matches):
    table = dataset(**said_by(model, "ferry", **changes))
    assert bool(proposed_by(table, load(model, tokens=[]).info)) == matches


def test_the_start_of_the_hash_is_enough_where_the_import_is_gone(model):
    info = load(model, tokens=[]).info
    entry = {"embedding": info.identity[:16], "tokens": [{"area": "Sea", "token": "sea"}]}
    assert proposed_by(dataset(**{KEY: [entry]}), info) == (("Sea", "sea"),)


@pytest.mark.parametrize(
    "bad", [["x"], {"a": 1}, [{"source": "model.vec"}], [{"source": "model.vec", "tokens": ["x"]}]]
)
def test_a_description_that_cannot_be_read_is_told(model, bad):
    with pytest.raises(InputError, match="tokens_proposed_by must be a list"):
        evaluate(dataset(**{KEY: bad}), load(model))


def test_the_command_line_warns_too(model, other, tmp_path, capsys):
    table = dataset(**said_by(model, "ferry", "moon"))
    (tmp_path / "d.csv").write_bytes(to_csv(table))
    (tmp_path / "d.json").write_bytes(to_json(table.attrs))
    arguments = ["evaluate", str(tmp_path / "d.csv"), str(model), str(other)]
    with pytest.raises(SystemExit):
        main(arguments)
    out = capsys.readouterr().out
    assert "model.vec: Warning: it proposed tokens of the dataset itself, which favours it: ferry, moon" in out
    assert "Without the items that hold a token which a model proposed" in out
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["models"][0]["proposed_tokens"][0] == {"area": "Sea", "token": "ferry"}
    assert [row["n_items"] for row in found["without_proposed_tokens"]] == [6, 6]


def test_the_command_line_looks_tokens_up_as_it_is_told(model, tmp_path, capsys):
    rows = b"token_a,token_b,score\nShip,deep sea,0.9\nboat,sea ferry,0.5\nship,boat,0.1\n"
    (tmp_path / "d.csv").write_bytes(rows)

    def covered(*options: str) -> tuple[int, dict]:
        with pytest.raises(SystemExit):
            main(["evaluate", str(tmp_path / "d.csv"), str(model), "--json", *options])
        (row,) = json.loads(capsys.readouterr().out)["models"]
        return row["n_covered"], row["found_as"]

    assert covered() == (1, {"deep sea": "deep_sea"})
    assert covered("--lower") == (2, {"Ship": "ship", "deep sea": "deep_sea"})
    assert covered("--multiword", "underscore", "--lower")[0] == 2
    assert covered("--lower", "--multiword", "mean") == (2, {"Ship": "ship", "sea ferry": "sea + ferry"})


def test_a_finished_dataset_says_it_and_the_evaluation_of_the_project_too(store, project, other):
    project_id, embedding_id = project
    add_embedding(store, project_id, put(store, other))
    add_tokens(store, project_id, SEA, ["ferry", "deep sea", "moon"], embedding_id=embedding_id)
    save_plan(store, project_id, PlanSettings(n_ballots=1, appearances=4, task_size=3))
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "r.csv")
    (entry,) = read_project_dataset(store, project_id).attrs[KEY]
    assert [token["token"] for token in entry["tokens"]] == ["ferry", "deep sea", "moon"]
    assert (entry["embedding"], entry["name"], entry["source"]) == (embedding_id, "model", "model.vec")
    view = evaluate_view.load(store, project_id, 2.0, "relatedness")
    assert {e.model: len(e.proposed) for e in view.evaluations} == {"model": 3, "other": 0}
    assert view.without_proposed["embedding"].tolist() == ["model", "other"]
    assert view.without_proposed["items"].tolist() == [3, 3]  # ship, boat and kraken
    assert set(view.table["part"]) >= {"overall", "without proposed"}


# How a project looks tokens up


def test_the_choice_is_used_wherever_the_project_looks_tokens_up(store, project):
    project_id, embedding_id = project
    change_area(store, project_id, SEA, ("Ship", "boat", "sea ferry", "deep sea"))

    def missing() -> set[str]:
        return set(tokens_view.load(store, project_id).coverage[0].missing["token"])

    assert missing() == {"Ship", "sea ferry"}
    set_lookup(store, project_id, embedding_id, LookUp(True, "mean of parts"))
    entry = read_log(store, project_id, 1)[0]
    assert (entry["action"], entry["detail"]["lower"], entry["detail"]["multiword"]) == (
        "set look-up",
        True,
        "mean of parts",
    )
    assert missing() == {"deep sea"}  # its part “deep” isn't there
    coverage = tokens_view.load(store, project_id).coverage[0]
    assert coverage.respelled[["token", "found_as"]].to_numpy().tolist() == [
        ["Ship", "ship"],
        ["sea ferry", "sea + ferry"],
    ]
    assert embedding_view.load(store, project_id, embedding_id).figure3.n_items == 3
    (imported,) = read_embeddings(store, project_id)
    opened = open_library(store, imported)
    assert opened is open_library(store, imported)  # opened once
    assert opened.neighbours("Ship", 1)[0][0] == "ferry"
    set_lookup(store, project_id, embedding_id, LookUp())
    assert missing() == {"Ship", "sea ferry"}


def test_each_project_has_its_own_choice_and_copies_keep_it(store, project):
    project_id, embedding_id = project
    neighbour = create_project(store, "Another")
    add_embedding(store, neighbour, embedding_id)
    set_lookup(store, project_id, embedding_id, LookUp(True, "underscore"))
    assert read_embeddings(store, neighbour)[0].look_up == LookUp()
    copy = import_project(store, export_project(store, project_id))
    assert read_embeddings(store, copy)[0].look_up == LookUp(True, "underscore")


def test_a_choice_that_cannot_be_is_refused(store, project, tmp_path):
    project_id, _ = project
    pairs = put(store, write(tmp_path, b"token_a,token_b,similarity\nship,boat,0.5\n", "s.csv"))
    with pytest.raises(StoreError, match="no longer compared"):
        set_lookup(store, project_id, pairs, LookUp())
    add_embedding(store, project_id, pairs)
    with pytest.raises(InputError, match="no vectors"):
        set_lookup(store, project_id, pairs, LookUp(multiword="mean of parts"))
    set_lookup(store, project_id, pairs, LookUp(True))


def test_near_spellings_of_a_large_vocabulary_wait_until_they_are_asked_for(store, project, monkeypatch):
    project_id, embedding_id = project
    change_area(store, project_id, SEA, ("ship", "boat", "harbor"))
    assert tokens_view.load(store, project_id).coverage[0].missing["near"].tolist() == ["harbour"]
    monkeypatch.setattr(tokens_view, "AT_ONCE", 5)
    waiting = tokens_view.load(store, project_id).coverage[0]
    assert (waiting.has_spellings, waiting.missing["near"].tolist()) == (False, [""])
    asked = tokens_view.load_spellings(store, project_id, embedding_id)
    assert (asked.has_spellings, asked.missing["near"].tolist()) == (True, ["harbour"])


# Hubness


def test_hubness_of_the_projects_tokens_is_seeded_and_sorted(store, project):
    project_id, embedding_id = project
    found = tokens_view.load_hubness(store, project_id, embedding_id, 2)
    # ship and boat; of the other ten words “</s>” isn't drawn, “void” has no vector.
    assert (found.n_tokens, found.n_sampled, found.problem) == (2, 8, "")
    assert found.found.n_queries == 10
    assert found.by_tokens["n_k"].is_monotonic_decreasing
    assert set(found.by_tokens["token"]) == {"ship", "boat"}
    again = tokens_view.load_hubness(store, project_id, embedding_id, 2)
    assert again.by_tokens.equals(found.by_tokens)
    assert again.found.skewness == found.found.skewness
    too_many = tokens_view.load_hubness(store, project_id, embedding_id, 50)
    assert "smaller k" in too_many.problem
    assert too_many.found is None
