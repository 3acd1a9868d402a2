"""Commands that take votes in: preview a result file, and accept it.

How a project reads tables whose columns are no platform's own is remembered for each header.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import sqlalchemy as sa

from ...base.numbers_in_words import many
from ...errors import Issue, StoreError
from ...platforms import Mapping, ResultFile, SourceTable, ValueQuestion, open_results, read_opened_results
from ...platforms.answer_files import classify_answers, read_round_results
from ...questions.comparison import VALUES
from ...votes.answers import TEXTS
from ...votes.classify import ClassifiedAnswers, CountingRules, as_spelled_now, classify
from ...votes.counting import ELSEWHERE
from ...votes.meanings import NO_MEANINGS, ValueMeanings, questions_of
from ...votes.reasons import UploadEffect, count_answers, count_rows, report_table
from .. import schema as t
from ..ballots.ballot_rows import Ballot, every_ballot_of, open_ballot_of
from ..ballots.comparisons import comparisons_of, shown_of
from ..command import command, insert_one, many_rows, project_row
from ..engine import Store, now
from ..projects.plans import ballot_named, rankings_of, settings_for
from ..scores.provisional import between, new_and_known, provisional_ranking_of, voters_heard
from ..stored_files import put_blob, safe_name
from ..tokens.areas import former_spellings_of
from .judgements import as_stored, known_of, left_out_of, policy_of, voter_ids, write_judgements
from .tallies import write_tallies

RULES = 2  # of what values mean that nobody said; 1 up to version 0.2


def header_key(header: Sequence[str]) -> str:
    """What two files share whose columns are the same, in any case of the letters.

    >>> header_key(["Voter", "choice "]) == header_key(["voter", "Choice"])
    True
    """
    return json.dumps([name.strip().casefold() for name in header], ensure_ascii=False)


def kept_mapping(mapping: Mapping | None) -> dict[str, Any]:
    """How an upload was read, as its row keeps it; see `read_again`."""
    return {"rules": RULES} | ({} if mapping is None else mapping.stored())


def read_again(stored: AnyMapping[str, Any] | None) -> Mapping:
    """How an upload is read once more: as it was read when it was taken, also by an earlier version.

    >>> read_again(None).former, read_again(kept_mapping(None)).former
    (True, False)
    """
    stored = stored or {}
    return replace(Mapping.of(stored), former=stored.get("rules", 1) < RULES)


def mapping_of(conn: sa.Connection, project_id: str, header: Sequence[str]) -> Mapping | None:
    """The mapping that a project remembers for these columns, None where it has none."""
    c = t.column_mapping.c
    query = sa.select(c.mapping).where(c.project_id == project_id, c.header == header_key(header))
    stored = conn.execute(query).scalar_one_or_none()
    return None if stored is None else Mapping.of(stored)


def read_mapping(store: Store, project_id: str, header: Sequence[str]) -> Mapping | None:
    """The mapping that a project remembers for these columns, None where it has none."""
    with store.read() as conn:
        return mapping_of(conn, project_id, header)


def remember_mapping(
    store: Store, project_id: str, header: Sequence[str], mapping: Mapping, *, expected_revision: int | None = None
) -> None:
    """Read every file with these columns so from now on; a former mapping of theirs is replaced."""
    mapping.check(header)
    with command(store, project_id, "map columns", expected_revision=expected_revision) as change:
        _forget(change.conn, project_id, header)
        row = {"project_id": project_id, "header": header_key(header), "mapping": mapping.stored(), "at": now()}
        change.conn.execute(sa.insert(t.column_mapping).values(row))
        change.detail = {"columns": mapping.named()}


def forget_mapping(
    store: Store, project_id: str, header: Sequence[str], *, expected_revision: int | None = None
) -> None:
    """Read files with these columns as a platform's own again."""
    with command(store, project_id, "forget columns", expected_revision=expected_revision) as change:
        _forget(change.conn, project_id, header)


def _forget(conn: sa.Connection, project_id: str, header: Sequence[str]) -> None:
    c = t.column_mapping.c
    conn.execute(sa.delete(t.column_mapping).where(c.project_id == project_id, c.header == header_key(header)))


_LEFT_OUT = {"other_ballot": "not of this ballot", "contradicts": "other than the stored answer", "repeat": "repeated"}


@dataclass(frozen=True)
class UploadPreview:
    """What accepting a file would do; nothing is taken yet.

    `unread` are the rows that can't be read, `blank` those where nothing is filled in; `mapping` is how its columns
    were read where they aren't a platform's own, and what was said of its values; `questions` are what nobody has said
    yet, each of them the first of `issues` too; `stamp` is the project's cache key when it was compared with the store.
    """

    filename: str
    platform: str
    ballot: int
    n_rows: int
    preview: ClassifiedAnswers
    issues: tuple[Issue, ...]
    accepted_before: str | None
    unread: tuple[Issue, ...]
    blank: npt.NDArray[np.int64]
    sha256: str
    stamp: int
    ballot_id: int
    mapping: Mapping | None = None
    questions: tuple[ValueQuestion, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Answers of each class that occurs (`reasons.CLASSES`); rows without an answer count as one."""
        return count_answers(self.preview.rows, self.unread, self.blank)

    @property
    def row_counts(self) -> dict[str, int]:
        """Rows of the file in each class that occurs; they add up to `n_rows`."""
        return count_rows(self.preview.rows, self.unread, self.blank)

    def table(self, name: str | None = None) -> pd.DataFrame:
        """The answers of a class, or of all, one per row (`reasons.report_table`)."""
        return report_table(self.preview.rows, self.unread, self.blank, name)

    @property
    def takes_something(self) -> bool:
        return bool((self.preview.rows["becomes"] != "").any())


@dataclass(frozen=True)
class Accepted:
    """What an accepted upload changed."""

    upload_id: int
    counts: dict[str, int]
    effect: UploadEffect

    @property
    def n_voters(self) -> int:
        """Voters whose votes it counts."""
        return self.effect.new_voters + self.effect.known_voters


def preview_upload(
    store: Store,
    project_id: str,
    data: bytes,
    filename: str,
    area_id: int | None = None,
    *,
    mapping: Mapping | None = None,
    code: str | None = None,
) -> UploadPreview:
    """Read a result file and say row by row what accepting it for the ranking's open ballot would do.

    `mapping` says which column is which, and what values mean that nobody can know; where it names no columns, the
    project's own for these are taken, if there are any. `code` is that of the ballot or round which is
    meant (`ballot_rows.open_ballot_of`).
    Raises `InputError` for a file that is no result file, `StoreError` if no ballot is open.
    """
    with store.read() as conn:
        ballot = open_ballot_of(conn, project_id, area_id, code)
        if ballot.is_round:
            return preview_of(conn, project_id, ballot, data, filename, mapping)
        return _preview(conn, project_id, ballot, data, filename, mapping)


def _read_round_file(
    conn: sa.Connection, project_id: str, found: Ballot, data: bytes, filename: str, said: ValueMeanings
) -> tuple[ResultFile, ClassifiedAnswers]:
    """What a file for a round holds, and what each answer in it means. Raises `InputError` for one of another kind."""
    kind = found.asks
    shown = shown_of(conn, project_id, found.id)
    results = kind.read_own_file(open_results(data, filename), data, shown)
    if results is None:
        results = as_stored(conn, project_id, read_round_results(data, filename, kind, said))
    preview = classify_answers(
        results.answers,
        shown,
        known_of(conn, found.id, results.platform, kind=kind),
        found.settings,
        kind,
        policy=policy_of(conn, project_id),
        excluded=left_out_of(conn, project_id, results.platform),
    )
    return results, preview


def _preview(
    conn: sa.Connection, project_id: str, ballot: Ballot, data: bytes, filename: str, mapping: Mapping | None
) -> UploadPreview:
    table = open_results(data, filename)
    if mapping is None or not mapping.named():
        columns = mapping_of(conn, project_id, table.header)
        if columns is not None:
            mapping = columns if mapping is None else columns.saying(mapping)
    return preview_of(conn, project_id, ballot, data, filename, mapping, table=table)


def preview_of(
    conn: sa.Connection,
    project_id: str,
    ballot: Ballot,
    data: bytes,
    filename: str,
    mapping: Mapping | None,
    *,
    table: SourceTable | None = None,
) -> UploadPreview:
    """What a file holds, read by this mapping or by none, against the store as `conn` sees it."""
    if ballot.is_round:
        results, preview = _read_round_file(conn, project_id, ballot, data, filename, mapping or NO_MEANINGS)
        questions = questions_of(preview.rows[preview.rows["kind"] == "asked"])
    else:
        results = as_stored(conn, project_id, read_opened_results(table or open_results(data, filename), mapping))
        comparisons = comparisons_of(conn, ballot.id, project_id)
        preview = _classified(conn, project_id, ballot, results, comparisons, _server_of(mapping))
        questions = _questions(preview.rows, comparisons)
    _name_other_ballots(conn, project_id, ballot, preview.rows)
    digest = hashlib.sha256(data).hexdigest()
    query = sa.select(t.upload.c.accepted_at).where(
        t.upload.c.ballot_id == ballot.id, t.upload.c.sha256 == digest, t.upload.c.withdrawn_at.is_(None)
    )
    project = project_row(conn, project_id)
    return UploadPreview(
        filename=safe_name(filename),
        platform=results.platform,
        ballot=ballot.number,
        n_rows=results.n_rows,
        preview=preview,
        issues=(*(question.issue for question in questions), *_of_other_servers(preview.rows), *results.issues),
        accepted_before=conn.execute(query.limit(1)).scalar_one_or_none(),
        unread=results.unread,
        blank=results.blank,
        sha256=digest,
        stamp=project.revision + project.pulse,
        ballot_id=ballot.id,
        mapping=mapping,
        questions=questions,
    )


def _classified(
    conn: sa.Connection, project_id: str, ballot: Ballot, results: ResultFile, comparisons: pd.DataFrame, server: str
) -> ClassifiedAnswers:
    """A file's answers to comparisons, as they are to the ballot."""
    return classify(
        as_spelled_now(results.answers, comparisons, former_spellings_of(conn, project_id)),
        comparisons,
        known_of(conn, ballot.id, results.platform),
        CountingRules(
            ties_allowed=settings_for(conn, ballot.id).ties_allowed,
            shows_texts=results.shows_texts,
            policy=policy_of(conn, project_id),
            excluded=left_out_of(conn, project_id, results.platform),
            server=server,
        ),
    )


def _server_of(mapping: Mapping | None) -> str:
    """What was said of the file's server; of files taken before anybody was asked, that it is the first."""
    return "" if mapping is None else mapping.server or ("1" if mapping.former else "")


def _questions(rows: pd.DataFrame, comparisons: pd.DataFrame) -> tuple[ValueQuestion, ...]:
    """What must be said of the answers that wait, each with the words of a comparison as an example."""
    waiting = rows[rows["kind"] == "asked"]
    if waiting.empty or (waiting["left_a"] != "").any():
        return questions_of(waiting)
    at = pd.Index(comparisons["question_id"]).get_indexer(pd.Index(waiting["question_id"]))
    return questions_of(waiting, comparisons[list(TEXTS)].iloc[at].set_index(waiting.index))


def _of_other_servers(rows: pd.DataFrame) -> list[Issue]:
    """That a file was taken for one of another server, if it was."""
    those = rows[rows["reason"] == ELSEWHERE]
    if those.empty:
        return []
    answers = many(len(those), "answer")
    text = (
        f"{answers} have ids of assignments that the store has of other voters. Plain numbers are unique on one server "
        "only, so they were read as another server's, and count beside those. Don't accept the file if it is of the "
        "same server and writes its voters in another way (numbers for addresses): each vote would count twice"
    )
    return [Issue(text, column="AssignmentId", found=str(those["assignment_id"].iloc[0]))]


def _name_other_ballots(conn: sa.Connection, project_id: str, ballot: Ballot, rows: pd.DataFrame) -> None:
    """Say of answers that belong to another ballot of the project which one it is."""
    other = rows["kind"] == "other_ballot"
    if not other.any():
        return
    ballots = {b.code: b for b in every_ballot_of(conn, project_id) if b.id != ballot.id}
    areas = {ranking.area_id: f" of the area {ranking.area}" for ranking in rankings_of(conn, project_id)}
    areas[None] = ""
    codes = rows.loc[other, "task_id"].str.rsplit("-", n=1).str[0]
    named = codes[codes.isin(list(ballots))]
    rows.loc[named.index, "reason"] = [
        f"of {ballots[code].called}{areas.get(ballots[code].area_id, '')}, which is {ballots[code].state}"
        for code in named
    ]


def accept_upload(
    store: Store,
    project_id: str,
    data: bytes,
    filename: str,
    area_id: int | None = None,
    *,
    mapping: Mapping | None = None,
    found: UploadPreview | None = None,
    code: str | None = None,
) -> Accepted:
    """Take the votes of a result file for the ranking's open ballot, all of them or none; it is kept byte for byte.

    `code` is that of the ballot or round which is meant (`ballot_rows.open_ballot_of`).

    The file is read against the store as it is now, so that a second tab or a second press doubles nothing; `found`,
    its preview, saves that where the project hasn't changed since. `mapping` as for `preview_upload`.
    Raises `StoreError` if there is nothing in it to take.
    """
    with many_rows(), command(store, project_id, "accept upload") as change:
        conn = change.conn
        ballot = open_ballot_of(conn, project_id, area_id, code)
        if found is None or not _still_holds(found, change.project, ballot, data, mapping):
            read = preview_of if ballot.is_round else _preview
            found = read(conn, project_id, ballot, data, filename, mapping)
        if not found.takes_something:
            raise StoreError(f"{_why_nothing(found)} Nothing was changed.")
        digest, counts = put_blob(store, data), found.counts
        before, heard = provisional_ranking_of(conn, ballot.id), voters_heard(conn, project_id, found.platform)
        upload_id = insert_one(
            conn,
            t.upload,
            ballot_id=ballot.id,
            platform=found.platform,
            filename=found.filename,
            sha256=digest,
            n_bytes=len(data),
            n_rows=found.n_rows,
            counts=counts,
            accepted_at=now(),
            mapping=kept_mapping(found.mapping),
        )
        write_judgements(change, ballot.id, upload_id, found.platform, found.preview)
        write_tallies(conn, ballot.id)
        effect = between(before, provisional_ranking_of(conn, ballot.id), new_and_known(found.preview.rows, heard))
        conn.execute(sa.update(t.upload).where(t.upload.c.id == upload_id).values(effect=effect.stored()))
        change.detail = ballot_named(conn, project_id, ballot.area_id, ballot.number, ballot.purpose)
        change.detail |= {"file": found.filename, "sha256": digest, "counts": counts}
        if found.mapping is not None and found.mapping.told:
            change.detail |= {"said": found.mapping.told}
    return Accepted(upload_id, counts, effect)


def _why_nothing(found: UploadPreview) -> str:
    """Why a file's votes can't be taken, in a sentence."""
    counts = {name: n for name, n in found.counts.items() if name not in ("known", "no_answer")}
    if found.questions:
        told = " ".join(f"{question.asks} {question.found}" for question in found.questions)
        return f"{found.filename} waits for what somebody must say of its values. {told}"
    if counts:
        told = ", ".join(f"{n:,} {_LEFT_OUT.get(name, name)}" for name, n in counts.items())
        reasons = found.preview.rows.loc[found.preview.rows["kind"].isin(list(counts)), "reason"]
        why = next((f" The first: {reason}." for reason in reasons if reason), "")
        return f"{found.filename} holds no vote that can be taken: {told}.{why}"
    if found.counts.get("known"):
        return f"{found.filename} holds no vote that isn't in the store already."
    return f"{found.filename} holds no answer yet."


def _still_holds(found: UploadPreview, project: sa.Row, ballot: Ballot, data: bytes, mapping: Mapping | None) -> bool:
    """Whether a preview is of this file and of the store as it is."""
    return (
        found.stamp == project.revision + project.pulse
        and found.ballot_id == ballot.id
        and (mapping is None or mapping == found.mapping)
        and found.sha256 == hashlib.sha256(data).hexdigest()
    )


__all__ = [
    "VALUES",
    "Accepted",
    "UploadPreview",
    "accept_upload",
    "preview_of",
    "preview_upload",
    "voter_ids",
    "write_judgements",
]
