"""What is chosen is what is acted on: choosers whose options have one name, lose one, or are called anew."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project, run_people
from page_words import labelled, press, words
from rounds_of_people import SMALL, answer_round, batch_of, round_id
from streamlit.testing.v1 import AppTest

from core.commands.publishing import release
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.drawing import draw_next_ballot, draw_round
from core.store.projects.embedding_library import add_embedding, other_embeddings, read_embeddings, remove_embedding
from core.store.projects.project_commands import create_project
from core.store.projects.releases import read_releases
from core.store.tokens.areas import add_areas, read_areas
from core.store.votes.checks import add_gold, gold_of
from core.store.votes.exclusions import exclusions_of
from core.store.votes.intake import accept_upload
from core.store.votes.payment import read_assignments
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.owner_commands import invite, open_voting, read_invitations, read_link
from core.tokens.files import AreaTokens
from core.voting import api
from tests.rounds_of_people import RATING, accept_answers
from tests.syntax import nodes, reads_the_code
from ui.shared.choosers import told_apart

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"selectbox", "multiselect", "radio", "segmented_control", "pills", "select_slider"}


def test_labels_that_nothing_else_has_stay_as_they_are():
    options = {"b": "Anna", "a": "Ben", "c": ""}
    assert told_apart(options) == options
    assert list(told_apart(options)) == ["b", "a", "c"]


def test_equal_labels_are_told_apart_by_what_is_known_of_them_else_by_numbers_that_follow_the_id():
    kinds = {7: "typed", 30: "invited", 4: "typed", 9: ""}
    assert told_apart(dict.fromkeys(kinds, "Anna"), kinds.__getitem__) == {
        7: "Anna (typed) (2)", 30: "Anna (invited)", 4: "Anna (typed)", 9: "Anna",
    }  # fmt: skip
    assert told_apart({4: "x", 30: "x"}) == told_apart({30: "x", 4: "x"}) == {4: "x", 30: "x (2)"}


@pytest.mark.parametrize(("one", "other"), [("Anna B", " Anna  B "), ("Ann\u00e9", "Anne\u0301")])
def test_what_only_looks_the_same_is_told_apart_too(one, other):
    assert told_apart({1: one, 2: other}) == {1: one, 2: f"{other} (2)"}


def test_a_name_like_a_twin_that_was_told_apart_stays_another():
    labels = told_apart({1: "Anna", 2: "Anna", 3: "Anna (2)"})
    assert labels == {1: "Anna", 2: "Anna (3)", 3: "Anna (2)"}


def test_no_label_passes_to_another_option_while_the_one_that_had_it_is_there():
    before = {2: "Anna", 5: "Anna (2)", 6: "Anna (3)"}
    assert told_apart({1: "Anna", 5: "Anna", 6: "Anna"}, before=before) == {1: "Anna", 5: "Anna (2)", 6: "Anna (3)"}
    assert told_apart({2: "Ben", 5: "Anna"}, before=before) == {2: "Ben", 5: "Anna (2)"}


def one_of_each():
    import streamlit as st

    from core.errors import StaleError
    from ui.shared import choosers

    people = st.session_state["people"]
    with choosers.watched():
        chosen = {
            "selectbox": choosers.selectbox("Box", people, key="box"),
            "radio": choosers.radio("Radio", people, key="radio"),
            "segmented_control": choosers.segmented_control("Segments", people, key="segments"),
            "multiselect": choosers.multiselect("Several", people, key="several"),
        }
        if st.button("Act"):
            try:
                choosers.refuse_if_gone()
                st.session_state["acted"] = chosen
            except StaleError as error:
                st.error(str(error))


@pytest.fixture
def each() -> AppTest:
    app = AppTest.from_function(one_of_each, default_timeout=120)
    app.session_state["people"] = {1: "Anna", 2: "Anna", 3: "Ben"}
    return app.run()


def choose(app: AppTest, id_: int) -> AppTest:
    app.selectbox(key="box").set_value(id_)
    app.radio(key="radio").set_value(id_)
    app.button_group(key="segments").set_value(id_)
    app.multiselect(key="several").set_value([id_])
    return app.run()


def all_chose(id_: int) -> dict[str, object]:
    return {"selectbox": id_, "radio": id_, "segmented_control": id_, "multiselect": [id_]}


@pytest.mark.parametrize("id_", [1, 2, 3])
def test_of_two_equal_names_the_one_is_acted_on_that_was_chosen(each, id_):
    press(choose(each, id_), "Act")
    assert each.session_state["acted"] == all_chose(id_)


def test_what_is_called_anew_stays_chosen_and_the_browser_is_told(each):
    choose(each, 3)
    each.session_state["people"] = {3: "Benjamin", 4: "Ben"}
    each.run()
    boxes = [each.selectbox(key="box"), each.radio(key="radio")]
    assert [(box.proto.set_value, box.proto.raw_value) for box in boxes] == [(True, "Benjamin")] * 2
    lists = [each.button_group(key="segments"), each.multiselect(key="several")]
    assert [(box.proto.set_value, list(box.proto.raw_values)) for box in lists] == [(True, ["Benjamin"])] * 2
    press(each, "Act")
    assert each.session_state["acted"] == all_chose(3)


@pytest.mark.parametrize("left", [{1: "Anna", 3: "Ben"}, {1: "Anna", 7: "Anna"}])
def test_where_what_was_chosen_is_gone_nothing_is_done_in_that_run(each, left):
    """Not even with one of the same name that has come in its place."""
    choose(each, 2)
    each.session_state["people"] = left
    press(each, "Act")
    assert "acted" not in each.session_state
    assert [error.value for error in each.error] == [
        "“Anna (2)” is not there any more, so nothing was done. Look at what is chosen now."
    ]
    press(each, "Act")
    assert each.session_state["acted"] == all_chose(1) | {"multiselect": []}


@reads_the_code
def test_every_chooser_of_the_pages_is_one_of_these():
    """A bare one sends labels: of equal ones another would be taken."""
    wrong = []
    for path in sorted([*ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py")]):
        if path.name == "choosers.py":
            continue
        for node in nodes(path):
            if isinstance(node, ast.keyword) and node.arg == "format_func":
                wrong.append(f"{path.name}:{node.lineno} format_func")
            if isinstance(node, ast.Attribute) and node.attr in KINDS and ast.unparse(node.value) != "choosers":
                wrong.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
            if isinstance(node, ast.ImportFrom) and KINDS & {alias.name for alias in node.names}:
                wrong.append(f"{path.name}:{node.lineno} import")
    assert wrong == []


def statuses(store, where) -> list[str]:
    query = sa.select(t.judgement.c.status).join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
    with store.read() as conn:
        return list(conn.execute(query.join(t.voter, t.voter.c.id == t.assignment.c.voter_id).where(where)).scalars())


def votes_of(store, platform: str) -> list[str]:
    return statuses(store, t.voter.c.platform == platform)


@pytest.fixture
def three_annas(empty):
    """A voting page on which a typed, an invited and a Prolific “Anna” have voted once each."""
    project_id = make_project(empty)
    draw_next_ballot(empty, project_id)
    open_voting(empty, project_id, VotingSettings())
    invite(empty, project_id, ["Anna"])
    ((_, token),) = read_invitations(empty, project_id)
    code = read_link(empty, project_id)
    for who in (api.Visitor(), api.Visitor(token=token), api.Visitor("prolific", "Anna")):
        view = api.look(empty, code, "", f"visit {who}", who)
        name = "" if who.platform or who.token else "Anna"
        view = api.begin(empty, code, f"visit {who}", view.form, who, name=name)
        api.vote(empty, code, view.cookie, view.form, task=1, n=1, choice="left")
    return project_id


def test_whose_consent_is_taken_back(empty, three_annas, visit):
    app = visit("collect", three_annas)
    with empty.read() as conn:
        ballot = conn.execute(sa.select(t.ballot.c.id)).scalar_one()
        sittings = dict(conn.execute(sa.select(t.voter.c.platform, t.sitting.c.id).join(t.sitting)).all())
    app.session_state[f"way-{ballot}"] = "page"
    app.run()
    box = labelled(app.selectbox, "A voter withdraws consent")
    assert sorted(box.options) == sorted(f"Anna ({name})" for name in sittings)
    box.set_value(sittings["invited"]).run()  # neither the first nor the last
    press(app, "Withdraw this voter's votes")
    assert {name: votes_of(empty, name) for name in sittings} == {
        name: ["withdrawn"] if name == "invited" else ["counted"] for name in sittings
    }


def open_uploads(store, project_id) -> list:
    return [upload for upload in read_uploads(store, project_id) if not upload.withdrawn_at]


@pytest.fixture
def two_uploads(empty):
    """A ballot with two files of one name, taken within the same minute: of W1 and of W9."""
    project_id = make_project(empty)
    batch = draw_batch(empty, project_id)
    for voter in ("W1", "W9"):
        accept_upload(empty, project_id, answer_batch(batch, voters=(voter,), tag=voter), "results.csv")
    with empty.engine.begin() as conn:
        for second, id_ in enumerate(conn.execute(sa.select(t.upload.c.id).order_by(t.upload.c.id)).scalars().all()):
            at = f"2026-01-05T10:00:0{second + 1}.000000+00:00"
            conn.execute(sa.update(t.upload).where(t.upload.c.id == id_).values(accepted_at=at))
    return project_id


def test_which_upload_is_withdrawn(empty, two_uploads, visit):
    of_whom = dict(zip(["W1", "W9"], sorted(upload.id for upload in open_uploads(empty, two_uploads)), strict=True))
    app = visit("collect", two_uploads)
    box = labelled(app.selectbox, "Withdraw an upload")
    name = "results.csv, 2026-01-05 10:00 UTC"
    assert sorted(box.options) == [f"{name} (10:00:01)", f"{name} (10:00:02)"]
    box.set_value(of_whom["W9"])
    press(app, "Withdraw it")
    assert not app.exception
    (left,) = open_uploads(empty, two_uploads)
    assert left.id == of_whom["W1"]
    out = {name: set(statuses(empty, t.voter.c.external_id == name)) for name in of_whom}
    assert [name for name, found in out.items() if found == {"withdrawn"}] == ["W9"]


def test_an_upload_that_somebody_else_withdrew_takes_no_other_with_it(empty, two_uploads, visit):
    first, second = sorted(upload.id for upload in open_uploads(empty, two_uploads))
    app = visit("collect", two_uploads)
    labelled(app.selectbox, "Withdraw an upload").set_value(first)
    withdraw_upload(empty, two_uploads, first)
    press(app, "Withdraw it")
    assert [upload.id for upload in open_uploads(empty, two_uploads)] == [second]
    assert "is not there any more, so nothing was done" in words(app)
    press(app, "Withdraw it")  # the one that is shown now
    assert open_uploads(empty, two_uploads) == []


@pytest.mark.release
def test_which_file_of_a_round_is_withdrawn(empty, visit):
    project_id = make_project(empty, plan=None)
    draw_round(empty, project_id, SMALL[RATING])
    for voter in ("W1", "W9"):
        data = answer_round(batch_of(empty, project_id), RATING, voters=(voter,), tag=voter)
        accept_answers(empty, project_id, data, "crowd.csv", ballot_id=round_id(empty, project_id))
    with empty.engine.begin() as conn:
        conn.execute(sa.update(t.upload).values(accepted_at="2026-01-05T10:00:01.000000+00:00"))
        ids = conn.execute(sa.select(t.upload.c.id).order_by(t.upload.c.id)).scalars().all()
    app = visit("collect", project_id)
    box = labelled(app.selectbox, "Withdraw a file")
    name = "crowd.csv, 2026-01-05 10:00 UTC (10:00:01)"
    assert sorted(box.options) == [name, f"{name} (2)"]  # taken in the same second
    box.set_value(ids[1])
    press(app, "Withdraw it")
    assert not app.exception
    with empty.read() as conn:
        left = conn.execute(sa.select(t.upload.c.id).where(t.upload.c.withdrawn_at.is_(None))).scalars().all()
    assert left == [ids[0]]


@pytest.mark.release
def test_which_known_answer_is_taken_away(empty, visit):
    project_id = make_project(empty)
    draw_next_ballot(empty, project_id)
    open_voting(empty, project_id, VotingSettings())
    add_gold(empty, project_id, [(0, 1), (0, 2)])
    with empty.read() as conn:
        ballot = conn.execute(sa.select(t.ballot.c.id)).scalar_one()
    app = visit("collect", project_id)
    app.session_state[f"way-{ballot}"] = "page"
    app.session_state[f"checks-box-{ballot}"] = True
    app.run()
    with empty.read() as conn:
        (check,) = [gold.question_id for gold in gold_of(conn, ballot) if gold.less == 1]
    labelled(app.selectbox, "Remove a check").set_value(check).run()
    press(app, "Remove it")
    assert not app.exception
    with empty.read() as conn:
        assert [gold.less for gold in gold_of(conn, ballot)] == [2]


@pytest.fixture
def twin_models(demo) -> list[str]:
    """Two embeddings of one name in the workspace, imported within a second; the demo has the first of them."""
    (one, *_) = read_embeddings(demo, "demo")
    twin = "0" + one.id[1:] if one.id[0] != "0" else "1" + one.id[1:]
    shutil.copytree(demo.embeddings / one.id, demo.embeddings / twin)
    with demo.engine.begin() as conn:
        row = dict(conn.execute(sa.select(t.embedding).where(t.embedding.c.id == one.id)).one()._mapping)
        conn.execute(sa.insert(t.embedding).values(row | {"id": twin, "name": one.name}))
    return [one.id, twin]


def test_which_embedding_imported_before_is_used(demo, twin_models, visit):
    project_id = create_project(demo, "Words")
    assert {one.id for one in other_embeddings(demo, project_id)} >= set(twin_models)
    app = visit("embeddings", project_id)
    box = labelled(app.selectbox, "Imported before")
    assert len(set(box.options)) == len(box.options)
    box.set_value(twin_models[0])
    press(app, "Use it here")
    assert not app.exception
    assert [one.id for one in read_embeddings(demo, project_id)] == [twin_models[0]]


def test_an_embedding_that_somebody_else_took_out_takes_no_other_with_it(demo, twin_models, visit):
    project_id = create_project(demo, "Words")
    one, other = twin_models
    with demo.engine.begin() as conn:  # of a project's no two have one name
        conn.execute(sa.update(t.embedding).where(t.embedding.c.id == other).values(name="Another"))
    for id_ in twin_models:
        add_embedding(demo, project_id, id_)
    app = visit("embeddings", project_id)
    labelled([box for box in app.selectbox if box.form_id], "Embedding").set_value(other)
    remove_embedding(demo, project_id, other)
    press(app, "Remove it")
    assert [found.id for found in read_embeddings(demo, project_id)] == [one]


def test_which_embedding_of_the_workspace_is_ranked(demo, twin_models, visit):
    project_id = create_project(demo, "Words")
    app = visit("scores", project_id)
    app.query_params["kind"] = RATING
    app.session_state[f"scores-tab-{project_id}-{RATING}"] = "A file of ratings"
    app.run()
    data = b"word1,word2,a,b\nship,boat,4,3\nsea,salt,2,1\ncat,dog,3,4\n"
    labelled(app.file_uploader, "File of ratings").set_value([("ratings.csv", data, "text/csv")]).run()
    box = labelled(app.multiselect, "Embeddings")
    assert len(set(box.options)) == len(box.options)
    labelled(app.multiselect, "Embeddings").set_value([twin_models[1]]).run()
    assert labelled(app.multiselect, "Embeddings").value == [twin_models[1]]


def test_an_area_called_as_all_areas_are(empty, visit):
    project_id = create_project(empty, "Areas")
    add_areas(empty, project_id, [AreaTokens("Tools", ("saw", "axe")), AreaTokens("All areas", ("cat", "dog"))])
    app = visit("tokens", project_id)
    labelled(app.button_group, "Edit as").set_value("Table").run()

    def shown(id_: str) -> list[str]:
        box = next(box for box in app.selectbox if box.options[:1] == ["All areas"])
        assert box.options == ["All areas", "Tools", "All areas (an area)"]
        box.set_value(id_).run()
        return next(frame.value["token"].tolist() for frame in app.dataframe if list(frame.value) == ["area", "token"])

    assert shown("All areas") == ["cat", "dog"]
    assert shown("Tools") == ["saw", "axe"]
    assert shown("") == ["saw", "axe", "cat", "dog"]


def test_which_of_two_columns_of_one_name_holds_the_tokens(empty, visit):
    project_id = create_project(empty, "Columns")
    app = visit("tokens", project_id)
    data = b"area,word,word\nThings,cat,saw\nThings,dog,axe\n"
    uploader = next(box for box in app.file_uploader if box.label.startswith("CSV, TSV or Excel"))
    uploader.set_value([("lists.csv", data, "text/csv")]).run()
    box = labelled(app.selectbox, "Token column")
    assert box.options == ["area", "word (column 2)", "word (column 3)"]
    box.set_value(1).run()
    labelled(app.selectbox, "Area column").set_value(0).run()
    first = app.dataframe[0].value
    assert first[box.options[1]].tolist() == ["cat", "dog"]  # as the first rows show it
    press(app, "Add these areas")
    assert not app.exception
    (area,) = read_areas(empty, project_id)
    assert area.tokens == ("cat", "dog")


def test_a_release_called_as_the_box_calls_today(empty, visit):
    project_id = make_project(empty)
    run_people(empty, project_id, 1)
    release(empty, project_id, "1.0")
    with empty.engine.begin() as conn:  # a language may have one word for it, which a version's name may be
        conn.execute(sa.update(t.release).values(version="as it is now"))
    app = visit("export", project_id)
    (kept,) = read_releases(empty, project_id)
    for label, id_ in (("From", kept.id), ("To", 0)):
        box = labelled(app.selectbox, label)
        assert box.options == ["as it is now", "as it is now (a release)"]
        assert box.value == id_
    app.run()  # what a browser sends with any click
    assert [labelled(app.selectbox, label).value for label in ("From", "To")] == [kept.id, 0]
    assert "Choose two different versions." not in words(app)


@pytest.fixture
def alike(empty):
    """A closed ballot of six people, two of whom are called the same where platforms are added to names."""
    project_id = make_project(empty)
    run_people(empty, project_id, 1)
    with empty.engine.begin() as conn:
        ids = conn.execute(sa.select(t.voter.c.id).order_by(t.voter.c.id)).scalars().all()
        names = ("Anna", "mturk"), ("Anna", "typed"), ("Anna (mturk)", "typed")
        for id_, (name, platform) in zip(ids, names, strict=False):
            told = {"external_id": name, "platform": platform}
            conn.execute(sa.update(t.voter).where(t.voter.c.id == id_).values(told))
    return project_id, ids


def test_which_voter_is_left_out_and_readmitted(empty, alike, visit):
    project_id, ids = alike
    app = visit("voters", project_id)
    labelled(app.multiselect, "Voters to leave out").set_value([ids[2]]).run()
    labelled(app.text_input, "Reason").set_value("A test").run()
    press(app, "Leave 1 voter out")
    assert not app.exception
    with empty.read() as conn:
        assert [one.voter_id for one in exclusions_of(conn, project_id)] == [ids[2]]
    labelled(app.multiselect, "Voters to readmit").set_value([ids[2]]).run()
    press(app, "Let them count again")
    with empty.read() as conn:
        assert exclusions_of(conn, project_id) == []


@pytest.mark.release
def test_which_assignment_is_decided(empty, visit):
    project_id = make_project(empty)
    accept_upload(empty, project_id, answer_batch(draw_batch(empty, project_id)), "results.csv")
    with empty.engine.begin() as conn:
        ballot = conn.execute(sa.select(t.ballot.c.id)).scalar_one()
        one, other = conn.execute(sa.select(t.voter.c.id).order_by(t.voter.c.id).limit(2)).scalars()
        conn.execute(sa.update(t.voter).where(t.voter.c.id == one).values(external_id="Anna", platform="mturk"))
        conn.execute(sa.update(t.voter).where(t.voter.c.id == other).values(external_id="Anna", platform="toloka"))
        of_each = sa.select(sa.func.min(t.assignment.c.id)).group_by(t.assignment.c.voter_id)
        ids = [conn.execute(of_each.where(t.assignment.c.voter_id == id_)).scalar_one() for id_ in (one, other)]
        conn.execute(sa.update(t.assignment).where(t.assignment.c.id.in_(ids)).values(external_id="1"))
    app = visit("collect", project_id)
    app.session_state[f"settle-{project_id}"] = True  # unfolded
    app.run()
    box = labelled(app.multiselect, "Assignments")
    assert {"Anna · 1 (mturk)", "Anna · 1 (toloka)"} <= set(box.options)
    box.set_value([ids[1]])
    labelled(app.radio, "Decision").set_value("approve")
    press(app, "Decide")
    assert not app.exception
    found = read_assignments(empty, ballot).set_index("assignment")["review"]
    assert found[found == "approve"].index.tolist() == [ids[1]]


@pytest.mark.release
def test_who_of_a_round_is_left_out(empty, visit):
    project_id = make_project(empty, plan=None)
    draw_round(empty, project_id, SMALL[RATING])
    found = round_id(empty, project_id)
    data = answer_round(batch_of(empty, project_id), RATING, per_task=3)
    accept_answers(empty, project_id, data, "crowd.csv", ballot_id=found)
    with empty.engine.begin() as conn:
        ids = conn.execute(sa.select(t.voter.c.id).order_by(t.voter.c.id)).scalars().all()
        names = ("Anna", "mturk"), ("Anna", "typed"), ("Anna (mturk)", "typed")
        for id_, (name, platform) in zip(ids, names, strict=True):
            told = {"external_id": name, "platform": platform}
            conn.execute(sa.update(t.voter).where(t.voter.c.id == id_).values(told))
    app = visit("voters", project_id)
    labelled(app.multiselect, "People to leave out").set_value([ids[2]]).run()
    labelled(app.text_input, "Reason").set_value("A test").run()
    press(app, "Leave 1 out")
    assert not app.exception
    with empty.read() as conn:
        assert [one.voter_id for one in exclusions_of(conn, project_id)] == [ids[2]]


def test_a_column_of_a_result_file_whose_name_comes_twice_says_which_is_read(empty, visit):
    project_id = make_project(empty)
    draw_next_ballot(empty, project_id)
    app = visit("collect", project_id)
    data = b"who,what,what,x\nanna,1,2,cat\n"
    app.file_uploader[0].set_value([("own.csv", data, "text/csv")]).run()
    assert labelled(app.selectbox, "Voter").options == ["–", "who", "what (the first of 2)", "x"]
