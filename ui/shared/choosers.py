"""Every chooser of the pages: what is chosen is an id, and no two options of a chooser look the same.

A browser knows an option by its label alone: Streamlit sends the label of what is chosen with each run and takes the
last (or the first) option that has it. So options are given here as ids with their labels, and

* equal labels are told apart by what the caller knows of them, else by a number that follows the id;
* no label passes to another id while the one that had it is there, as a browser may still show it for that one;
* what is chosen goes by its id: where its label changes, the browser is told; where it is gone, the chooser falls back
  and no command is carried out in that run (`refuse_if_gone`), as a click was meant for what stood there.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar, overload

import streamlit as st

from core.errors import StaleError
from core.store.projects.embedding_library import Imported
from core.views.wording import to_the_second

Id = TypeVar("Id", bound=Hashable)
FIRST: Any = object()  # chosen at first: the first option, where the caller names none
_SHOWN = "_choosers"  # of the session: the labels that each chooser showed last
_GONE = "_gone"  # of the run: what was chosen and isn't there any more


@overload
def selectbox(
    label: str,
    options: Mapping[Id, str],
    chosen: None,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    place: Any = st,
    **widget_options: Any,
) -> Id | None: ...
@overload
def selectbox(
    label: str,
    options: Mapping[Id, str],
    chosen: Id = FIRST,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    place: Any = st,
    **widget_options: Any,
) -> Id: ...
def selectbox(
    label: str,
    options: Mapping[Id, str],
    chosen: Id | None = FIRST,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    place: Any = st,
    **widget_options: Any,
) -> Id | None:
    """The id of one of the options (ids with labels), of which there must be one; None as long as nothing is chosen,
    which is only where `chosen` is None."""
    return _one_by_place(place.selectbox, label, options, chosen, key, apart, widget_options)


@overload
def radio(
    label: str,
    options: Mapping[Id, str],
    chosen: None,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    **widget_options: Any,
) -> Id | None: ...


@overload
def radio(
    label: str,
    options: Mapping[Id, str],
    chosen: Id = ...,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    **widget_options: Any,
) -> Id: ...


def radio(
    label: str,
    options: Mapping[Id, str],
    chosen: Id | None = FIRST,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    **widget_options: Any,
) -> Id | None:
    """As `selectbox`, as a list of buttons; None only where `chosen` is None."""
    return _one_by_place(st.radio, label, options, chosen, key, apart, widget_options)


@overload
def segmented_control(
    label: str,
    options: Mapping[Id, str],
    chosen: None,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    **widget_options: Any,
) -> Id | None: ...
@overload
def segmented_control(
    label: str,
    options: Mapping[Id, str],
    chosen: Id = FIRST,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    **widget_options: Any,
) -> Id: ...
def segmented_control(
    label: str,
    options: Mapping[Id, str],
    chosen: Id | None = FIRST,
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    **widget_options: Any,
) -> Id | None:
    """As `selectbox`, as buttons in a row; what was chosen can't be let go."""
    labels, start, is_set = _of_one(options, chosen, key, apart)
    return st.segmented_control(
        label,
        list(labels),
        default=None if is_set else start,
        required=True,
        format_func=labels.__getitem__,
        key=key,
        **widget_options,
    )


def multiselect(
    label: str,
    options: Mapping[Id, str],
    chosen: Collection[Id] = (),
    *,
    key: str,
    apart: Callable[[Id], str] | None = None,
    **widget_options: Any,
) -> list[Id]:
    """The ids of some of the options."""
    before, labels = _labels(options, apart, key)
    state = st.session_state.get(key)
    is_set = False
    if state is not None:
        still_there = [id_ for id_ in state if id_ in labels]
        is_set = still_there != state or any(_is_called_anew(id_, before, labels) for id_ in still_there)
        if is_set:
            _note_gone(before, (id_ for id_ in state if id_ not in labels))
            st.session_state[key] = still_there
    default = None if is_set else list(chosen)
    return st.multiselect(label, list(labels), default, format_func=labels.__getitem__, key=key, **widget_options)


def embedding(
    label: str,
    there: Iterable[Imported],
    *,
    key: str,
    called: Callable[[Imported], str] | None = None,
    **widget_options: Any,
) -> Imported:
    """One of the embeddings, of which there must be one; those of a workspace may have one name."""
    by_id = {one.id: one for one in there}
    return by_id[selectbox(label, names_of(by_id.values(), called), key=key, **widget_options)]


def names_of(there: Iterable[Imported], called: Callable[[Imported], str] | None = None) -> dict[str, str]:
    """What embeddings are called by their ids; of one name each with the time of its import."""
    by_id = {one.id: one for one in there}
    names = {id_: called(one) if called else one.name for id_, one in by_id.items()}
    return told_apart(names, lambda id_: f"imported {to_the_second(by_id[id_].imported_at)}")


def _one_by_place(
    widget: Callable[..., Any],
    label: str,
    options: Mapping[Id, str],
    chosen: Id | None,
    key: str,
    apart: Callable[[Id], str] | None,
    widget_options: Mapping[str, Any],
) -> Any:
    """A widget whose initial choice is given by its place among the options."""
    labels, start, is_set = _of_one(options, chosen, key, apart)
    at = None if start is None else 0 if is_set else list(labels).index(start)
    return widget(label, list(labels), at, format_func=labels.__getitem__, key=key, **widget_options)


def _of_one(
    options: Mapping[Id, str], chosen: Id | None, key: str, apart: Callable[[Id], str] | None
) -> tuple[dict[Id, str], Id | None, bool]:
    """The labels, the initial choice, and whether the session state was set to the current choice."""
    before, labels = _labels(options, apart, key)
    start = next(iter(labels), None) if chosen is FIRST else chosen
    state = st.session_state.get(key)
    if state is None or (state in labels and not _is_called_anew(state, before, labels)):
        return labels, start, False
    if state not in labels:
        _note_gone(before, [state])
    st.session_state[key] = state if state in labels else start
    return labels, start, True


def _labels(
    options: Mapping[Id, str], apart: Callable[[Id], str] | None, key: str
) -> tuple[dict[Id, str], dict[Id, str]]:
    """The labels that a chooser showed last, and those that it shows now."""
    labels_of = st.session_state.setdefault(_SHOWN, {})
    before = labels_of.get(key, {})
    labels_of[key] = told_apart(options, apart, before)
    return before, labels_of[key]


def _is_called_anew(id_: Id, before: Mapping[Id, str], labels: Mapping[Id, str]) -> bool:
    return before.get(id_, labels[id_]) != labels[id_]


def told_apart(
    options: Mapping[Id, str], apart: Callable[[Id], str] | None = None, before: Mapping[Id, str] | None = None
) -> dict[Id, str]:
    """The options with labels of which no two look the same, and none is what another of them was called `before`.

    >>> told_apart({1: "Anna", 2: "Ben", 3: "Anna", 4: "Anna"}, {1: "typed", 3: "invited", 4: "invited"}.__getitem__)
    {1: 'Anna (typed)', 2: 'Ben', 3: 'Anna (invited)', 4: 'Anna (invited) (2)'}
    """
    twins = Counter(map(_visible_form, options.values()))
    owner_of = {_visible_form(label): id_ for id_, label in (before or {}).items() if id_ in options}
    label_of: dict[Id, str] = {}
    # A label that nothing else has stays as it is, whatever twins are told apart by; numbers go by the id.
    for id_ in sorted(options, key=lambda id_: (twins[_visible_form(options[id_])] > 1, len(str(id_)), str(id_))):
        label = options[id_]
        if twins[_visible_form(label)] > 1 and apart is not None and (more := apart(id_)):
            label = f"{label} ({more})"
        numbered = (label if n == 1 else f"{label} ({n})" for n in count(1))
        label_of[id_] = next(one for one in numbered if owner_of.get(_visible_form(one), id_) == id_)
        owner_of[_visible_form(label_of[id_])] = id_
    return {id_: label_of[id_] for id_ in options}


def _visible_form(label: str) -> str:
    """What is equal for labels that look the same: spaces and ways of writing a letter don't count."""
    return label if label.isascii() and label.isalnum() else " ".join(unicodedata.normalize("NFKC", label).split())


@contextmanager
def watched() -> Iterator[None]:
    """Around the run of a page: what was chosen and isn't there any more is noted."""
    st.session_state[_GONE] = []
    try:
        yield
    finally:
        st.session_state.pop(_GONE, None)


def _note_gone(before: Mapping[Any, str], gone: Iterable[Hashable]) -> None:
    st.session_state.get(_GONE, []).extend(before.get(id_, str(id_)) for id_ in gone)


def refuse_if_gone() -> None:
    """Raise `StaleError` where something that was chosen when a button was pressed isn't there any more."""
    if gone := st.session_state.get(_GONE):
        raise StaleError(f"“{gone[0]}” is not there any more, so nothing was done. Look at what is chosen now.")
