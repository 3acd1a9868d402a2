"""Models behind a server: a loopback server that misbehaves. No vector is invented, what was paid for is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.embeddings import open_embedding
from core.encoders import SERVED, EmbeddingServer, encoder_of
from core.encoders.server import fetch, serve_into
from core.errors import InputError, PlatformError
from tests.models_server import ModelsServer, models_server, right, vector_of, whole

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelsServer]:
    monkeypatch.setenv("RUNOFF_EMBEDDINGS_KEY", KEY)
    with models_server() as server:
        yield server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited; no time passes."""
    waited: list[float] = []
    monkeypatch.setattr("core.encoders.server.sleep", waited.append)
    return waited


def test_vectors_stand_under_their_own_texts(fake: ModelsServer, tmp_path: Path) -> None:
    server = EmbeddingServer(f"{fake.url}/v1/", "letters", template="word: {token}", batch=2)
    tokens = ["sea", "taste", "machine learning"]
    told: list[tuple[int, int, str]] = []
    vectors, recipe = fetch(server, tokens, server.kept(tmp_path), progress=lambda *now: told.append(now))
    np.testing.assert_array_equal(vectors, [vector_of(f"word: {token}") for token in tokens])
    assert fake.texts == [["word: sea", "word: taste"], ["word: machine learning"]]
    assert {body["model"] for body in fake.asked} == {"letters"}
    assert fake.paths == ["/v1/embeddings"] * 2
    assert {headers["authorization"] for headers in fake.headers} == {f"Bearer {KEY}"}
    assert told == [(0, 3, "tokens encoded"), (2, 3, "tokens encoded")]
    about = dict(recipe)
    assert (about["server"], about["answered as"], about["text"]) == (fake.url, "letters-1", "word: {token}")
    assert about["counted by the server"] == "3 word pieces"
    again, same = fetch(server, tokens[::-1], server.kept(tmp_path))
    np.testing.assert_array_equal(again[::-1], vectors)
    assert (len(fake.asked), same) == (2, recipe)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert KEY not in repr(server)


# What a server may answer in place of two vectors, and what is said of it.
NONSENSE = [
    (lambda texts: whole(b"<!DOCTYPE html><title>Log in</title>"), "something else than JSON: '<!DOCTYPE html>"),
    (lambda texts: whole([1]), "JSON of another shape"),
    (lambda texts: whole({"data": "none"}), "no list of vectors"),
    (lambda texts: whole({**right(texts), "data": right(texts)["data"][:1]}), "1 vectors for 2 texts"),
    (lambda texts: whole({"data": [{**row, "index": 0} for row in right(texts)["data"]]}), "each once"),
    (lambda texts: whole({"data": [{**row, "index": True} for row in right(texts)["data"]]}), "each once"),
    (lambda texts: whole({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]}), "each once"),
    (lambda texts: whole(json.dumps(right(texts)).replace("0.75", "NaN").encode()), "NaN"),
    (lambda texts: whole(json.dumps(right(texts)).replace("0.75", "1e400").encode()), "NaN or a number"),
    (lambda texts: whole(json.dumps(right(texts)).replace("0.75", "1" + "0" * 400).encode()), "NaN or a number"),
    (lambda texts: whole(json.dumps(right(texts)).replace("0.75", "null").encode()), "isn't a list of numbers"),
    (lambda texts: whole(json.dumps(right(texts)).replace("0.75", '"0.75"').encode()), "isn't a list of numbers"),
    (lambda texts: whole(json.dumps(right(texts)).replace(", 0.75]", "]", 1).encode()), "vectors of 8, 9 numbers"),
    (lambda texts: whole({"data": [{"index": i, "embedding": []} for i in range(2)]}), "vectors of 0 numbers"),
    (lambda texts: whole({}, 302, Location="https://elsewhere.example.org/v1"), "nothing is sent there"),
    (lambda texts: whole({}, 307, Location="/login?next=secret"), r"another page \(/login\)"),
    (lambda texts: whole({"error": {"message": f"Incorrect key {KEY}"}}, 401), "wants a key.*Incorrect key …"),
    (lambda texts: whole({"error": "model not found"}, 404), "model not found"),
    (lambda texts: whole({"detail": "batch too large"}, 413), r"refuses this \(413\): batch too large"),
    (lambda texts: b"SSH-2.0-OpenSSH\r\n", "isn't HTTP"),
]


def test_nonsense_is_told_and_nothing_of_it_is_taken(fake: ModelsServer, tmp_path: Path, waits: list[float]) -> None:
    server = EmbeddingServer(fake.url, "letters", timeout=5)
    for number, (answer, said) in enumerate(NONSENSE):
        fake.answer, folder = answer, tmp_path / str(number)
        before = len(fake.asked)
        with pytest.raises(PlatformError, match=said) as caught:
            fetch(server, ["sea", "tax"], server.kept(folder))
        assert len(fake.asked) == before + 1, f"{said}: asked once, and no redirection followed"
        assert not list(folder.rglob("*.arrow")), said
        assert KEY not in str(caught.value)
        assert "secret" not in str(caught.value)
    assert waits == []


def test_what_may_pass_is_tried_again(fake: ModelsServer, tmp_path: Path, waits: list[float]) -> None:
    full = whole(right(["sea"]))
    passing = [
        whole({"error": {"message": "rate limit"}}, 429, Retry_After="7"),
        whole(b"<h1>Bad gateway</h1>", 502),
        full[:-20],  # cut, and the header says so
        whole(json.dumps(right(["sea"])).encode()[:-20]),  # cut, and the header doesn't know
        b"",
    ]
    queue = [*passing, full]
    fake.answer = lambda texts: queue.pop(0)
    server, told = EmbeddingServer(fake.url, "letters", timeout=5), []
    vectors, _ = fetch(server, ["sea"], server.kept(tmp_path), progress=lambda *now: told.append(now[2]))
    np.testing.assert_array_equal(vectors, [vector_of("sea")])
    assert waits == [7, 2, 4, 8, 16]
    assert "waits 7 s" in told[1]
    assert "rate limit" in told[1]

    fake.answer = lambda texts: whole({"error": "overloaded"}, 503)
    with pytest.raises(PlatformError, match=r"overloaded.*tried 6 times"):
        fetch(server, ["tax"], server.kept(tmp_path))
    fake.answer = lambda texts: whole({"error": "quota"}, 429, Retry_After="3600")
    with pytest.raises(PlatformError, match=r"quota.*wait 3,600 seconds"):
        fetch(server, ["tax"], server.kept(tmp_path))
    fake.answer = lambda texts: whole({}, 503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT")  # a date that has passed
    del waits[:]
    with pytest.raises(PlatformError, match="tried 6 times"):
        fetch(server, ["tax"], server.kept(tmp_path))
    assert waits == [1, 2, 4, 8, 16]


def test_a_slow_server_is_given_up(fake: ModelsServer, tmp_path: Path, waits: list[float]) -> None:
    release = threading.Event()
    fake.answer = lambda texts: (release.wait(5), whole(right(texts)))[1]
    server = EmbeddingServer(fake.url, "letters", timeout=0.05)
    with pytest.raises(PlatformError, match=r"within 0\.05 seconds.*tried 6 times"):
        fetch(server, ["sea"], server.kept(tmp_path))
    release.set()
    assert len(waits) == 5
    with pytest.raises(PlatformError, match="refuses the connection"):
        fetch(EmbeddingServer("http://127.0.0.1:9", "m"), ["sea"], server.kept(tmp_path))
    assert len(waits) == 5


def test_what_was_paid_for_is_kept(fake: ModelsServer, tmp_path: Path, waits: list[float]) -> None:
    server, tokens = EmbeddingServer(fake.url, "letters", batch=2), ["sea", "tax", "tea", "taste", "rose"]
    fake.answer = lambda texts: whole({"error": "out of credit"}, 402) if "tea" in texts else whole(right(texts))
    with pytest.raises(PlatformError, match="out of credit"):
        fetch(server, tokens, server.kept(tmp_path))
    fake.answer = lambda texts: whole(right(texts))

    def stopped(done: int, total: int, message: str) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server, tokens, server.kept(tmp_path), progress=stopped)
    vectors, _ = fetch(server, tokens, server.kept(tmp_path))
    assert fake.texts == [["sea", "tax"], ["tea", "taste"], ["tea", "taste"], ["rose"]]
    np.testing.assert_array_equal(vectors, [vector_of(token) for token in tokens])

    (damaged, *_) = sorted(tmp_path.rglob("*.arrow"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    fetch(server, tokens, server.kept(tmp_path))
    assert fake.texts[-1] == ["sea", "tax"]
    n_asked = len(fake.asked)
    others = (EmbeddingServer(fake.url, "other", batch=5), EmbeddingServer(fake.url, "letters", "a {token}", batch=5))
    for other in others:  # another model and another text share nothing with it
        fetch(other, tokens, other.kept(tmp_path))
    fetch(server, tokens, server.kept(tmp_path), anew=True)
    assert len(fake.asked) == n_asked + 2 + 3


def test_two_models_never_share_a_space(fake: ModelsServer, tmp_path: Path) -> None:
    server = EmbeddingServer(fake.url, "letters")
    fetch(server, ["sea"], server.kept(tmp_path))
    fake.answer = lambda texts: whole(right(texts, "letters-2"))
    with pytest.raises(PlatformError, match=r"letters-1 \(9 numbers\) and letters-2 \(9 numbers\).*ask for all"):
        fetch(server, ["sea", "tax"], server.kept(tmp_path))
    _, recipe = fetch(server, ["sea", "tax"], server.kept(tmp_path), anew=True)
    assert dict(recipe)["answered as"] == "letters-2"


def test_what_it_gives_is_an_embedding_with_its_record(fake: ModelsServer, tmp_path: Path) -> None:
    server = EmbeddingServer(fake.url, "letters")
    info = serve_into(tmp_path / "e", server, ["sea", "taste", "sea", "xyz"], server.kept(tmp_path / "kept"))
    assert (info.format, info.n_words, info.dimensions) == (SERVED, 3, 9)
    assert encoder_of({"companions": info.companions}) == server.digest
    opened = open_embedding(tmp_path / "e")
    assert dict(opened.info.recipe)["server"] == fake.url
    a, b = np.array(vector_of("sea")), np.array(vector_of("taste"))
    expected = a @ b / np.sqrt(a @ a * (b @ b))
    assert opened.cosines(["sea"], ["taste"])[0] == pytest.approx(expected, abs=1e-6)
    with pytest.raises(InputError, match="no token"):
        serve_into(tmp_path / "f", server, [], server.kept(tmp_path / "kept"))


def test_a_key_goes_encrypted_or_to_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNOFF_EMBEDDINGS_KEY", KEY)
    near, safe, bare = (
        EmbeddingServer(f"{address}/v1/embeddings", "m")
        for address in ("http://localhost:8000", "https://models.example.org", "http://models.example.org")
    )
    assert (near.sends_key, safe.sends_key, bare.sends_key) == (True, True, False)
    assert (near.is_open, safe.is_open, bare.is_open) == (False, False, True)
    assert "1,234 tokens, each as it is, and the model's name go to https://models.example.org/v1/embeddings" in (
        safe.says(1234)
    )
    assert "RUNOFF_EMBEDDINGS_KEY goes along" in safe.says(2)
    assert "unencrypted" in bare.says(2)
    monkeypatch.setenv("RUNOFF_EMBEDDINGS_KEY", "")
    assert "RUNOFF_EMBEDDINGS_KEY" not in safe.says(2)
    monkeypatch.setenv("RUNOFF_EMBEDDINGS_KEY", "two words")
    with pytest.raises(InputError, match="RUNOFF_EMBEDDINGS_KEY holds") as caught:
        safe.says(2)
    assert "two words" not in str(caught.value)


def test_what_cant_be_asked_is_told() -> None:
    for options, said in (
        ({"address": "models.example.org"}, "begins with http"),
        ({"address": "https://u:pw@models.example.org"}, "begins with http"),
        ({"model": " "}, "Name the model"),
        ({"template": "a word"}, "must hold {token}"),
        ({"batch": 0}, "1 to 2,048"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            EmbeddingServer(**{"address": "https://x.org", "model": "m", **options})
        assert "pw" not in str(caught.value)
