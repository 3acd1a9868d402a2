"""The datasheet: its figures are the project's, its words are escaped, and what nobody recorded is marked as such."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import sqlalchemy as sa
import yaml
from campaigns import PLAN, answer_batch, draw_batch, make_project, run_people
from hypothesis import given
from hypothesis import strategies as st

from core.base.templating import environment
from core.commands import datasheet_facts as view
from core.commands.publishing import publish
from core.dataset.datasheet.checklist import HOLDS, NOT, PARTLY, UNKNOWN, checklist, known_limitations
from core.dataset.datasheet.facts import SheetFields, check_fields
from core.dataset.datasheet.sheet import (
    datasheet,
    hourly,
    md,
    pay_rows,
    quiet,
    shown,
    split_paragraphs,
    to_markdown,
    yaml_text,
)
from core.dataset.published import read_published
from core.errors import InputError
from core.scores.bradley_terry import fit_votes
from core.store import schema as t
from core.store.ballots.ballot_rows import ballots_of
from core.store.ballots.closing import close_ballot
from core.store.engine import now
from core.store.projects.plans import save_plan
from core.store.projects.project_commands import create_project
from core.store.projects.releases import read_fields, save_fields
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import add_areas, items_of
from core.store.tokens.frequencies import RareTerms, use_list
from core.store.votes.checks import add_gold
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import ballot_votes
from core.tokens.files import AreaTokens
from core.trust import reliability

ODD = (
    "*a*",
    "<b>x</b>",
    "a|b",
    "[x](http://e.vil)",
    "`code`",
    "$x^2$",
    "# no",
    "&amp;",
    "~~s~~",
    "<script>alert(1)</script>",
)


class Page(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(data.decode())

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def project(store):
    """People's votes of two closed ballots."""
    project_id = make_project(store)
    run_people(store, project_id, 2)
    return project_id


def made_of(source: str, **values) -> bytes:
    """What a datasheet would hold, of the blocks that all are made of."""
    values |= {"shown": shown, "split_paragraphs": split_paragraphs, "zip": zip}
    blocks = '{% from "blocks.html.j2" import prose, table, bullets with context %}'
    return environment("core.dataset.datasheet").from_string(blocks + source).render(values).encode("utf-8", "replace")


def text_of(store, project_id: str) -> str:
    return to_markdown(datasheet(view.load(store, project_id))).decode()


class TestFigures:
    def test_they_are_those_of_the_store(self, store, project):
        facts = view.load(store, project)
        dataset = read_project_dataset(store, project)
        with store.read() as conn:
            counted = conn.execute(
                sa.select(sa.func.count()).select_from(t.judgement).where(t.judgement.c.status == "counted")
            ).scalar_one()
            votes = [ballot_votes(conn, ballot.id) for ballot in ballots_of(conn, project)]
            seed = ballots_of(conn, project)[-1].seed
        assert facts.votes.by_status["counted"] == counted == dataset.attrs["votes"]
        assert facts.votes.n_ties == sum(int((held.outcome == 0.5).sum()) for held in votes)
        assert (facts.voters.n_people, facts.voters.n_simulated) == (6, 0)
        assert facts.voters.platforms == (("mturk", "person", 6),)
        shares = np.bincount(np.unique(np.concatenate([v.voter for v in votes]), return_inverse=True)[1]) / counted
        assert facts.voters.largest_share == pytest.approx(shares.max())
        assert facts.voters.effective == pytest.approx(1 / (shares**2).sum())
        assert [(area.name, area.n_tokens, area.n_items) for area in facts.areas] == [
            ("Animals", 6, 15),
            ("Tools", 4, 6),
        ]
        (ranking,) = facts.rankings
        assert [ballot.n_votes for ballot in ranking.ballots] == [len(held.first) for held in votes]
        # the Scores page's own halves and ceiling, by their seeds
        fitted = fit_votes(votes)
        halves = reliability.halves(votes, "paper", fitted, rng=np.random.default_rng([seed, 6]))
        ceiling = reliability.ceiling(votes, "paper", fitted, rng=np.random.default_rng([seed, 7]))
        assert (ranking.halves.value, ranking.ceiling.value) == (halves.mean, ceiling.mean)

    def test_pay_is_by_the_plan_and_by_the_clock(self, store, project):
        assert hourly(0.25, 10, 6.0) == 15
        facts = view.load(store, project)
        assert facts.votes.seconds == 10.0  # 30 s for a task of three
        said = text_of(store, project)
        # PLAN pays .25 for 3 comparisons: at 6 s each 50 an hour, at 10 s each 30
        assert "50.00, at 6 s per comparison" in said
        assert "30.00, at a median of 10.0 s over" in said
        unpaid = replace(facts.rankings[0], plan={**facts.rankings[0].plan, "reward": 0})
        assert pay_rows(replace(facts, rankings=(unpaid,))) == [("Reward per task", "none")]

    def test_one_of_a_kind_is_told_in_the_singular(self, store, project):
        facts = view.load(store, project)
        criteria = checklist(replace(facts, areas=facts.areas[:1]))
        assert any(f"{facts.areas[0].n_tokens} tokens of 1 area, " in found.ground for found in criteria)

    def test_agreement_of_several_answers_stands_with_its_numbers(self, store):
        project = make_project(store)
        batch = draw_batch(store, project)
        for tag, voters in (("A", ("W1", "W2")), ("B", ("W3", "W4"))):
            accept_upload(store, project, answer_batch(batch, voters=voters, tag=tag), f"{tag}.csv")
        facts = view.load(store, project)
        alpha = facts.rankings[0].alpha
        assert alpha.alpha == 1.0
        assert facts.votes.n_overlapping == alpha.n_units == 42
        assert f"{alpha.n_units} comparisons with several answers, {alpha.n_answers} answers, 4 voters" in text_of(
            store, project
        )

    def test_exclusions_and_checks_are_counted(self, store, project):
        with store.write() as conn:
            ids = conn.execute(sa.select(t.voter.c.id).where(t.voter.c.project_id == project)).scalars().all()
            for voter, reason, undone in ((ids[0], "too fast", None), (ids[1], "too fast", None), (ids[2], "x", now())):
                row = {"voter_id": voter, "reason": reason, "detail": {}, "at": now(), "undone_at": undone}
                conn.execute(sa.insert(t.exclusion).values(project_id=project, **row))
        facts = view.load(store, project)
        assert [(found.reason, found.n_voters) for found in facts.exclusions] == [("too fast", 2)]
        assert "| too fast | 2 |" in text_of(store, project)
        assert "Voters were left out" in " ".join(known_limitations(facts))

    def test_gold_checks_are_told_and_never_in_the_votes(self, store):
        project = make_project(store)
        batch = draw_batch(store, project)
        add_gold(store, project, [(0, 20)])
        accept_upload(store, project, answer_batch(batch), "r.csv")
        close_ballot(store, project)
        facts = view.load(store, project)
        assert (facts.votes.n_checks, facts.votes.check_right, facts.votes.check_wrong) == (1, 0, 0)
        assert facts.votes.by_status["counted"] == 42

    def test_traits_that_few_told_stay_hidden(self):
        told = [("age", "18 to 24", 9), ("age", "65 or over", 2), ("age", "under 18", 3), ("native", "no", 1)]
        assert view._hidden(told) == (("age", "18 to 24", 9), ("age", "others, fewer than 5 each", 5))

    @pytest.mark.release
    def test_each_protocol_tells_its_own_estimator(self, store, project):
        from campaigns import run_simulated

        assert "y = 1 − b + b·x" in text_of(store, project)
        trial = make_project(store, kind="trial", plan=replace(PLAN, protocol="runoff", appearances=(6, 4, 4)))
        run_simulated(store, trial, 1)
        said = text_of(store, trial)
        assert "P(first item is chosen)" in said
        assert "and of its rank" in said
        assert "y = 1 − b" not in said
        card = read_published(publish(store, trial).data).files["README.md"].decode()
        assert "`rank_lower` and `rank_upper`" in card


class TestChecklist:
    def test_what_holds_and_what_nobody_knows(self, store, project):
        lines = {line.name: line for line in checklist(view.load(store, project))}
        assert len(lines) == 12
        verdicts = [line.verdict for line in lines.values()]
        assert set(verdicts) <= {HOLDS, PARTLY, NOT, UNKNOWN}
        assert lines["Items represent the domain"].verdict == UNKNOWN
        assert lines["Precision: voters agree with each other"].verdict == UNKNOWN  # one voter a comparison
        assert lines["Measurement scale"].verdict == HOLDS
        assert "project seed 11" in lines["Random order"].ground
        save_fields(store, project, SheetFields(token_source="A dictionary.", voters_note="Students."))
        later = {line.name: line.verdict for line in checklist(view.load(store, project))}
        assert later["Items represent the domain"] == PARTLY
        assert later["Voters are described (language, education, age, gender)"] == PARTLY

    def test_simulated_voters_are_no_people(self, store):
        from campaigns import run_simulated

        project = make_project(store, kind="trial")
        run_simulated(store, project, 1)
        facts = view.load(store, project)
        assert checklist(facts)[0].verdict == NOT
        assert known_limitations(facts)[0].startswith("6 simulated voters:")

    def test_what_is_not_recorded_is_called_so(self, store, project):
        said = text_of(store, project)
        for part in ("Where the token lists come from", "Who they are and how they were found", "Consent and ethics"):
            assert f"{part}: not recorded." in said
        assert "not chosen yet" in said


class TestEscaping:
    def test_odd_tokens_as_area_title_and_exclusion_change_nothing(self, store):
        project = create_project(store, "Odd")
        add_areas(store, project, [AreaTokens("<b>|*area*", ODD)])
        save_plan(store, project, replace(PLAN, n_ballots=1))
        run_people(store, project, 1)
        nasty = 'T <img src=x onerror=alert(1)> | *x* "q"'
        save_fields(
            store, project, SheetFields(title=nasty, purpose="<script>1</script>\n\n# head\n- a", authors="A|B")
        )
        files = read_published(publish(store, project).data).files
        page = Page(files["datasheet.html"])
        assert not {"script", "img", "b", "iframe"} & set(page.tags)
        assert "<b>|*area*" in page.texts
        assert nasty in page.texts
        markdown = files["datasheet.md"].decode()
        assert "<script" not in markdown.replace("\\<script", "")
        row = next(line for line in markdown.splitlines() if "area" in line and "10" in line)
        assert len(re.split(r"(?<!\\)\|", row)) == 7  # five cells, no more
        assert "\n# head" not in markdown
        card = files["README.md"].decode()
        assert "<img" not in card.split("---", 2)[2].replace("\\<img", "")

    @given(st.text())
    def test_html_gives_back_any_text(self, text):
        page = made_of('{{ prose(text) }}{{ table(("a",), [(text,)]) }}', text=text).decode()
        assert html.unescape(page).count(text.replace("\n", "<br>\n")) >= (1 if "\n" in text else 2) or not text.strip()
        assert set(Page(page.encode()).tags) <= {"p", "br", "div", "table", "thead", "tbody", "tr", "th", "td"}

    @given(st.text(alphabet="|\\`*_<>[]#~$&a \n", max_size=12))
    def test_no_mark_is_left_bare_in_markdown(self, text):
        assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_<>\[\]#~$&]", md(text))
        assert "\n" not in md(text)
        page = made_of('{{ table(("a", "b"), [(text, "x")]) }}', text=text)
        cell = to_markdown(page).decode().splitlines()[2]
        assert len(re.split(r"(?<!\\)(?:\\\\)*\|", cell)) == 4 or "\\" in text

    def test_lists_headings_and_addresses_begin_nothing(self):
        assert md("- a") == "\\- a"
        assert md("1. a") == "1\\. a"
        assert md("0.5") == "0.5"
        assert quiet("see https://a.b") == "see https\\://a.b"

    def test_code_holds_its_fence(self):
        page = made_of("<h2>h</h2><pre><code>a ``` b</code></pre>{{ bullets(('x', 'y')) }}")
        data = to_markdown(page).decode()
        assert "````text\na ``` b\n````" in data
        assert "* x\n* y" in data

    @given(st.text())
    def test_yaml_takes_any_title(self, text):
        if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
            return
        assert yaml.safe_load(f"a: {yaml_text(text)}") == {"a": text}

    def test_the_card_begins_with_a_header_that_names_its_files(self, store, project):
        title = 'A "title": of *tokens* # and more'
        save_fields(store, project, SheetFields(title=title, licence="cc0-1.0", language="pt-BR", dev_share=0.4))
        files = read_published(publish(store, project).data).files
        header = yaml.safe_load(files["README.md"].decode().split("---")[1])
        assert (header["pretty_name"], header["license"], header["language"]) == (title, "cc0-1.0", ["pt"])
        assert header["size_categories"] == ["n<1K"]
        paths = [part["path"] for config in header["configs"] for part in config["data_files"]]
        assert "data/dev.parquet" in paths
        assert set(paths) <= set(files)

    def test_yaml_text_stays_on_one_line_and_printable(self):
        odd = 'a"b\\c\u2028d\x85e\ufeffé🔥\n: #'
        written = yaml_text(odd)
        assert written == '"a\\"b\\\\c\\u2028d\\u0085e\\ufeffé🔥\\n: #"'


class TestFields:
    def test_they_are_kept_and_read_back(self, store, project):
        fields = SheetFields(title=" T ", licence="cc-by-4.0", language="pt-BR", dev_share=0.3, split_seed=4)
        save_fields(store, project, fields)
        assert read_fields(store, project) == replace(fields, title="T")
        assert "consent and ethics" in read_fields(store, project).missing
        save_fields(store, project, SheetFields())
        assert read_fields(store, project) == SheetFields()

    @pytest.mark.parametrize(
        ("wrong", "what"),
        [
            ({"licence": "mine"}, "column licence"),
            ({"language": "English"}, "language tag"),
            ({"title": "a\nb"}, "must be one line"),
            ({"title": "x" * 301}, "has 301 characters"),
            ({"purpose": "a\x00b"}, "can't be printed"),
            ({"dev_share": 0.95}, "between 0"),
            ({"dev_share": float("nan")}, "between 0"),
            ({"split_seed": -1}, "0 or more"),
        ],
    )
    def test_what_they_can_not_be(self, wrong, what):
        with pytest.raises(InputError, match=what):
            check_fields(SheetFields(**wrong))

    def test_all_faults_are_told_at_once(self):
        with pytest.raises(InputError) as caught:
            check_fields(SheetFields(licence="mine", language="English", dev_share=2))
        assert len(caught.value.issues) == 3

    def test_an_unknown_field_of_a_later_version_is_left_alone(self):
        assert SheetFields.of({"title": "a", "colour": "red"}) == SheetFields(title="a")


def test_the_rare_tokens_of_each_area_are_counted(store, project):
    """The mean of the list is 2,500.5, a tenth of it 250: cat is rare, and so is what the list lacks."""
    use_list(store, project, b"cat,1\ndog,3000\nsaw,3000\nhouse,4001\n", "corpus.csv", RareTerms(0.1, lower=False))
    areas = {area.name: (area.n_tokens, area.n_rare) for area in view.load(store, project).areas}
    assert areas == {"Animals": (6, 5), "Tools": (4, 3)}


def test_the_items_of_a_project_are_all_there(store, project):
    with store.read() as conn:
        n = len(items_of(conn, project))
    assert view.load(store, project).n_items == n
