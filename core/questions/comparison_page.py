"""The web page on which voters answer comparisons, one HTML template for every use, and the batch file that fills it.

The template is plain HTML with `${variables}` named as the columns of the batch file, the CSV of a ballot's tasks that
Turkle and Mechanical Turk take. It works without any external file, by mouse, touch, keyboard and screen reader, on a
phone and in a dark colour scheme; previews show the same. Look and behaviour stand in `template.css` and `template.js`
beside this module, its HTML in `templates/`.

Worked examples on the page are two pairs, which of them to choose, and why. They are part of the wording, chosen by the
owner; none is shown unless asked for. An example must not hold an item of the project: its answer would be given away.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import pandas as pd

from ..base.templating import environment
from ..errors import InputError, Issue, PlanError
from ..i18n import LANGUAGES, STANDARD, translatable
from ..i18n import language as language_of
from ..tables import COMPARISONS
from ..votes.reading import batch_bytes, encode

# The columns of one comparison, in the order of the file; `_n` is added where a task holds several.
FIELDS = ("left_a", "left_b", "right_a", "right_b", "area_left", "area_right")


def write_batch(tasks: pd.DataFrame, *, only: Collection[int] | None = None, ascii_only: bool = False) -> bytes:
    """Write the tasks of a ballot, one row per task: `task_id`, then `left_a_n, …, area_right_n` for n = 1, 2, ….

    The numbers are left off when every task holds one comparison. A task with fewer comparisons than the
    widest ends in empty cells, which the template removes. Tokens are written by `reading.encode`. UTF-8 without a
    byte order mark (Turkle refuses one), lines end in LF (both platforms read it), rows in order of first appearance.

    Parameters: `tasks`, a table of comparisons (`tables.COMPARISONS`), in any order; `only`, the question ids to
    publish (all by default): the cells of other comparisons are empty, so that numbers keep their meaning, and
    tasks without any are left out; `ascii_only` writes all other letters as character references too, which pages
    show alike: Turkle's interface cuts result files that hold letters outside ASCII.
    Raises `InputError` when there is no comparison, or when a task's comparisons aren't numbered 1, 2, … without gaps.

    >>> row = {"question_id": 7, "task_id": "t1", "n": 1, "first": 0, "second": 1, "flipped": False,
    ...        "left_a": "ship", "left_b": "boat", "right_a": "pay", "right_b": "R&D",
    ...        "area_left": "sea", "area_right": "job"}
    >>> print(write_batch(pd.DataFrame([row])).decode(), end="")
    task_id,left_a,left_b,right_a,right_b,area_left,area_right
    t1,ship,boat,pay,R&amp;D,sea,job
    """
    COMPARISONS.check(tasks)
    if tasks.empty:
        raise InputError("There is no comparison to publish: the ballot has no tasks. Draw the ballot first.")
    numbers = tasks.groupby("task_id", sort=False)["n"].agg(["min", "max", "count", "nunique"])
    is_gapless = (numbers["min"] == 1) & (numbers["max"] == numbers["count"]) & (numbers["nunique"] == numbers["count"])
    if not is_gapless.all():
        text = "comparisons must be numbered 1, 2, … without gaps"
        issues = [Issue(text, column="n", found=str(task)) for task in numbers.index[~is_gapless]]
        raise InputError("These tasks can't be published.", issues)
    width = int(numbers["max"].max())
    header = ["task_id", *(field + suffix for suffix in suffixes(width) for field in FIELDS)]
    ordered = tasks.sort_values("n", kind="stable")
    cells: dict[str, list[str]] = {task: [] for task in numbers.index}
    blank = [""] * len(FIELDS)
    wanted = None if only is None else frozenset(only)
    for question, task_id, *values in ordered[["question_id", "task_id", *FIELDS]].itertuples(index=False, name=None):
        cells[task_id].extend(map(encode, values) if wanted is None or question in wanted else blank)
    n_cells = width * len(FIELDS)
    rows = ([encode(task), *row, *[""] * (n_cells - len(row))] for task, row in cells.items() if any(row))
    return batch_bytes(header, rows, ascii_only=ascii_only)


def suffixes(n_comparisons: int) -> list[str]:
    """The endings of a task's variables: `_1`, `_2`, …, or none at all when a task holds one comparison."""
    return [""] if n_comparisons == 1 else [f"_{n}" for n in range(1, n_comparisons + 1)]


MOST_EXAMPLES = 3
MAX_WORD, MAX_WHY = 100, 300
ANSWERS = ("left", "right", "tie")


@dataclass(frozen=True)
class Example:
    """One example: the left and the right pair, the answer (left, right or tie) and the reason for it."""

    left: tuple[str, str]
    right: tuple[str, str]
    answer: str
    why: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Example:
        """An example as JSON keeps it; KeyError, TypeError or ValueError for anything else.

        >>> Example.of({"left": ["a", "b"], "right": ["c", "d"], "answer": "tie", "why": ""}).left
        ('a', 'b')
        """
        (one, two), (three, four) = stored["left"], stored["right"]
        return cls((str(one), str(two)), (str(three), str(four)), str(stored["answer"]), str(stored.get("why", "")))


# Four words, the answer, and why. The words are one text: another language takes others that show the same.
_STANDARD: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "relatedness": (
        (
            translatable("ship, harbour, ship, dentist"), "left",
            translatable("Ships lie in harbours; few have a dentist."),
        ),
        (
            translatable("hot, purple, hot, cold"), "right",
            translatable("Opposites are related: both are about temperature."),
        ),
        (translatable("glove, hand, sock, foot"), "tie", translatable("One is as related as the other.")),
    ),
    "similarity": (
        (
            translatable("boat, ship, harbour, ship"), "left",
            translatable("A boat is nearly a ship; a harbour is a place for it."),
        ),
        (translatable("hot, cold, hot, warm"), "right", translatable("Opposites are not similar.")),
        (translatable("begin, start, sofa, couch"), "tie", translatable("Both pairs mean the same.")),
    ),
}  # fmt: skip


def standard_examples(notion: str, *, ties_allowed: bool, language: str = STANDARD) -> tuple[Example, ...]:
    """Examples to start from for relatedness or similarity; without the tie where none may be answered.

    >>> [example.answer for example in standard_examples("similarity", ties_allowed=False)]
    ['left', 'right']
    """
    text = language_of(language).text
    examples = []
    for words, answer, why in _STANDARD[notion]:
        a, b, c, d = text(words).split(", ")
        examples.append(Example((a, b), (c, d), answer, text(why)))
    return tuple(example for example in examples if ties_allowed or example.answer != "tie")


@dataclass(frozen=True)
class Wording:
    """What voters read. An empty question or instruction means the standard text of the project's notion, in `language`
    (a code of `LANGUAGES`), as all other standard texts are.
    """

    question: str = ""
    instructions: str = ""
    examples: tuple[Example, ...] = ()
    language: str = STANDARD

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Wording:
        """A wording as JSON keeps it; what an older version didn't know has its default. TypeError or ValueError for
        others."""
        texts = {name: value for name, value in stored.items() if name != "examples"}
        if texts.get("language", STANDARD) not in LANGUAGES:
            raise ValueError(f"There is no language {texts['language']!r}.")
        return cls(**texts, examples=tuple(Example.of(example) for example in stored.get("examples", ())))

    def stored(self) -> dict[str, Any]:
        """For JSON; as it always was where voters read English, so that what was registered stays the same."""
        row = asdict(self)
        if self.language == STANDARD:
            del row["language"]
        return row


NO_WORDING = Wording()  # of one's own: all texts are standard


def check_examples(examples: Sequence[Example], *, ties_allowed: bool) -> None:
    """`PlanError` for what voters could not make sense of: an empty word, an answer that isn't allowed, too much."""
    if len(examples) > MOST_EXAMPLES:
        raise PlanError(f"The task page has {len(examples)} examples; {MOST_EXAMPLES} is the most. Take some off.")
    for number, example in enumerate(examples, start=1):
        words = (*example.left, *example.right)
        if not all(word.strip() for word in words):
            raise PlanError(f"Example {number} lacks a word. Fill in its four words, or have fewer examples.")
        if len(max(words, key=len)) > MAX_WORD or len(example.why) > MAX_WHY:
            raise PlanError(
                f"Example {number} is too long: a word has at most {MAX_WORD} characters, a reason {MAX_WHY}."
            )
        if frozenset(example.left) == frozenset(example.right):
            raise PlanError(f"Example {number} shows the same pair on both sides. Change one of its words.")
        if example.answer not in ANSWERS or (example.answer == "tie" and not ties_allowed):
            raise PlanError(
                f"The answer to example {number} is {example.answer!r}, which voters can't give. "
                f"It must be left{', right or tie' if ties_allowed else ' or right'}."
            )


NOTIONS = {
    "relatedness": (
        translatable("Which two words are more related?"),
        translatable(
            "Two words are related when what they stand for has to do with each other in any way: a part, a place, "
            "a cause, an opposite, things met together. They don’t have to mean the same.\n\n"
            "Compare the two pairs and choose the pair whose words are more related. Go by your own first impression; "
            "there is no right answer to look up."
        ),
    ),
    "similarity": (
        translatable("Which two words are more similar in meaning?"),
        translatable(
            "Two words are similar when they mean nearly the same or stand for the same kind of thing. Opposites, or "
            "things that are only met together, are not similar.\n\n"
            "Compare the two pairs and choose the pair whose words are more similar. Go by your own first impression; "
            "there is no right answer to look up."
        ),
    ),
}
TIE_LABELS = {"relatedness": translatable("Both equally related"), "similarity": translatable("Both equally similar")}
UNKNOWN = translatable("I don’t know a word here")
_DARK, _SCHEMES = "@media (prefers-color-scheme: dark)", "color-scheme: light dark;"  # in template.css
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def template(
    *,
    n_comparisons: int,
    notion: str,
    ties_allowed: bool,
    wording: Wording = NO_WORDING,
    target: str = "turkle",
) -> str:
    """The page for tasks of up to `n_comparisons` comparisons.

    Each comparison is a group of radio buttons `choice_n` (`choice` where a task holds one comparison) with the values
    left, right, tie (where `ties_allowed`) and unknown. The page's script removes comparisons whose cells are empty.
    Keys: ← or 1 the left pair, → or 2 the right one, ↓ or 3 a tie, 0 for a word that isn't known, ↑ back.

    Parameters: `notion`, relatedness or similarity, chooses the standard texts; question and instructions of `wording`
    replace them (plain text; a blank line begins a paragraph), its examples stand between them and the first
    comparison, folded away on a phone, and its language is that of all other texts; names and values of fields stay.
    `target`, "turkle" or "mturk": Turkle brings its own form and Submit button, Mechanical Turk needs a
    `<crowd-form>` around the same page; "page" is the voting page: one comparison, style and script in files of their
    own (`asset`), the instructions folded away. Raises `InputError` for another notion or target, or fewer than one
    comparison.

    >>> page = template(n_comparisons=2, notion="relatedness", ties_allowed=True)
    >>> "${left_a_2}" in page and 'name="choice_2" value="tie"' in page and "<form" not in page
    True
    """
    _check(n_comparisons, notion, target)
    text = language_of(wording.language).text
    return render(
        "own_page" if target == "page" else "task",
        wording.language,
        target=target,
        question=wording.question or text(NOTIONS[notion][0]),
        instructions=paragraphs_of(wording.instructions or text(NOTIONS[notion][1])),
        examples=wording.examples,
        n_comparisons=n_comparisons,
        suffixes=suffixes(n_comparisons),
        ties_allowed=ties_allowed,
        tie=TIE_LABELS[notion],
        unknown=UNKNOWN,
    )


def render(name: str, language: str, **values: Any) -> str:
    """A page by one of this package's templates; what it prints is written as in a batch file (`reading.encode`)."""
    page = environment(__package__, encode).get_template(f"{name}.html.j2")
    return page.render(language=language_of(language), asset=asset, **values)


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a plain text; a blank line begins one."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def asset(name: str) -> str:
    """The template's style ("template.css") or script ("template.js"), for pages that link to them."""
    # Whatever script comes first brings the texts with it.
    return packaged("language.js") + packaged(name) if name == "template.js" else packaged(name)


def fill(page: str, row: Mapping[str, str]) -> str:
    """`page` with its variables replaced by plain texts, escaped; a variable that `row` lacks becomes empty.

    >>> fill("<p>${left_a}</p>", {"left_a": "R&D"})
    '<p>R&amp;D</p>'
    """
    return _VARIABLE.sub(lambda match: encode(row.get(match[1], "")), page)


def render_preview(page: str, row: Mapping[str, str], *, scheme: str | None = None, language: str = STANDARD) -> str:
    """A whole HTML document that shows one task: `page` with its variables filled in, and a button that sends nothing.

    `row` maps variables to plain texts (a batch's row before it is encoded); they are escaped here. A comparison of
    which `row` has no variable at all stays empty, as in a task that is shorter than others. `scheme`, "light" or
    "dark", shows the page as a browser with that setting would; None follows the browser. `language` is the page's.
    Raises `InputError` naming the variables that `row` lacks of the other comparisons, or all if it has none.

    >>> "R&amp;D" in render_preview("<p>${left_a}</p>", {"left_a": "R&D"})
    True
    """
    wanted = set(_VARIABLE.findall(page))
    numbers = {_number(name) for name in wanted & set(row)}
    missing = sorted(name for name in wanted - set(row) if _number(name) in numbers or not numbers)
    if missing:
        raise InputError(
            "The preview lacks values for the template's variables.",
            [Issue("no value", column=name) for name in missing],
        )
    if scheme is not None:
        page = page.replace(_DARK, "@media all" if scheme == "dark" else "@media not all", 1)
        page = page.replace(_SCHEMES, f"color-scheme: {scheme};", 1)
    return render("preview", language, task=fill(page, row))


def _number(variable: str) -> str:
    """The comparison that a variable belongs to: the digits at its end."""
    return variable[len(variable.rstrip("0123456789")) :]


def _check(n_comparisons: int, notion: str, target: str) -> None:
    issues = []
    if n_comparisons < 1:
        issues.append(Issue("a task needs at least one comparison", column="n_comparisons", found=str(n_comparisons)))
    if notion not in NOTIONS:
        issues.append(Issue(f"must be one of {', '.join(NOTIONS)}", column="notion", found=notion))
    if target not in ("turkle", "mturk", "page"):
        issues.append(Issue("must be turkle or mturk (or page, the voting page)", column="target", found=target))
    if issues:
        raise InputError("No template can be made of this.", issues)


def packaged(name: str) -> str:
    """A text that stands beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
