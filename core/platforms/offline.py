"""A ballot as web pages that need no server: each file holds comparisons, keeps the answers, and ends with a CSV.

A file works from a disk or any web host. It renders the template of all platforms; the answers stay in the browser
until the voter sends back the CSV, which is a plain table of votes (`plain`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd

from ..errors import InputError
from ..examples import Example
from ..language import STANDARD, Language
from ..language import language as language_of
from ..tables import COMPARISONS
from .batch import FIELDS
from .plain import comparison_ids
from .template import asset, examples_shown, fill, paragraphs_of, template
from .text import encode

MAX_FILES = 500
_STYLE = """
body { margin: 0; padding: 1rem .5rem 2rem; background: #f5f6f8; color: #1b1d22; }
body { font: 1.0625rem/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; }
.top { display: flex; align-items: center; gap: .75rem; padding: 0 1rem; }
.top progress { flex: 1; height: .75rem; }
#said { min-height: 1.5em; padding: 0 1rem; }
.js #vote button[type="submit"] { display: none; }
.ro input[type="text"], .ro textarea, .ro button[type="button"] { font: inherit; min-height: 2.75rem; max-width: 100%;
  padding: .25rem .75rem; color: var(--ro-ink); background: var(--ro-card); border: 2px solid var(--ro-line);
  border-radius: .5rem; }
.ro textarea { width: 100%; height: 8rem; }
[hidden] { display: none !important; }
@media (prefers-color-scheme: dark) { body { background: #16191e; color: #eceef2; } }
"""


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
    body = template(
        n_comparisons=1,
        notion=notion,
        ties_allowed=ties_allowed,
        question=question,
        instructions=instructions,
        target="page",
        language=language,
    )
    spoken = language_of(language)
    before = _before(spoken.text(consent), examples, spoken)
    rows = comparisons.assign(id=comparison_ids(comparisons))[["task_id", "id", *FIELDS]]
    tasks = rows["task_id"].drop_duplicates()
    file_of = dict(zip(tasks, (at * n_files // len(tasks) for at in range(len(tasks))), strict=True))
    pages = {}
    for number, part in rows.groupby(rows["task_id"].map(file_of), sort=True):
        file_id = f"{name}-part-{int(str(number)) + 1:03d}"
        shown = part.drop(columns="task_id").to_dict("records")
        pages[f"{file_id}.html"] = _page(file_id, body, before, shown, spoken).encode("utf-8")
    return pages


def _before(consent: str, examples: Sequence[Example], spoken: Language) -> str:
    """What stands before a voter begins: consent and examples, the name, the button."""
    paragraphs, text = paragraphs_of(consent), spoken.text
    lines = [f"<p>{encode(part)}</p>" for part in paragraphs] + examples_shown(examples, spoken)
    lines.append(f'<p><label for="name">{text("Your name, or a name that only you use")}</label></p>')
    lines.append('<p><input id="name" type="text" maxlength="80" required></p>')
    lines.append(f'<button type="submit">{text("I agree: begin") if paragraphs else text("Begin")}</button>')
    return "\n".join(lines)


def _page(file_id: str, body: str, before: str, shown: list[dict], spoken: Language) -> str:
    """One file: the template's page, its style and scripts, and the comparisons as data."""
    # Inside a script element only "<" could end it; JSON may write it in another way.
    data = json.dumps({"id": file_id, "comparisons": shown}, ensure_ascii=False).replace("<", "\\u003c")
    text = spoken.text
    first = {name: str(shown[0][name]) for name in FIELDS}
    told = text(
        "Your answers are in this browser only. Save them as a file, or copy the text,\n"
        "and send it to whoever asked you."
    )
    return f"""<!DOCTYPE html>
<html lang="{spoken.code}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text("Which pair?")}</title>
<style>
{asset("template.css")}{_STYLE}</style>
</head>
<body>
<main>
<noscript><p>{text("Please switch on JavaScript: this page keeps your answers by itself.")}</p></noscript>
<form id="begin" class="ro" hidden>{before}</form>
<div id="voting" hidden>
<p class="top"><label for="progress" id="count"></label><progress id="progress" max="1" value="0"></progress></p>
<p id="said" role="status" aria-live="polite"></p>
<form id="vote">
{fill(body, first)}<button type="submit">{text("Next")}</button>
</form>
</div>
<div id="ending" class="ro" hidden>
<h2 id="done">{text("Done, thank you. Now send your answers back")}</h2>
<p>{told}</p>
<p><button type="button" id="save">{text("Save the answers (CSV)")}</button>
<button type="button" id="copy">{text("Copy the text")}</button>
<button type="button" id="undo">{text("Undo my last answer")}</button></p>
<label for="text">{text("The answers so far")}</label>
<textarea id="text" readonly></textarea>
</div>
</main>
<script type="application/json" id="data">{data}</script>
<script>
{asset("template.js")}</script>
<script>
{asset("offline.js")}</script>
</body>
</html>
"""
