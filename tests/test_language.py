"""What voters read, in other languages: catalogues that lack nothing, and pages that differ in their words only."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from json import loads

import pandas as pd
import pytest
from campaigns import PLAN, make_project

from core.errors import InputError, PlanError
from core.i18n import LANGUAGES, STANDARD, language, preferred
from core.platforms.label_studio import write_config
from core.platforms.plain import write_offline
from core.platforms.round_files import write_writing
from core.questions import RoundSettings, check_round, default_settings
from core.questions.comparison_page import (
    FIELDS,
    Wording,
    asset,
    check_examples,
    render_preview,
    standard_examples,
    template,
)
from core.questions.rating.scales import CLSS
from core.questions.voting_settings import CLOSING, CONSENT, TRAITS, VotingSettings
from core.questions.writing import Text, WritingTask
from core.questions.writing import task_page as page_of_scheme
from core.store.projects.plans import check_settings, read_plan, save_plan
from core.votes.platform import Outgoing
from core.voting.api import TaskPlace, VoterView
from tests import catalogue
from tests.rounds_of_people import PAGES as SCHEMES
from tests.rounds_of_people import read_answer
from tests.syntax import reads_the_code
from voting import pages

OTHERS = [code for code in LANGUAGES if code != STANDARD]
_VARIABLE = re.compile(r"\$\{\w+\}")
WORDS = ("0", "<b>1</b>", "2 & 2", "${3}", "5", "6")  # of tokens: nothing that looks like a word of a page


# Catalogues


@reads_the_code
@pytest.mark.parametrize("code", OTHERS)
def test_a_catalogue_has_all_texts_of_the_sources_and_no_others(code):
    assert catalogue.faults(code) == []
    assert (catalogue.FOLDER / f"{code}.po").read_bytes() == catalogue.updated(code)


@reads_the_code
@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('msgid "Begin"', 'msgid "Began"', "missing: Begin"),
        ('msgid "Begin"', 'msgid "Began"', "in no source: Began"),
        ('msgstr "Comincia"', 'msgstr ""', "not translated: Begin"),
        ('msgstr "Esempio {at}"', 'msgstr "Esempio {number}"', "other placeholders: Example {at}"),
        ('msgstr "<kbd>↑</kbd> indietro"', 'msgstr "↑ indietro"', "other placeholders: <kbd>↑</kbd> back"),
        ('#: voting/templates/frame.html.j2\nmsgid "Saving', 'msgid "Saving', "in other sources: Saving…"),
    ],
)
def test_a_catalogue_that_lacks_something_is_found(tmp_path, monkeypatch, old, new, fault):
    text = (catalogue.FOLDER / "it.po").read_text("utf-8")
    assert old in text
    (tmp_path / "it.po").write_text(text.replace(old, new), "utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    assert any(fault in found for found in catalogue.faults("it"))


def test_a_text_that_is_put_together_is_no_text_for_a_catalogue(tmp_path):
    source = tmp_path / "page.py"
    source.write_text('from .api import language\nlanguage("it").text(f"{1} of 2")\n')
    with pytest.raises(ValueError, match="put together"):
        list(catalogue.texts(source))


def test_italian_is_set_as_italian_is():
    for message in catalogue.catalogue("it"):
        for form in [message.string] if isinstance(message.string, str) else message.string:
            if message.id:
                # Straight marks, spaces before a stop, two spaces, and a message that ends otherwise than ours.
                assert not re.search(r"['\"]| [.,;:!?]|  ", form), form
                english = message.id if isinstance(message.id, str) else message.id[0]
                assert english.endswith(".") == form.endswith("."), form


def test_texts_numbers_and_moments():
    english, italian = language("en"), language("it")
    assert italian.text("Begin") == "Comincia"
    assert italian.text("A text of the owner’s, {kept}.") == "A text of the owner’s, {kept}."
    assert english.text("{at} of {of}", at="{of}", of=2) == "{of} of 2"
    assert italian.text("") == ""
    minutes = ("Not sent: {n} answer is missing.", "Not sent: {n} answers are missing.")
    assert italian.many(1, *minutes) == "Non inviato: manca 1 risposta."
    assert italian.many(0, *minutes) == "Non inviato: mancano 0 risposte."
    assert (english.number(1234.25), italian.number(1234.25)) == ("1,234.25", "1.234,25")
    when = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
    assert (english.moment(when)[:11], italian.moment(when)[:10]) == ("Mar 1, 2026", "1 mar 2026")
    with pytest.raises(InputError, match="'xx'"):
        language("xx")


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("it", "it"), ("it-CH, en;q=0.8", "it"), ("en, it;q=0.8", "en"), ("de, fr", "en"), ("", "en"),
        ("it;q=0, en;q=0.1", "en"), ("en;q=0.3,it;q=0.7", "it"), ("it;q=x", "en"), (",;q=;,\x00" * 50, "en"),
    ],
)  # fmt: skip
def test_the_language_that_a_browser_likes_best(accepted, code):
    assert preferred(accepted).code == code


# Pages


class Read(HTMLParser):
    """What a page is made of, apart from its language: tags with their attributes, and the texts between."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.shape: list[tuple] = []
        self.told: list[str] = []
        self.languages: set[str] = set()
        self.data = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        if "lang" in found:
            self.languages.add(str(found.pop("lang")))
        self.data = found.pop("data-texts", None) or self.data
        self.told += [text for name in ("aria-label", "onsubmit") if (text := found.pop(name, None))]
        if found.get("type") == "submit":
            found.pop("value", None)
        self.shape.append((tag, *sorted(found.items())))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.shape.append((f"/{tag}",))
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("style", "script", "kbd"):
            self.told.append(data.strip())


def task_page(code: str, target: str, notion: str) -> str:
    examples = standard_examples(notion, ties_allowed=True, language=code)
    wording = Wording("", "", examples, code)
    return template(n_comparisons=3, notion=notion, ties_allowed=True, wording=wording, target=target)


def offline_page(code: str) -> str:
    row = {"question_id": 7, "task_id": "t", "n": 1, "first": 0, "second": 1, "flipped": False}
    rows = pd.DataFrame([row | dict(zip(FIELDS, WORDS, strict=True))])
    (page,) = write_offline(
        rows, name="1", notion="relatedness", ties_allowed=True, consent=CONSENT,
        wording=Wording("", "", standard_examples("relatedness", ties_allowed=True, language=code), code),
    ).values()  # fmt: skip
    return page.decode("utf-8")


def preview(code: str) -> str:
    row = {f"{name}_{n}": word for n in (1, 2, 3) for name, word in zip(FIELDS, WORDS, strict=True)}
    return render_preview(task_page(code, "turkle", "relatedness"), row, language=code)


def scheme_page(code: str, scheme: str, notion: str) -> str:
    stored = {"notion": notion, "language": code, "scale": "STSS" if scheme == "sort-then-rate" else "CLSS"}
    if scheme == "rating":
        stored["gold"] = [{"first": "1", "second": "2", "rating": 4}]
    return page_of_scheme(scheme, stored, task_size=2)


def view_of(code: str, kind: str, scheme: str = "", **more) -> VoterView:
    examples = [asdict(one) for one in standard_examples("relatedness", ties_allowed=True, language=code)]
    settings = VotingSettings(ask=tuple(TRAITS), return_url="https://1.23/", minutes_per_task=30)
    found = replace(default_settings(scheme), language=code) if scheme else None
    wording = {"question": "", "instructions": "", "examples": examples, "language": code}
    return VoterView(kind, wording=wording, settings=settings, round=found, form="1", code="2", **more)


def voting_page(code: str, kind: str, scheme: str = "", **more) -> str:
    texts = dict(zip(FIELDS, WORDS, strict=True)) | {"at": "2"}
    more |= {"place": TaskPlace(1, 2, 5, texts), "last": (1, 1)} if kind == "vote" else {}
    return pages.page("code", view_of(code, kind, scheme, **more), {})


PAGES: dict[str, Callable[[str], str]] = {
    "offline": offline_page,
    "preview": preview,
    "problem": lambda code: pages.entry(
        "code", view_of(code, "entry", asks_name=True), {}, "This page isn't valid any more. Open your link once more."
    ),
    "entry": lambda code: voting_page(code, "entry", asks_name=True, asks_word=True, keeps_address=True),
    "example": lambda code: voting_page(code, "example", example=1),
    "vote": lambda code: voting_page(code, "vote", said="Saved."),
    "between": lambda code: voting_page(code, "between", may_more=True),
    "last": lambda code: voting_page(code, "between"),
    "finished": lambda code: voting_page(code, "finished"),
}
for _target in ("turkle", "mturk", "page"):
    for _notion in ("relatedness", "similarity"):
        PAGES[f"{_target} {_notion}"] = lambda code, t=_target, n=_notion: task_page(code, t, n)
for _scheme in SCHEMES:
    for _notion in ("relatedness", "similarity"):
        PAGES[f"{_scheme} {_notion}"] = lambda code, s=_scheme, n=_notion: scheme_page(code, s, n)
for _scheme in ("rating", "best-worst", "order"):
    PAGES[f"vote {_scheme}"] = lambda code, s=_scheme: voting_page(code, "vote", s)
    PAGES[f"entry {_scheme}"] = lambda code, s=_scheme: voting_page(code, "entry", s)
_KINDS = "nothing preview paused closed uninvited full stopped cookies refused busy fault"
for _kind in _KINDS.split():
    PAGES[f"only {_kind}"] = lambda code, k=_kind: pages.message(k, spoken=language(code))
for _answer in ("left", "right", "tie", "unknown"):
    PAGES[f"feedback {_answer}"] = lambda code, a=_answer: pages.feedback("code", view_of(code, "example"), 0, a)


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_same_in_another_language_but_for_its_words(name, code):
    english, other = Read(PAGES[name](STANDARD)), Read(PAGES[name](code))
    assert english.languages == {STANDARD}
    assert other.languages == {code}
    assert english.data == ""
    # Names and values of fields, classes, what is read out and when: the same.
    assert other.shape == english.shape
    same = {text for text in set(english.told) & set(other.told) if re.search("[a-z]{2}", _VARIABLE.sub("", text))}
    assert same <= {"no"}, "a text that isn't put into the language"


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_scripts_find_all_their_texts(scheme, code):
    page = scheme_page(code, scheme, "relatedness")
    given = loads(Read(page).data)
    sources = {path.name: path for path in catalogue.sources() if path.suffix == ".js"}
    used = [name for name, path in sources.items() if path.read_text("utf-8") in page]
    assert "scheme.js" in used
    for key in [key for name in used for key in catalogue.texts(sources[name])]:
        found = given[key if isinstance(key, str) else key[0]]
        assert found == language(code).text(key) if isinstance(key, str) else found["forms"][found["of"][1]]
    assert asset("template.js").startswith(asset("language.js"))


def test_what_the_owner_wrote_stays_and_is_text():
    own = {"question": "Which <b>one</b>, {at}?", "instructions": "Mine.\n\nBegin"}
    page = template(n_comparisons=1, notion="relatedness", ties_allowed=False, wording=Wording(**own, language="it"))
    assert "<h1>Which &lt;b&gt;one&lt;/b&gt;, {at}?</h1>\n<p>Mine.</p>\n<p>Begin</p>" in page
    view = replace(
        view_of("it", "entry"), settings=VotingSettings(consent="<i>Mine</i>"), wording={**own, "language": "it"}
    )
    assert "&lt;i&gt;Mine&lt;/i&gt;" in pages.entry("code", view, {})
    assert CLOSING not in pages.finished(view)
    closing = replace(view, settings=VotingSettings(closing="Bye."))
    assert "Bye." in pages.finished(closing)


def test_label_studio_keeps_its_values():
    ballot = Outgoing("c", 1, "relatedness", True, pd.DataFrame, Wording())
    english, italian = write_config(ballot), write_config(replace(ballot, wording=Wording(language="it")))
    values = re.compile(r'(alias|name|toName|choice)="([^"]*)"')
    assert values.findall(english) == values.findall(italian)
    assert 'value="Ugualmente legate" alias="tie"' in italian
    assert "Which" not in italian


def test_anchors_of_texts_to_write_for_are_in_the_language():
    tasks = [WritingTask(Text("1", "A text."), 3.0)]
    assert CLSS.describe(3.0) in write_writing(tasks, task_size=1).decode()
    assert language("it").text(CLSS.describe(3.0)) in write_writing(tasks, task_size=1, language="it").decode()


# What is chosen, and kept


def test_a_wording_says_its_language_only_where_that_is_another_than_english(store):
    assert Wording("Q?").stored() == {"question": "Q?", "instructions": "", "examples": ()}
    assert Wording.of({"question": "Q?", "instructions": ""}).language == "en"
    italian = Wording(language="it")
    assert Wording.of(italian.stored()) == italian
    with pytest.raises(ValueError, match="'xx'"):
        Wording.of({"language": "xx"})
    with pytest.raises(PlanError, match="en, it"):
        check_settings(replace(PLAN, wording=Wording(language="xx")))
    project_id = make_project(store, plan=None)
    save_plan(store, project_id, replace(PLAN, wording=italian))
    assert read_plan(store, project_id).wording == italian


def test_a_round_says_its_language_only_where_that_is_another_than_english():
    settings = default_settings("rating")
    assert "language" not in settings.stored()
    italian = replace(settings, language="it")
    assert RoundSettings.of(italian.stored()) == italian
    assert RoundSettings.of(settings.stored()).language == "en"
    with pytest.raises(ValueError, match="'xx'"):
        RoundSettings.of(settings.stored() | {"language": "xx"})
    with pytest.raises(PlanError, match="en, it"):
        check_round(replace(settings, language="xx"))
    with pytest.raises(InputError, match="language"):
        scheme_page("xx", "rating", "relatedness")


@pytest.mark.parametrize(
    ("scheme", "given", "told"),
    [
        ("rating", "9", "'9': un punteggio va da 0 a 4, a passi di 0,25"),
        ("best-worst", "best=1", "'best=1' non indica il massimo e il minimo della lista"),
        ("best-worst", "best=1;worst=9", "'best=1;worst=9': la lista ha i posti da 1 a 4"),
        ("order", "1 1", "'1 1' non è un ordine dei posti da 1 a 4, ciascuno una sola volta"),
    ],
)
def test_what_an_answer_lacks_is_told_in_the_language(scheme, given, told):
    with pytest.raises(InputError, match=re.escape(told)):
        read_answer(RoundSettings(scheme), given, 4, language("it"))


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("notion", ["relatedness", "similarity"])
def test_standard_examples_are_fine_in_every_language(notion, code):
    examples = standard_examples(notion, ties_allowed=True, language=code)
    check_examples(examples, ties_allowed=True)
    english = standard_examples(notion, ties_allowed=True)
    assert [one.answer for one in examples] == [one.answer for one in english]
    assert (examples == english) == (code == STANDARD)
