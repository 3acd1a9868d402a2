"""Commands, results and figures through JSON: what comes back is what went in, NaN and tables too."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from core.commands import ballots, projects, votes
from core.commands.base import from_json, result_type, to_json
from core.commands.executor import COMMANDS, command_of, params_of
from core.jobs.lifecycle import Job
from core.questions import default_settings
from core.questions.voting_settings import VotingSettings
from core.votes.payment import Review
from core.votes.reasons import Move, UploadEffect

FILE = votes.SpooledFile("ab", "a.csv", 12)
EXAMPLES = [
    ballots.DrawBallot("p", 3, None),
    ballots.DrawRound("p", 3, None, json.loads(json.dumps(default_settings("order", seed=7).stored())), after=1),
    ballots.OpenVoting("p", 3, 2, "b1-0", 1, "campaign", VotingSettings(ask=("age",)).stored()),
    votes.ExcludeVoters("p", 3, (1, 2), "Why", {1: {"proposed": ["x"]}}),
    votes.ReviewAssignments("p", 3, 4, {1: Review("approve"), 2: None}),
    votes.TakeUploads("p", None, None, "b1-0", ((FILE, None), (FILE, {"voter": "who", "rejected": ["no"]}))),
    projects.CopyProject("p", "One", "Two"),
    projects.DeleteProject("p", "One", 7),
]


def through(value, type_):
    return from_json(json.loads(json.dumps(to_json(value, type_), allow_nan=False)), type_)


@pytest.mark.parametrize("command", EXAMPLES, ids=lambda command: command.name)
def test_a_command_comes_back_from_the_row_of_its_job(command):
    params = params_of(command)
    assert json.loads(json.dumps(params, allow_nan=False)) == params
    row = (params, "queued", None, 0, 0, "", None, None, "", None, None, None)
    assert command_of(Job("j", command.project_id, "command", *row)) == command


def test_the_type_of_every_result_is_known():
    types = {name: result_type(kind.run) for name, kind in COMMANDS.items()}
    assert types["draw ballot"] is int
    assert None not in types.values()
    taken = (
        votes.UploadOutcome(
            "a.csv", {"new": 2}, UploadEffect(3, moves=(Move(("a", "b"), 1.0, None),), first=("c", "d"))
        ),
    )
    assert through(taken, types["accept upload"]) == taken


@dataclass(frozen=True)
class Found:
    share: float
    bound: float | None
    n: int
    table: pd.DataFrame


def test_numbers_of_numpy_and_nan_and_tables_come_back():
    table = pd.DataFrame({"who": ["a", "b"], "share": [0.5, math.nan], "n": [1, 2]})
    found = through(Found(np.float64("nan"), np.float64("nan"), np.int64(3), table), Found)
    assert math.isnan(found.share)
    assert found.bound is None
    assert (found.n, type(found.n)) == (3, int)
    assert_frame_equal(found.table, table, check_dtype=True)
