"""A ballot as web pages that need no server: each file holds comparisons, keeps the answers, and ends with a CSV.

A file works from a disk or any web host. It renders the template of all platforms; the answers stay in the browser
until the voter sends back the CSV, which is a plain table of votes (`plain`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd

from ..errors import InputError
from ..i18n import STANDARD
from ..i18n import language as language_of
from ..questions.batch import FIELDS
from ..questions.examples import Example
from ..questions.template import fill, paragraphs_of, render, template
from ..tables import COMPARISONS
from .plain import comparison_ids

MAX_FILES = 500


def write_offline(
    comparisons: pd.DataFrame,
    *,
    name: str,
    notion: str,
    ties_allowed: bool,
    question: str | None = None,
    instructions: str | None = None,
    examples: Sequence[Example] = (),
    consent: str = "",
    n_files: int = 1,
    language: str = STANDARD,
) -> dict[str, bytes]:
    """The files by name: the ballot's tasks dealt out evenly within one task, whole and in order, `n_files` at most.

    `comparisons` is a table of schema COMPARISONS, `name` begins the files' names. `consent` (plain text; a blank line
    begins a paragraph) and `examples` stand before the first comparison; a voter who begins agrees. `language`, a code
    of `LANGUAGES`, is that of all other texts; the CSV that comes back is the same in each. Raises `InputError` for no
    comparison, or a number of files that isn't between 1 and `MAX_FILES`.

    >>> columns = {"question_id": 7, "task_id": "t", "n": 1, "first": 0, "second": 1, "flipped": False}
    >>> row = columns | dict.fromkeys(FIELDS, "</script>")
    >>> (page,) = write_offline(pd.DataFrame([row]), name="b1", notion="relatedness", ties_allowed=True).values()
    >>> page.count(b"</script>")
    3
    """
    COMPARISONS.check(comparisons)
    if comparisons.empty or not 1 <= n_files <= MAX_FILES:
        raise InputError(f"A ballot with comparisons makes 1 to {MAX_FILES} files, not {n_files}.")
    text = language_of(language).text
    body = template(
        n_comparisons=1,
        notion=notion,
        ties_allowed=ties_allowed,
        question=question,
        instructions=instructions,
        target="page",
        language=language,
    )
    rows = comparisons.assign(id=comparison_ids(comparisons))[["task_id", "id", *FIELDS]]
    tasks = rows["task_id"].drop_duplicates()
    file_of = dict(zip(tasks, (at * n_files // len(tasks) for at in range(len(tasks))), strict=True))
    pages = {}
    for number, part in rows.groupby(rows["task_id"].map(file_of), sort=True):
        file_id = f"{name}-part-{int(str(number)) + 1:03d}"
        shown = part.drop(columns="task_id").to_dict("records")
        page = render(
            "offline",
            language,
            consent=paragraphs_of(text(consent)),
            examples=examples,
            first=fill(body, {field: str(shown[0][field]) for field in FIELDS}),
            data=_json({"id": file_id, "comparisons": shown}),
        )
        pages[f"{file_id}.html"] = page.encode("utf-8")
    return pages


def _json(value: object) -> str:
    """Data for a script element, which only "<" could end; JSON may write it in another way."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
