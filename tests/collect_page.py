"""The Collect page as tests ask it, without a browser."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

MAIN = str(Path(__file__).parents[1] / "ui" / "main.py")


def collect(project_id: str) -> AppTest:
    """The page of a project, opened."""
    app = AppTest.from_file(MAIN, default_timeout=120)
    app.query_params["project"] = project_id
    app.switch_page("../pages/collect.py").run()
    assert not app.exception
    return app


def named(elements: Iterable[Any], label: str) -> Any:
    """The first of some elements that has this label."""
    return next(element for element in elements if element.label == label)


def texts(app: AppTest) -> str:
    """What the page says in sentences, without the marks that keep its words from being Markdown."""
    shown = [*app.markdown, *app.caption, *app.success, *app.warning, *app.error, *app.info]
    return "\n".join(str(element.value) for element in shown).replace("\\", "")
