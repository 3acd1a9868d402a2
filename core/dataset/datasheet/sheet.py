"""A project's datasheet as one HTML page or as Markdown, and the README.md with which its dataset is published.

The page needs nothing else; its text is `templates/datasheet.html.j2`, and every text is escaped where the template
prints it. Its Markdown is GitHub-flavoured.

The README.md is a card as Hugging Face reads it, with what to load and how; its text is `templates/card.md.j2`. Values
of both are worked out here, and written so that Markdown shows them as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from importlib.resources import files

from markupsafe import Markup

from ...base.numbers_in_words import VoterCount, many, percent, percent_as_set, plural, with_decimals
from ...base.templating import environment
from ...protocols import protocol_of
from ...protocols.paper import REFERENCE
from ...questions.voting_settings import TRAITS
from ...tables import DATASET
from ..splits import RULE
from .checklist import checklist, known_limitations
from .facts import Facts, RankingFacts, Reliability

# All that can begin something in CommonMark or GitHub's tables inside a line, HTML and mathematics among it.
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&^])")
_STARTS = re.compile(r"(?m)^(\s*)([-+=]|\d+[.)](?=\s|$))")
_AUTOLINK = re.compile(r"(?i)(https?|ftp|mailto)(:)|(www)(\.)|(\w)(@)(?=\w)")


def md(text: str) -> str:
    """A text that Markdown shows as it is, on one line; tokens may hold anything.

    >>> md("*a* <b>|$x$")
    '\\\\*a\\\\* \\\\<b\\\\>\\\\|\\\\$x\\\\$'
    """
    marked = _MARKS.sub(r"\\\1", " ".join(text.split("\n")))
    return _STARTS.sub(lambda found: found[1] + _escaped_start(found[2]), marked)


def _escaped_start(text: str) -> str:
    return f"{text[:-1]}\\{text[-1]}"


def quiet(text: str) -> str:
    """As `md`, and an address in it becomes no link: for words of others.

    >>> quiet("http://a.b"), quiet("www.x.y"), quiet("a@b")
    ('http\\\\://a.b', 'www\\\\.x.y', 'a\\\\@b')
    """
    return _AUTOLINK.sub(lambda m: "".join(g if i % 2 == 0 else f"\\{g}" for i, g in enumerate(_groups(m))), md(text))


def _groups(match: re.Match[str]) -> list[str]:
    return [group for group in match.groups() if group is not None]


def to_markdown(page: bytes) -> bytes:
    """A page of headings, paragraphs, lists, tables and `pre` (templates/blocks.html.j2) as Markdown in UTF-8."""
    reader = _PageParser()
    reader.feed(page.decode("utf-8"))
    reader.close()
    return ("\n\n".join(part for part in reader.parts if part) + "\n").encode("utf-8")


class _PageParser(HTMLParser):
    """What stands in the body of a page, its list of contents left out, block by block."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._text = ""
        self._lines: list[str] = []  # of the list or the table that is being read
        self._cells: list[str] = []
        self._rules: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("h1", "h2", "p", "pre", "li", "th", "td"):
            self._text = ""
        if tag == "th":
            self._rules.append("---:" if ("class", "n") in attrs else "---")
        elif tag in ("ul", "table"):
            self._lines, self._rules = [], []
        elif tag == "tr":
            self._cells = []

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "h1":
            self.parts.append(f"# {quiet(self._text)}")
        elif tag == "h2":
            self.parts.append(f"## {quiet(self._text)}")
        elif tag == "p":
            self.parts.append("  \n".join(md(line) for line in self._text.split("\n")))
        elif tag == "pre":
            self.parts.append(_fenced(self._text))
        elif tag == "li":
            self._lines.append(f"* {md(self._text)}")
        elif tag in ("th", "td"):
            self._cells.append(quiet(self._text))
        elif tag == "tr":
            self._lines.append(f"| {' | '.join(self._cells)} |")
        elif tag == "thead":
            self._lines.append(f"| {' | '.join(self._rules)} |")
        elif tag in ("ul", "table"):
            self.parts.append("\n".join(self._lines))


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGE = "1M<n<10M"
_TEXTS = ("area", "token_a", "token_b")
# What pandas reads as a missing value unless it is told otherwise.
_TAKEN_FOR_MISSING = frozenset(
    [
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    ]
)


def card(
    facts: Facts, configs: Mapping[str, Mapping[str, str]], files: Sequence[tuple[str, str]], stem: str, task: str
) -> bytes:
    """The card: a YAML header (`configs`: what to load by name, a file per split), and the text.

    files : path and what it is, for people. stem : what the folder is called in the examples. task : what programs call
    the comparisons in both orders.
    """
    dataset = facts.dataset
    tokens = {*dataset["token_a"], *dataset["token_b"]}
    numbers = [name for name in dataset.columns if name not in _TEXTS]
    scales = [(ranking.area, scale) for ranking in facts.rankings for scale in ranking.scales]
    who = VoterCount(facts.about["voters"]["people"], facts.about["voters"]["simulated"])
    page = environment(__package__, quiet).get_template("card.md.j2")
    return page.render(
        facts=facts,
        configs=configs,
        items_of_areas=f"{many(len(dataset), 'item')} of {many(len(facts.areas), 'area')}",
        votes_of_voters=f"{many(facts.about['votes'], 'pairwise vote')} of {who.named}",
        first_split=next(iter(configs["default"])),
        files=files,
        stem=stem,
        task=task,
        size=next((name for most, name in _SIZES if len(dataset) < most), _LARGE),
        numbers=numbers,
        floats=[name for name in numbers if DATASET.columns.get(name) == "float"],
        n_tokens=len(tokens),
        lost=sorted(tokens & _TAKEN_FOR_MISSING),
        several=len(facts.rankings) > 1,
        scales=scales,
        reasons=dict.fromkeys(f"{area}: {of.why_not}" if area else of.why_not for area, of in scales if of.why_not),
        limits=known_limitations(facts),
        reference=REFERENCE,
        json=json.dumps,
        md=md,
        three=with_decimals,
        yaml_text=yaml_text,
    ).encode("utf-8")


def yaml_text(text: str) -> str:
    """A text as a double-quoted YAML scalar: JSON's form, with what YAML can't print as escapes.

    >>> yaml_text('a "b": c')
    '"a \\\\"b\\\\": c"'
    """
    return "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in json.dumps(text, ensure_ascii=False)
    )


UNSAID = "Not recorded."
# What holds of every dataset, in the datasheet and in croissant.json.
COLLECTED = (
    "Voters compare two items at a time, in successive ballots that keep only the leading items. Who goes on follows "
    "from the votes alone; no embedding has a say."
)
PSEUDONYMS = (
    "Published files name voters by pseudonyms: the start of an HMAC-SHA256 over platform and id, with a secret that "
    "stays with the project. They hold no times of votes, no address and no free text of voters."
)
Row = tuple[object, ...]
_ANSWERS = {
    "counted": "counted",
    "unknown": "“I don't know a word here”: no vote",
    "rejected": "of rejected assignments: not counted",
    "repeat": "the same voter on the same comparison again: not counted",
    "withdrawn": "taken back: not counted",
    "excluded": "of voters left out: not counted",
}


def datasheet(facts: Facts) -> bytes:
    """The whole datasheet as a page with its own style for light, dark and print, no script, nothing loaded."""
    about = [protocol_of(name).about for name in facts.protocols]
    cite = f"{facts.fields.authors}: {facts.title}." + (f" Version {facts.version}." if facts.version else "")
    page = environment(__package__).get_template("datasheet.html.j2")
    return page.render(
        facts=facts,
        css=files(__package__).joinpath("sheet.css").read_text(encoding="utf-8").strip(),
        unsaid=UNSAID,
        collected=COLLECTED,
        pseudonyms=PSEUDONYMS,
        period=_period(facts),
        areas=[
            (a.name, a.n_tokens, a.n_proposed, "not known" if a.n_rare is None else a.n_rare, a.n_items)
            for a in facts.areas
        ],
        ties_allowed=any(ranking.plan.get("ties_allowed") for ranking in facts.rankings),
        ballots=_ballots(facts),
        plan=_plan(facts),
        traits=[(TRAITS[name][0] if name in TRAITS else name, value, n) for name, value, n in facts.voters.traits],
        pay=pay_rows(facts),
        answers=[(_ANSWERS.get(status, status), n) for status, n in facts.votes.by_status.items()],
        exclusions=[(each.reason, each.n_voters) for each in facts.exclusions],
        agreement=_agreement(facts),
        methods=[method for protocol in about for method in protocol.methods],
        level=percent(facts.about["interval"]["level"]),
        ranked=any(protocol.whole_field for protocol in about),
        no_intervals="; ".join(dict.fromkeys(r.interval_note for r in facts.rankings if r.interval_note)),
        limits=known_limitations(facts),
        checks=[(each.name, each.verdict, each.ground) for each in checklist(facts)],
        split_rule=RULE,
        citation=facts.fields.citation or (cite if facts.fields.authors else ""),
        reference=REFERENCE,
        on_one_line=_on_one_line,
        percent=percent,
        plural=plural,
        shown=shown,
        split_paragraphs=split_paragraphs,
        zip=zip,
    ).encode("utf-8")


def split_paragraphs(text: str) -> list[str]:
    """The paragraphs of somebody's text; blank lines part them."""
    return re.split(r"\n{2,}", text)


def shown(value: object) -> str:
    """A value as people read it.

    >>> shown(1234), shown(0.25), shown(None), shown("a")
    ('1,234', '0.25', '–', 'a')
    """
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3g}" if isinstance(value, float) else str(value)


def _on_one_line(html: Markup) -> Markup:
    return Markup(" ").join(line.strip() for line in html.split("\n") if line.strip())


def collection_days(facts: Facts) -> list[str]:
    """The days of the first draw and of the last draw or closing (ISO 8601, UTC); empty where nothing was drawn."""
    days = [day for r in facts.rankings for b in r.ballots for day in (b.drawn, b.closed) if day]
    return [min(days), max(days)] if days else []


def _period(facts: Facts) -> str:
    days = collection_days(facts)
    return f"{days[0]} to {days[1]} (UTC; first draw to last closing)" if days else UNSAID


def agreement_lines(facts: Facts) -> list[str]:
    """The figures of the datasheet's table of agreement that there are, each in a line with what is behind it."""
    _, rows = _agreement(facts)
    return [f"{' – '.join(map(str, names))}: {value} ({behind})" for *names, value, behind in rows if value]


def _by_area(facts: Facts, header: Sequence[str], rows: Sequence[Row]) -> tuple[Sequence[str], Sequence[Row]]:
    """A table whose first column is the ranking's area, which only several rankings need."""
    return (header, rows) if len(facts.rankings) > 1 else (header[1:], [row[1:] for row in rows])


def _ballots(facts: Facts) -> tuple[Sequence[str], Sequence[Row], Sequence[str]]:
    numbers = ("Ballot", "Items", "Appearances", "Comparisons", "Counted votes", "Slope b", "Drawn", "Closed")
    rows = [
        (
            r.area,
            "pilot" if b.number == 0 else b.number,
            b.n_items,
            b.appearances,
            b.n_comparisons,
            b.n_votes,
            None if b.slope is None else f"{b.slope:.3f}",
            b.drawn,
            b.closed or "open",
        )
        for r in facts.rankings
        for b in r.ballots
    ]
    return *_by_area(facts, ("Area", *numbers), rows), numbers


def _plan(facts: Facts) -> str:
    rows = []
    for r in facts.rankings:
        if r.plan:
            ballots = f"{r.plan['n_ballots']} ballots, {r.plan['keep']:g} of the items kept each time"
            rows.append(f"{r.area}: {ballots}" if r.area else ballots)
    return "; ".join(rows)


def _agreement(facts: Facts) -> tuple[Sequence[str], Sequence[Row]]:
    """α, halves of the voters, noise ceiling, each with what it rests on."""
    rows: list[Row] = []
    for r in facts.rankings:
        rows += [
            (r.area, "Krippendorff's α of voters", *_alpha(r)),
            (r.area, "ρ_w between two halves of the voters", *_measured(r.halves, "random splits")),
            (r.area, "ρ_w of a model with the true ranking", *_measured(r.ceiling, "simulations")),
        ]
    return _by_area(facts, ("Area", "Figure", "Value", "Behind it"), rows)


def _alpha(ranking: RankingFacts) -> tuple[str | None, str]:
    a = ranking.alpha
    if a is None:
        return None, ranking.no_alpha
    interval = "" if a.lower != a.lower else f" ({with_decimals(a.lower)} to {with_decimals(a.upper)})"
    behind = f"{a.n_units:,} comparisons with several answers, {a.n_answers:,} answers, {a.n_voters:,} voters"
    return f"{with_decimals(a.alpha)}{interval}", f"{behind}; {percent(a.level)} interval; 0 is chance"


def _measured(found: Reliability, repetitions: str) -> tuple[str | None, str]:
    if found.value is None:
        return None, found.why_not
    return f"{found.value:.3f}", f"mean of {found.n} {repetitions}"


def pay_rows(facts: Facts) -> list[tuple[str, str]]:
    """Lines of label and value: reward per task, the platform's fee, the hourly wage as planned and as measured.

    Of a ranking whose voters get nothing only that is said.
    """
    rows = []
    for ranking in facts.rankings:
        of, plan = f" ({ranking.area})" if ranking.area else "", ranking.plan
        if not plan:
            rows.append((f"Reward per task{of}", "not recorded"))
            continue
        size, reward = plan["task_size"], plan["reward"]
        if not reward:
            rows.append((f"Reward per task{of}", "none"))
            continue
        rows.append(
            (
                f"Reward per task{of}",
                f"{reward:g} for {size} comparisons; fee of the platform {percent_as_set(plan['fee'])}",
            )
        )
        planned = hourly(reward, size, plan["seconds_per_comparison"])
        rows.append(
            (f"Hourly wage as planned{of}", f"{planned:.2f}, at {plan['seconds_per_comparison']:g} s per comparison")
        )
    seconds, sizes = facts.votes.seconds, {r.plan["task_size"]: r.plan["reward"] for r in facts.rankings if r.plan}
    if seconds is None:
        rows.append(("Hourly wage as measured", "not recorded: no answers of people were timed"))
    elif len(sizes) == 1 and all(sizes.values()):
        ((size, reward),) = sizes.items()
        wage = hourly(reward, size, seconds)
        rows.append(
            (
                "Hourly wage as measured",
                f"{wage:.2f}, at a median of {seconds:.1f} s over {facts.votes.n_timed:,} answers",
            )
        )
    return rows


def hourly(reward: float, comparisons: int, seconds: float) -> float:
    """What a task's reward is an hour.

    >>> hourly(0.25, 10, 6.0)
    15.0
    """
    return reward * 3600 / (comparisons * seconds)
