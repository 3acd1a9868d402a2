"""The command line as a shell sees it: output, JSON, errors and exit codes."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from embedding_files import binary, numbers, text, write

from core.__main__ import main
from core.cli.workspace import STREAMLIT
from core.errors import StoreError
from tests.browser.server import free_port

ROOT = Path(__file__).resolve().parents[2]
PLAN = ["plan", "--items", "990", "--ballots", "7", "--keep", "0.5", "--appearances", "20"]


class Result(types.SimpleNamespace):
    """What a command wrote, and its exit code."""

    @property
    def json(self) -> dict:
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def _run(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as exited:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return Result(code=exited.value.code, out=out, err=err)

    return _run


@pytest.fixture
def files(tmp_path: Path) -> types.SimpleNamespace:
    """A dataset of two areas, a model that covers it, and one that lacks a token."""
    words = ["anvil", "barge", "candle", "dune", "ember"]
    pairs = [("T", "anvil", "barge", 0.9), ("T", "anvil", "candle", 0.5), ("T", "barge", "candle", 0.1)]
    pairs += [("N", "dune", "ember", 0.8), ("N", "anvil", "ember", 0.3)]
    lines = ["area,token_a,token_b,score", *(f"{area},{a},{b},{score}" for area, a, b, score in pairs)]
    dataset = write(tmp_path, ("\n".join(lines) + "\n").encode(), "dataset.csv")
    full = write(tmp_path, binary(words, numbers(5, 4)), "full.bin")
    part = write(tmp_path, text(words[:4], numbers(4, 4)), "part.vec")
    return types.SimpleNamespace(dataset=dataset, full=full, part=part)


def test_plan_of_the_paper(run) -> None:
    result = run(*PLAN)
    assert result.code == 0
    assert "19,660 comparisons" in result.out
    assert "990        9,900" in result.out


def test_plan_json(run) -> None:
    plan = run(*PLAN, "--json").json
    assert plan["sizes"] == [990, 495, 248, 124, 62, 31, 16]
    assert plan["n_comparisons"] == 19660
    assert sum(plan["comparisons"]) == 19660
    assert (plan["top_appearances"], round(plan["uniform_appearances"], 3)) == (140, 39.717)
    assert {tuple(sorted(problem)) for problem in plan["problems"]} == {("bound", "message", "name", "value")}


def test_plan_with_appearances_by_ballot(run) -> None:
    plan = run("plan", "--items", 100, "--ballots", 2, "--keep", "0.5", "--appearances", "10,20", "--json").json
    assert plan["appearances"] == [10, 20]
    assert plan["comparisons"] == [500, 500]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "--items", "1", "--ballots", "2", "--keep", ".5", "--appearances", "2"], "items"),
        (["plan", "--items", "9", "--ballots", "2", "--keep", "1.5", "--appearances", "2"], "between 0 and 1"),
        (["plan", "--items", "9", "--ballots", "2", "--keep", ".5", "--appearances", "2,"], "--appearances"),
        (["plan", "--items", "9", "--ballots", "2", "--keep", ".5", "--appearances", "2,3,4"], "ballot"),
        (["plan", "--items", "nine", "--ballots", "2", "--keep", ".5", "--appearances", "2"], "not a valid integer"),
        (["plan", "--items", "9"], "Missing option"),
        (["elect"], "No such command"),
        (["evaluate", "absent.csv", "absent.bin"], "absent.csv"),
        (["evaluate", "absent.csv"], "MODEL"),
        (["evaluate", "absent.csv", "absent.bin", "--notion", "likeness"], "likeness"),
    ],
)
def test_errors_on_stderr_or_as_json(run, arguments: list[str], said: str) -> None:
    plain = run(*arguments)
    assert (plain.code, plain.out) == (2, "")
    assert said in plain.err
    as_json = run(*arguments, "--json")
    assert (as_json.code, as_json.err, list(as_json.json)) == (2, "", ["error"])
    assert said in as_json.json["error"]


def test_evaluate_json(run, files) -> None:
    result = run("evaluate", files.dataset, files.full, files.part, "--json")
    assert (result.code, result.err) == (0, "")
    answer = result.json
    rows = answer["models"]
    assert [(row["model"], row["area"]) for row in rows] == [
        (str(model), area) for model in (files.full, files.part) for area in (None, "T", "N")
    ]
    assert [row["n_items"] for row in rows] == [5, 3, 2] * 2
    assert [row["coverage"] for row in rows] == [1.0, 1.0, 1.0, 0.6, 1.0, 0.0]
    for row in rows:
        for metric in ("rho_w", "tau_w", "rho", "tau"):
            assert row[metric]["lower"] is None
            assert row[metric]["upper"] is None
            assert row[metric]["corrected"] is None
    for row in rows[::3]:  # over all items; a table holds no votes
        assert (row["rho_w"]["share"], row["tau_w"]["ceiling"]) == (None, None)
        assert "It takes the votes".lower() in row["tau_w"]["why_no_share"]
        assert -1 < row["rho_w"]["chance"] < 0
    assert rows[5]["rho_w"]["estimate"] is None
    assert "two items" in rows[5]["rho_w"]["why_undefined"]
    assert rows[3]["missing"] == {"ember": "not in the vocabulary"}
    assert "votes" in answer["why_no_intervals"]
    assert (answer["notion"], answer["n0"], answer["same_items"]) == ("relatedness", 2.0, False)
    assert [row["n_items"] for row in answer["common_items"]] == [3, 3]


def test_evaluate_figures_are_those_of_the_function(run, files) -> None:
    from core.dataset.files import read_dataset
    from core.embeddings import load
    from core.evaluation import evaluate

    expected = evaluate(read_dataset(files.dataset), load(files.full), n0=0.5, notion="similarity")
    row = run("evaluate", files.dataset, files.full, "--n0", 0.5, "--notion", "similarity", "--json").json["models"][0]
    assert row["rho_w"]["estimate"] == expected.overall.rho_w.estimate
    assert row["tau"]["estimate"] == expected.overall.tau.estimate
    assert row["other_notion"]["rho"]["estimate"] == expected.other_notion.rho.estimate


def test_evaluate_as_text(run, files) -> None:
    result = run("evaluate", files.dataset, files.full, files.part)
    assert result.code == 0
    assert "Ranked by |cos| (relatedness), n₀ = 2" in result.out
    assert "part.vec: no vector for ember" in result.out
    assert "3/5" in result.out
    assert "over the items that all of them cover" in result.out
    assert "items that all" not in run("evaluate", files.dataset, files.full).out


def test_evaluate_says_what_is_odd_about_its_files(run, files, tmp_path: Path) -> None:
    model = write(tmp_path, text(["anvil", "barge"], numbers(2, 4)).replace(b"2 4", b"3 4", 1), "odd.vec")
    rows = "token_a,token_b,score\nanvil,barge,0.5\nbarge,anvil,\n"
    dataset = write(tmp_path, rows.encode(), "odd.csv")
    answer = run("evaluate", dataset, model, "--json").json
    assert answer["models"][0]["notes"] == ["the first line says 3 words, 2 were found"]
    assert answer["n_unscored"] == 1
    shown = run("evaluate", dataset, model).out
    assert "odd.vec: the first line says 3 words, 2 were found" in shown
    assert "odd.vec: over 1 item only" in shown
    assert "items without a score: 1" in shown


def test_evaluate_refuses_a_bad_model(run, files, tmp_path: Path) -> None:
    pointer = write(tmp_path, b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", "lfs.bin")
    result = run("evaluate", files.dataset, pointer, "--json")
    assert result.code == 2
    assert "Git LFS pointer" in result.json["error"]


def test_job_runs_the_job(run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    jobs = types.ModuleType("core.worker")
    jobs.run = seen.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "core.worker", jobs)
    assert run("job", "0a1b").code == 0
    assert run("job", "7", "--json").json == {"job": "7"}
    assert seen == ["0a1b", "7"]


def test_job_that_there_is_not(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(job_id: str) -> None:
        raise StoreError(f"There is no job {job_id!r}.")

    jobs = types.ModuleType("core.worker")
    jobs.run = missing  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "core.worker", jobs)
    result = run("job", "7")
    assert (result.code, result.out, result.err) == (2, "", "Error: There is no job '7'.\n")


def test_the_help_leaves_out_what_only_servers_start(run) -> None:
    result = run("--help")
    listed = result.out.partition("Commands:")[2]
    assert result.code == 0
    assert {"evaluate", "vote", "plan"} <= set(re.findall(r"(?m)^  (\S+)", listed))
    assert not {"job", "housekeeping", "tend", "voters-role"} & set(re.findall(r"(?m)^  (\S+)", listed))
    for hidden in ("job", "housekeeping", "tend", "voters-role"):
        assert run(hidden, "--help").code == 0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that this process would have become."""
    commands: list[list[str]] = []

    def become(program: str, command: list[str]) -> None:
        commands.append(command)
        raise SystemExit(0)

    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setenv("RUNOFF_WORKSPACE", "elsewhere")
    return commands


@pytest.mark.skipif(os.name != "posix", reason="a process can't become another one here")
class TestApp:
    def test_no_command_opens_the_app(self, run, started, monkeypatch) -> None:
        monkeypatch.setattr("core.cli.workspace.refused", lambda host, port: None)
        assert run().code == 0
        command = [sys.executable, "-P", "-c", STREAMLIT, "run", str(ROOT / "app.py"), "--server.port", "8501"]
        assert started == [[*command, "--", "--browser"]]
        assert os.environ["RUNOFF_WORKSPACE"] == "elsewhere"

    def test_options(self, run, started, monkeypatch, tmp_path) -> None:
        monkeypatch.chdir(tmp_path)
        port = free_port()
        assert run("--port", port, "--no-browser", "--workspace", "mine").code == 0
        assert started[0][-2:] == ["--server.port", str(port)]
        assert os.environ["RUNOFF_WORKSPACE"] == str(tmp_path / "mine")

    def test_a_busy_port_is_told_with_one_that_is_free(self, run, started) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            result = run("--port", port)
            assert result.code == 2
            assert f"Error: Port {port} can't be listened on (Address already in use). " in result.err
            other = int(re.search(r"--port (\d+)\.$", result.err.strip())[1])
            assert other > port
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", other))
        assert started == []

    def test_the_apps_options_with_a_command_are_refused(self, run, started) -> None:
        result = run("--port", "8501", *PLAN)
        assert result.code == 2
        assert "not of plan" in result.err

    def test_a_workspace_may_be_given_to_a_command(self, run, started, tmp_path) -> None:
        result = run("--workspace", tmp_path / "mine", "check", "--json")
        assert "mine" in json.dumps(result.json)


def test_vote_takes_the_options_of_the_voting_page(run) -> None:
    result = run("vote", "--help")
    assert result.code == 0
    assert result.out.startswith("Usage: runoff vote [OPTIONS]")
    assert "--behind-proxy" in result.out
    assert run("vote", "--port", "none").code == 2


def test_vote_tells_a_busy_port(run, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "workspace"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run("vote", "--port", taken.getsockname()[1])
    assert "can't listen on 127.0.0.1" in result.code
    assert result.code.endswith("Choose another --port.")


def _shell(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "core", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, env={**os.environ, **environment})


def test_plan_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom core.__main__ import main\n"
        f"try:\n    main({PLAN!r})\n"
        "finally:\n"
        "    print([m for m in ('pandas', 'pyarrow', 'scipy', 'streamlit', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.release
def test_output_is_utf8_whatever_the_terminal(files) -> None:
    done = _shell("evaluate", str(files.dataset), str(files.full), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert "ρ_w" in done.stdout.decode("utf-8")
    assert b"Traceback" not in done.stderr


def test_a_reader_that_goes_away_makes_no_traceback() -> None:
    command = f"'{sys.executable}' -m core {' '.join(PLAN)} | true"
    done = subprocess.run(command, cwd=ROOT, shell=True, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_demo_dataset_and_model(run, tmp_path: Path) -> None:
    """The demo's own similarities as a dataset: a sentence transformer's, with which GloVe agrees in part."""
    table = (ROOT / "data" / "similarity.csv").read_text().replace("similarity", "score", 1)
    dataset = write(tmp_path, table.encode(), "demo.csv")
    row = run("evaluate", dataset, ROOT / "data" / "demo.bin", "--json").json["models"][0]
    assert (row["n_items"], row["n_covered"]) == (760, 722)
    assert set(row["missing"]) == {"machine learning", "parental leave"}
    assert row["rho"]["estimate"] == pytest.approx(0.329, abs=0.001)  # |cos|; scipy's spearmanr
    assert np.isfinite(row["rho_w"]["estimate"])


def test_what_a_model_lacks_is_told_with_its_option(run, tmp_path: Path) -> None:
    dataset = write(tmp_path, b"token_a,token_b,score\nfl\xc3\xbbte,anvil,0.5\nanvil,barge,0.25\n", "d.csv")
    latin = write(tmp_path, "flûte 1 0 0\nanvil 0 1 0\nbarge 0.5 1 0\n".encode("latin-1"), "latin.txt")
    failed = run("evaluate", dataset, latin)
    assert failed.code == 2
    assert "--encoding latin-1" in failed.err
    assert run("evaluate", dataset, latin, "--encoding", "latin-1", "--json").json["models"][0]["coverage"] == 1

    from gensim.models import KeyedVectors

    vectors = KeyedVectors(2)
    vectors.add_vectors(["flûte", "anvil", "barge"], [[1.0, 0.0], [0.5, 1.0], [0.0, 1.0]])
    vectors.save(str(tmp_path / "model.kv"))
    failed = run("evaluate", dataset, tmp_path / "model.kv")
    assert failed.code == 2
    assert "--trust" in failed.err
    assert run("evaluate", dataset, tmp_path / "model.kv", "--trust", "--json").json["models"][0]["coverage"] == 1


SMALL = ["--items", 30, "--ballots", 3, "--appearances", 6, "--simulations", 2, "--workers", 1]


def test_table_2(run, tmp_path: Path) -> None:
    """The schema that others read, and the same figures whatever is asked for beside them."""
    cosines = write(tmp_path, b",similarity\n" + b"".join(b"%d,%.2f\n" % (i, i / 40) for i in range(20)), "z.csv")
    table = run("simulate", "--table2", "--similarity", cosines, *SMALL, "--json").json
    assert [(row["similarity"], row["protocol"]) for row in table["rows"]] == [
        (similarity, protocol)
        for similarity in ("exponential", "power_law", "embedding")
        for protocol in ("uniform", "paper")
    ]
    for row in table["rows"]:
        assert (row["convention"], row["simulations"]) == ("paper", 2)
        assert row["n_items"] == (20 if row["similarity"] == "embedding" else 30)
        for metric in ("rho_w", "tau_w", "rho", "tau"):
            assert set(row[metric]) == {"mean", "sd"}
            assert -1 <= row[metric]["mean"] <= 1
    assert table["rows"][0]["n_comparisons"] == table["rows"][1]["n_comparisons"] == 90 + 45 + 24
    restricted = run("simulate", "--table2", "--similarity", cosines, "--protocol", "paper", *SMALL, "--json").json
    assert restricted["rows"] == table["rows"][1::2]
    alone = run("simulate", "--similarity", "power_law", *SMALL, "--json").json
    assert alone["rows"] == table["rows"][2:4]
    assert run("simulate", "--similarity", cosines, *SMALL, "--json").json["rows"] == table["rows"][4:]
    other = run("simulate", "--similarity", "power_law", *SMALL, "--seed", 1, "--json").json
    assert other["rows"] != alone["rows"]


def test_table_2_of_the_released_convention(run) -> None:
    row = run("simulate", "--similarity", "exponential", "--convention", "released", *SMALL, "--json").json["rows"][0]
    assert (row["convention"], row["protocol"]) == ("released", "uniform")
    assert row["n_comparisons"] == 30 * round(6 * (1 + 0.5 + 0.25)) // 2  # halves to even


def test_table_2_for_people(run) -> None:
    """Without a file the embedding's row has the demo's cosines."""
    result = run("simulate", "--table2", *SMALL, "--keep", 0.3)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split() == ["similarity", "protocol", "items", "comparisons", "ρ_w", "τ_w", "ρ", "τ"]
    assert all(line.count(" ± ") == 4 for line in lines[1:7])
    assert lines[5].split()[:4] == ["embedding", "uniform", "722", f"{(722 + 217 + 65) * 3:,}"]
    assert "over 2 simulations, convention paper, seed 0" in result.out


def test_simulations_that_rank_nothing_are_left_out(run, tmp_path: Path) -> None:
    flat = write(tmp_path, b"similarity\n" + b"0.5\n" * 30, "flat.csv")
    result = run("simulate", "--similarity", flat, *SMALL)
    assert "– ± –" in result.out
    assert "rank nothing" in result.out
    row = run("simulate", "--similarity", flat, *SMALL, "--json").json["rows"][0]
    assert (row["n_undefined"], row["rho"]) == (2, {"mean": None, "sd": None})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--table2"),
        (["--table2", "--protocol", "best"], "protocol must be 'uniform' or 'paper'"),
        (["--table2", "--convention", "best"], "convention must be 'paper' or 'released'"),
        (["--similarity", "nowhere.csv"], "nowhere.csv can't be read"),
        (["--table2", "--appearances", "many"], "--appearances"),
        (["--table2", "--items", "20"], "Ballot 6 would have 1 item"),
        (["--table2", "--simulations", "0"], "from 1 on"),
        (["--table2", "--workers", "0"], "workers"),
    ],
)
def test_simulate_says_what_is_wrong(run, arguments: list[str], said: str) -> None:
    result = run("simulate", *arguments, "--json")
    assert result.code == 2
    assert said in result.json["error"]


class TestFailUnder:
    def test_met(self, run, files) -> None:
        result = run("evaluate", files.dataset, files.full, "--json")
        estimate = result.json["models"][0]["rho"]["estimate"]
        held = run("evaluate", files.dataset, files.full, "--json", "--fail-under", f"rho={estimate}")
        assert held.code == 0
        assert held.json["bounds"] == [
            {"model": str(files.full), "figure": "rho", "bound": estimate, "estimate": estimate, "passed": True}
        ]
        assert "bounds" not in result.json

    def test_not_met_by_any_of_several(self, run, files) -> None:
        result = run(
            *("evaluate", files.dataset, files.full, files.part),
            *("--fail-under", "rho_w=1.5", "--fail-under", "tau=-1"),
        )
        assert result.code == 1
        lines = [line for line in result.out.splitlines() if "bound" in line]
        assert len(lines) == 4
        assert sum("FAILED" in line and "is under 1.5" in line for line in lines) == 2
        assert sum("passed" in line for line in lines) == 2

    def test_undefined_fails_with_the_reason(self, run, files, tmp_path) -> None:
        lines = b"token_a,token_b,score\nanvil,barge,0.5\nanvil,candle,0.5\n"
        flat = write(tmp_path, lines, "flat.csv")
        result = run("evaluate", flat, files.full, "--json", "--fail-under", "rho_w=-1")
        assert result.code == 1
        (bound,) = result.json["bounds"]
        assert (bound["passed"], bound["estimate"]) == (False, None)
        assert bound["why"].startswith("undefined: ")
        assert len(bound["why"]) > len("undefined: ")

    @pytest.mark.parametrize("text_", ["rho_w", "rho_w=high", "=0.5", "rho_w=nan", "rho_x=0.5", "coverage=1"])
    def test_wrong_use_is_two(self, run, files, text_) -> None:
        result = run("evaluate", files.dataset, files.full, "--fail-under", text_)
        assert result.code == 2
        assert "--fail-under" in result.err

    def test_an_unreadable_file_is_two(self, run, files, tmp_path) -> None:
        assert run("evaluate", tmp_path / "none.csv", files.full, "--fail-under", "rho=0").code == 2
        assert run("evaluate", files.dataset, tmp_path / "none.bin", "--fail-under", "rho=0").code == 2

    def test_no_workspace_is_made(self, run, files, tmp_path, monkeypatch) -> None:
        monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "nowhere"))
        assert run("evaluate", files.dataset, files.full).code == 0
        assert not (tmp_path / "nowhere").exists()


def test_evaluate_takes_a_policy_figures_and_intervals_over_tokens(run, files) -> None:
    both = (files.dataset, files.full, files.part)
    lowest = run("evaluate", *both, "--policy", "lowest", "--json").json
    assert (lowest["policy"], lowest["top"]) == ("lowest", 20)
    of_part = next(row for row in lowest["models"] if row["model"] == str(files.part) and row["area"] is None)
    assert (of_part["n_covered"], of_part["n_lowest"], of_part["n_items"]) == (3, 2, 5)
    assert "Items that the model lacks" in of_part["pearson"]["why_undefined"]

    own = run("evaluate", *both, "--policy", "own")
    assert f"{files.part} lacks items that {files.full} must rank" in own.out
    assert "compare them over the items" not in own.out

    shown = run("evaluate", files.dataset, files.full, "--metric", "precision", "--metric", "rho", "--top", "2")
    assert "top k" in shown.out.splitlines()[2]
    assert "ρ_w" not in shown.out.splitlines()[2]
    few = run("evaluate", files.dataset, files.full, "--tokens")
    assert (few.code, "at least 15 tokens" in few.err) == (2, True)
    assert "Name a MODEL" in run("evaluate", files.dataset).err


@pytest.mark.release
def test_intervals_over_tokens_follow_the_seed(run, tmp_path: Path) -> None:
    text_ = (ROOT / "data" / "similarity.csv").read_text(encoding="utf-8").replace("similarity", "score", 1)
    table = write(tmp_path, text_.encode(), "dataset.csv")
    arguments = ("evaluate", table, ROOT / "data" / "demo.bin", "--tokens", "--json")
    one, same, other = (run(*arguments, "--seed", seed).json["models"][0]["rho_w"]["tokens"] for seed in (1, 1, 2))
    assert one == same != other
    assert one["lower"] < one["upper"]


def test_an_encoder_is_ranked_beside_models(run, files) -> None:
    folder = ROOT / "tests" / "reference" / "tiny_encoder"
    found = run("evaluate", files.dataset, files.full, "--encoder", folder, "--json").json
    rows = [row for row in found["models"] if row["area"] is None]
    assert [row["model"] for row in rows] == [str(files.full), str(folder)]
    assert rows[1]["coverage"] == 1


def test_an_encoder_that_is_not_there_is_told(run, files) -> None:
    result = run("evaluate", files.dataset, files.full, "--encoder", "nowhere")
    assert result.code
    assert "nowhere is not there" in result.err


def test_spellings_are_ranked_after_models(run, files) -> None:
    found = run("evaluate", files.dataset, files.full, "--spelling", "jaro-winkler", "--spelling", "ngrams", "--json")
    rows = [row for row in found.json["models"] if row["area"] is None]
    assert [row["model"] for row in rows] == [str(files.full), "jaro-winkler", "ngrams"]
    assert [row["coverage"] for row in rows[1:]] == [1, 1]
    assert rows[1]["rho"] != rows[2]["rho"]
    assert "substring" in run("evaluate", files.dataset, "--spelling", "substring").out
