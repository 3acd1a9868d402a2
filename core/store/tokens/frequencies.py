"""Where a project's token frequencies come from, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import pandas as pd
import sqlalchemy as sa

from ...base.numbers_in_words import plural
from ...errors import InputError, RunoffError, StoreError
from ...tabular import in_utf8
from ...tokens.files import AreaTokens
from ...tokens.frequencies import (
    RARE_SHARE,
    Frequencies,
    from_ranks,
    from_wordfreq,
    rare,
    rare_by_area,
    read_frequencies,
)
from .. import schema as t
from ..command import command
from ..engine import Store
from ..projects.embedding_library import embeddings_of, open_library
from ..stored_files import put_blob, read_blob, safe_name

SHOWN_NOTES = 3  # of the remarks on a list of frequencies, all of which were shown when it was chosen


@dataclass(frozen=True)
class FrequencySource:
    """A project's choice: `kind` corpus (a list of one's own), rank (an embedding's order) or wordfreq (a language).

    A token is rare below `share` times the mean frequency; `lower` looks tokens up in lower case too.
    """

    kind: str
    label: str
    sha256: str | None = None
    embedding_id: str | None = None
    language: str | None = None
    share: float = RARE_SHARE
    lower: bool = False


@dataclass(frozen=True)
class RareTerms:
    """When a token is rare by any source: below `share` (over 0, up to 1) of the mean frequency; `lower` as there."""

    share: float = RARE_SHARE
    lower: bool = False


_COLUMNS = [t.frequency_source.c[name] for name in FrequencySource.__annotations__]


def source_of(conn: sa.Connection, project_id: str) -> FrequencySource | None:
    """The project's source of frequencies, None where none was chosen."""
    row = conn.execute(sa.select(*_COLUMNS).where(t.frequency_source.c.project_id == project_id)).one_or_none()
    return None if row is None else FrequencySource(*row)


def use_list(
    store: Store,
    project_id: str,
    data: bytes,
    filename: str,
    terms: RareTerms,
    *,
    encoding: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Use a frequency list of one's own; the file is kept, in UTF-8 where an `encoding` was chosen for it, so that it
    is read so ever after. `InputError` if it is none.
    """
    name = safe_name(filename)
    frequencies = read_frequencies(data, name, encoding=encoding)
    source = FrequencySource("corpus", frequencies.label, share=terms.share, lower=terms.lower)
    _set(store, project_id, source, expected_revision, in_utf8(data, name, encoding), encoding)


def use_ranks(
    store: Store, project_id: str, embedding_id: str, terms: RareTerms, *, expected_revision: int | None = None
) -> None:
    """Use the order of an embedding's vocabulary, a proxy. `InputError` if its order says nothing."""
    with store.read() as conn:
        imported = next((e for e in embeddings_of(conn, project_id) if e.id == embedding_id), None)
    if imported is None:
        raise StoreError("This embedding is no longer compared in the project.")
    embedding = open_library(store, imported)
    if embedding.kind != "vectors":
        raise InputError(f"{imported.name} is a table of similarities: its order says nothing about frequency.")
    from_ranks(embedding.vocabulary, imported.name)
    source = FrequencySource("rank", imported.name, embedding_id=embedding_id, share=terms.share, lower=terms.lower)
    _set(store, project_id, source, expected_revision)


def use_wordfreq(
    store: Store, project_id: str, language: str, terms: RareTerms, *, expected_revision: int | None = None
) -> None:
    """Use the package wordfreq, a proxy. `InputError` where it isn't installed or doesn't know the language."""
    label = from_wordfreq(language).label
    source = FrequencySource("wordfreq", label, language=language, share=terms.share, lower=terms.lower)
    _set(store, project_id, source, expected_revision)


def _set(
    store: Store,
    project_id: str,
    source: FrequencySource,
    expected_revision: int | None,
    data: bytes | None = None,
    encoding: str | None = None,
) -> None:
    if not 0 < source.share <= 1:
        raise InputError("A token is rare below a share of the mean frequency between 0 and 1, such as 0.1.")
    with command(store, project_id, "set frequencies", expected_revision=expected_revision) as change:
        if data is not None:
            source = replace(source, sha256=put_blob(store, data))
        change.detail = dict(vars(source)) | ({} if encoding is None else {"encoding": encoding})
        change.conn.execute(sa.delete(t.frequency_source).where(t.frequency_source.c.project_id == project_id))
        change.conn.execute(sa.insert(t.frequency_source).values(project_id=project_id, **vars(source)))


def frequencies_of(store: Store, conn: sa.Connection, project_id: str, source: FrequencySource) -> Frequencies:
    """The frequencies of a source; `StoreError` or `InputError` where they can't be had any more."""
    if source.kind == "wordfreq":
        return _of_language(source.language or "en")
    if source.kind == "rank":
        imported = next((e for e in embeddings_of(conn, project_id) if e.id == source.embedding_id), None)
        if imported is None:
            raise StoreError(f"{source.label}, the source of frequencies, is not compared any more. Choose another.")
        return from_ranks(open_library(store, imported).vocabulary, imported.name)
    return _of_file(store, source.sha256 or "", source.label)


@lru_cache(maxsize=4)
def _of_language(language: str) -> Frequencies:
    return from_wordfreq(language)


@lru_cache(maxsize=4)
def _of_file(store: Store, sha256: str, label: str) -> Frequencies:
    data = read_blob(store, sha256, f"The kept copy of {label}", ". Upload it again.")
    return read_frequencies(data, label)


@dataclass(frozen=True)
class RareTokens:
    """Which tokens are rare by the project's source: a row an area with advice, a row a token with the reason."""

    source: FrequencySource
    is_proxy: bool
    by_area: pd.DataFrame
    tokens: pd.DataFrame
    notes: tuple[str, ...] = ()
    problem: str = ""


def rare_of(store: Store, conn: sa.Connection, project_id: str, areas: list[AreaTokens]) -> RareTokens | None:
    """Which tokens are rare, None where the project chose no source of frequencies."""
    source = source_of(conn, project_id)
    if source is None:
        return None
    tokens = list(dict.fromkeys(token for area in areas for token in area.tokens))
    try:
        frequencies = frequencies_of(store, conn, project_id, source)
        judged = rare(tokens, frequencies, source.share, lower=source.lower)
        by_area = rare_by_area(areas, judged, frequencies)
    except RunoffError as error:
        return RareTokens(source, False, pd.DataFrame(), pd.DataFrame(), (), str(error))
    notes = [str(note) for note in frequencies.notes[:SHOWN_NOTES]]
    if (n_more := len(frequencies.notes) - SHOWN_NOTES) > 0:
        notes.append(plural(n_more, "and {n} more remark", "and {n} more remarks"))
    return RareTokens(source, frequencies.is_proxy, by_area, judged, tuple(notes))
