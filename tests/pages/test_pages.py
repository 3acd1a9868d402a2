"""Every page, on the demo and on empty projects: what it says, and what its buttons do."""

from __future__ import annotations

import shutil

import pytest
import streamlit as st
from page_words import press, turn_to, words
from pages.conftest import open_page
from streamlit.testing.v1 import AppTest

from core.plan import Plan
from core.protocols.runoff import spread_appearances
from core.store.ballots.ballot_rows import read_ballots
from core.store.engine import _open
from core.store.projects.plans import PlanSettings, read_plan, save_plan
from core.store.projects.project_commands import create_project, get_project, list_projects, read_log
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import add_areas, read_areas
from core.store.votes.tallies import progress_of
from core.tokens.files import AreaTokens
from core.views.log import log_table
from ui.plan import planner_box

KEYS = [*("project", "embeddings", "tokens", "plan", "collect", "voters", "scores", "evaluate", "export", "help")]
TITLES = {"project": "Demo: jobs and skills"}
of_the_demo = pytest.mark.xdist_group("pages of the demo")  # which are opened by one process


@pytest.fixture(scope="module")
def shown(demo_folder, tmp_path_factory) -> dict[str, AppTest]:
    """Every page of the demo as it opens: for the tests that only read them."""
    folder = shutil.copytree(demo_folder, tmp_path_factory.mktemp("shown") / "workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNOFF_WORKSPACE", str(folder))
        patch.setattr(planner_box, "begin_unasked", lambda _: None)
        opened = {key: open_page(key, "demo") for key in KEYS}
    _open.cache_clear()
    return opened


@of_the_demo
def test_every_page_of_the_demo_opens_and_says_the_most_important_first(shown):
    for key, app in shown.items():
        assert not app.exception, key
        assert not app.error, key
        assert app.title[0].value.replace("\\", "") == TITLES.get(key, key.capitalize())
        assert app.main.markdown[0].value.startswith("**"), key  # a sentence in bold under the title


def test_every_page_of_an_empty_project_says_what_to_do_next(empty, visit):
    project_id = create_project(empty, "Nothing yet")
    for key in KEYS:
        app = visit(key, project_id)
        assert not app.exception, key
        assert not app.error, key
        assert len(app.title) == 1
        assert app.main.markdown[0].value.startswith("**"), key


def test_every_page_of_an_empty_workspace_opens(empty, visit):
    for key in KEYS:
        assert not visit(key).exception, key


@of_the_demo
def test_the_demo_says_everywhere_that_its_votes_are_simulated(shown):
    for key in ("project", "scores", "evaluate", "export", "collect"):
        assert "simulated vot" in words(shown[key]), key  # votes or voters


@of_the_demo
def test_figures_stand_with_what_is_behind_them(demo, shown):
    dataset = read_project_dataset(demo, "demo")
    said = words(shown["scores"])
    assert f"by {dataset.attrs['votes']:,} votes of 60 simulated voters on 760 items" in said
    assert f"{dataset.iloc[0]['token_a']} – {dataset.iloc[0]['token_b']}" in said
    assert "ρ_w" in words(shown["evaluate"])
    assert "of 760 items" in words(shown["evaluate"])


def test_the_log_is_downloaded_as_it_is_shown(demo, visit, monkeypatch):
    given = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, name, *_, **__: given.update({name: data}))
    app = visit("project", "demo")
    assert not app.exception
    (file,) = [data for name, data in given.items() if name.endswith("-log.csv")]
    assert file().decode("utf-8-sig") == log_table(read_log(demo, "demo", 1000)).to_csv(index=False)


def test_an_unknown_project_in_the_address_is_told_and_another_is_shown(demo, visit):
    app = visit("project", "nobody")
    assert "There is no project “nobody”" in words(app)
    assert app.query_params["project"] == "demo"


def test_a_project_is_made_on_the_page(empty, visit):
    app = visit("project")
    app.text_input[0].set_value("Biomedical   terms")
    press(app, "Create project")
    (made,) = list_projects(empty)
    assert made.name == "Biomedical terms"
    assert app.query_params["project"] == made.id
    assert "is made" in words(app)


def test_a_project_without_a_name_is_refused_in_words(empty, visit):
    app = visit("project")
    press(app, "Create project")
    assert "no name" in words(app)
    assert list_projects(empty) == []


def test_areas_are_pasted_edited_and_deleted(empty, visit):
    project_id = create_project(empty, "Words")
    app = visit("tokens", project_id)
    app.text_input[0].set_value("Sea")
    app.text_area[0].set_value("ship\nboat\n\n boat \n<b>**harbour**</b>\nNA")
    press(app, "Add area")
    (area,) = read_areas(empty, project_id)
    assert area.tokens == ("ship", "boat", "<b>**harbour**</b>", "NA")
    assert "token is in Sea already" in words(app)
    assert "6 items from 4 tokens in 1 area; no embedding is loaded." in words(app)
    editor = next(box for box in app.text_area if "ship" in box.value)
    editor.set_value("ship\nboat\nharbour").run()
    press(app, "Save changes")
    assert read_areas(empty, project_id)[0].tokens == ("ship", "boat", "harbour")
    press(app, "Yes, delete it")
    assert read_areas(empty, project_id) == []
    press(app, "Bring it back")
    assert read_areas(empty, project_id)[0].tokens == ("ship", "boat", "harbour")


def test_a_plan_is_computed_at_once_and_saved_by_a_button(empty, visit):
    from campaigns import AREAS

    from core.store.tokens.areas import add_areas

    project_id = create_project(empty, "Words")
    add_areas(empty, project_id, AREAS)
    app = visit("plan", project_id)
    ballots = next(box for box in app.number_input if "n_b" in box.label)
    ballots.set_value(2).run()
    assert "21 items down to the top 11" in words(app)
    assert read_plan(empty, project_id) is None
    press(app, "Save this plan")
    assert read_plan(empty, project_id).n_ballots == 2
    ballots = next(box for box in app.number_input if "n_b" in box.label)
    ballots.set_value(9).run()
    assert app.error
    assert not app.exception


def test_an_odd_number_of_appearances_is_told_in_words(empty, visit):
    from campaigns import make_project

    app = visit("plan", make_project(empty))
    box = next(box for box in app.text_input if "M" in box.label)
    box.set_value("often").run()
    assert "“often” isn't a number of appearances" in words(app)


def test_the_proposed_plan_brings_no_warning_of_its_own(empty, visit):
    """What it spreads over the ballots is often more than there are opponents: told, not warned of."""
    project_id = create_project(empty, "Words")
    add_areas(empty, project_id, [AreaTokens("Sea", tuple(f"word{n}" for n in range(19)))])
    app = visit("plan", project_id)
    assert [warning.value for warning in app.main.warning] == []
    assert "The plan keeps to the paper's advice." in words(app)
    said = [caption.value for caption in app.main.caption]
    assert any("the same two items meet more than once" in text for text in said)


def test_simulated_voters_answer_and_the_ballot_closes_and_the_next_is_drawn(demo, visit):
    app = visit("collect", "demo")
    number = read_ballots(demo, "demo")[-1].number
    press(app, "Let simulated voters answer this ballot")
    with demo.read() as conn:
        progress = progress_of(conn, read_ballots(demo, "demo")[-1].id)
    assert progress.votes == progress.wanted == progress.simulated
    press(app, f"Close ballot {number}")
    assert not read_ballots(demo, "demo")[-1].is_open
    press(app, f"Draw ballot {number + 1}")
    assert read_ballots(demo, "demo")[-1].number == number + 1
    assert not app.exception


def test_a_real_project_has_no_button_for_simulated_voters(empty, visit):
    from campaigns import draw_batch, make_project

    project_id = make_project(empty)
    draw_batch(empty, project_id)
    app = visit("collect", project_id)
    assert not [button for button in app.button if "simulated" in button.label]


def test_an_open_ballot_short_of_votes_closes_only_on_purpose(demo, visit):
    app = visit("collect", "demo")
    number = read_ballots(demo, "demo")[-1].number
    (button,) = [button for button in app.button if button.label == f"Close ballot {number}"]
    assert button.disabled
    assert "have no vote" in words(app)
    next(box for box in app.checkbox if box.label == "Close anyway").check().run()
    press(app, f"Close ballot {number}")
    assert not read_ballots(demo, "demo")[-1].is_open


def test_a_stale_page_says_so_and_changes_nothing(demo, visit):
    app = visit("collect", "demo")
    from core.store.ballots.simulated import simulate_votes

    simulate_votes(demo, "demo")
    before = get_project(demo, "demo").revision
    press(app, "Let simulated voters answer this ballot")
    assert get_project(demo, "demo").revision == before
    assert "changed in the meantime" in words(app)


@pytest.mark.release
def test_n0_changes_the_figures_and_the_share_of_the_first_rank(demo, visit):
    app = visit("evaluate", "demo")
    assert "28%" in words(app)
    before = app.table[0].value["ρ_w"].iloc[0]
    app.number_input[0].set_value(0.0).run()
    assert "61%" in words(app)
    assert app.table[0].value["ρ_w"].iloc[0] != before


@pytest.mark.release
def test_embeddings_that_cover_different_items_are_compared_over_the_common_ones(demo, visit, tmp_path):
    from core import worker
    from core.store.projects.embedding_library import read_embeddings

    tokens = ("sales", "marketing", "advertising", "retail", "employee", "worker")
    small = tmp_path / "small.txt"
    small.write_text("".join(f"{word} {n} {n * n % 7} 1\n" for n, word in enumerate(tokens)))
    worker.run(_queued(demo, {"path": str(small), "name": "Small"}))
    assert [embedding.name for embedding in read_embeddings(demo, "demo")][-1] == "Small"
    app = turn_to(visit("evaluate", "demo"), "All figures")
    assert not app.exception
    assert "these figures don't compare directly" in words(app)
    assert "Over the 7 items that all cover" in words(app)  # C(4, 2) + C(2, 2)
    _, common, own, *_ = [table.value for table in app.table if "ρ_w" in table.value]
    assert ("covered" in common, "7 of 760" in set(own["covered"])) == (False, True)


def _queued(store, params):
    import sqlalchemy as sa

    from core.store import schema as t
    from core.store.engine import now

    row = {"id": "job", "project_id": "demo", "kind": "import_embedding", "params": params, "state": "queued"}
    with store.write() as conn:
        conn.execute(sa.insert(t.job).values(**row, created_at=now()))
    return "job"


def test_what_is_typed_in_one_project_does_not_stand_in_another(empty, visit):
    one, two = create_project(empty, "One"), create_project(empty, "Two")
    app = visit("tokens", one)
    app.text_area[0].set_value("k\nl").run()
    app.sidebar.selectbox[0].set_value(two).run()
    assert app.query_params["project"] == two
    assert app.text_area[0].value == ""


def test_edits_of_an_area_outlive_other_changes_of_the_project(empty, visit):
    from campaigns import AREAS, make_project

    from core.store.projects.project_commands import change_project

    project_id = make_project(empty)
    app = visit("tokens", project_id)
    editor = next(box for box in app.text_area if "cat" in box.value)
    editor.set_value("cat\ndog\nowl").run()
    revision = get_project(empty, project_id).revision
    change_project(empty, project_id, name="Other", notion="relatedness", expected_revision=revision)
    press(app, "Save changes")
    assert read_areas(empty, project_id)[0].tokens == ("cat", "dog", "owl")
    assert read_areas(empty, project_id)[1] == AREAS[1]


def test_tokens_with_tabs_are_refused_with_their_rows(empty, visit):
    project_id = create_project(empty, "Words")
    app = visit("tokens", project_id)
    app.text_input[0].set_value("Sea")
    app.text_area[0].set_value("ship\nboat\tharbour\nsail")
    press(app, "Add area")
    assert "holds a tab" in words(app)
    assert "row 2" in words(app)
    assert read_areas(empty, project_id) == []


def test_an_embedding_whose_files_are_gone_is_told_and_the_rest_works(demo, visit):
    from core.store.projects.embedding_library import read_embeddings

    (embedding,) = read_embeddings(demo, "demo")
    shutil.rmtree(demo.embeddings / embedding.id)
    shown = {key: visit(key, "demo") for key in ("embeddings", "tokens", "evaluate")}
    for key, app in shown.items():
        assert not app.exception
        assert "are gone" in words(app), key
    assert [button.label for button in shown["embeddings"].button if button.label == "Remove it"]


def test_figures_over_all_areas_stand_apart_from_those_of_areas(demo):
    from core.views.evaluate import evaluate_page

    view = evaluate_page.load(demo, "demo", 2.0, "relatedness")
    assert len(view.overall) == 1
    assert view.overall["items"].iloc[0] == 760
    assert len(view.by_area) == 4


def test_a_dataset_that_gensim_cannot_read_is_exported_all_the_same(empty, visit):
    from campaigns import PLAN, answer_batch, draw_batch

    from core.store.projects.plans import save_plan
    from core.store.tokens.areas import add_areas
    from core.store.votes.intake import accept_upload
    from core.tokens.files import AreaTokens

    project_id = create_project(empty, "Tags")
    add_areas(empty, project_id, [AreaTokens("Tags", ("#a", "#b", "#c", "#d"))])
    save_plan(empty, project_id, PLAN)
    accept_upload(empty, project_id, answer_batch(draw_batch(empty, project_id)), "results.csv")
    app = visit("export", project_id)
    assert not app.exception
    buttons = {button.label: button.disabled for button in app.get("download_button")}
    assert buttons["Dataset (CSV)"] is False
    assert set(buttons) >= {
        "Dataset (CSV)",
        "Dataset (TSV)",
        "Description (JSON)",
        "For gensim",
        "For a spreadsheet (CSV)",
    }


def test_m_is_found_for_a_budget_and_used(empty, visit):
    from campaigns import AREAS

    from core.store.tokens.areas import add_areas

    project_id = create_project(empty, "Words")
    add_areas(empty, project_id, AREAS)
    app = visit("plan", project_id)
    amount = next(box for box in app.number_input if box.label == "At most")
    amount.set_value(300.0).run()
    of_ours = spread_appearances(21, 4, 0.5, 300)
    said = ", ".join(map(str, of_ours.appearances))
    assert f"M = {said}" in words(app)
    press(app, "Use it")
    assert next(box for box in app.text_input if "M" in box.label).value == said
    assert f"{of_ours.n_comparisons} votes, as it is." in words(app)


def test_m_follows_the_protocol_and_the_ballots_at_the_same_votes(empty, visit):
    from campaigns import make_project

    app = visit("plan", make_project(empty, plan=None))

    def m():
        return next(box for box in app.text_input if "M" in box.label).value

    votes = PlanSettings(n_ballots=4).plan(21).n_comparisons
    assert m() == ", ".join(map(str, spread_appearances(21, 4, 0.5, votes).appearances))
    box(app, "Ballots").set_value(3).run()
    shown = tuple(map(int, m().split(",")))
    assert len(shown) == 3
    assert not app.error
    (aim,) = [group for group in app.get("button_group") if group.label == "Votes are spread for"]
    aim.set_value("rho_w")
    app.run()
    spent = Plan(21, 3, 0.5, shown).n_comparisons
    assert m() == ", ".join(map(str, spread_appearances(21, 3, 0.5, spent, "rho_w").appearances))
    assert "21 items down to the top 11" in words(app)
    (protocol,) = [group for group in app.get("button_group") if group.label == "Protocol"]
    protocol.set_value("paper")
    app.run()
    assert m().isdigit()
    assert not [group for group in app.get("button_group") if group.label == "Votes are spread for"]
    box(app, "Ballots").set_value(2).run()
    kept = m()
    assert kept.isdigit()  # by the paper's protocol M stays as it was typed
    press(app, "Save this plan")


def test_near_spellings_of_missing_tokens_are_offered(demo):
    from core.views import tokens

    (coverage,) = tokens.load(demo, "demo").coverage
    near = dict(zip(coverage.missing["token"], coverage.missing["near"], strict=True))
    assert set(near) == {"machine learning", "parental leave"}


@of_the_demo
def test_a_quota_stands_on_the_plan_and_in_the_draw(shown):
    assert "in ballot 1 at most" in words(shown["plan"])
    assert "A voter gets 2 tasks of 10 comparisons at most" in words(shown["collect"])


def test_rare_tokens_and_item_rules_on_the_page(empty, visit):
    from campaigns import make_project

    from core.store.tokens.areas import add_areas, read_items
    from core.tokens.files import AreaTokens

    project_id = make_project(empty, plan=None)
    add_areas(empty, project_id, [AreaTokens("Web", ("e-mail", "email", "link"))])
    app = visit("tokens", project_id)
    assert "24 of 24 pairs are items" in words(app)
    press(app, "Leave out 1 proposed pair")
    assert len(read_items(empty, project_id)) == 23
    assert "23 of 24 pairs are items" in words(app)
    sample = next(toggle for toggle in app.toggle if toggle.label.startswith("Draw a sample"))
    sample.set_value(True).run()
    size = next(box for box in app.number_input if box.label == "Items per area")
    size.set_value(2).run()
    press(app, "Rebuild the items")
    assert len(read_items(empty, project_id)) == 6
    assert not app.exception


def test_the_order_of_the_demos_words_tells_rare_tokens(demo, visit):
    app = visit("tokens", "demo")
    source = next(radio for radio in app.radio if radio.label == "Source")
    source.set_value("rank").run()
    press(app, "Use its order")
    assert "This is a proxy" in words(app)
    assert not app.exception


def test_a_project_is_copied_put_away_and_deleted_on_the_page(empty, visit):
    from campaigns import make_project

    from core.store.projects.archive import list_archived

    project_id = make_project(empty)
    app = visit("project", project_id)
    press(app, "Make a copy")
    (copy,) = [project for project in list_projects(empty) if project.id != project_id]
    assert copy.name == "Test (copy)"
    assert app.query_params["project"] == copy.id
    press(app, "Archive this project")
    assert [archived.project.id for archived in list_archived(empty)] == [copy.id]
    assert "is archived" in words(app)
    press(app, "Restore")
    assert list_archived(empty) == []
    assert app.query_params["project"] == copy.id
    press(app, "Delete this project")
    assert len(list_projects(empty)) == 2
    box = next(box for box in app.text_input if box.label.startswith("To delete"))
    box.set_value("Test (copy)")
    press(app, "Delete this project")
    assert [project.id for project in list_projects(empty)] == [project_id]
    assert len(list((empty.folder / "backups").iterdir())) == 1
    assert not app.exception


def test_the_plan_page_has_a_wage_to_reach_and_the_reward_for_it(empty, visit):
    from campaigns import make_project

    app = visit("plan", make_project(empty, plan=PlanSettings(n_ballots=4)))
    assert "A voter earns 15.96 per hour" in words(app)
    box(app, "Wage to reach").set_value(18.0).run()
    assert "under 18.00. A task of 10 comparisons at 6 s each needs a reward of 0.30; it is 0.25." in words(app)
    press(app, "Set the reward to 0.30")
    assert box(app, "Reward per task").value == 0.3
    assert "which reaches it" in words(app)


def box(app, label):
    (found,) = [found for found in app.number_input if found.label.startswith(label)]
    return found


def test_the_language_of_voters_is_chosen_and_standard_examples_follow_it(empty, visit):
    from campaigns import make_project

    project_id = make_project(empty, plan=None)
    app = visit("plan", project_id)
    press(app, "Fill in the standard examples")
    language = next(found for found in app.selectbox if found.label == "Language")
    language.set_value("it").run()
    press(app, "Save this plan")
    wording = read_plan(empty, project_id).wording
    assert (wording.language, wording.question) == ("it", "")
    assert wording.examples[0].left == ("nave", "porto")
    next(found for found in app.text_input if found.label == "Because").set_value("Mine.").run()
    next(found for found in app.selectbox if found.label == "Language").set_value("en").run()
    press(app, "Save this plan")
    wording = read_plan(empty, project_id).wording
    assert (wording.language, wording.examples[0].left, wording.examples[0].why) == ("en", ("nave", "porto"), "Mine.")


def test_examples_are_filled_in_changed_saved_and_told_when_they_give_an_item_away(empty, visit):
    from campaigns import make_project

    project_id = make_project(empty, plan=None)
    app = visit("plan", project_id)
    assert read_plan(empty, project_id) is None
    press(app, "Fill in the standard examples")
    press(app, "Save this plan")
    assert [example.answer for example in read_plan(empty, project_id).wording.examples] == ["left", "right", "tie"]
    words_of = [found for found in app.text_input if found.label.strip() in ("Left pair", "and", "Right pair")]
    assert [found.value for found in words_of[:4]] == ["ship", "harbour", "ship", "dentist"]
    words_of[0].set_value("cat").run()
    words_of = [found for found in app.text_input if found.label.strip() in ("Left pair", "and", "Right pair")]
    words_of[1].set_value("dog").run()
    assert "An example shows cat – dog, which voters are asked about too." in words(app)
    words_of[1].set_value(" ").run()
    press(app, "Save this plan")
    assert "Example 1 lacks a word" in words(app)
    assert not app.exception


def test_a_ballot_of_a_busy_voter_is_told_on_the_page_and_before_closing(empty, visit):
    from campaigns import answer_batch, draw_batch, make_project

    from core.store.votes.intake import accept_upload

    project_id = make_project(empty)
    accept_upload(empty, project_id, answer_batch(draw_batch(empty, project_id), voters=["W1", "W2"]), "results.csv")
    app = visit("collect", project_id)
    assert "The busiest voter is over the quota of 9 votes, with 21 votes." in words(app)
    assert "One voter gave 21 votes, 50% of all; the quota is 9, for the plan's 6 voters." in words(app)
    (button,) = [button for button in app.button if button.label == "Close ballot 1"]
    assert button.disabled


def test_scores_show_the_three_figures_with_their_files(demo, visit):
    app = visit("scores", "demo")
    for tab, n_figures, told in (
        ("All items", 1, ("Most related: ",)),
        ("How it settled", 2, ("The 30 items that lead now",)),
        ("Ballot by ballot", 3, ("b̂ = 0.586",)),
        ("Random pairs", 2, ()),
    ):
        turn_to(app, tab)
        assert [text for text in told if text not in words(app)] == [], tab
        files = [button.proto.url or button.label for button in app.get("download_button")]
        # SVG and PNG in two widths and CSV of the top and of each figure of the tab; the ranking
        assert len(files) == 5 * n_figures + (tab == "All items"), tab


@of_the_demo
def test_every_page_of_results_leads_on(shown):
    for key in ("scores", "evaluate", "help"):
        links = [link.proto.label for link in shown[key].get("page_link")]
        assert any(label.startswith("**Next: ") for label in links), key


def test_checks_of_the_votes_stand_before_the_end_of_a_ballot(empty, visit):
    from campaigns import answer_batch, draw_batch, make_project

    from core.store.votes.intake import accept_upload

    project_id = make_project(empty)
    batch = draw_batch(empty, project_id)
    odd = answer_batch(batch, voters=("*ever* left",), choose=lambda _: "left")
    accept_upload(empty, project_id, odd, "results.csv")
    app = visit("collect", project_id)
    assert not app.exception
    assert "*ever* left chose the left or upper pair in 42 of 42 answers. Their votes still count." in words(app)
    assert "none of 42 answered comparisons was answered by two voters" in words(app)
    (table,) = [table.value for table in app.dataframe if "what it changed" in table.value]
    assert table["what it changed"][0].startswith("First ranking: ")
    assert table["voters"][0] == "1 voter, new"


def test_a_withdrawal_says_what_it_changed(empty, visit):
    from campaigns import answer_batch, draw_batch, make_project

    from core.store.votes.intake import accept_upload

    project_id = make_project(empty)
    accept_upload(empty, project_id, answer_batch(draw_batch(empty, project_id)), "results.csv")
    app = visit("collect", project_id)
    press(app, "Withdraw it")
    assert "42 answers of results.csv count no more: 42 fewer votes. No item has a rank any more." in words(app)


@of_the_demo
def test_the_log_is_told_in_words(shown):
    (log,) = [table.value for table in shown["project"].dataframe if "revision" in table.value]
    assert "Closed ballot 1" in set(log["what"])
    assert not log["details"].str.contains("[{}]").any()


def test_the_papers_figures_are_shown_simulated_on_request(demo, visit):
    app = visit("plan", "demo")
    (toggle,) = [toggle for toggle in app.toggle if "Figures 2, 3 and 4" in toggle.label]
    toggle.set_value(True).run()
    said = words(app)
    for figure in ("Figure 2: bringing", "Figure 4: scores by ballot", "Figure 3: distributions"):
        assert figure in said
    assert not app.exception


# --- templates, undoing, the campaign in the side bar ---


def test_a_new_project_is_begun_from_any_page(demo, visit):
    app = visit("help", "demo")
    (button,) = [button for button in app.sidebar.button if button.label == "New project"]
    app = button.click().run()
    assert [title.value for title in app.title] == ["New project"]  # on the Project page, and nothing of another one
    assert [box.label for box in app.text_input].count("Name") == 1
    app = visit("project", "demo")
    next(button for button in app.sidebar.button if button.label == "New project").click().run()
    assert [title.value for title in app.title] == ["New project"]
    press(app, "Cancel")
    assert app.title[0].value.startswith("Demo")
    labels = [expander.label for expander in app.main.get("expander")]
    assert "New project, import" in labels


def test_a_page_without_votes_leads_to_what_comes_before_them(empty, visit):
    project_id = create_project(empty, "Nothing yet")
    keys = ("collect", "voters", "scores", "export")
    for key in keys:
        assert nexts(visit(key, project_id)) == ["**Next: add token lists**"], key
    add_areas(empty, project_id, (AreaTokens("Fruit", ("apple", "pear", "plum")),))
    for key in keys:
        assert nexts(visit(key, project_id)) == ["**Next: make the plan**"], key
    save_plan(empty, project_id, PlanSettings(n_ballots=2, keep=0.5, appearances=2))
    for key in keys:
        assert nexts(visit(key, project_id)) == ([] if key == "collect" else ["**Next: collect votes**"]), key


def nexts(app) -> list[str]:
    """The labels of a page's links onward."""
    return [link.proto.label for link in app.main.get("page_link") if link.proto.label.startswith("**Next")]


@of_the_demo
def test_the_side_bar_says_how_far_the_campaign_is(shown):
    for app in shown.values():
        (bar,) = app.sidebar.get("progress")
        assert bar.proto.text.replace("\\", "").startswith("Ballot 4 of 5 open. 15,046 of about 16,203")
        assert bar.proto.value == int(100 * 15_046 / 16_203)


def test_a_project_from_the_template_stands_before_its_pilot_and_can_be_undone(empty, visit):
    app = visit("project")
    app.text_input[0].input("First steps")
    (start,) = [radio for radio in app.radio if radio.label == "Start from"]
    start.set_value("template")
    app = press(app, "Create project")
    (project,) = list_projects(empty)
    assert [(area.name, len(area.tokens)) for area in read_areas(empty, project.id)] == [("Kitchen", 9), ("Weather", 9)]
    assert "The pilot is open: 0 of 50 comparisons have a vote." in words(app)
    press(app, "Undo: remove this project")
    assert list_projects(empty) == []
    assert len(list((empty.folder / "backups").glob("*.zip"))) == 1


def test_a_project_with_votes_can_no_longer_be_undone(empty, visit):
    from core.store.projects.project_commands import is_untouched
    from core.store.votes.intake import accept_upload
    from tests.campaigns import answer_batch, draw_batch, make_project

    project_id = make_project(empty)
    batch = draw_batch(empty, project_id)
    assert is_untouched(empty, project_id)
    accept_upload(empty, project_id, answer_batch(batch), "results.csv")
    assert not is_untouched(empty, project_id)
    labels = [button.label for button in visit("project", project_id).button]
    assert "Undo: remove this project" not in labels


def test_the_way_has_a_step_for_the_voters(demo):
    from core.views.overview import load

    (step,) = [step for step in load(demo, "demo").steps if step.page == "voters"]
    assert (step.state, step.done) == ("60 simulated voters", True)


def test_help_finds_words_and_shows_the_formulas(demo, visit):
    from ui.help import glossary

    app = visit("help", "demo")
    assert [latex.value.strip("$\n ") for latex in app.latex] == [formula for _, formula, _ in glossary.FORMULAS]
    (box,) = [box for box in app.text_input if box.label == "Find a term"]
    app = box.set_value("trigamma").run()
    assert "None of the terms" in words(app)
    (box,) = [box for box in app.text_input if box.label == "Find a term"]
    said = words(box.set_value("ballot").run())
    assert glossary.of("Batch") in said
    assert glossary.of("Lapse ε") not in said
