"""The pages of the voters' server, by the templates beside this module, which escape every text from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from .api import ADDRESS_KEPT, TRAITS, Language, VoterView, environment, explained, language, task_html, translatable

# Pages that only say something: title and text.
_PLAIN = {
    "nothing": (
        translatable("There is nothing here"),
        translatable("Open the link that you were given, whole and unchanged."),
    ),
    "preview": (
        translatable("A preview"),
        translatable("Accept the task first. This page then shows what to do."),
    ),
    "paused": (
        translatable("A short break"),
        translatable("Voting is paused. Your place is kept; please come back by the same link later."),
    ),
    "next": (
        translatable("The next round is being prepared"),
        translatable("This round is closed. Please come back to this link: the next one will be here."),
    ),
    "closed": (
        translatable("Voting is over"),
        translatable("This round is closed. Thank you for your interest."),
    ),
    "uninvited": (
        translatable("A link of your own is needed"),
        translatable(
            "This page is for people who were invited. Open the link that was sent to you, whole and unchanged."
        ),
    ),
    "full": (
        translatable("Nothing to do now"),
        translatable("Everything is taken care of at the moment. Please come back later."),
    ),
    "stopped": (
        translatable("This is the end"),
        translatable("There is nothing more for you to do. Thank you for your time."),
    ),
    "cookies": (
        translatable("Cookies are needed"),
        translatable("This page can't know you again without a cookie. Allow it and open your link anew."),
    ),
    "refused": (translatable("That didn’t work"), translatable("Open your link once more.")),
    "busy": (translatable("One moment"), translatable("That was a lot at once. Wait a little and try again.")),
    "fault": (
        translatable("Something went wrong"),
        translatable("Nothing is lost that was saved. Load the page again."),
    ),
}
ENGLISH = language("en")
_NONE: Mapping[str, str] = MappingProxyType({})


def message(kind: str, text: str = "", *, spoken: Language = ENGLISH, said: str = "") -> str:
    """A page that only says something; `text` in place of what this kind says, `said` about what was just done."""
    title, standard = _PLAIN[kind]
    return _render("message", spoken, title=title, text=text or standard, said=said)


def again(
    address: str, query: Mapping[str, str], fields: Mapping[str, str] | None, *, spoken: Language = ENGLISH
) -> str:
    """A page in place of one that must wait: asks for the same, and sends the same `fields` of a form, once more."""
    return _render("again", spoken, address=address, query=query, fields=fields)


def entry(
    code: str,
    view: VoterView,
    query: Mapping[str, str],
    problem: str = "",
    kept: Mapping[str, str] = _NONE,
    wrong: str = "name",
) -> str:
    """The first page: what is asked, what happens with the answers, and who it is.

    Where it comes again, `problem` says why, `wrong` is the field that it is about, and `kept` what was typed.
    """
    question, instructions = explained(view)
    return _render_view(
        "entry", code, view, question=question, instructions=instructions, query=query, problem=problem, kept=kept,
        wrong=wrong, traits=TRAITS, address_kept=ADDRESS_KEPT,
    )  # fmt: skip


def vote(code: str, view: VoterView, problem: str = "") -> str:
    """A question, with its progress, a way back, and what a break means; `problem` is what its last answer lacked."""
    if view.place is None:
        return message("fault", spoken=view.language)
    return _render_view("vote", code, view, task=task_html(view, view.place.texts), problem=problem)


def example(code: str, view: VoterView) -> str:
    """An example to try, like the real thing."""
    shown = _examples(view)[view.example]
    texts = {f"{side}_{letter}": str(shown[side][at]) for side in ("left", "right") for at, letter in enumerate("ab")}
    task, total = task_html(view, texts), len(_examples(view))
    return _render_view("example", code, view, number=view.example, total=total, task=task)


def feedback(code: str, view: VoterView, number: int, choice: str) -> str:
    """What the answer to an example was, and why."""
    return _render_view("feedback", code, view, example=_examples(view)[number], choice=choice)


def answered(code: str, view: VoterView, query: Mapping[str, str]) -> str:
    """The page after an example, where the address says which one and what was chosen; else none."""
    number, choice = query.get("e", ""), query.get("a", "")
    if not (number.isascii() and number.isdigit() and int(number[:3]) < len(_examples(view))) or view.kind == "entry":
        return ""
    return feedback(code, view, int(number[:3]), choice)


def between(code: str, view: VoterView) -> str:
    """A task is done: another one, or the end."""
    return _render_view("between", code, view)


def finished(view: VoterView) -> str:
    """Thanks, the code, and the way back."""
    return _render_view("finished", "", view, host=urlsplit(view.settings.return_url).hostname or "")


def page(code: str, view: VoterView, query: Mapping[str, str]) -> str:
    """The page of a view."""
    if view.kind == "entry":
        return entry(code, view, query)
    if view.kind == "example":
        return example(code, view)
    if view.kind == "vote":
        return vote(code, view)
    if view.kind == "between":
        return between(code, view)
    return finished(view) if view.kind == "finished" else message(view.kind, spoken=view.language, said=view.said)


def _examples(view: VoterView) -> list[dict[str, Any]]:
    return (view.wording or {}).get("examples", [])


def _render_view(name: str, code: str, view: VoterView, **values: Any) -> str:
    return _render(name, view.language, code=code, view=view, split_paragraphs=_paragraphs, **values)


def _render(name: str, spoken: Language, **values: Any) -> str:
    return environment(__package__).get_template(f"{name}.html.j2").render(language=spoken, **values)


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a plain text, each on one line; a blank line begins one."""
    parts = (" ".join(part.split()) for part in text.replace("\r", "").split("\n\n"))
    return [part for part in parts if part]
