"""Token lists that trip other programs, from the file to the voters and back: none of them loses or changes a token."""

from __future__ import annotations

import csv
import io
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from embedding_files import text as embedding_text
from embedding_files import write
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from core.charts.evaluation import rank_scatter
from core.dataset.files import to_csv
from core.embeddings import LookUp, load
from core.errors import InputError
from core.platforms import read_results, template, write_batch, write_comparisons
from core.questions.comparison_page import render_preview
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas, read_areas
from core.store.votes.intake import accept_upload, preview_upload
from core.tables import COMPARISONS, KNOWN
from core.tokens.files import AreaTokens, clean_token, invisible_characters, read_areas_file
from core.tokens.lists import MAX_TOKEN_LENGTH
from core.views import tokens as tokens_view
from core.votes.classify import CountingRules, classify
from core.votes.reading import needs_references

CASES = Path(__file__).parents[1] / "fixtures" / "tokens"
TEXTS = ["left_a", "left_b", "right_a", "right_b"]


def read_case(name: str):
    return read_areas_file((CASES / name).read_bytes(), name)


def by_area(name: str) -> dict[str, tuple[str, ...]]:
    return {area.name: area.tokens for area in read_case(name).areas}


def test_20_words_that_look_like_missing_values_stay_text():
    assert by_area("20-tokens-na.csv") == {
        "metals": ("NA", "anvil", "null"),
        "words": ("nan", "None", "n/a", "candle", "N/A"),
    }


def test_22_numbers_stay_the_texts_they_are():
    assert by_area("22-tokens-numeric.csv") == {"numbers": ("007", "1e5", "inf", "3.10", "7")}


def test_24_composed_trimmed_and_nothing_else_changed():
    lists = read_case("24-tokens-unicode.txt")
    (area,) = lists.areas
    expected = ["café", "em\u200bber", "ember", "du\u00adne", "dune", "İzmir", "i\u0307zmir", "ｆlute", "flute"]
    expected += ["straße", "STRASSE", "שלום", "山", "candle"]
    assert list(area.tokens) == expected
    hidden = {token: names for token in area.tokens if (names := invisible_characters(token))}
    assert hidden == {"em\u200bber": ["ZERO WIDTH SPACE"], "du\u00adne": ["SOFT HYPHEN"]}
    said = " ".join(map(str, lists.notes))
    assert "ZERO WIDTH SPACE" in said
    assert "SOFT HYPHEN" in said
    assert said.count("was kept once") == 2  # café and candle


def test_24_a_vocabulary_is_looked_up_in_either_form_and_never_by_a_case_that_changes_letters(tmp_path):
    words = ["cafe\u0301", "izmir", "strasse", "山", "שלום"]
    numbers = np.arange(1, 11, dtype=float).reshape(5, 2)
    model = write(tmp_path, embedding_text(words, numbers), "m.vec")
    tokens = by_area("24-tokens-unicode.txt")["24-tokens-unicode"]
    for look_up in (LookUp(), LookUp(lower=True)):
        found = dict(zip(tokens, load(model, look_up=look_up).found_as(tokens), strict=True))
        assert (found["café"], found["山"], found["שלום"]) == ("cafe\u0301", "山", "שלום")
        assert found["İzmir"] == found["i\u0307zmir"] == found["straße"] == ""
        assert found["STRASSE"] == ("strasse" if look_up.lower else "")


def test_25_formulas_are_neutral_for_people_and_exact_for_programs(store):
    (area,) = read_case("25-tokens-formula.csv").areas
    assert area.tokens == ("=2+3", "+1", "-er", "@home", "'tis")
    project_id, comparisons = drawn(store, area)
    assert tokens_in(comparisons) == set(area.tokens)
    cells = [
        cell for row in csv.reader(io.StringIO(write_comparisons(comparisons).decode("utf-8-sig"))) for cell in row
    ]
    assert {"'=2+3", "'+1", "'-er", "'@home", "'tis"} <= set(cells)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    (row, *_) = csv.DictReader(io.StringIO(write_batch(comparisons).decode()))
    assert tokens_in(read_results(mturk(write_batch(comparisons)), "r.csv").answers) == set(area.tokens)
    assert not row["task_id"].startswith("'")
    counts = accept_upload(store, project_id, mturk(write_batch(comparisons)), "r.csv").counts
    assert counts == {"new": len(comparisons)}
    dataset = pd.DataFrame({"area": ["odd"], "token_a": ["=2+3"], "token_b": ["'tis"], "score": [0.5]})
    assert b"\nodd,=2+3,'tis,0.5\n" in to_csv(dataset)
    assert b"'=2+3,'tis" in to_csv(dataset, spreadsheet=True)


def test_26_spreadsheets_files_in_other_encodings():
    assert by_area("26-tokens-excel-semicolon.csv") == {"meubles": ("fenêtre", "château", "œuvre")}
    assert by_area("26b-tokens-bom.csv") == {"tools": ("anvil", "barge")}
    classic_mac = (CASES / "26-tokens-excel-semicolon.csv").read_bytes().replace(b"\r\n", b"\r")
    assert len(read_areas_file(classic_mac, "mac.csv").areas[0].tokens) == 3


def test_30_emoji_are_told_before_publishing_and_come_back(store):
    (area,) = read_case("30-tokens-emoji.txt").areas
    assert area.tokens == ("anvil", "fire 🔥", "😀", "não", "𠮷野家")
    project_id, comparisons = drawn(store, area)
    view = tokens_view.load(store, project_id)
    assert [token for _, token in view.encoded] == ["fire 🔥", "😀", "𠮷野家"]
    batch = write_batch(comparisons)
    assert not needs_references(batch.decode())
    assert "fire &#x1F525;" in batch.decode()
    assert tokens_in(read_results(mturk(batch), "r.csv").answers) == set(area.tokens)


def test_70_markup_is_shown_literally(store):
    (area,) = read_case("70-markdown-tokens.txt").areas
    expected = ["$x$ and $y$", "*star*", ":smile:", "_under_", "<b>bold</b>", "[link](http://example.invalid)"]
    expected += ["# hash", "`tick`", "50% ~ 60%"]
    assert list(area.tokens) == expected
    _, comparisons = drawn(store, area)
    row = comparisons.iloc[0]
    page = template(n_comparisons=1, notion="relatedness", ties_allowed=True)
    names = [*TEXTS, "area_left", "area_right"]
    odd = dict.fromkeys(names, "<b>bold</b>") | {"task_id": str(row["task_id"])}
    shown = render_preview(page, odd)
    assert "<b>bold</b>" not in shown
    assert shown.count("&lt;b&gt;bold&lt;/b&gt;") >= 4
    pairs = pd.DataFrame(
        [("x", area.tokens[0], area.tokens[4], 1.0, 1.0, 0.5), ("x", "a", "b", 2.0, 2.0, 0.4)],
        columns=["area", "token_a", "token_b", "rank", "model_rank", "cosine"],
    )
    labels = rank_scatter(pairs, pairs.head(0)).to_dict()["datasets"]
    assert f"{area.tokens[0]} – <b>bold</b>" in str(labels)


# There and back


def drawn(store, area: AreaTokens) -> tuple[str, pd.DataFrame]:
    """A project of one area whose first ballot is drawn, and its comparisons."""
    project_id = create_project(store, "Odd", seed=5)
    add_areas(store, project_id, [area])
    assert read_areas(store, project_id) == [area]
    save_plan(store, project_id, PlanSettings(n_ballots=1, appearances=2, task_size=2, n_voters=2))
    return project_id, read_comparisons(store, project_id, draw_next_ballot(store, project_id))


def tokens_in(frame: pd.DataFrame) -> set[str]:
    return {text for name in TEXTS for text in frame[name]}


def answered(batch: bytes, fixed: dict[str, str], after: dict[str, str]) -> bytes:
    """A batch file with every comparison answered “left”, as a platform writes it: all fields quoted."""
    rows = list(csv.DictReader(io.StringIO(batch.decode("utf-8"), newline="")))
    endings = [name.removeprefix("left_a") for name in rows[0] if name.startswith("left_a")]
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    answers = [f"Answer.choice{ending}" for ending in endings]
    writer.writerow(["HITId", "AssignmentId", *fixed, *(f"Input.{name}" for name in rows[0]), *answers, *after])
    for number, row in enumerate(rows):
        chosen = ["left" if row[f"left_a{ending}"] else "" for ending in endings]
        writer.writerow([f"H{number}", f"A{number}", *fixed.values(), *row.values(), *chosen, *after.values()])
    return out.getvalue().encode("utf-8")


def mturk(batch: bytes) -> bytes:
    status = {"WorkerId": "W1", "AssignmentStatus": "Submitted", "SubmitTime": "Mon Jan 05 10:00:00 PST 2026"}
    return answered(batch, status | {"WorkTimeInSeconds": "30"}, {})


def turkle(batch: bytes) -> bytes:
    times = {"AcceptTime": "Sat Nov 28 00:52:56 UTC 2026", "SubmitTime": "Sat Nov 28 00:53:56 UTC 2026"}
    return answered(batch, {"WorkerId": "2", **times, "WorkTimeInSeconds": "60"}, {"Turkle.Username": "anna"})


def plain(comparisons: pd.DataFrame) -> bytes:
    """The table of comparisons as a spreadsheet would save it, every choice filled in."""
    rows = list(csv.reader(io.StringIO(write_comparisons(comparisons).decode("utf-8-sig"), newline="")))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([rows[0], *([*row[:-2], "anna", "left"] for row in rows[1:])])
    return out.getvalue().encode("utf-8")


def comparisons_of(tokens: list[str], area: str) -> pd.DataFrame:
    """Comparisons of all pairs of neighbours in a list with its first pair, two in a task."""
    pairs = list(pairwise(tokens))
    rows = [
        {"question_id": at, "task_id": f"b1-00000000-{at // 2:05d}", "n": at % 2 + 1, "first": 0, "second": 1,
         "flipped": False, **dict(zip(TEXTS, (*pairs[0], *pair), strict=True)),
         "area_left": area, "area_right": area}
        for at, pair in enumerate(pairs)
    ]  # fmt: skip
    return COMPARISONS.check(pd.DataFrame(rows))


@settings(deadline=None)
@example("0", ["", "0", "0" * (MAX_TOKEN_LENGTH + 1)])
@example("0", ["", "", "0" * (MAX_TOKEN_LENGTH + 1)])
@given(st.text(), st.lists(st.text(), min_size=3, max_size=6))
def test_tokens_to_batch_to_results_to_tokens_is_the_identity(name, texts):
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["area", "token"], *([name, text] for text in texts)])
    kept = tuple(dict.fromkeys(token for text in texts if 0 < len(token := clean_token(text)) <= MAX_TOKEN_LENGTH))
    try:
        lists = read_areas_file(out.getvalue().encode("utf-8"), "tokens.csv")
    except InputError:
        # Only what no file can hold in one field, or what leaves nothing.
        given_texts = [clean_token(text) for text in (name, *texts)]
        broken = any(unicodedata.category(character) == "Cc" for text in given_texts for character in text)
        assert broken or not given_texts[0] or not kept
        return
    (area,) = lists.areas
    assert area.name == clean_token(name)
    assert area.tokens == kept
    assume(len(area.tokens) > 1)
    comparisons = comparisons_of(list(area.tokens), area.name)
    batch = write_batch(comparisons)
    for platform, data in (("mturk", mturk(batch)), ("turkle", turkle(batch)), ("plain", plain(comparisons))):
        found = read_results(data, "results.csv")
        assert (found.platform, found.issues) == (platform, ())
        if found.shows_texts:
            assert found.answers[TEXTS].to_numpy().tolist() == comparisons[TEXTS].to_numpy().tolist()
            assert set(area.tokens) == tokens_in(found.answers)
        judged = classify(found.answers, comparisons, KNOWN.empty(), CountingRules(shows_texts=found.shows_texts))
        assert judged.counts()["new"] == len(comparisons)
        assert judged.rows["question_id"].tolist() == comparisons["question_id"].tolist()


@pytest.mark.parametrize("case", ["25-tokens-formula.csv", "30-tokens-emoji.txt", "70-markdown-tokens.txt"])
def test_votes_on_odd_tokens_come_back_through_every_platform(store, case):
    (area,) = read_case(case).areas
    project_id, comparisons = drawn(store, area)
    batch = write_batch(comparisons)
    for data in (mturk(batch), turkle(batch), plain(comparisons)):
        assert preview_upload(store, project_id, data, "r.csv").counts == {"new": len(comparisons)}
