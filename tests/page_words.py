"""What tests of pages read and press, by what a person reads there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamlit.testing.v1 import AppTest

_KINDS = ("title", "markdown", "caption", "info", "warning", "success", "error", "subheader")


def words(app: AppTest) -> str:
    """All that a page says, without the side bar."""
    return "\n".join(str(element.value) for kind in _KINDS for element in getattr(app.main, kind)).replace("\\", "")


def labelled(elements: Iterable[Any], label: str) -> Any:
    """The only element of this label."""
    (found,) = [element for element in elements if element.label == label]
    return found


def turn_to(app: AppTest, tab: str) -> AppTest:
    """Open a tab that is drawn only while it is open, by its label."""
    app.session_state[f"{app.title[0].value.lower()}-tab-{app.session_state['project_id']}"] = tab
    return app.run()


def press(app: AppTest, label: str) -> AppTest:
    """Press the only button of this label."""
    return labelled(app.button, label).click().run()
