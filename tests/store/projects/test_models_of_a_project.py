"""Models join a project by a job: sent only where it is switched on, paid for once, with how they were made."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from campaigns import make_project
from click.testing import CliRunner

from core import worker
from core.__main__ import cli, main
from core.encoders import SCORED
from core.errors import RunoffError, StoreError
from core.jobs import lifecycle
from core.store import Store
from core.store.backups import back_up
from core.store.projects.archive import duplicate_project, export_project, import_project
from core.store.projects.embedding_library import open_library, read_embeddings
from core.store.projects.model_servers import allow_server, allowed_servers, check_allowed
from core.views.log import what
from tests.models_server import ModelsServer, models_server, right, vector_of, whole


@pytest.fixture
def fake() -> Iterator[ModelsServer]:
    with models_server() as server:
        yield server


@pytest.fixture
def workspace(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store as the command line finds it; a job is carried out in this process as soon as it is begun."""
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)

    class Process:
        pid = 1

        def __init__(self, command: Sequence[str], **_options: Any) -> None:
            worker.run(command[-1])

        def poll(self) -> int:
            return 0

    real = subprocess.Popen

    def begun(command: Sequence[str], **options: Any) -> Any:
        return (Process if "job" in command else real)(command, **options)

    monkeypatch.setattr(subprocess, "Popen", begun)
    monkeypatch.setattr("core.encoders.server.sleep", lambda seconds: None)
    return store


def run(*arguments: str) -> Any:
    found = CliRunner().invoke(cli, ["embeddings", *arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def test_nothing_is_sent_until_it_is_switched_on(workspace: Store, fake: ModelsServer) -> None:
    project_id = make_project(workspace, plan=None)
    with pytest.raises(RunoffError, match=rf"Nothing was sent\. The project's 10 tokens.*{fake.url}/v1/embeddings"):
        run("add", "Test", "letters", "--server", fake.url)
    params = {"server": {"address": fake.url, "model": "letters"}, "name": "Letters"}
    job = lifecycle.read_job(workspace, lifecycle.start(workspace, "encode_tokens", params, project_id=project_id))
    assert job.state == "failed"
    assert "switched off for this project" in job.error
    assert fake.asked == []
    assert run("add", "Test", "letters", "--server", fake.url, "--send", "--batch", "4").exit_code == 0
    assert allowed_servers(workspace, project_id) == (fake.url,)
    assert sorted(text for texts in fake.texts for text in texts) == sorted(
        ["cat", "dog", "horse", "mouse", "café", "=cow", "hammer", "saw", "007", "NA"]
    )
    (imported,) = read_embeddings(workspace, project_id)
    assert (imported.name, imported.format, imported.n_words) == ("letters", "a server's model", 10)
    told = json.loads(run("list", "Test", "--json").stdout)["embeddings"][0]
    assert told["recipe"]["server"] == fake.url
    assert told["recipe"]["model"] == "letters"
    assert f"server {fake.url}" in run("list", "Test").stdout
    assert what("allow server", {"address": fake.url}) == f"Let the project send its tokens to {fake.url}"

    allow_server(workspace, project_id, fake.url, False)
    with pytest.raises(RunoffError, match="Nothing was sent"):
        run("add", "Test", "letters", "--server", fake.url, "--anew")
    with pytest.raises(RunoffError, match="belong to --server"):
        run("add", "Test", "letters", "--anew")
    assert len(fake.asked) == 3


def test_the_switch_goes_with_no_copy_and_no_file(workspace: Store) -> None:
    project_id = make_project(workspace, plan=None)
    allow_server(workspace, project_id, "https://x.org", True)
    allow_server(workspace, project_id, "https://y.org", True)
    allow_server(workspace, project_id, "https://x.org", False)
    assert allowed_servers(workspace, project_id) == ("https://y.org",)
    copies = (
        duplicate_project(workspace, project_id, "Copy"),
        import_project(workspace, export_project(workspace, project_id)),
    )
    for copy in copies:
        assert allowed_servers(workspace, copy) == ()
        with pytest.raises(StoreError, match="switched off"):
            check_allowed(workspace, copy, "https://y.org")


def test_a_run_that_ended_goes_on_and_takes_the_place_of_the_old_vectors(workspace: Store, fake: ModelsServer) -> None:
    project_id = make_project(workspace, plan=None)
    options = ("--server", fake.url, "--send", "--batch", "4")
    fake.answer = lambda texts: whole({"error": "out of credit"}, 402) if "hammer" in texts else whole(right(texts))
    with pytest.raises(RunoffError, match="out of credit"):
        run("add", "Test", "letters", *options)
    assert read_embeddings(workspace, project_id) == []

    def switched_off(texts: list[str]) -> bytes:
        allow_server(workspace, project_id, fake.url, False)
        return whole(right(texts))

    fake.answer = switched_off
    with pytest.raises(RunoffError, match="Nothing more is sent"):  # while it was under way
        run("add", "Test", "letters", *options)
    fake.answer = lambda texts: whole(right(texts))
    assert run("add", "Test", "letters", *options).exit_code == 0
    assert [len(texts) for texts in fake.texts] == [4, 4, 4, 2]  # what came before is asked no second time
    (first,) = read_embeddings(workspace, project_id)
    fake.answer = lambda texts: whole(right([text + "!" for text in texts]))
    assert run("add", "Test", "letters", *options, "--anew").exit_code == 0
    (second,) = read_embeddings(workspace, project_id)
    kept = sorted(path.relative_to(workspace.folder).as_posix() for path in workspace.answers.rglob("*.arrow"))
    assert {*kept} <= {*back_up(workspace, workspace.folder.parent / "backup.zip")["files"]}  # it was paid for
    assert len(kept) == 3
    assert (second.name, second.id != first.id) == ("letters", True)
    np.testing.assert_array_equal(open_library(workspace, second).vectors(["cat"])[0], vector_of("cat!"))


class Longer:
    """A made-up cross-encoder for whom the order of two texts matters."""

    def predict(self, pairs: list[tuple[str, str]], *, show_progress_bar: bool | None = None) -> np.ndarray:
        return np.array([len(a) + len(b) / 10 for a, b in pairs])


def test_a_cross_encoder_reads_each_pair_in_both_orders(
    workspace: Store, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_project(workspace, plan=None)
    folder = tmp_path / "cross"
    folder.mkdir()
    settings = {"model_type": "bert", "architectures": ["BertForSequenceClassification"]}
    (folder / "config.json").write_text(json.dumps({**settings, "id2label": {"0": "a", "1": "b"}}))
    with pytest.raises(RunoffError, match="gives a pair 2 numbers"):
        run("add", "Test", str(folder))
    (folder / "config.json").write_text(json.dumps({**settings, "id2label": {"0": "LABEL_0"}}))
    (folder / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr("core.encoders.folder.find_spec", lambda name: object())
    monkeypatch.setattr("core.encoders.folder.cross_encoder", lambda path: Longer())
    assert run("add", "Test", str(folder)).exit_code == 0
    (imported,) = read_embeddings(workspace, project_id)
    assert (imported.name, imported.format, imported.has_vectors) == ("cross", SCORED, False)
    assert dict(imported.info["recipe"])["pairs"] == "the mean of both orders"
    opened = open_library(workspace, imported)
    expected = ((3 + 0.5) + (5 + 0.3)) / 2  # cat, horse
    np.testing.assert_allclose(opened.cosines(["cat", "horse"], ["horse", "cat"]), [expected, expected])
    assert np.isnan(opened.cosines(["cat"], ["saw"])[0])  # of two areas: no item
    monkeypatch.setattr(Longer, "predict", lambda self, pairs, show_progress_bar: np.full(len(pairs), np.nan))
    with pytest.raises(RunoffError, match="one finite number"):
        run("add", "Test", str(folder))


def test_evaluate_asks_a_server_itself(fake: ModelsServer, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sea", "tea", "rose", "taste", "stone"]
    rows = [f"{a},{b},{i}" for i, (a, b) in enumerate((a, b) for a in words for b in words if a < b)]
    (tmp_path / "d.csv").write_text("\n".join(["token_a,token_b,score", *rows]))
    command = ["evaluate", str(tmp_path / "d.csv"), "--server", fake.url, "letters", "--cache", str(tmp_path / "kept")]
    for _ in range(2):
        with pytest.raises(SystemExit, match="0"):
            main([*command, "--template", "a {token}", "--json"])
        written = capsys.readouterr()
        assert json.loads(written.out)["models"][0]["model"] == f"letters at {fake.url}"
        assert f"The dataset's 5 tokens, each as “a {{token}}”, and the model's name go to {fake.url}" in written.err
    assert sorted(fake.texts[0]) == sorted(f"a {word}" for word in words)
    assert len(fake.asked) == 1
