"""The HTML of the voters' page. Every text from elsewhere goes through `escape`; there is no script inside a page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from string import Template
from types import MappingProxyType
from urllib.parse import quote, urlencode, urlsplit

from .door import ADDRESS_KEPT, Language, Place, View, explained, language, task_html, translatable
from .fields import trait_of, typed

_FRAME = Template("""<!DOCTYPE html>
<html lang="$lang">
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
_AGAIN = '<script src="/static/again.js" defer></script>\n'
ENGLISH = language("en")


def frame(title: str, body: str, *, spoken: Language = ENGLISH, scripts: str = "") -> str:
    """A whole page; `body` is HTML, `scripts` what its head has more."""
    return _FRAME.substitute(title=escape(title), body=body, scripts=scripts, lang=spoken.code)


def message(kind: str, text: str = "", *, spoken: Language = ENGLISH, said: str = "") -> str:
    """A page that only says something; `text` in place of what this kind says, `said` about what was just done."""
    title, standard = _PLAIN[kind]
    title, told = spoken.text(title), spoken.text(text or standard)
    before = f'<p class="ro-problem" role="alert">{escape(spoken.text(said))}</p>' if said else ""
    body = f'<div class="ro"><h1>{escape(title)}</h1>{before}<p>{escape(told)}</p></div>'
    return frame(title, body, spoken=spoken)


def again(
    address: str, query: Mapping[str, str], fields: Mapping[str, str] | None, *, spoken: Language = ENGLISH
) -> str:
    """A page in place of one that must wait: asks for the same, and sends the same `fields` of a form, once more."""
    title = spoken.text("One moment")
    if fields is None:
        told, method, sent = spoken.text("If the page doesn’t come by itself, press the button."), "get", query
    else:
        told = spoken.text("This isn’t saved yet. If it isn’t sent again by itself, press the button.")
        method, sent = "post", fields
    action = quote(address) + (f"?{urlencode(query)}" if query and method == "post" else "")
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in sent.items()
    )
    body = (
        f'<div class="ro"><h1>{title}</h1><p role="status">{told}</p>'
        f'<form id="again" method="{method}" action="{escape(action)}" autocomplete="off">{hidden}'
        f'<button type="submit">{spoken.text("Try again")}</button></form></div>'
    )
    return frame(title, body, spoken=spoken, scripts=_AGAIN)


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


def _said(view: View) -> str:
    told = escape(view.language.text(view.said))
    return f'<p class="ro-said" id="said" role="status" aria-live="polite">{told}</p>'


def entry(
    code: str,
    view: View,
    query: Mapping[str, str],
    problem: str = "",
    kept: Mapping[str, str] = MappingProxyType({}),
    wrong: str = "name",
) -> str:
    """The first page: what is asked, what happens with the answers, and who it is.

    Where it comes again, `problem` says why, `wrong` is the field that it is about, and `kept` what was typed.
    """
    question, parts = explained(view)
    text, fields = view.language.text, ""
    if problem:
        fields += f'<p class="ro-problem" id="problem" role="alert">{escape(text(problem))}</p>'
    if view.asks_name:
        label = text("Your name, or a name that only you use")
        fields += typed("name", label, 80, kept, wrong if problem else "")
    if view.asks_word:
        fields += typed("word", text("The code word that you were given"), 200, kept, wrong if problem else "")
    fields += "".join(trait_of(trait, view, kept.get(trait, "")) for trait in view.settings.ask)
    button = text("I agree, begin") if view.settings.consent.strip() else text("Begin")
    body = (
        f'<div class="ro"><h1 dir="auto">{escape(question)}</h1>'
        + "".join(f'<p dir="auto">{escape(part)}</p>' for part in parts)
        + f'<div class="ro-consent">{paragraphs(text(view.settings.consent))}'
        + (paragraphs(text(ADDRESS_KEPT)) if view.keeps_address else "")
        + "</div>"
        + _form(code, "begin", view, f'{fields}<button type="submit">{button}</button>', query)
        + "</div>"
    )
    return frame(question, body, spoken=view.language)


def vote(code: str, view: View, problem: str = "") -> str:
    """A question, with its progress, a way back, and what a break means; `problem` is what its last answer lacked."""
    place, spoken = view.place, view.language
    text = spoken.text
    if place is None:
        return message("fault", spoken=spoken)
    said = escape(text("Not saved: {problem}", problem=text(problem)))
    told = f'<p class="ro-problem" role="alert">{said}</p>' if problem else _said(view)
    inside = (
        f'<input type="hidden" name="place" value="{place_id(place.task, place.n)}">'
        '<input type="hidden" name="seconds" value="">'
        f'{task_html(view, place.texts)}<button type="submit" class="ro-send">{text("Send")}</button>'
    )
    pause = spoken.many(
        view.settings.minutes_per_task,
        "Close this page whenever you like. Within {n} minute the same link brings you back to this place; later you "
        "get other comparisons.",
        "Close this page whenever you like. Within {n} minutes the same link brings you back to this place; later you "
        "get other comparisons.",
    )
    body = (
        f"{progress(place, spoken)}{told}"
        + _form(code, "vote", view, inside, id="vote")
        + '<div class="ro ro-foot">'
        + _undo(code, view)
        + f"<details><summary>{text('Take a break')}</summary><p>{pause}</p></details></div>"
    )
    scripts = _SCRIPTS if view.round is None else Template(_QUESTION).substitute(scheme=view.round.scheme)
    return frame(_at(place, spoken), body, spoken=spoken, scripts=scripts)


def place_id(task: int, n: int) -> str:
    """How a form names a place."""
    return f"{task}.{n}"


def _undo(code: str, view: View) -> str:
    """Takes the last answer back, and names it: a press that comes twice takes one."""
    place = place_id(*view.last) if view.last else ""
    button = f"<button{'' if place else ' disabled'}>{view.language.text('Undo my last answer')}</button>"
    return _form(code, "undo", view, f'<input type="hidden" name="place" value="{place}">{button}', id="undo")


def _at(place: Place, spoken: Language) -> str:
    return spoken.text("{at} of {of}", at=place.texts["at"], of=place.of)


def progress(place: Place, spoken: Language) -> str:
    """How far the voter is in the task."""
    done = int(place.texts["at"]) - 1
    return (
        f'<div class="ro-top"><label for="progress" id="count">{_at(place, spoken)}</label>'
        f'<progress id="progress" max="{place.of}" value="{done}"></progress></div>'
    )


def example(code: str, view: View) -> str:
    """An example to try, like the real thing."""
    number, text = view.example, view.language.text
    inside = (
        f'<input type="hidden" name="number" value="{number}">{task_html(view, _example_texts(view, number))}'
        f'<button type="submit" class="ro-send">{text("Send")}</button>'
    )
    total = len((view.wording or {}).get("examples", ()))
    at = text("Example {at} of {of}.", at=number + 1, of=total)
    body = f'<p class="ro-top"><strong>{at}</strong> {text("It doesn’t count.")}</p>'
    body += _form(code, "example", view, inside, id="example")
    return frame(text("Example {at}", at=number + 1), body, spoken=view.language, scripts=_SCRIPTS)


def _example_texts(view: View, number: int) -> dict[str, str]:
    shown = (view.wording or {})["examples"][number]
    pairs = {side: shown[side] for side in ("left", "right")}
    return {f"{side}_{letter}": str(pairs[side][at]) for side in pairs for at, letter in enumerate("ab")}


def feedback(code: str, view: View, number: int, choice: str) -> str:
    """What the answer to an example was, and why."""
    shown, text = (view.wording or {})["examples"][number], view.language.text
    joined = f" {text('and')} "
    words = {side: joined.join(map(str, shown[side])) for side in ("left", "right")} | {"tie": text("both equally")}
    right = str(shown["answer"])
    verdict = text("Yes, most people would say so." if choice == right else "Most people would answer otherwise.")
    why = f'<p dir="auto">{escape(str(shown.get("why", "")))}</p>' if shown.get("why") else ""
    chosen = f"<bdi>{escape(words.get(choice, text('a word isn’t known')))}</bdi>"
    answer = f"<strong><bdi>{escape(words.get(right, right))}</bdi></strong>"
    body = (
        f'<div class="ro"><h1>{verdict}</h1><p>{text("You chose: {answer}.", answer=chosen)}</p>'
        f"<p>{text('The answer here: {answer}.', answer=answer)}</p>{why}"
        f'<p><a class="ro-button" href="/v/{escape(quote(code))}">{text("Go on")}</a></p></div>'
    )
    return frame(view.language.many(1, "Example", "Examples"), body, spoken=view.language)


def answered(code: str, view: View, query: Mapping[str, str]) -> str:
    """The page after an example, where the address says which one and what was chosen; else none."""
    number, choice = query.get("e", ""), query.get("a", "")
    examples = (view.wording or {}).get("examples", ())
    if not (number.isascii() and number.isdigit() and int(number[:3]) < len(examples)) or view.kind == "entry":
        return ""
    return feedback(code, view, int(number[:3]), choice)


def between(code: str, view: View) -> str:
    """A task is done: another one, or the end."""
    text, steps = view.language.text, ""
    if view.may_more:
        steps += _form(code, "more", view, f'<button type="submit">{text("Go on with more")}</button>')
    steps += _form(code, "finish", view, f'<button type="submit">{text("Finish")}</button>')
    steps += _undo(code, view)
    told = text("Thank you. You can go on, or finish here." if view.may_more else "Thank you. Press Finish to end.")
    body = f'<div class="ro"><h1>{text("All of these are done")}</h1>{_said(view)}<p>{told}</p>{steps}</div>'
    return frame(text("Done"), body, spoken=view.language)


def finished(view: View) -> str:
    """Thanks, the code, and the way back."""
    settings, text = view.settings, view.language.text
    body = f'<div class="ro"><h1>{text("Thank you")}</h1>{paragraphs(text(settings.closing))}'
    if view.code:
        body += f'<p>{text("Your completion code:")}</p><p class="ro-code"><code>{escape(view.code)}</code></p>'
    if settings.return_url:
        host = text("Back to {host}", host=escape(urlsplit(settings.return_url).hostname or ""))
        address = escape(settings.return_url)
        body += f'<p><a class="ro-button" rel="noopener noreferrer" href="{address}">{host}</a></p>'
    return frame(text("Thank you"), body + "</div>", spoken=view.language)


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
    return finished(view) if view.kind == "finished" else message(view.kind, spoken=view.language, said=view.said)
