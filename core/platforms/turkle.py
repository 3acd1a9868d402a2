"""Turkle, the self-hosted stand-in for Mechanical Turk: its files, and its REST interface.

Template and columns are the same as there. The interface takes a ballot and gives back what was answered.

Its file of results says how many *characters* it has where HTTP counts bytes, so that a client that believes it loses
the end of a file with letters outside ASCII. Three things stand against that: what Runoff publishes is ASCII (other
letters are character references), what is read goes on to the end of the connection, and the rows are counted against
the number of finished assignments that Turkle tells. A file that lacks any is refused, never taken in part.
"""

from __future__ import annotations

import csv
import http.client
import io
import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ..base import web
from ..base.web import in_words, is_open, redirected
from ..errors import InputError, PlatformError
from ..tabular import SourceTable
from ..tabular.json_files import parse_json
from ..votes.answers import find_layout, read_answers
from ..votes.meanings import ValueMeanings
from ..votes.platform import Outgoing, PlatformFile, ResultFile
from .mturk import batch_file, page_file

TIMEOUT = 60.0
MAX_BYTES = 500 << 20
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{8,200}")
DOWNLOAD = "Download the file on Turkle's admin site (Batches › Download results), which is whole, and upload it."


@dataclass(frozen=True)
class TurkleBatch:
    """What was made on Turkle: a project and a batch in it, by their numbers there."""

    project: int
    batch: int


@dataclass(frozen=True)
class TurkleSite:
    """A Turkle by its address, with the token of somebody who may publish there.

    The token is kept in memory only: it is in no message, no representation of this object, and nowhere on a disk.
    Raises `InputError` for an address that isn't http or https, or a token that can't be one.
    """

    address: str
    token: str = field(repr=False)
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", clean_address(self.address))
        object.__setattr__(self, "token", self.token.strip())
        if not _TOKEN.fullmatch(self.token):
            raise InputError(
                "This is no token of Turkle: it is one word of 40 letters and digits. On the server, "
                "`manage.py drf_create_token NAME` shows it; or look under Admin › Tokens."
            )

    @property
    def is_open(self) -> bool:
        """Whether the token would go over a network that others may read."""
        return is_open(self.address)

    def publish(
        self, name: str, page: str, batch: str, *, assignments: int = 1, project: int | None = None
    ) -> TurkleBatch:
        """Make a project with `page` as its template (or take `project`, made before) and publish `batch` in it.

        `assignments` people are asked for each task. Raises `PlatformError` where Turkle refuses; a project that was
        made by then is named in the message.
        """
        named = {"name": name, "filename": "template.html", "html_template": page, "assignments_per_task": assignments}
        project_id = project if project is not None else _number(self._json("POST", "projects/", named), "id")
        batch_fields = {"name": name, "project": project_id, "filename": "batch.csv", "csv_text": batch}
        try:
            answer = self._json("POST", "batches/", batch_fields | {"assignments_per_task": assignments})
        except PlatformError as error:
            if project is not None:
                raise
            raise PlatformError(
                f"{error} The project “{name}” (number {project_id}) is there now, without a batch."
            ) from error
        return TurkleBatch(project_id, _number(answer, "id"))

    def finished(self, batch: int) -> int:
        """How many assignments of a batch are finished."""
        return _number(self._json("GET", f"batches/{batch}/progress/"), "total_finished_task_assignments")

    def results(self, batch: int) -> bytes:
        """The results of a batch, whole. Raises `PlatformError` where rows are missing."""
        n_finished = self.finished(batch)  # before the file, which may so have more and never fewer
        data = self._send("GET", f"batches/{batch}/results/", None)
        check_whole(data, n_finished)
        return data

    def _json(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = self._send(method, path, body)
        try:
            answer = parse_json(data)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise PlatformError(
                f"{self.address} answers with something else than Turkle does. Is it the address of Turkle itself, "
                "without /admin/ or /api/?"
            )
        return answer

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> bytes:
        """One request; the answer is read to the end of the connection."""
        parts = urlsplit(self.address)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        headers = {
            "Authorization": f"Token {self.token}",
            "Accept": "application/json, text/csv",
            "Connection": "close",
        }
        data = None if body is None else json.dumps(body).encode("ascii")
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, f"{parts.path}/api/{path}", body=data, headers=headers)
            response = connection.getresponse()
            if not response.chunked:
                response.length = None  # characters were counted there, not bytes
            content = response.read(MAX_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            raise PlatformError(f"{self.address} {in_words(error, self.timeout)}") from None
        finally:
            connection.close()
        if response.status >= 300:
            raise PlatformError(self._refused(response.status, response.getheader("Location", ""), content))
        if len(content) > MAX_BYTES:
            raise PlatformError(f"{self.address} sends more than {MAX_BYTES >> 20} MB. {DOWNLOAD}")
        return content

    def _refused(self, status: int, location: str, content: bytes) -> str:
        if status < 400:
            return redirected(self.address, location)
        if status in (401, 403):
            return (
                f"{self.address} doesn't accept the token. It must be that of an administrator; ask for a new one, or "
                "check that nothing is missing at its ends."
            )
        if status == 404:
            return (
                f"{self.address} has no such page. Is it the address of Turkle itself, without /admin/ or /api/? A "
                "batch may also have been deleted there."
            )
        if status == 413:
            return f"{self.address} takes no file of this size. Publish it by hand, in parts."
        if status < 500:
            return f"{self.address} refuses this ({status}): {_reasons(content)}"
        return f"{self.address} failed ({status}). Try again; if it stays so, its log says why."


def clean_address(address: str) -> str:
    """The address of a Turkle without a slash at its end. Raises `InputError` for one that can't be.

    >>> clean_address(" https://turkle.example.org/ ")
    'https://turkle.example.org'
    """
    return web.clean_address(address, of="Turkle", example="https://turkle.example.org")


def check_whole(data: bytes, n_finished: int) -> None:
    """Raise `PlatformError` unless `data` is a result file with whole rows, `n_finished` of them or more."""
    text = data.decode("utf-8", "replace")
    try:
        records = [record for record in csv.reader(io.StringIO(text, newline=""), strict=True) if record]
    except csv.Error:
        records = []
        is_whole = False
    else:
        is_whole = bool(records) and text.endswith("\n") and len({len(record) for record in records}) == 1
    if records and "AssignmentId" not in records[0]:
        raise PlatformError(f"What came isn't a result file of Turkle. {DOWNLOAD}")
    n_rows = max(len(records) - 1, 0)
    if n_rows < n_finished or (not is_whole and n_finished > 0):
        raise PlatformError(
            f"Turkle sent a file that is cut: {n_finished:,} assignments are finished, and fewer are whole in it. "
            f"Nothing was taken. {DOWNLOAD}"
        )


def _number(answer: dict[str, Any], name: str) -> int:
    value = answer.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise PlatformError(
            f"Turkle's answer lacks {name}, so this may be another version of it (3.1 is known to work)."
        )
    return value


def _reasons(content: bytes) -> str:
    """What Turkle says it dislikes, in a line of text."""
    try:
        told = parse_json(content)
    except ValueError:
        return "it gave no reason."
    if not isinstance(told, dict):
        return str(told)[:300]
    parts = [f"{name}: {' '.join(map(str, why)) if isinstance(why, list) else why}" for name, why in told.items()]
    return "; ".join(parts)[:500]


@dataclass(frozen=True)
class Turkle:
    """Result files of Turkle's admin site or API: no status of an assignment, ids are small numbers."""

    name: str = "turkle"
    label: str = "Turkle"
    download_hint: str = (
        "In Turkle, the right file is Admin › Batches › Download results (the API's copy of it may be cut at the end)."
    )
    steps: tuple[str, ...] = (
        "On Turkle's admin site make a project and paste the task page as its template.",
        "Publish the batch in that project. Several assignments per task ask as many people each comparison.",
        "When people have answered, choose Batches › Download results, and upload the file under 2.",
    )

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The batch and the page."""
        about = (
            "One row per task, with the comparisons that have no vote yet." if ballot.is_top_up else "One row per task."
        )
        page = "What voters see and answer. Turkle adds the form and the Submit button."
        return (
            batch_file(ballot, about, ascii_only=True),
            page_file(ballot, "turkle", "Task page for Turkle (HTML)", page),
        )

    def recognises(self, columns: Collection[str]) -> bool:
        """A file with Turkle's own column."""
        return "turkle.username" in columns

    def read(self, file: SourceTable, said: ValueMeanings) -> ResultFile:
        """Read the file; every assignment in it was submitted, as Turkle knows no approval."""
        layout = find_layout(file, ("AssignmentId", "WorkerId"), self.download_hint)
        wanted = sorted(layout.used())
        rows = file.texts(wanted, layout.last_answer + 1)
        length = len(rows.numbers)
        return read_answers(self.name, rows, layout, wanted, ["submitted"] * length, [""] * length)


TURKLE = Turkle()
