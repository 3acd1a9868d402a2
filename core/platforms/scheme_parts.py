"""The parts of a task page of another scheme: one fieldset an item, a tuple, a target, or a text to write.

Every text of a task stands as `${variable}` and is escaped in the batch file (`text.encode`); what stands here as plain
text is escaped here.
"""

from __future__ import annotations

from ..language import translatable
from .scheme_settings import SchemeSettings
from .scheme_wording import ALL_KNOWN, least_of, most_of, smaller_of, spoken_by
from .text import encode

MAX_WRITTEN = 2000


def columns_of(settings: SchemeSettings, task_size: int) -> list[str]:
    """The columns of a batch file that the page shows, in order; `task_id` and the ids of items stand beside them.

    >>> columns_of(SchemeSettings("best-worst", rows=3), 1)[:2]
    ['tuple_1_token_a_1', 'tuple_1_token_b_1']
    """
    places = range(1, settings.rows + 1)
    names = []
    for n in range(1, task_size + 1):
        if settings.kind == "rating":
            names += [f"token_a_{n}", f"token_b_{n}"]
        elif settings.kind == "best-worst":
            names += [f"tuple_{n}_token_{letter}_{k}" for k in places for letter in "ab"]
        elif settings.kind == "order":
            names += [f"order_{n}_target", *(f"order_{n}_word_{k}" for k in places)]
        else:
            names += [f"larger_{n}", f"wanted_{n}", f"anchor_{n}"]
    return names


def box(settings: SchemeSettings, n: int, of: int, question: str) -> str:
    """The fieldset of place `n` of a task of `of`; `question` is HTML, read out by screen readers."""
    inside = {"rating": _rating, "best-worst": _best_worst, "order": _order, "writing": _writing}[settings.kind]
    count = spoken_by(settings).text("{at} of {of}", at=n, of=of) if of > 1 else ""
    return _fieldset(count, question, inside(settings, n), f"ro-{settings.kind}")


def gold_box(settings: SchemeSettings, n: int, question: str) -> str:
    """The fieldset of gold pair `n`, with its texts, and without its rating."""
    pair = settings.gold[n - 1]
    texts = _texts(settings, encode(pair.first), encode(pair.second))
    inside = texts + _control(settings, f"gold_{n}")
    count = spoken_by(settings).text("To begin with: {at} of {of}", at=n, of=len(settings.gold))
    return _fieldset(count, question, inside, "ro-rating ro-gold")


def scale_list(settings: SchemeSettings) -> str:
    """The scale with its anchors, from the lower end up; the page's script makes buttons and piles of it."""
    scale, spoken = settings.scale, spoken_by(settings)
    entries = [
        (anchor.value, spoken.text(anchor.text)) for anchor in sorted(scale.anchors, key=lambda anchor: anchor.value)
    ]
    if not entries:
        least, most = least_of(settings), most_of(settings)
        entries = [(scale.low, f"{least}."), (scale.high, f"{most}.")]
    items = "".join(
        f'<li data-value="{value:g}"><b>{spoken.number(value)}</b> <span dir="auto">{encode(text)}</span></li>'
        for value, text in entries
    )
    return f'<ul class="ro-scale" aria-label="{spoken.text("The scale")}">{items}</ul>'


def _fieldset(count: str, question: str, inside: str, classes: str) -> str:
    shown = f'<span class="ro-count">{count}</span> ' if count else ""
    return (
        f'<fieldset class="ro-comparison {classes}" tabindex="-1">'
        f'<legend>{shown}<span class="ro-hidden">{question}</span></legend>\n'
        f'{inside}\n<p class="ro-fault" role="alert" hidden></p></fieldset>'
    )


def _texts(settings: SchemeSettings, first: str, second: str) -> str:
    joined = spoken_by(settings).text("and")
    return (
        f'<p class="ro-texts"><bdi class="ro-token" dir="auto">{first}</bdi> <span class="ro-and">{joined}</span> '
        f'<bdi class="ro-token" dir="auto">{second}</bdi></p>'
    )


def _unknown(settings: SchemeSettings, n: int, text: str = ALL_KNOWN) -> str:
    return (
        f'<label class="ro-small ro-unknown"><input type="checkbox" name="unknown_{n}" value="1">'
        f"<span>{encode(spoken_by(settings).text(text))}</span></label>"
    )


def _rating(settings: SchemeSettings, n: int) -> str:
    texts = _texts(settings, f"${{token_a_{n}}}", f"${{token_b_{n}}}")
    return texts + _control(settings, f"rating_{n}") + _unknown(settings, n)


def _control(settings: SchemeSettings, name: str) -> str:
    """A number, which works without the script; the script puts buttons and a slider beside it."""
    scale, spoken = settings.scale, spoken_by(settings)
    reach = spoken.text("{low} to {high}", low=spoken.number(scale.low), high=spoken.number(scale.high))
    bounds = f'min="{scale.low:g}" max="{scale.high:g}" step="{scale.step:g}"'
    return (
        f'<div class="ro-rate"><label for="{name}">{reach}</label> '
        f'<input type="number" id="{name}" name="{name}" {bounds} required inputmode="decimal"></div>'
    )


def _best_worst(settings: SchemeSettings, n: int) -> str:
    most, least, joined = most_of(settings), least_of(settings), spoken_by(settings).text("and")
    rows = "".join(
        f'<div class="ro-row"><label class="ro-end-most"><input type="radio" name="best_{n}" value="{k}" required>'
        f'<span class="ro-hidden">{most}</span></label>'
        f'<span class="ro-texts"><bdi class="ro-token" dir="auto">${{tuple_{n}_token_a_{k}}}</bdi> '
        f'<span class="ro-and">{joined}</span> <bdi class="ro-token" dir="auto">${{tuple_{n}_token_b_{k}}}</bdi></span>'
        f'<label class="ro-end-least"><input type="radio" name="worst_{n}" value="{k}" required>'
        f'<span class="ro-hidden">{least}</span></label></div>'
        for k in range(1, settings.rows + 1)
    )
    head = f'<div class="ro-heads" aria-hidden="true"><span>{most}</span><span>{least}</span></div>'
    return f'<div class="ro-table">{head}{rows}</div>{_unknown(settings, n)}'


def _order(settings: SchemeSettings, n: int) -> str:
    text = spoken_by(settings).text
    target = text("Target: {word}", word=f'<bdi class="ro-token" dir="auto">${{order_{n}_target}}</bdi>')
    words = "".join(
        f'<li class="ro-row" data-place="{k}"><bdi class="ro-token" dir="auto">${{order_{n}_word_{k}}}</bdi></li>'
        for k in range(1, settings.rows + 1)
    )
    return (
        f'<p class="ro-target">{target}</p>'
        f'<p class="ro-end">{most_of(settings)}</p><ol class="ro-words">{words}</ol>'
        f'<p class="ro-end">{least_of(settings)}</p><input type="hidden" name="order_{n}" value="">'
        '<div class="ro-others"><label class="ro-small ro-sure"><input type="checkbox" required>'
        f"<span>{text('This is my order')}</span></label>{_unknown(settings, n)}</div>"
    )


def _writing(settings: SchemeSettings, n: int) -> str:
    spoken = spoken_by(settings)
    wanted = spoken.text(
        "Wanted: {value} of {most}.", value=f"<b>${{wanted_{n}}}</b>", most=spoken.number(settings.scale.high)
    )
    yours = encode(spoken.text("Your {smaller}", smaller=smaller_of(settings)))
    return (
        f'<blockquote class="ro-larger ro-token" dir="auto">${{larger_{n}}}</blockquote>'
        f'<p class="ro-wanted">{wanted} '
        f'<span dir="auto">${{anchor_{n}}}</span></p>'
        f'<label for="text_{n}">{yours}</label>'
        f'<textarea id="text_{n}" name="text_{n}" rows="3" maxlength="{MAX_WRITTEN}" required dir="auto"></textarea>'
        + _unknown(settings, n, translatable("I can’t write one for this text"))
    )
