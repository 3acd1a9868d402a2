"""Crowd platforms: tasks go out as a batch file and a template, votes come back as a result file.

`write_batch` writes the file, `template` the page that shows a task, `read_results` reads what comes back, from
whichever platform: it is recognised by its columns, never by the file's name. One module a platform;
`PLATFORMS` lists them.
"""

from __future__ import annotations

from ..errors import InputError, Issue
from ..spreadsheets import is_workbook
from .base import Outgoing, Platform, PlatformFile, ResultFile
from .batch import write_batch
from .colleagues import write_comparisons
from .csvfiles import open_csv
from .label_studio import LABEL_STUDIO, is_json, read_json
from .mturk import MTURK
from .plain import PLAIN
from .prolific import PROLIFIC
from .template import render_preview, template
from .turkle import TURKLE
from .workbooks import workbook_as_csv

PLATFORMS: tuple[Platform, ...] = (TURKLE, MTURK, LABEL_STUDIO, PROLIFIC, PLAIN)

# Other exports that people have at hand, known by a column, and what to do about them.
_OTHERS = {
    "annotation_id": "a Label Studio export of tasks that Runoff didn't make",
    "input:task_id": "a Toloka export, a format that can't be read yet",
    "_unit_id": "an Appen export, a format that can't be read yet",
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
    if is_json(data):
        return read_json(data, filename)
    file = open_csv(workbook_as_csv(data, filename) if is_workbook(data) else data, filename)
    columns = {name.casefold() for name in file.header}
    for platform in PLATFORMS:
        if platform.recognises(columns):
            return platform.read_results(file)
    for column, kind in _OTHERS.items():
        if column in columns:
            raise InputError(f"{filename} is {kind}.")
    needed = ("AssignmentId", "WorkerId", "Input.left_a", "Answer.choice")
    missing = [name for name in needed if name.casefold() not in columns]
    readable = [platform for platform in PLATFORMS if platform is not PROLIFIC]
    hints = " ".join(platform.download_hint for platform in readable)
    raise InputError(
        f"{filename} is not a result file of {' or '.join(platform.label for platform in readable)}: "
        f"it lacks the columns {', '.join(missing)}. {hints}",
        [Issue("column is missing", column=name) for name in missing],
    )


__all__ = [
    "PLATFORMS",
    "Outgoing",
    "Platform",
    "PlatformFile",
    "ResultFile",
    "read_results",
    "render_preview",
    "template",
    "write_batch",
    "write_comparisons",
]
