"""The HTML of the voters' page. Every text from elsewhere goes through `escape`; there is no script inside a page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from string import Template
from urllib.parse import quote, urlencode, urlsplit

from .door import TRAITS, Place, View, explained, task_html

_FRAME = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>$title</title>
<link rel="stylesheet" href="/static/template.css">
<link rel="stylesheet" href="/static/vote.css">
$scripts</head>
<body>
<main>
$body
</main>
</body>
</html>
""")
_SCRIPTS = '<script src="/static/template.js" defer></script>\n<script src="/static/vote.js" defer></script>\n'
_QUESTION = """<link rel="stylesheet" href="/static/scheme.css">
<script src="/static/$scheme.js" defer></script>
<script src="/static/question.js" defer></script>
"""
_PLAIN = {
    "nothing": ("There is nothing here", "Open the link that you were given, whole and unchanged."),
    "preview": ("A preview", "Accept the task first. This page then shows what to do."),
    "paused": ("A short break", "Voting is paused. Your place is kept; please come back by the same link later."),
    "closed": ("Voting is over", "This round is closed. Thank you for your interest."),
    "full": ("Nothing to do now", "Everything is taken care of at the moment. Please come back later."),
    "stopped": ("This is the end", "There is nothing more for you to do. Thank you for your time."),
    "cookies": (
        "Cookies are needed",
        "This page can't know you again without a cookie. Allow it and open your link anew.",
    ),
    "refused": ("That didn’t work", "Open your link once more."),
    "busy": ("One moment", "That was a lot at once. Wait a little and try again."),
    "fault": ("Something went wrong", "Nothing is lost that was saved. Load the page again."),
}


def frame(title: str, body: str, *, scripts: str = "") -> str:
    """A whole page; `body` is HTML, `scripts` what its head has more."""
    return _FRAME.substitute(title=escape(title), body=body, scripts=scripts)


def message(kind: str, text: str = "") -> str:
    """A page that only says something."""
    title, standard = _PLAIN[kind]
    return frame(title, f'<div class="ro"><h1>{escape(title)}</h1><p>{escape(text or standard)}</p></div>')


def paragraphs(text: str) -> str:
    """Plain text as paragraphs; a blank line begins one."""
    parts = (" ".join(part.split()) for part in text.replace("\r", "").split("\n\n"))
    return "".join(f'<p dir="auto">{escape(part)}</p>' for part in parts if part)


def _form(
    code: str, step: str, view: View, inside: str, query: Mapping[str, str] | None = None, **attributes: str
) -> str:
    address = f"/v/{quote(code)}/{step}" + (f"?{urlencode(query)}" if query else "")
    more = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    token = f'<input type="hidden" name="form" value="{escape(view.form)}">'
    return f'<form method="post" action="{escape(address)}" autocomplete="off"{more}>{token}{inside}</form>'


def _said(view: View, text: str = "") -> str:
    return f'<p class="ro-said" id="said" role="status" aria-live="polite">{escape(text or view.said)}</p>'


def entry(code: str, view: View, query: Mapping[str, str], problem: str = "") -> str:
    """The first page: what is asked, what happens with the answers, and who it is."""
    question, parts = explained(view)
    fields = ""
    if problem:
        fields += f'<p class="ro-problem" id="problem" role="alert">{escape(problem)}</p>'
    if view.asks_name:
        described = ' aria-describedby="problem" aria-invalid="true"' if problem else ""
        fields += (
            '<p><label for="name">Your name, or a name that only you use</label>'
            f'<input id="name" name="name" type="text" maxlength="80" required{described}></p>'
        )
    for trait in view.settings.ask:
        label, values = TRAITS[trait]
        options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
        fields += (
            f'<p><label for="{trait}">{escape(label)} (if you like)</label><select id="{trait}" name="{trait}">'
            f'<option value="">I would rather not say</option>{options}</select></p>'
        )
    button = "I agree, begin" if view.settings.consent.strip() else "Begin"
    body = (
        f'<div class="ro"><h1 dir="auto">{escape(question)}</h1>'
        + "".join(f'<p dir="auto">{escape(part)}</p>' for part in parts)
        + f'<div class="ro-consent">{paragraphs(view.settings.consent)}</div>'
        + _form(code, "begin", view, f'{fields}<button type="submit">{button}</button>', query)
        + "</div>"
    )
    return frame(question, body)


def vote(code: str, view: View, problem: str = "") -> str:
    """A question, with its progress, a way back, and what a break means; `problem` is what its last answer lacked."""
    place = view.place
    if place is None:
        return message("fault")
    told = f'<p class="ro-problem" role="alert">Not saved: {escape(problem)}</p>' if problem else _said(view)
    inside = (
        f'<input type="hidden" name="place" value="{place_id(place)}"><input type="hidden" name="seconds" value="">'
        f'{task_html(view, place.texts)}<button type="submit" class="ro-send">Send</button>'
    )
    minutes = view.settings.minutes_per_task
    body = (
        f"{progress(place)}{told}"
        + _form(code, "vote", view, inside, id="vote")
        + '<div class="ro ro-foot">'
        + _form(
            code,
            "undo",
            view,
            f"<button{'' if place.may_undo else ' disabled'}>Undo my last answer</button>",
            id="undo",
        )
        + f"<details><summary>Take a break</summary><p>Close this page whenever you like. Within {minutes} minutes "
        "the same link brings you back to this place; later you get other comparisons.</p></details></div>"
    )
    scripts = _SCRIPTS if view.round is None else Template(_QUESTION).substitute(scheme=view.round.scheme)
    return frame(f"{place.texts['at']} of {place.of}", body, scripts=scripts)


def place_id(place: Place) -> str:
    """How a form names a place."""
    return f"{place.task}.{place.n}"


def progress(place: Place) -> str:
    """How far the voter is in the task."""
    done = int(place.texts["at"]) - 1
    return (
        f'<div class="ro-top"><label for="progress" id="count">{place.texts["at"]} of {place.of}</label>'
        f'<progress id="progress" max="{place.of}" value="{done}"></progress></div>'
    )


def example(code: str, view: View) -> str:
    """An example to try, like the real thing."""
    number = view.example
    inside = (
        f'<input type="hidden" name="number" value="{number}">{task_html(view, _example_texts(view, number))}'
        '<button type="submit" class="ro-send">Send</button>'
    )
    total = len((view.wording or {}).get("examples", ()))
    body = f'<p class="ro-top"><strong>Example {number + 1} of {total}.</strong> It doesn’t count.</p>'
    return frame(f"Example {number + 1}", body + _form(code, "example", view, inside, id="example"), scripts=_SCRIPTS)


def _example_texts(view: View, number: int) -> dict[str, str]:
    shown = (view.wording or {})["examples"][number]
    pairs = {side: shown[side] for side in ("left", "right")}
    return {f"{side}_{letter}": str(pairs[side][at]) for side in pairs for at, letter in enumerate("ab")}


def feedback(code: str, view: View, number: int, choice: str) -> str:
    """What the answer to an example was, and why."""
    shown = (view.wording or {})["examples"][number]
    words = {side: " and ".join(map(str, shown[side])) for side in ("left", "right")} | {"tie": "both equally"}
    right = str(shown["answer"])
    verdict = "Yes, most people would say so." if choice == right else "Most people would answer otherwise."
    why = f'<p dir="auto">{escape(str(shown.get("why", "")))}</p>' if shown.get("why") else ""
    chosen = words.get(choice, "a word isn’t known")
    body = (
        f'<div class="ro"><h1>{verdict}</h1><p>You chose: <bdi>{escape(chosen)}</bdi>.</p>'
        f"<p>The answer here: <strong><bdi>{escape(words.get(right, right))}</bdi></strong>.</p>{why}"
        f'<p><a class="ro-button" href="/v/{escape(quote(code))}">Go on</a></p></div>'
    )
    return frame("Example", body)


def between(code: str, view: View) -> str:
    """A task is done: another one, or the end."""
    steps = ""
    if view.may_more:
        steps += _form(code, "more", view, '<button type="submit">Go on with more</button>')
    steps += _form(code, "finish", view, '<button type="submit">Finish</button>')
    steps += _form(code, "undo", view, "<button>Undo my last answer</button>")
    text = "You can go on, or finish here." if view.may_more else "Press Finish to end."
    body = f'<div class="ro"><h1>All of these are done</h1>{_said(view)}<p>Thank you. {text}</p>{steps}</div>'
    return frame("Done", body)


def finished(view: View) -> str:
    """Thanks, the code, and the way back."""
    settings = view.settings
    body = f'<div class="ro"><h1>Thank you</h1>{paragraphs(settings.closing)}'
    if view.code:
        body += f'<p>Your completion code:</p><p class="ro-code"><code>{escape(view.code)}</code></p>'
    if settings.return_url:
        host = urlsplit(settings.return_url).hostname or ""
        address = escape(settings.return_url)
        body += f'<p><a class="ro-button" rel="noopener noreferrer" href="{address}">Back to {escape(host)}</a></p>'
    return frame("Thank you", body + "</div>")


def page(code: str, view: View, query: Mapping[str, str]) -> str:
    """The page of a view."""
    if view.kind == "entry":
        return entry(code, view, query)
    if view.kind == "example":
        return example(code, view)
    if view.kind == "vote":
        return vote(code, view)
    if view.kind == "between":
        return between(code, view)
    return finished(view) if view.kind == "finished" else message(view.kind)
