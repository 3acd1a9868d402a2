"""Files and folders of a workspace: kept through a power cut, private to those who may write, and named in text.

A file's name that isn't UTF-8 (a disk of the nineties, a zip from Windows) can be opened by the name that Python gives
it, but neither printed nor kept: it is told here as a text that can.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

_HALF = re.compile("[\ud800-\udfff]")


def shown_path(path: Path | str) -> str:
    r"""A path as text; each byte of it that isn't UTF-8 becomes U+FFFD.

    >>> shown_path("models/mod\udce8le.vec")
    'models/mod�le.vec'
    """
    return _HALF.sub("\ufffd", str(path))


def shown_name(path: Path | str) -> str:
    """The last part of `shown_path`."""
    return shown_path(Path(path).name)


def slug(name: str, otherwise: str = "dataset") -> str:
    """A name as the start of a file's: small letters, digits and hyphens, or `otherwise` if none are left.

    >>> slug("Jobs & skills"), slug("猫")
    ('jobs-skills', 'dataset')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or otherwise


def file_stem(about: dict) -> str:
    """The name of a dataset's files, without ending: the project's, and what a reader must know at once.

    >>> file_stem({"project": "Jobs & skills", "provisional": True, "simulated_votes": True})
    'jobs-skills-provisional-simulated'
    """
    marks = {"provisional": about["provisional"], "simulated": about["simulated_votes"]}
    return "-".join([slug(str(about["project"])), *(name for name, is_so in marks.items() if is_so)])


# Some network drives sync no folder; and where names may be written, but not read, there is none to open.
_CANT = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk: a new or renamed file may else be gone after a power cut, though its
    bytes are there. On Windows names are kept without."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _CANT:
            raise


def sync_file(path: Path) -> None:
    """Have a file's bytes on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Have all of a folder on the disk, but for its own name."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sync_file(path)
        elif path.is_dir():
            sync_folder(path)
    sync_folder(folder)


def put(part: Path, target: Path) -> None:
    """Give a finished file or folder its name, in the place of a file of this name: bytes first, then the name."""
    if part.is_dir():
        sync_tree(part)
        part.rename(target)
    else:
        sync_file(part)
        part.replace(target)
    sync_folder(target.parent)


def write_whole(target: Path, part: Path, data: bytes) -> None:
    """Write a file by way of `part`, so that it is there whole or not at all; `OSError` where it can't be written."""
    try:
        with open(part, "wb", opener=private) as handle:
            handle.write(data)
        put(part, target)
    except OSError:
        with suppress(OSError):
            part.unlink()  # on a full disk the half would be in the way
        raise


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder where there is none, and those above it; each is there to stay."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=mode, exist_ok=True)
    sync_folder(folder.parent)


def rights_in(folder: Path) -> int:
    """The rights of what is made in a workspace's folder: others have them only where they may write in the folder."""
    mode = folder.stat().st_mode
    return 0o700 | (0o070 if mode & 0o020 else 0) | (0o007 if mode & 0o002 else 0)


def private(path: str | os.PathLike[str], flags: int) -> int:
    """An opener (see `open`): a new file gets the rights that fit its folder (`rights_in`)."""
    return os.open(path, flags, rights_in(Path(path).parent) & 0o666)


def tighten(path: Path, rights: int) -> None:
    """Take from a file or folder of one's own what others may do beyond `rights`; links are left alone."""
    with suppress(OSError):  # what isn't ours, or is gone by now
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & 0o777 & ~rights:
            path.chmod(stat.S_IMODE(mode) & (0o7700 | rights))
