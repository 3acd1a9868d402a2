"""What a page's run takes after a click on a large project, where the work behind it is left to a job.

Only what the visitor waits for is measured: jobs are written down and not begun. What they take themselves is measured
where they are done (`bench.scale`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from core.commands import executor
from core.jobs import lifecycle
from core.store import open_store

MAIN = Path(__file__).parents[1] / "ui" / "main.py"
Prepare = Callable[[AppTest], object]


@dataclass(frozen=True)
class Click:
    """A button of a page by its label, or how it begins; `prepare` brings the page so far that it can be pressed."""

    page: str
    label: str
    prepare: Prepare | None = None


@contextmanager
def only_written_down() -> Iterator[None]:
    """Within it jobs are written down, and no process begins them."""

    class Process:
        pid = 1

        def __init__(self, *_: Any, **__: Any) -> None: ...

        def poll(self) -> None:
            return None

    with patch.object(subprocess, "Popen", Process):
        yield
    lifecycle._children.clear()


@contextmanager
def left_to_jobs() -> Iterator[None]:
    """As `only_written_down`, also for what a small project would do at once."""
    with only_written_down(), patch.object(executor, "AT_ONCE", 0.0):
        yield


def runs_of(project: str, click: Click) -> Iterator[tuple[str, Callable[[], object]]]:
    """The runs of a page until the click's sign is there, to be timed by who asks, each by what it is."""
    app = opened(project, click.page)
    if click.prepare is not None:
        yield f"{click.label} (chosen)", lambda: click.prepare(app) if click.prepare else None
        _check(app, click)
    button = next((one for one in app.button if one.label.startswith(click.label)), None)
    if button is None:
        raise RuntimeError(f"The page {click.page} has no button {click.label!r}: {[one.label for one in app.button]}")
    yield click.label, lambda: button.click().run()
    _check(app, click)
    end_jobs(project)


def of_open(project: str) -> list[Click]:
    """What a ballot with its votes lets the owner press on the pages."""
    policy = "Of a voter's several votes on one comparison"

    def unfold(app: AppTest) -> object:
        app.session_state[f"settle-{project}"] = True
        return app.run()

    def latest(app: AppTest) -> object:
        return next(radio for radio in app.radio if radio.label == policy).set_value("latest")

    def sure(app: AppTest) -> object:
        boxes = [box for box in app.checkbox if box.label == "Close anyway"]
        return boxes[0].check().run() if boxes else None

    return [
        Click("collect", "Check the votes"),
        Click("collect", "Close ballot 1", sure),
        Click("collect", "Save", latest),
        Click("collect", "Withdraw it"),
        Click("collect", "Read the assignments", unfold),
        Click("voters", "Read all votes"),
    ]


def of_closed() -> list[Click]:
    """What the pages let the owner press once the ballot is closed."""
    return [
        Click("collect", "Draw ballot 2"),
        Click("collect", "Reopen ballot 1"),
        Click("scores", "Check the scores"),
        Click("export", "Make the dataset to publish"),
        Click("project", "Prepare the project file"),
    ]


def opened(project: str, page: str) -> AppTest:
    """A page of a project, as a new visitor sees it."""
    app = AppTest.from_file(str(MAIN), default_timeout=600)
    app.query_params["project"] = project
    app.run()
    if page != "project":
        app.switch_page(f"../pages/{page}.py").run()
    return app


def end_jobs(project: str) -> None:
    """End the jobs that were only written down, so that the pages show no sign of them."""
    store = open_store()
    for job in lifecycle.project_jobs(store, project, limit=1_000):
        if not job.ended:
            lifecycle.finish(store, job.id, state="cancelled", message="Not begun.")


def _check(app: AppTest, click: Click) -> None:
    if app.exception:
        raise RuntimeError(f"{click.label!r} failed: {app.exception[0].value}")
