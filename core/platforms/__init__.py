"""Crowd platforms: tasks go out as a batch file and a template, votes come back as a result file.

`write_batch` writes the file, `template` the page that shows a task, `read_results` reads what comes back, from
whichever platform: it is recognised by its columns, never by the file's name. One module a platform;
`PLATFORMS` lists them.
"""

from __future__ import annotations

from ..errors import InputError, Issue
from .base import Platform, ResultFile
from .batch import write_batch
from .csvfiles import open_csv
from .mturk import MTURK
from .plain import PLAIN, write_comparisons
from .template import render_preview, template
from .turkle import TURKLE

PLATFORMS: tuple[Platform, ...] = (TURKLE, MTURK, PLAIN)

# Other exports that people have at hand, known by a column, and what to do about them.
_OTHERS = {
    "participant id": "Prolific's list of submissions, which has no votes in it. Upload the votes given on your own "
    "page, not the list of people",
    "input:task_id": "a Toloka export, a format that can't be read yet",
    "_unit_id": "an Appen export, a format that can't be read yet",
    "annotation_id": "a Label Studio export, a format that can't be read yet",
    "instance_id": "a Potato export, a format that can't be read yet",
}


def read_results(data: bytes, filename: str) -> ResultFile:
    """Read a result file of any platform in `PLATFORMS`.

    Encoding, delimiter and line ends are found by looking; names of columns match in any case; rows that a platform
    leaves two fields short are whole, rows that are cut are counted as unreadable; character references in `Input.*`
    are undone.

    Parameters: `data`, the file's bytes; `filename`, for messages only.
    Returns a `ResultFile`. Raises `InputError` where the file is of another kind or lacks columns; it names
    them and says where the right file is.
    """
    file = open_csv(data, filename)
    columns = {name.casefold() for name in file.header}
    for platform in PLATFORMS:
        if platform.recognises(columns):
            return platform.read_results(file)
    for column, kind in _OTHERS.items():
        if column in columns:
            raise InputError(f"{filename} is {kind}.")
    needed = ("AssignmentId", "WorkerId", "Input.left_a", "Answer.choice")
    missing = [name for name in needed if name.casefold() not in columns]
    hints = " ".join(platform.download_hint for platform in PLATFORMS)
    raise InputError(
        f"{filename} is not a result file of {' or '.join(platform.label for platform in PLATFORMS)}: "
        f"it lacks the columns {', '.join(missing)}. {hints}",
        [Issue("column is missing", column=name) for name in missing],
    )


__all__ = [
    "PLATFORMS",
    "Platform",
    "ResultFile",
    "read_results",
    "render_preview",
    "template",
    "write_batch",
    "write_comparisons",
]
