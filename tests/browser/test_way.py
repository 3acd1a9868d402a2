"""The whole way in a real browser, by the pages alone: from a new project to a dataset that gensim reads."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from gensim.models import KeyedVectors
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from core.__main__ import cli
from tests.browser.results import as_turkle, paper_scores
from tests.browser.server import ROOT, Server
from tests.browser.visitor import Visitor
from tests.campaigns import answer_batch, longer_pair

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

# Eight tokens an area; one of each has no vector in the demo's embedding (data/SOURCE.md).
MISSING = {"Computing": "machine learning", "Work & welfare": "parental leave"}
N_ITEMS, SIZES = 56, (56, 28, 14)
UPLOAD = "Result files of Turkle, Mechanical Turk's format, Label Studio, Potato, Toloka, Appen, or any table"


def areas() -> dict[str, list[str]]:
    """Two areas of eight tokens from the demo's list."""
    with (ROOT / "data" / "areas.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["area"], row["token"]) for row in csv.DictReader(file)]
    chosen = {}
    for name, missing in MISSING.items():
        others = [token for area, token in rows if area == name and token != missing]
        chosen[name] = [*others[:7], missing]
    return chosen


def test_from_a_new_project_to_a_dataset_that_gensim_reads(
    own_server: Server, visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    own_server.start()
    visitor = visit(own_server)
    make_project(visitor)
    import_by_upload(visitor)
    add_areas(visitor)
    plan(visitor)
    files: list[list[bytes]] = []
    for number, ballot in enumerate((ballot_with_one_word_unknown, ballot_over_a_restart, ballot_in_turkle), 1):
        visitor.go("Collect")
        visitor.press(f"Draw ballot {number}")
        visitor.says(f"Ballot {number} of 3 is open")
        if number == 1:  # afterwards the way by which votes came
            visitor.check("Turkle")
        batch = visitor.download("Batch (CSV)")
        files.append(ballot(visitor, own_server, batch))
        visitor.says(f"Ballot {number} is closed" if number < 3 else "All ballots are closed: the plan is complete")
    scores, slopes = paper_scores(files)
    look_at_scores(visitor, scores, slopes)
    rho = look_at_evaluation(visitor)
    check_export(visitor, scores, rho, tmp_path)
    visitor.check_no_error()


def make_project(visitor: Visitor) -> None:
    visitor.open()
    visitor.unfold("New project, import")
    form = visitor.main.get_by_test_id("stForm").filter(has=visitor.page.get_by_role("button", name="Create project"))
    form.get_by_label("Name").fill("Way through the pages")
    with visitor.a_run():
        form.get_by_role("button", name="Create project").click()
    visitor.says("The project needs at least two items.")
    expect(visitor.main.get_by_role("heading", level=1)).to_contain_text("Way through the pages")
    assert visitor.project_id != "demo"


def import_by_upload(visitor: Visitor) -> None:
    visitor.go("Embeddings")
    visitor.turn_to("By upload")
    visitor.upload("Embedding file", "demo.bin", (ROOT / "data" / "demo.bin").read_bytes())
    visitor.says("Recognised: word2vec binary, 20,031 words, 50 dimensions")
    visitor.press("Import")
    visitor.says("demo is imported: 20,031 words.")
    visitor.says("1 embedding is compared in this project.")


def add_areas(visitor: Visitor) -> None:
    visitor.go("Tokens")
    for name, tokens in areas().items():
        visitor.main.get_by_label("Area", exact=True).and_(visitor.page.locator("input[type=text]")).last.fill(name)
        visitor.main.get_by_label("Tokens, one per line", exact=True).fill("\n".join(tokens))
        visitor.press("Add area")
        visitor.says(f"Saved: {name}.")
    visitor.says(re.compile(f"{N_ITEMS} items from 16 tokens in 2 areas"))
    visitor.says("has 14 of 16 tokens.")
    missing = {(area, token) for token, area, *_ in visitor.cells("Tokens missing in", n_rows=2)}
    assert missing == set(MISSING.items())


def plan(visitor: Visitor) -> None:
    visitor.go("Plan")
    visitor.fill("Ballots, n_b", "3")
    visitor.choose("The paper’s: opponents at random")
    visitor.fill("Appearances, M", "4")
    visitor.fill("Voters", "6")
    visitor.check("Checks in the ballots")  # off: what the votes come to is worked out by hand
    visitor.says(re.compile(f"196 votes.* 3 ballots.*{N_ITEMS} items.*top {SIZES[-1]}"))
    visitor.press("Save this plan")
    visitor.says("The plan is saved.")


def take(visitor: Visitor, name: str, results: bytes, expected: dict[str, int]) -> None:
    """Upload a result file, compare the preview's counts, and take the votes."""
    visitor.upload(UPLOAD, name, results)
    visitor.says(f"{expected['new votes']:,} new votes.")
    assert {
        what: int(count) for what, _, count, _ in visitor.cells(f"What {name} holds", n_rows=len(expected))
    } == expected
    visitor.press("Accept these votes")
    visitor.says(f"{name} is accepted: {expected['new votes']:,} new votes of")


def ballot_with_one_word_unknown(visitor: Visitor, server: Server, batch: bytes) -> list[bytes]:
    """One voter doesn't know a word, so a comparison stays without a vote. Two tabs see the same."""
    asked = iter(range(1000))
    results = answer_batch(batch, choose=lambda shown: "unknown" if next(asked) == 5 else longer_pair(shown))
    take(visitor, "one.csv", results, {"new votes": 111, "“I don't know a word here”": 1})
    visitor.upload(UPLOAD, "again.csv", results)
    visitor.says("There is nothing new in these files.")
    visitor.page.reload()
    visitor.ready()
    expect(visitor.picker).to_have_value("Way through the pages")
    visitor.says("Ballot 1 of 3 is open: 111 of 112 comparisons have a vote.")
    with visitor.page.context.expect_page() as opened:
        visitor.page.evaluate("window.open(location.href)")
    second: Page = opened.value
    expect(second.get_by_test_id("stMain")).to_contain_text(
        "Ballot 1 of 3 is open: 111 of 112 comparisons have a vote."
    )
    second.close()
    expect(visitor.main.get_by_role("button", name="Close ballot 1")).to_be_disabled()
    visitor.check("Close anyway")
    visitor.press("Close ballot 1")
    return [results]


def ballot_over_a_restart(visitor: Visitor, server: Server, batch: bytes) -> list[bytes]:
    """Half of the results come before the server is killed, half after it is started again."""
    lines = answer_batch(batch).splitlines(keepends=True)
    middle = 1 + len(lines) // 2
    halves = [b"".join(lines[:middle]), b"".join([lines[0], *lines[middle:]])]
    counts = [sum(half.count(f'"{choice}"'.encode()) for choice in ("left", "right", "tie")) for half in halves]
    assert sum(counts) == 56
    take(visitor, "first half.csv", halves[0], {"new votes": counts[0]})
    server.kill()
    server.start()
    visitor.page.reload()
    visitor.ready()
    visitor.faults.clear()  # the tab lost its server for a while
    expect(visitor.picker).to_have_value("Way through the pages")
    visitor.says(f"Ballot 2 of 3 is open: {counts[0]} of 56 comparisons have a vote.")
    assert visitor.download("Batch (CSV)") == batch
    take(visitor, "second half.csv", halves[1], {"new votes": counts[1]})
    visitor.press("Close ballot 2")
    return halves


def ballot_in_turkle(visitor: Visitor, server: Server, batch: bytes) -> list[bytes]:
    """The results come from Turkle."""
    results = as_turkle(answer_batch(batch))
    visitor.upload(UPLOAD, "turkle.csv", results)
    visitor.says("(Turkle), for ballot 3.")
    visitor.press("Accept these votes")
    visitor.says("turkle.csv is accepted: 28 new votes of 3 voters")
    visitor.press("Close ballot 3")
    return [results]


def look_at_scores(visitor: Visitor, scores: dict[frozenset[str], float], slopes: list[float]) -> None:
    visitor.go("Scores")
    visitor.says(f"by 195 votes of 9 people on {N_ITEMS} items.")
    rows = visitor.cells("Ranking of the items")
    best = max(scores.values())
    top = {item for item, score in scores.items() if abs(score - best) < 1e-9}
    assert {frozenset(row[2:4]) for row in rows[: len(top)]} == top
    assert [float(row[1]) for row in rows[: len(top)]] == pytest.approx([best] * len(top))
    for tab, n_figures in {"How it settled": 2, "Random pairs": 2, "Ballot by ballot": 3}.items():  # one is the top
        with visitor.a_run():
            visitor.turn_to(tab)
        figures = visitor.main.get_by_test_id("stVegaLiteChart").locator("canvas, svg")
        expect(figures).to_have_count(n_figures)
        for figure in figures.all():
            expect(figure).to_be_visible()
            expect(figure.locator(".role-mark").first).to_be_attached()
            assert n_colours(figure) > 2
    visitor.says(f"b̂ = {slopes[0]:.3f}")
    visitor.choose("3")
    visitor.says(f"b̂ = {slopes[1]:.3f}")


def n_colours(figure: Locator) -> int:
    """How many colours a figure has on the screen: a blank one has a single one."""
    picture = Image.open(io.BytesIO(figure.screenshot())).convert("RGB")
    return len(picture.getcolors(1 << 24) or ())


def look_at_evaluation(visitor: Visitor) -> float:
    """Figures are there and follow n₀; returns ρ by cos, which gensim can check."""
    visitor.go("Evaluate")
    visitor.says(re.compile(r"reaches ρ_w = −?0\.\d{3} and τ_w = −?0\.\d{3} on 42 of 56 items\."))
    by_two = figures_of(visitor)
    box = visitor.page.get_by_test_id("stPopoverBody")  # it lies outside of the page's main part
    visitor.unfold("How to read this")
    expect(box).to_contain_text("28% of the weight")
    visitor.page.keyboard.press("Escape")
    visitor.unfold("Settings")
    offset = box.get_by_role("spinbutton", name="Offset n₀")
    offset.fill("0")
    with visitor.a_run():
        offset.press("Tab")
    visitor.page.keyboard.press("Escape")
    by_nought = figures_of(visitor)
    assert by_nought["ρ_w"] != by_two["ρ_w"]
    assert by_nought["ρ"] == by_two["ρ"]
    visitor.unfold("How to read this")
    expect(box).to_contain_text("61% of the weight")
    visitor.page.keyboard.press("Escape")
    visitor.unfold("Settings")
    with visitor.a_run():
        box.get_by_role("radio", name="cos (similarity)", exact=True).click()
    visitor.page.keyboard.press("Escape")
    return figures_of(visitor)["ρ"]


def figures_of(visitor: Visitor) -> dict[str, float]:
    """The overall line of the evaluation's table, as downloaded."""
    rows = list(csv.DictReader(io.StringIO(visitor.download("Download all figures (CSV)").decode("utf-8"))))
    line = next(row for row in rows if row["part"] == "overall")
    return {name: float(line[name]) for name in ("ρ_w", "τ_w", "ρ", "τ")}


def check_published(visitor: Visitor, folder: Path) -> None:
    """The zip to publish, from whose votes the command line computes the same scores again."""
    path = folder / "dataset.zip"
    path.write_bytes(visitor.publication())
    replayed = CliRunner().invoke(cli, ["replay", str(path), "--json"])
    assert replayed.exit_code == 0, replayed.output
    told = json.loads(replayed.stdout)
    assert told["passed"]
    assert told["kind"] == "published dataset"


def check_export(visitor: Visitor, scores: dict[frozenset[str], float], rho: float, folder: Path) -> None:
    visitor.go("Export")
    check_published(visitor, folder)
    visitor.unfold("Single files and other formats")
    rows = list(csv.DictReader(io.StringIO(visitor.download("Dataset (CSV)").decode("utf-8"))))
    exported = {frozenset((row["token_a"], row["token_b"])): float(row["score"]) for row in rows}
    assert exported == pytest.approx(scores, abs=1e-12)
    assert len(rows) == N_ITEMS
    assert sum(int(row["votes"]) for row in rows) == 2 * 195
    assert [row["ballots"] for row in rows].count("3") == SIZES[2]
    pairs = folder / "pairs.tsv"
    pairs.write_bytes(visitor.download("For gensim"))
    vectors = KeyedVectors.load_word2vec_format(str(ROOT / "data" / "demo.bin"), binary=True)
    _, spearman, percent_unknown = vectors.evaluate_word_pairs(str(pairs))
    assert len(pairs.read_text(encoding="utf-8").splitlines()) == N_ITEMS
    assert percent_unknown == pytest.approx(100 * 14 / 56)  # seven items of each of the two missing tokens
    assert spearman.statistic == pytest.approx(rho, abs=1e-6)
