"""How a page takes files: by a path, recent files or a browser of folders, and in the encoding a person chooses.

Files that weren't put into an upload box by hand are used as if they had been. The encoding of a file's texts is
detected automatically, or chosen; uploaded files in a chosen one become the same files in UTF-8, and so they are kept
and read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from core.base.durable import shown_name, shown_path
from core.errors import RunoffError
from core.jobs import lifecycle
from core.store import Store
from core.tabular import ENCODINGS, in_utf8
from ui.shared import choosers, frame

MAX_SHOWN = 500


def choose_file(store: Store, key: str) -> Path | None:
    """A file's path, typed or picked; None as long as there is none. What is wrong with a path is shown."""
    st.session_state.setdefault(f"folder-{key}", str(Path.home()))
    text = st.text_input(
        "Path of the file",
        placeholder=str(Path("~") / "vectors.bin"),
        key=f"path-{key}",
        help="Any size. The file is read once and may be moved afterwards.",
    )
    left, right = st.columns(2)
    with left.popover("Browse folders", icon=":material/folder_open:", width="stretch"):
        _browse(key)
    recent = lifecycle.recent_paths(store)
    if recent:
        with right.popover("Recent files", icon=":material/history:", width="stretch"):
            for known in recent:
                named = f"recent-{key}-{key_of(known)}"
                st.button(frame.plain(known), key=named, on_click=_pick_path, args=(key, known), type="tertiary")
    if not text.strip():
        return None
    picked = st.session_state.get(f"picked-{key}")
    chosen = Path(picked) if picked is not None and text == shown_path(picked) else typed_path(text)
    return None if chosen is None else _checked(chosen)


def typed_path(text: str) -> Path | None:
    """The path that somebody typed, with ~ for a home folder; None, and a message, where it can't be one."""
    if "\0" in text:
        st.error("A path can't hold that character.")
        return None
    try:
        return Path(text.strip().strip('"')).expanduser()
    except RuntimeError:
        st.error(frame.plain(f"There is no home folder of that name: {text.strip()}"))
        return None


def _checked(path: Path) -> Path | None:
    """The path if it is a file that can be read; else what there is in its place."""
    try:
        if path.is_file():
            return path
        if path.is_dir():
            names = _similar_names(path, "")
            st.info(frame.plain(f"That is a folder. Add a file's name, or browse the folder. It holds: {names}"))
        elif path.parent.is_dir():
            text = f"There is no file {path.name} in {path.parent}. Near it: {_similar_names(path.parent, path.name)}"
            st.warning(frame.plain(text))
        else:
            st.warning(frame.plain(f"There is no folder {path.parent}."))
    except OSError as error:
        st.warning(frame.plain(f"{path} can't be looked at ({error.strerror})."))
    return None


def _similar_names(folder: Path, begin: str) -> str:
    """A few names in a folder that begin like the one that was typed."""
    names = sorted(shown_name(entry) for entry in folder.iterdir() if not entry.name.startswith("."))
    near = [name for name in names if name.casefold().startswith(begin.casefold()[:3])] if begin else names
    return ", ".join(near[:6]) or "nothing"


def _browse(key: str) -> None:
    folder = Path(st.session_state[f"folder-{key}"])
    st.caption(frame.plain(str(folder)))
    try:
        visible = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
        entries = sorted(visible, key=lambda entry: (not _is_folder(entry), entry.name.casefold()))
    except OSError as error:
        st.warning(frame.plain(f"The folder can't be opened ({error.strerror})."))
        entries = []
    st.button(
        "One folder up",
        key=f"up-{key}",
        on_click=_enter_folder,
        args=(key, folder.parent),
        icon=":material/arrow_upward:",
    )
    listed = entries[:MAX_SHOWN]
    rows = [
        {"name": shown_name(entry) + ("/" if _is_folder(entry) else ""), "MB": _megabytes(entry)} for entry in listed
    ]
    if not rows:
        st.caption("There is nothing to choose here.")
        return
    picked = st.dataframe(
        rows,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"entries-{key}-{key_of(folder)}",
        alt="Files and folders",
        height=320,
    )
    for row in picked.selection.rows:
        entry = listed[row]
        action = _enter_folder if _is_folder(entry) else _pick_path
        name = shown_name(entry)
        label = f"Open {name}" if _is_folder(entry) else f"Choose {name}"
        st.button(frame.plain(label), key=f"pick-{key}", type="primary", on_click=action, args=(key, entry))


def key_of(path: Path | str) -> str:
    """A path as a part of a widget's key, which must be text: as it is, or escaped where its name isn't UTF-8."""
    text = str(path)
    return text if text == shown_path(text) else ascii(text)


def _is_folder(entry: Path) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _megabytes(entry: Path) -> float | None:
    try:
        return round(entry.stat().st_size / 1e6, 1) if entry.is_file() else None
    except OSError:
        return None


def _enter_folder(key: str, folder: Path) -> None:
    st.session_state[f"folder-{key}"] = str(folder)


def _pick_path(key: str, path: Path | str) -> None:
    # What isn't UTF-8 can't stand in the box: it shows another text, and the path itself is remembered.
    st.session_state[f"picked-{key}"] = str(path)
    st.session_state[f"path-{key}"] = shown_path(path)
    st.session_state[f"folder-{key}"] = str(Path(path).parent)


@dataclass(frozen=True)
class StoredUpload:
    """A file as an upload box gives it."""

    file_id: str
    name: str
    data: bytes

    def getvalue(self) -> bytes:
        return self.data


_ITSELF = ""  # no encoding is called so


def of_words(key: str, suggested: str = "") -> str:
    """The encoding of an embedding's words: UTF-8 unless another is `suggested` or chosen."""
    first = suggested or "utf-8"
    # A fault may lie beyond the beginning that was looked at, so the choice is always there.
    with st.container() if suggested else st.expander("The words aren't in UTF-8?"):
        return choosers.selectbox(
            "Encoding of the words",
            {encoding: encoding for encoding in (first, *ENCODINGS)},
            key=f"encoding-{key}",
            help="utf-8-replace keeps what is in UTF-8, and marks what isn't with �.",
        )


def of_file(key: str) -> str | None:
    """The encoding of a list, None where it is found by the content: UTF-8, UTF-16 or Windows-1252."""
    chosen = choosers.selectbox(
        "Encoding",
        {_ITSELF: "detected automatically"} | {encoding: encoding for encoding in ENCODINGS},
        key=f"encoding-{key}",
        help="Choose one if letters look wrong below. gb18030 reads files in gbk and gb2312 too; utf-8-replace keeps "
        "what is in UTF-8, and marks what isn't with �.",
    )
    return chosen or None


def in_chosen_encoding(files: Sequence[Any], key: str) -> list[Any]:
    """The files as they are, or in the encoding that is chosen here; others are left out, with an error."""
    if not files:
        return []
    with st.expander("Letters look wrong?"):
        encoding = of_file(key)
    if encoding is None:
        return list(files)
    read = []
    for file in files:
        try:
            data = in_utf8(file.getvalue(), file.name, encoding)
        except RunoffError as error:
            frame.show_error(error)
        else:
            read.append(StoredUpload(f"{file.file_id}-{encoding}", file.name, data))
    return read
