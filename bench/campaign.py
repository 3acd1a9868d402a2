"""Commands of the store that people wait for: taking a large result file in, closing its ballot."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.table import Line, measure
from core.store import open_store
from core.store.ballots.closing import close_ballot
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload, preview_upload
from core.tokens.files import AreaTokens
from tests.campaigns import answer_batch, draw_batch


def lines(*, quick: bool) -> Iterator[Line]:
    """A ballot of some 20,000 comparisons, answered in one file; `quick` takes a tenth of the tokens."""
    n_tokens = 9 if quick else 64
    tokens = tuple(f"token {'ab' * (number % 7)}{number}" for number in range(n_tokens))
    voters = [f"W{number}" for number in range(50)]
    with tempfile.TemporaryDirectory() as name:
        store = open_store(Path(name) / "workspace")
        project = create_project(store, "Bench", seed=6)
        add_areas(store, project, (AreaTokens("Tokens", tokens),))
        save_plan(store, project, PlanSettings(n_ballots=2, keep=0.5, appearances=20, seed=7))
        data = answer_batch(draw_batch(store, project), voters=voters)
        n_answers = preview_upload(store, project, data, "results.csv").counts["new"]
        (preview,) = measure(lambda: preview_upload(store, project, data, "results.csv"), rounds=1)
        (accept,) = measure(lambda: accept_upload(store, project, data, "results.csv"), rounds=1)
        (close,) = measure(lambda: close_ballot(store, project), rounds=1)
        store.engine.dispose()
    yield Line(f"a file of {n_answers:,} answers: its preview", preview, limit=3.0)
    yield Line(f"a file of {n_answers:,} answers: taking its votes", accept, limit=5.0)
    yield Line(
        f"closing that ballot, with 1,000 resamples of {n_tokens * (n_tokens - 1) // 2:,} items", close, limit=5.0
    )
