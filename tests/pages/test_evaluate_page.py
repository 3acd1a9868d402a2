"""The Evaluate page in depth: policies, both intervals, what is told apart, reasons, parts and variants."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_words import turn_to

from core.commands.figures import evaluation, evaluation_inputs
from core.evaluation import POLICIES
from core.evaluation.token_intervals import PairwiseDifference
from core.evaluation.vote_intervals import ModelDifference
from core.store.engine import now
from core.views.evaluate import evaluate_page, leaderboard
from core.views.evaluate import token_intervals as evaluate_tokens

ROOT = Path(__file__).resolve().parents[2]


def found_of(store, view, name: str):
    """A figure of the evaluation, measured now."""
    return evaluation.figure_of(name, "demo", view, 1).measure(store, None)[0]


def resampled_tokens(store, view) -> evaluate_tokens.TokenIntervalsView:
    return evaluate_tokens.tokens_view(view, found_of(store, view, "tokens"))


def add(store, folder, name: str, *, lacking: tuple[str, ...] = (), noise: float = 1.0) -> None:
    """Another embedding of the demo: its own with noise, without some tokens."""
    import sqlalchemy as sa

    from core import worker
    from core.store import schema as t
    from core.store.projects.embedding_library import open_library, read_embeddings

    (first, *_) = read_embeddings(store, "demo")
    embedding = open_library(store, first)
    tokens = pd.read_csv(ROOT / "data" / "areas.csv")["token"].tolist()
    words = [word for word in tokens if word not in embedding.reasons(tokens) and word not in lacking]
    vectors = embedding.vectors(words)
    vectors = vectors + noise * np.random.default_rng(len(name)).normal(size=vectors.shape)
    lines = [
        f"{w.replace(' ', '_')} {' '.join(f'{x:.4f}' for x in row)}\n" for w, row in zip(words, vectors, strict=True)
    ]
    path = folder / f"{name}.txt"
    path.write_text("".join(lines))
    row = {"id": name, "project_id": "demo", "kind": "import_embedding", "params": {"path": str(path), "name": name}}
    with store.write() as conn:
        conn.execute(sa.insert(t.job).values(**row, state="queued", created_at=now()))
    worker.run(name)


@pytest.fixture
def view(demo, tmp_path) -> evaluate_page.EvaluateView:
    add(demo, tmp_path, "Noisy", noise=2.0)
    add(demo, tmp_path, "Lacking", lacking=("sales", "worker"), noise=0.2)
    return evaluate_page.load(demo, "demo", 2.0, "relatedness")


def words(app) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error, app.subheader)
    return " ".join(element.value for kind in kinds for element in kind)


@pytest.mark.release
def test_a_leaderboard_of_a_hundred_and_twenty_models(demo, visit, monkeypatch) -> None:
    """All of them in one table, which scrolls; the chart shows the first ones, and says so."""

    class Noisy:
        """The demo's embedding, its cosines with so much noise."""

        def __init__(self, embedding, noise: float) -> None:
            self.embedding, self.noise = embedding, noise

        def __getattr__(self, name: str):
            return getattr(self.embedding, name)

        def cosines(self, *of):
            found = self.embedding.cosines(*of)
            return found + self.noise * np.random.default_rng(1).standard_normal(len(found))

    named, opened, n = evaluation_inputs.embeddings_of, evaluation_inputs.open_library, 120
    monkeypatch.setattr(
        evaluation_inputs,
        "embeddings_of",
        lambda *of: [replace(named(*of)[0], name=f"Model {number}") for number in range(1, n + 1)],
    )
    monkeypatch.setattr(
        evaluation_inputs,
        "open_library",
        lambda store, of: Noisy(opened(store, of), 0.003 * int(of.name.removeprefix("Model "))),
    )
    app = visit("evaluate", "demo")
    assert not app.exception
    (table,) = [frame.value for frame in app.dataframe if "rank" in frame.value]
    assert len(table) == n
    assert table["rank"].iloc[0] == "1"
    (column,) = [name for name in table if name.startswith("ρ_w")]
    figures = [float(text.split()[0].replace("−", "-")) for text in table[column]]
    assert figures == sorted(figures, reverse=True)
    assert "The chart shows the first 12 of 120 embeddings, the table all of them." in words(app)
    (chart,) = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    assert chart["height"] < 1200
    turn_to(app, "Differences")
    assert not app.exception


@pytest.mark.release
def test_a_model_over_fewer_items_is_marked(demo, view, visit) -> None:
    assert view.unfair == ""
    assert set(view.common["items"]) == {722 - 2 * 19}
    own = evaluate_page.load(demo, "demo", 2.0, "relatedness", "own")
    assert list(own.overall["lacks items of"]) == ["", "", "GloVe 6B 50d, 20,000 words, Noisy"]
    assert "Lacking lacks items" in own.unfair
    evaluation.keep_figures(demo, "demo", names=["top"])
    lowest = evaluate_page.load(demo, "demo", 2.0, "relatedness", "lowest")
    assert not len(lowest.common)
    assert lowest.overall["Pearson"].isna().all()  # each lacks "machine learning" and "parental leave"
    assert lowest.overall["Pearson"].dtype == lowest.table["Pearson"].dtype == "float64"  # a number all the same
    app = visit("evaluate", "demo")
    assert not app.exception
    assert leaderboard.POSSIBLE in app.table[0].value
    assert "those that all cover" in words(app)
    policy = next(box for box in app.selectbox if box.label == "Tokens that an embedding lacks")
    assert len(policy.options) == len(POLICIES)
    policy.set_value("own").run()
    assert not app.exception
    assert "a higher figure over fewer items is no win" in words(app)


@pytest.mark.release
def test_tokens_say_what_is_told_apart(demo, view) -> None:
    tokens = resampled_tokens(demo, view)
    assert tokens.problem == ""
    table = evaluate_tokens.figures_table(tokens.compared)
    assert len(table) == 3 * 6
    assert (table["token lower"] < table["token upper"]).all()
    assert table["lower"].isna().all()
    told = tokens.told("rho")
    assert len(told) == 3
    shown = evaluate_tokens.table_of(told, "tokens", 76)
    for pair, needed in zip(told, shown["tokens needed"], strict=True):
        assert (needed == "") == pair.is_apart
    names = ["a", "b"]
    groups = evaluate_tokens.groups_of(names, ())
    assert groups["group"].tolist() == ["A", "A"]
    assert evaluate_tokens.not_told_apart_text(names, {"votes": ()}) == ""
    near, far = (
        PairwiseDifference("a", "b", 0.1, 0.1, 0.1, -0.1, 0.3, 0.84, 0.32),
        PairwiseDifference("a", "b", 0.1, 0.1, 0, 0.1, 0.1, 1, 0.0),
    )
    assert evaluate_tokens.not_told_apart_text(names, {"votes": (near,), "tokens": (far,)}) == (
        "not told apart from b with other voters; told apart from the other with other tokens"
    )
    assert evaluate_tokens.not_told_apart_text(names, {"votes": (far,), "tokens": (far,)}).endswith(
        " with other voters or other tokens"
    )
    assert "can't tell apart a and b" in evaluate_tokens.unclear((near,), "votes")
    again = resampled_tokens(demo, view)
    assert evaluate_tokens.figures_table(again.compared).equals(table)


@pytest.mark.release
def test_floor_and_top(demo, view) -> None:
    floor = found_of(demo, view, "floor")
    assert floor.floor["model"].tolist()[0] == evaluation.RANDOM
    assert len(floor.floor) == 4
    lower, upper = floor.band("ρ")
    assert lower < 0 < upper
    top = found_of(demo, view, "top")
    assert top.top["model"].tolist() == [evaluation.HALVES, evaluation.CEILING]
    halves, ceiling = top.top["ρ_w"]
    assert halves < ceiling <= 1
    assert top.ceilings == {"rho_w": ceiling, "tau_w": top.top["τ_w"][1]}
    shown, reasons = leaderboard.with_shares(view, top)
    assert reasons == ()
    for table in (shown.overall, shown.common):
        assert table.columns[list(table.columns).index("ρ_w") + 1] == "ρ_w share"
    rows = shown.common.merge(view.common[["embedding", "ρ_w"]])
    assert len(rows) == 3
    lowest = floor.floor["ρ_w"][0]  # of random rankings of all items: nearly that of the common ones
    assert rows["ρ_w share"].to_numpy() == pytest.approx((rows["ρ_w"] - lowest) / (ceiling - lowest), abs=0.03)
    nothing, why = leaderboard.with_shares(view, evaluation.Scale(top.floor, top.top[:0], ("No votes.",)))
    assert nothing is view
    assert why == (f"{leaderboard.NO_SHARE} No votes.",)


def test_reasons_parts_and_variants(demo, view) -> None:
    why = evaluate_page.load_why(view, 0)
    assert why.top == 72
    assert why.crowded["by_model"].sum() == pytest.approx(2 * 72)
    assert len(why.worst) == 15
    assert set(evaluate_page.contrast(view, 0)["pairs"]) >= {"Computing", "random pairs"}
    points, kept = evaluation.tokens_map(demo, "demo", view.models[0], "Computing")
    assert len(points) == 19
    assert 0 < kept < 1
    curve = found_of(demo, view, "curve")
    at_two = curve[(curve["n0"] == 2) & (curve["figure"] == "ρ_w")]["value"].to_numpy()
    assert at_two == pytest.approx(view.common["ρ_w"].to_numpy())
    bands = evaluate_page.load_bands(demo, "demo", view)
    assert bands.related["n"].sum() == 3 * view.common["items"].iloc[0]
    assert "Tokens page" in bands.source
    variants = found_of(demo, view, "variants")
    plain = variants[variants["cosines"] == "as it is"]["ρ_w"].to_numpy()
    assert plain == pytest.approx(view.overall["ρ_w"].to_numpy())


@pytest.mark.release
def test_what_it_takes_is_simulated_in_a_job_and_shown(demo, view, visit, monkeypatch) -> None:
    import sqlalchemy as sa

    from core import worker
    from core.commands.figures import simulations
    from core.commands.figures.base import params_of, read
    from core.evaluation import sample_size as evaluation_needed
    from core.evaluation.sample_size import Needed, PowerEstimate
    from core.jobs.lifecycle import project_jobs
    from core.store import schema as t
    from core.store.projects.project_commands import get_project

    monkeypatch.setattr(evaluation_needed, "ROUGH", 1)
    monkeypatch.setattr(evaluation_needed, "FINE", 1)
    seen = {}

    def votes(scores, models, taken, **how):
        (figure,) = taken.names
        seen.update(how, figure=figure, n=len(scores))
        return Needed("votes", figure, 0.1, 1200, 900, 1600, 100, 5000, False, (PowerEstimate(1200, 8, 10),))

    monkeypatch.setattr(simulations, "votes_needed", votes)
    names = list(view.compared.names)
    revision = get_project(demo, "demo").revision
    asked = simulations.RequiredSample("demo", revision, view.key, (names[0], names[1], "rho_w", "paper"))
    row = {"id": "needed", "project_id": "demo", "kind": asked.kind, "params": params_of(asked)}
    with demo.write() as conn:
        conn.execute(sa.insert(t.job).values(**row, state="queued", created_at=now()))
    worker.run("needed")
    (job,) = [job for job in project_jobs(demo, "demo", asked.kind) if job.state == "done"]
    assert read(demo, asked, job).result.problems == ()
    assert seen["n"] == view.compared.n_common
    assert seen["votes"][0] == view.dataset.attrs["votes"]
    assert seen["voting"].panel.nonconformity == (0.02, 0.2)
    app = turn_to(visit("evaluate", "demo"), "Differences")
    assert not app.exception
    assert "1,200 votes (900 to 1,600 by simulation error)" in words(app).replace("\\", "")
    assert "tokens" in words(app).split("1,200 votes", 1)[1]
    next(box for box in app.selectbox if box.label == "by").set_value("ρ").run()
    assert not app.exception
    assert any(button.label == "Simulate what it takes" for button in app.button)


def test_votes_are_told_by_figure() -> None:
    of = [
        ModelDifference("a", "b", gap, gap - 1, gap + 1, 0.6, gap, 0.5, figure)
        for gap, figure in ((0.1, "rho_w"), (0.2, "tau"))
    ]
    (told,) = evaluate_tokens.by_votes(tuple(of), "tau")
    assert (told.difference, told.error, told.p) == (0.2, 0.5, pytest.approx(0.8))
    assert evaluate_tokens.by_votes(tuple(of), "rho") == ()


def test_the_better_of_two_stands_first_and_no_p_is_nought() -> None:
    told = PairwiseDifference("Poor", "Good", -0.3, -0.2, 0.1, -0.4, -0.1, 0.02, 0.0)
    table = evaluate_tokens.table_of((told,), "votes", 100)
    row = table.iloc[0]
    assert (row["better"], row["than"], row["surely"]) == ("Good", "Poor", "98%")
    assert row[["difference", "lower", "upper", "as measured", "p (Holm)"]].tolist() == [0.2, 0.1, 0.4, 0.3, 0.0]
    shown = evaluate_tokens.in_words(table, "ρ_w").iloc[0]
    assert (shown["by ρ_w (90% interval)"], shown["p"]) == ("0.200 (0.100 to 0.400)", "< 0.001")


def test_the_leaderboard_has_the_best_first_in_words(demo, view) -> None:
    with_shares, _ = leaderboard.with_shares(view, found_of(demo, view, "top"))

    def board(label: str, told=()):
        """The leaderboard as it is without intervals, with what a perfect model gets."""
        return leaderboard.leaderboard(view, label, told, shares=with_shares, is_coming=False)

    table = board("ρ_w")
    assert list(table) == ["rank", "embedding", "ρ_w", leaderboard.POSSIBLE, "covered"]
    ordered = view.common.sort_values("ρ_w", ascending=False)
    assert table["embedding"].tolist() == ordered["embedding"].tolist()
    assert table["rank"].tolist() == ["1", "2", "3"]
    assert table["ρ_w"].tolist() == [f"**{value:.3f}**".replace("-", "−") for value in ordered["ρ_w"]]
    covered = view.overall.set_index("embedding")["coverage"]
    assert table["covered"].tolist() == [f"{covered[name]:.0%}" for name in table["embedding"]]
    first, second, third = table["embedding"]
    level = PairwiseDifference(second, first, -0.1, -0.1, 0.1, -0.3, 0.1, 0.2, 0.4)
    apart = [PairwiseDifference(third, name, -0.3, -0.3, 0.1, -0.5, -0.1, 0.01, 0.01) for name in (first, second)]
    assert board("ρ_w", (level, *apart))["rank"].tolist() == ["1 to 2", "1 to 2", "3"]
    # No share of the precision is known, and its name says how many are the top.
    assert list(board("top k")) == ["rank", "embedding", "top 20", "covered"]


def test_an_interval_stands_beside_the_figure_that_it_is_about(view) -> None:
    known = view.common.assign(**{"ρ_w corrected": [0.5, 0.25, 0.4], "ρ_w lower": -0.125, "ρ_w upper": 0.625})
    with_bounds = replace(view, common=known)
    table = leaderboard.leaderboard(with_bounds, "ρ_w", (), shares=view, is_coming=False)
    column = f"ρ_w{leaderboard.WITH_INTERVAL}"
    assert sorted(text.replace("\xa0", " ") for text in table[column]) == [
        "**0.250** −0.12 to 0.62", "**0.400** −0.12 to 0.62", "**0.500** −0.12 to 0.62",
    ]  # fmt: skip
    coming = leaderboard.leaderboard(view, "ρ_w", (), shares=view, is_coming=True)
    assert all("interval to come" in text.replace("\xa0", " ") for text in coming[column])


def test_what_the_leader_hides_is_said(view) -> None:
    names = view.common.sort_values("ρ_w", ascending=False)["embedding"].tolist()
    first, second = names[:2]
    areas = pd.DataFrame(
        [(name, area, value) for area in "ab" for name, value in ((first, 0.5), (second, 0.4 if area == "a" else 0.6))],
        columns=["embedding", "area", "ρ_w"],
    )
    by_rho = view.common.assign(ρ=[float(name == second) for name in view.common["embedding"]])
    hidden = leaderboard.beside_the_leader(replace(view, common=by_rho, by_area=areas))
    assert hidden == f"By plain ρ, {second} leads. {first} leads in 1 of 2 areas, {second} in 1."
    same = view.common.assign(ρ=view.common["ρ_w"])
    assert leaderboard.beside_the_leader(replace(view, common=same, by_area=areas[areas["area"] == "a"])) == ""


def test_areas_have_their_best_first_and_say_what_is_not_covered(view) -> None:
    table = leaderboard.by_area(view, "ρ_w", None, None)
    assert list(table) == ["area", "embedding", "ρ_w"]
    assert table["area"].tolist() == [area for area in dict.fromkeys(view.by_area["area"]) for _ in range(3)]
    for area, part in table.groupby("area"):
        rows = view.by_area[view.by_area["area"] == area].sort_values("ρ_w", ascending=False)
        assert part["ρ_w"].tolist() == [f"**{value:.3f}**".replace("-", "−") for value in rows["ρ_w"]]
        lacking = rows["coverage"] < 1
        assert [name.endswith(" covered") for name in part["embedding"]] == lacking.tolist()
    coming = leaderboard.by_area(view, "ρ_w", None, None, coming=("votes", "tokens"))
    assert list(coming) == ["area", "embedding", "ρ_w with other voters", "with other tokens"]


def test_an_open_tab_alone_is_drawn(demo, visit) -> None:
    app = visit("evaluate", "demo")
    assert [table.proto.alt for table in app.table] == ["Leaderboard", "Embeddings by area"]
    turn_to(app, "All figures")
    assert not app.exception
    assert [table.proto.alt for table in app.table] == ["Leaderboard", "Embeddings over all areas"]
    for tab in ("Differences", "Disagreements", "Parts", "Variants"):
        turn_to(app, tab)
        assert not app.exception, tab
    next(group for group in app.get("button_group") if group.label == "Figure").set_value("top k").run()
    assert "top 20" in app.table[0].value
