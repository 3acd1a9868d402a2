"""Kinds of question on the pages: chosen, planned, drawn, scored; their files read and worked out; kinds compared."""

from __future__ import annotations

import numpy as np
import pytest
from campaigns import AREAS, make_project
from page_words import labelled, press, words
from rounds_of_people import answer_round, batch_of

from core.base.numbers_in_words import with_decimals
from core.questions.rating.files import read_ratings
from core.questions.rating.scales import GoldRating
from core.questions.rating.statistics import alpha, leave_one_out
from core.store.ballots.drawing import draw_round
from core.store.projects.embedding_library import open_library, read_embeddings
from core.store.projects.project_commands import create_from_template, create_project
from core.store.tokens.areas import add_areas, read_areas
from core.views.kinds import rounds
from core.views.kinds.target_groups import from_table
from core.views.voters import load_left_out
from tests.rounds_of_people import SMALL, accept_answers, read_asked, read_rounds

WIDE = b"word1,word2,anna,ben,*cleo*\nship,boat,9,8.5,9\nship,salt,2,4,1\nsea,boat,5,x,6\nsea,salt,7,5,6.5\n"


def tables(app, *columns):
    return [frame.value for frame in app.dataframe if set(columns) <= set(frame.value.columns)]


def of_kind(app, name, tab=None):
    """The page with a kind of question chosen, as its address says it, and one of its tabs open."""
    app.query_params["kind"] = name
    if tab is not None:
        app.session_state[f"scores-tab-{app.session_state['project_id']}-{name}"] = tab
    app.run()
    assert not app.exception
    return app


def opened(app, key):
    """The page with an expander open that is drawn only then."""
    app.session_state[f"{key}-{app.session_state['project_id']}"] = True
    app.run()
    assert not app.exception
    return app


def shown_kinds(app):
    """What the row of buttons offers, and what is chosen; None without one."""
    found = [group for group in app.get("button_group") if group.label == "Kind of question"]
    return (list(found[0].options), found[0].value) if found else None


RATINGS = ("rating", "A file of ratings")
JUDGEMENTS = ("best-worst", "A file of judgements")
GROUPS = ("order", "Files of groups and orders")


def upload(app, label, name, data):
    labelled(app.file_uploader, label).upload(name, data, "text/plain").run()
    assert not app.exception
    return app


def test_ratings_are_worked_out_and_what_was_not_taken_is_listed(demo, visit):
    app = upload(of_kind(visit("scores", "demo"), *RATINGS), "File of ratings", "wide.csv", WIDE)
    table = read_ratings(WIDE, "wide.csv").table
    assert "wide.csv: 11 ratings of 4 items by 3 people, from 1 to 9." in words(app)
    loo, found = leave_one_out(table), alpha(table)
    figures = {metric.label: metric.value for metric in app.metric}
    assert (
        figures["Leave-one-out r"]
        == f"{with_decimals(loo.mean)} ({with_decimals(loo.worst)} to {with_decimals(loo.best)})"
    )
    assert (
        figures["Krippendorff's α"]
        == f"{with_decimals(found.alpha)} ({with_decimals(found.lower)} to {with_decimals(found.upper)})"
    )
    (issues,) = tables(app, "row", "what", "found")
    assert issues.to_dict("records") == [
        {"row": 4, "column": "ben", "what": "is no number, so there is no rating", "found": "x"}
    ]
    (people,) = tables(app, "person", "r")
    assert set(people["person"]) == {"anna", "ben", "*cleo*"}
    assert people["r"].is_monotonic_increasing
    labelled(app.toggle, "Only the 3 items to adjudicate").set_value(True).run()
    assert list(tables(app, "mean", "SD")[0]["second"]) == ["salt", "boat", "salt"]


@pytest.mark.release
def test_models_stand_beside_the_string_baselines(demo, visit):
    tokens = read_areas(demo, "demo")[0].tokens[:6]
    pairs = [(a, b) for i, a in enumerate(tokens) for b in tokens[i + 1 :]]
    (imported, *_) = read_embeddings(demo, "demo")
    cosines = open_library(demo, imported).cosines([a for a, _ in pairs], [b for _, b in pairs])
    rows = [f"{a}\t{b}\t{4 * c + 0.5}" for (a, b), c in zip(pairs, np.nan_to_num(cosines), strict=True)]
    data = "\n".join(["token_a\ttoken_b\tscore", *rows]).encode()
    app = upload(of_kind(visit("scores", "demo"), *RATINGS), "File of ratings", "means.tsv", data)
    assert "who rated what isn't in the file" in words(app)
    assert "The file has means only" in words(app)
    assert [metric.value for metric in app.metric] == ["–", "–", "–", "–"]
    labelled(app.toggle, "Hold them against the means").set_value(True).run()
    assert not app.exception
    (found,) = tables(app, "model", "Pearson")
    assert found["model"][0] == imported.name
    assert found["Pearson"][0] == pytest.approx(1)
    assert {"longest common substring", "greedy string tiling"} <= set(found["model"])


def test_a_file_that_is_no_rating_set_says_what_it_lacks(demo, visit):
    app = upload(of_kind(visit("scores", "demo"), *RATINGS), "File of ratings", "x.csv", b"a_pair,score\nx,1\ny,2\n")
    assert "lacks the columns token_a, token_b" in words(app)


@pytest.mark.release
def test_pasted_groups_are_scored_and_repeats_told(demo, visit):
    one, two, three, four = read_areas(demo, "demo")[0].tokens[:4]
    line = f"{two},0.90,{three},0.10"
    text = f"{one}\n{line}\n{line}\nrandoms\n{two},1.00,{four},0.00\n"
    app = of_kind(visit("scores", "demo"), *GROUPS)
    labelled(app.text_area, "Or paste it").set_value(text).run()
    assert not app.exception
    assert "1 target group, 2 comparisons (1 positive, 0 distractor, 1 random)." in words(app)
    (imported, *_) = read_embeddings(demo, "demo")
    sims = dict(
        zip((two, three, four), open_library(demo, imported).cosines([one] * 3, [two, three, four]), strict=True)
    )
    expected = (0.8 * (sims[two] > sims[three]) + (sims[two] > sims[four])) / 1.8
    (found,) = tables(app, "overall", "positive")
    assert found.set_index("model").loc[imported.name, "overall"] == pytest.approx(expected)
    assert "there is no distractor comparison" in str(tables(app, "figure", "why undefined")[0].values)
    (repeats,) = tables(app, "line", "found")
    assert repeats["line"].tolist() == [3]
    labelled(app.text_area, "Or paste it").set_value("no group\nat,all").run()
    assert "four parts" in words(app)


def test_groups_are_proposed_saved_and_ordered(demo, visit):
    app = of_kind(visit("plan", "demo"), "order")
    assert "The plan has no groups yet." in words(app)
    labelled(app.selectbox, "Area").set_value(0)
    labelled(app.number_input, "Targets per area").set_value(100)
    press(app, "Propose")
    assert not app.exception
    area = read_areas(demo, "demo")[0]
    (table,) = [frame.value for frame in app.get("data_editor")] if app.get("data_editor") else tables(app, "positives")
    groups = from_table(table)
    assert {group.target for group in groups} <= set(area.tokens)
    for group in groups:
        assert set(group.positives) <= set(area.tokens) - {group.target}
        assert not set(group.distractors + group.randoms) & set(area.tokens)
    assert f"{len(groups):,} groups; " in words(app)
    press(app, "Save this plan")
    assert not app.exception
    saved = read_asked(demo, "demo").plans["order"]
    assert list(saved.groups) == groups
    assert "Download the groups (text)" in {button.label for button in app.get("download_button")}
    app = of_kind(visit("collect", "demo"), "order")
    press(app, "Draw round 1")
    (found,) = read_rounds(demo, "demo")
    assert found.settings.groups == saved.groups
    assert found.n_comparisons == len(groups)


@pytest.mark.release
def test_gold_and_experts_beside_ratings(demo, visit):
    app = upload(of_kind(visit("scores", "demo"), *RATINGS), "File of ratings", "wide.csv", WIDE)
    upload(app, "Gold ratings", "gold.csv", b"word1,word2,score\nboat,ship,9\nsea,salt,6\n")
    assert "3 of 3 people pass." in words(app)
    (people,) = tables(app, "near enough", "passed")
    assert people["near enough"].tolist() == [2, 2, 2]
    upload(app, "Experts' ratings", "experts.csv", b"word1,word2,score\nship,boat,8\nsea,salt,6\n")
    (found,) = tables(app, "genre", "lower quartile")
    assert found["mean"].tolist() == pytest.approx([((9 + 8.5 + 9) / 3 - 8 + (7 + 5 + 6.5) / 3 - 6) / 2])


@pytest.mark.release
def test_genres_can_be_held_out(demo, visit):
    one, two, three, four, five, six = read_areas(demo, "demo")[0].tokens[:6]
    rows = [f"{a}\t{b}\t{g}\t{s}" for a, b, g, s in (
        (one, two, "news", 4), (one, three, "news", 1), (two, three, "news", 2),
        (four, five, "slang", 3), (four, six, "slang", 0), (five, six, "slang", 1),
    )]  # fmt: skip
    data = "\n".join(["text_a\ttext_b\tgenre\tscore", *rows]).encode()
    app = upload(of_kind(visit("scores", "demo"), *RATINGS), "File of ratings", "genres.tsv", data)
    labelled(app.multiselect, "Genres held out").set_value(["slang"]).run()
    labelled(app.toggle, "Hold them against the means").set_value(True).run()
    assert not app.exception
    (found,) = tables(app, "model", "Pearson")
    held = found[found["genre"] == "held out"]
    assert set(held["covered"]) == {"3 of 3"}
    assert len(held) == found["model"].nunique()


ORDERS = b"target,voter,word,place\n" + b"".join(
    f"{target},{who},{word},{place}\n".encode()
    for target in ("\u05d6\u05de\u05e8", "*sea*")
    for who, places in (("A", (1, 2, 3)), ("B", (1, 2, 3)), ("C", (1, 3, 2)), ("D", (3, 2, 1)))
    for word, place in zip(("x", "y", "z"), places, strict=True)
)


@pytest.mark.release
def test_orders_of_groups_agree_and_whoever_stands_apart_is_proposed(demo, visit):
    app = upload(of_kind(visit("scores", "demo"), *GROUPS), "File of orders", "orders.csv", ORDERS)
    assert "2 targets ordered by 4 people: mean pairwise ρ −0.083." in words(app)
    (people,) = tables(app, "ρ with others", "proposed")
    assert people["voter"][0] == "D"
    assert people["proposed"].tolist() == [True, False, False, False]
    labelled(app.multiselect, "Leave out").set_value(["D"]).run()
    assert not app.exception
    assert "Without them: mean pairwise ρ 0.667." in words(app)


def test_best_worst_judgements_are_worked_out_and_tuples_drawn(demo, visit):
    rows = ["Item1,Item2,Item3,Item4,BestItem,WorstItem,Annotator,note"]
    rows += [f"a,b,c,d,a,d,W{n}," for n in range(6)] + ["b,c,d,e,b,,W1,", "b,c,d,e,b,e,W1,"]
    app = upload(
        of_kind(visit("scores", "demo"), *JUDGEMENTS), "File of judgements", "bw.csv", "\n".join(rows).encode() + b"\n"
    )
    assert "bw.csv: 7 judgements of 5 items, 4 at a time, by 6 voters." in words(app)
    assert "Columns that aren't read: note." in words(app)
    (found,) = tables(app, "θ", "count")
    assert (found["item"][0], found["count"][0], found["shown"][0]) == ("a", 1.0, 6)
    (issues,) = tables(app, "row", "what", "found")
    assert issues["what"].tolist() == ["the worst is missing"]
    app = opened(of_kind(visit("plan", "demo"), "best-worst"), "tuples")
    press(app, "Draw the tuples")
    assert not app.exception
    data = app.session_state["_tuples"][1]
    assert data.startswith(b"tuple,item_1,item_2,item_3,item_4,best,worst,voter\n1,")


@pytest.mark.release
def test_best_and_worst_that_can_be_items_or_places_are_asked_about(demo, visit):
    data = b"item_1,item_2,item_3,best,worst\n3,1,2,1,3\n2,3,1,1,3\n"
    app = upload(of_kind(visit("scores", "demo"), *JUDGEMENTS), "File of judgements", "bw.csv", data)
    assert "row 2 shows 3, 1, 2, and its best is 1, which stands at place 2, while place 1 holds 3" in words(app)
    assert not tables(app, "θ", "count")
    labelled(app.radio, "Best and worst are").set_value("places, 1 the first").run()
    assert not app.exception
    (found,) = tables(app, "θ", "count")
    assert found.set_index("item")["best"].to_dict() == {"3": 1, "2": 1, "1": 0}


@pytest.mark.release
def test_the_projects_scores_beside_a_file(demo, visit):
    from core.store.scores.project_dataset import read_project_dataset

    dataset = read_project_dataset(demo, "demo").dropna(subset=["score"]).head(12)
    rows = [f"{b},{a},{s}" for a, b, s in dataset[["token_a", "token_b", "score"]].itertuples(index=False)]
    data = "\n".join(["word1,word2,score", *rows, "nobody,knows,1"]).encode()
    app = upload(opened(visit("plan", "demo"), "side"), "Second file", "other.csv", data)
    assert "12 items scored by both this project's scores and other.csv." in words(app)
    (figures,) = tables(app, "figure", "value")
    assert figures["value"].tolist() == pytest.approx([1.0] * 5)
    (found,) = tables(app, "gap", "rank, first")
    assert found["gap"].tolist() == [0.0] * 12


def test_a_round_of_ratings_is_drawn_with_gold_pairs_and_people_pass_them(empty, visit):
    project_id = make_project(empty, plan=None)
    app = of_kind(visit("plan", project_id), "rating")
    labelled(app.text_area, "Pairs with a known rating, one per line").set_value("car, auto").run()
    assert "Line 1 of the gold pairs is “car, auto”" in words(app)
    labelled(app.text_area, "Pairs with a known rating, one per line").set_value("car, auto: 4").run()
    press(app, "Save this plan")
    assert not app.exception
    app = visit("collect", project_id)
    press(app, "Draw round 1")
    assert not app.exception
    (found,) = read_rounds(empty, project_id)
    assert found.settings.gold == (GoldRating("car", "auto", 4.0),)
    header, *rows = answer_round(batch_of(empty, project_id), "rating", per_task=2).decode().splitlines()
    told = [f'{row},"{4 if n else 1}"' for n, row in enumerate(rows)]
    data = "\n".join([f'{header},"Answer.gold_1"', *told]).encode()
    accept_answers(empty, project_id, data, "crowd.csv", ballot_id=found.id)
    app = visit("voters", project_id)
    table, _ = rounds.qualification(empty, project_id, found)
    failed = int((~table["passed"]).sum())
    assert 0 < failed < len(table)
    assert f"{len(table) - failed} of {len(table)} people pass the qualification" in words(app)
    press(app, f"Choose the {failed} who don't pass")
    assert not app.exception
    assert len(labelled(app.multiselect, "People to leave out").value) == failed
    labelled(app.text_input, "Reason").set_value("Missed the gold pairs").run()
    press(app, f"Leave {failed} out")
    assert len(tables(app, "since (UTC)", "reason")[0]) == failed
    back = labelled(app.multiselect, "Voters to readmit")
    back.set_value([exclusion.voter_id for exclusion in load_left_out(empty, project_id)[0]]).run()
    press(app, "Let them count again")
    assert load_left_out(empty, project_id)[0] == ()


def test_a_project_of_another_kind_goes_its_whole_way_on_the_same_pages(empty, visit):
    project_id = create_from_template(empty, "Ratings", kind="trial", asks="rating")
    app = visit("project", project_id)
    assert "The plan is to ask for ratings; no round is drawn." in words(app)
    app = visit("plan", project_id)
    assert shown_kinds(app)[1] == "rating"
    assert "360 answers, 0.6 h, 12.00: 72 questions in 8 tasks, each with 5 assignments." in words(app)
    labelled(app.number_input, "People per question").set_value(2).run()
    assert "Not saved yet" in words(app)
    press(app, "Save this plan")
    app = visit("collect", project_id)
    assert shown_kinds(app) is None
    press(app, "Draw round 1")
    assert "0 of 144 answers" in words(app)
    press(app, "Let simulated people answer")
    assert "voters gave 144 answers" in words(visit("voters", project_id))
    press(app, "Close round 1")
    for page, said in (
        ("project", "Round 1, ratings, is closed, with 144 answers."),
        ("scores", "Closed: 144 of 144 answers to 72 items"),
        ("export", "Closed: 144 of 144 answers to 72 items"),
    ):
        app = visit(page, project_id)
        assert not app.exception
        assert said in words(app)
        assert shown_kinds(app) is None
    labels = [button.label for button in app.get("download_button")]
    assert {"Dataset (CSV)", "Dataset (Parquet)", "For gensim", "For MTEB (JSON lines)"} <= set(labels)
    files = rounds.files(empty, project_id, read_rounds(empty, project_id)[0])
    assert files.problems == {}
    assert all(found.make(files.dataset) for found in files.formats)
    press(visit("collect", project_id), "Draw round 2")
    assert [found.number for found in read_rounds(empty, project_id)] == [1, 2]


def test_a_kind_is_changed_while_nothing_is_drawn_and_stands_beside_the_ballots_after(empty, visit):
    project_id = create_project(empty, "Words")
    add_areas(empty, project_id, AREAS)
    app = of_kind(visit("plan", project_id), "best-worst")
    press(app, "Save this plan")
    assert read_asked(empty, project_id).kind.name == "best-worst"
    assert "Draw round 1" in {button.label for button in visit("collect", project_id).button}
    app = of_kind(visit("plan", project_id), "comparison")
    press(app, "Save this plan")
    assert read_asked(empty, project_id).kind.name == "comparison"
    app = visit("collect", project_id)
    assert shown_kinds(app) is None
    press(app, "Draw ballot 1")
    press(of_kind(visit("plan", project_id), "rating"), "Save this plan")
    asked = read_asked(empty, project_id)
    assert (asked.kind.name, [kind.name for kind in asked.kinds]) == ("comparison", ["comparison", "rating"])
    for page in ("collect", "voters", "scores", "export"):
        app = visit(page, project_id)
        assert shown_kinds(app) == (["Comparisons", "Ratings"], "comparison"), page
    app = visit("collect", project_id)
    assert "Ballot 1 of" in words(app)
    labelled(app.get("button_group"), "Kind of question").set_value("rating").run()
    assert app.query_params["kind"] == "rating"
    press(app, "Draw round 1")
    assert "0 of 105 answers" in words(app)
    app.switch_page("../pages/scores.py").run()  # what is chosen stays from page to page
    assert "Its scores are computed when it is closed." in words(app)


def test_the_address_of_the_former_page_leads_to_the_rounds_else_to_the_plan(empty, visit):
    project_id = make_project(empty, plan=None)
    assert visit("schemes", project_id).title[0].value == "Plan"
    draw_round(empty, project_id, SMALL["best-worst"])
    app = visit("schemes", project_id)
    assert app.title[0].value == "Collect"
    assert "Round 1, best–worst. Open: 0 of 21" in words(app)
