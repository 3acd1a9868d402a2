"""Choosing a file whose name isn't UTF-8: it stands in the box as it can be shown, and the file itself is taken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest


def picker(name: str) -> None:
    """The chooser of files, and a button that picks one as the browser of folders does."""
    import os
    from pathlib import Path

    import streamlit as st

    from core.store import open_store
    from ui.shared import files

    path = Path(os.fsdecode(bytes.fromhex(name)))
    st.session_state.setdefault("folder-k", str(path.parent))
    found = files.choose_file(open_store(Path(os.environ["RUNOFF_WORKSPACE"])), "k")
    st.button("pick", on_click=files._pick_path, args=("k", path))
    st.text("nothing" if found is None else f"{found == path}, {found.is_file()}")


@pytest.mark.parametrize("name", [b"mod\xe8le.vec", b"caf\xe8/m\xf6del.vec", "modèle.vec".encode()])
def test_a_picked_file_is_the_file(empty, tmp_path: Path, name: bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"a 1 2\nb 3 4\n")
    app = AppTest.from_function(picker, args=(os.fsencode(path).hex(),), default_timeout=120).run()
    assert not app.exception
    assert app.text[0].value == "nothing"
    app.button[-1].click().run()
    assert not app.exception
    assert app.text[0].value == "True, True"
    shown = name.decode("utf-8", "replace")
    assert app.text_input[0].value == str(tmp_path / shown)
    # what somebody types then is what counts
    app.text_input[0].set_value(str(tmp_path / "none.vec")).run()
    assert app.text[0].value == "nothing"
