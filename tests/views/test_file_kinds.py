"""Every kind of file at every place where files are brought: taken, or refused by what it is and where it belongs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaigns import answer_batch, draw_batch, make_project
from workbooks import workbook

from core.__main__ import main
from core.dataset.formats import to_parquet
from core.dataset.published import write_published
from core.embeddings import sniff
from core.errors import InputError
from core.platforms import PLATFORMS
from core.platforms.label_studio import write_tasks
from core.questions.comparison_page import template
from core.store import Store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.projects.archive import duplicate_project
from core.views.file_kinds import KINDS, PLACES, check, kind_of

HERE = Path(__file__).parents[1]
DATASET = b"rank,area,token_a,token_b,score,votes\n1,sea,ship,boat,0.9,12\n2,sea,ship,tide,0.4,12\n"
VECTORS = b"".join(b"%b %b\n" % (word, b" ".join(b"0.%d" % n for n in range(8))) for word in (b"sea", b"ship", b"pay"))
BINARY = b"2 8\n" + b"".join(word + b" " + np.linspace(0.1, n, 8, dtype="<f4").tobytes() + b"\n"
                            for n, word in enumerate((b"sea", b"ship"), 1))  # fmt: skip
TABLE = [["area", "token"], ["sea", "ship"], ["sea", "boat"]]
SHOWN = pd.DataFrame([{
    "question_id": 7, "task_id": "b1-0a1b2c3d-00001", "n": 1, "first": 0, "second": 1, "flipped": False,
    "left_a": "ship", "left_b": "boat", "right_a": "pay", "right_b": "tax", "area_left": "sea", "area_right": "job",
}])  # fmt: skip


def batch() -> bytes:
    from core.platforms import write_batch

    return write_batch(SHOWN)


def page(target: str) -> bytes:
    return template(n_comparisons=1, notion="relatedness", ties_allowed=True, target=target).encode()


def packed(**members: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.ones((3, 4), dtype=np.float32))
    return out.getvalue()


def dataset_frame() -> pd.DataFrame:
    from core.dataset import read_dataset

    return read_dataset(DATASET)


# What it is → its bytes, the places that take it, and what the refusal elsewhere says.
FILES: dict[str, tuple[Callable[[], bytes], set[str], str]] = {
    "token table": (lambda: b"Area;Token\nsea;ship\nsea;boat\n", {"tokens"}, "Add it on the Tokens page"),
    "token list": (lambda: b"ship\nboat\nmachine learning\n", {"tokens"}, "Add it on the Tokens page"),
    "token workbook": (lambda: workbook({"A": TABLE}), {"tokens"}, "Add it on the Tokens page"),
    "frequencies": (lambda: b"word\tcount\nsea\t30\nship\t10\n", {"tokens", "frequencies"}, "where frequencies come"),
    "GloVe text": (lambda: VECTORS, {"embeddings"}, "Import it on the Embeddings page"),
    "word2vec text": (lambda: b"3 8\n" + VECTORS, {"embeddings"}, "Import it on the Embeddings page"),
    "NumPy array": (array, {"embeddings"}, "Import it on the Embeddings page"),
    "similarities": (
        lambda: b"token_a,token_b,similarity\nship,boat,0.8\n", {"embeddings", "ratings", "scores"}, "Embeddings page"
    ),
    "batch": (batch, set(), "It goes to the platform"),
    "Label Studio's tasks": (lambda: write_tasks(SHOWN), set(), "It goes to the platform"),
    "task page": (lambda: page("turkle"), set(), "It goes to the platform"),
    "crowd-form": (lambda: page("mturk"), set(), "It goes to the platform"),
    "Mechanical Turk": (lambda: answer_batch(batch()), {"results", "archived results"}, "Upload results"),
    "Label Studio": (
        lambda: b'[{"id": 1, "data": {"left_a": "sea"}, "annotations": []}]', {"results", "archived results"},
        "Upload results",
    ),
    "plain votes": (
        lambda: b"comparison_id,voter,choice\nb1-0a1b2c3d-00001-1,anna,left\n", {"results", "archived results"},
        "Upload results",
    ),
    "Toloka": (
        lambda: b"INPUT:left_a\tOUTPUT:result\tASSIGNMENT:worker_id\tASSIGNMENT:status\nsea\tleft\tw\tAPPROVED\n",
        {"results", "archived results"}, "Upload results",
    ),
    "answers of a round": (
        lambda: b"question_id,voter,answer\nr1-0a1b2c3d-00001-1,anna,3\n", {"round results"}, "kind of question"
    ),
    "ratings on a platform": (
        lambda: b"AssignmentId,WorkerId,Input.task_id,Answer.rating_1\nA,W,r1-0a1b2c3d-00001,3\n", {"round results"},
        "kind of question",
    ),
    "submissions": (
        lambda: b"Submission id,Participant id,Status\n1,2,APPROVED\n", {"submissions"}, "where Prolific is chosen"
    ),
    "project file": (
        (HERE / "fixtures" / "project-schema-0008.zip").read_bytes, {"project"}, "under “New project, import”"
    ),
    "published zip": (
        lambda: write_published({"dataset.csv": DATASET}, version="1", title="T"), {"scores"}, "side by side”"
    ),
    "dataset": (lambda: DATASET, {"scores", "ratings"}, "side by side”"),
    "votes of a dataset": (
        lambda: b"ranking,ballot,comparison,voter,answer,value\n1,1,1,v1,first,1\n", set(), "the rest of its zip file"
    ),
    "ratings": (
        lambda: b"word1,word2,voter,rating\nsea,ship,anna,3\n", {"ratings", "scores", "round results"},
        "under “A file of ratings”",
    ),
    "judgements": (
        lambda: b"item_1,item_2,item_3,best,worst,voter\na,b,c,a,c,W\n", {"best–worst", "scores", "round results"},
        "under “A file of judgements”",
    ),
    "target groups": (
        lambda: b"singer\nmusician,0.90,person,0.10\ndistractors\nmusician,1.00,song,0.00\n", {"target groups"},
        "groups and orders”",
    ),
    "orders": (
        lambda: b"target,voter,word,place\nsinger,A,musician,1\n", {"orders", "round results"}, "groups and orders”"
    ),
    "gzip": (lambda: gzip.compress(VECTORS), {"embeddings"}, "is a gzip archive"),
    # What belongs nowhere: the sentence says what to choose instead.
    "PNG": (lambda: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", set(), "is a picture"),
    "SVG": (lambda: b'<?xml version="1.0"?>\n<svg xmlns="x"/>', set(), "is a picture"),
    "JPEG": (lambda: b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01", set(), "is a picture"),
    "PDF": (lambda: b"%PDF-1.7\n", set(), "is a PDF document"),
    "web page": (lambda: b"\n<!DOCTYPE html><html><title>Sign in</title>", set(), "is a web page"),
    "old Excel": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", set(), "is an old Excel workbook"),
    "Word": (lambda: packed(**{"word/document.xml": "<w/>"}), set(), "is a Word document"),
    "OpenDocument": (lambda: packed(**{"mimetype": "x", "content.xml": "<o/>"}), set(), "is an OpenDocument file"),
    "other zip": (lambda: packed(**{"a.txt": "a", "b.txt": "b"}), set(), "is a zip archive of several files"),
    "7z": (lambda: b"7z\xbc\xaf\x27\x1c", set(), "is a 7z archive"),
    "Git LFS": (lambda: b"version https://git-lfs.github.com/spec/v1\n", set(), "is a Git LFS pointer"),
    "Parquet": (lambda: to_parquet(dataset_frame()), {"scores"}, "is a Parquet file"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_at_every_place(name: str) -> None:
    make, taken_at, said = FILES[name]
    data = make()
    for place in PLACES:
        if place in taken_at:
            check(place, data, "file.bin")
            continue
        with pytest.raises(InputError) as caught:
            check(place, data, "file.bin")
        told = str(caught.value)
        assert said in told, place
        assert told.startswith("file.bin is "), place
        assert f", not {PLACES[place].wants}. " in told


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda data: packed(model=data)])
@pytest.mark.parametrize("data", [VECTORS, b"3 8\n" + VECTORS, BINARY])
def test_packed_embeddings_are_taken_as_their_reader_takes_them(
    pack: Callable[[bytes], bytes], data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "model.gz"
    path.write_bytes(pack(data))
    check("embeddings", path, path.name)
    assert sniff(path).dimensions == 8


@pytest.mark.parametrize("name", FILES)
def test_a_file_on_disk_is_told_as_one_in_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(FILES[name][0]())
    with pytest.MonkeyPatch.context() as patch:
        if name != "token workbook":  # whose rows aren't read from a path: models are no workbooks
            assert kind_of(path) == kind_of(path.read_bytes())
        patch.setattr(Path, "read_bytes", lambda _: pytest.fail("all of it was read"))
        kind_of(path)


@pytest.mark.parametrize(
    "data",
    [
        b"who,what,a,b,c,d\nanna,1,sea,ship,pay,tax\n",  # votes whose columns are named by hand
        b"term;topic\nship;sea\n",  # tokens whose columns are chosen
        b"the 120\nof 80\n",  # counts, the space between
        b"rock, paper\nsalt, pepper\n",
        b"sea 0.1 0.2\nship 0.3 0.4\n",  # too short to be told from ratings
        b"",
        b"PK\x03\x04....",
        bytes(range(256)) * 4,
        b"{" * 100_000,
    ],
)
def test_what_is_of_no_known_kind_is_left_to_the_reader(data: bytes) -> None:
    for place in PLACES:
        check(place, data, "file.bin")


def test_only_the_beginning_of_a_large_file_is_read() -> None:
    """And a row that is cut at its end is no row."""
    rows = b"area,token\n" + b"sea,word\n" * 2_000_000
    assert kind_of(rows) == "tokens"
    assert kind_of(b"comparison_id,voter,choice\n" + b"b1-0a1b2c3d-00001-1,anna,left\n" * 500_000) == "results"


def test_what_platforms_and_readers_know_is_known() -> None:
    """Kinds are told by the readers' own rules, platform by platform."""
    assert {kind for place in PLACES.values() for kind in place.takes} - set(KINDS) == {"Parquet", "gzip"}
    assert [p.name for p in PLATFORMS] == ["turkle", "mturk", "labelstudio", "prolific", "plain"]
    assert kind_of(b"Turkle.Username,WorkerId,Input.task_id\nx,y,z\n") == "results"


def test_results_of_another_project_are_told_by_its_name(store: Store) -> None:
    mine, other = make_project(store, name="Mine"), make_project(store, name="Sea and law", seed=12)
    draw_batch(store, mine)
    data = answer_batch(draw_batch(store, other))
    with pytest.raises(InputError, match=r"file\.csv holds results of the project “Sea and law”, not of this one"):
        check("results", data, "file.csv", store, mine)
    check("results", data, "file.csv", store, other)
    copy = duplicate_project(store, other, "A copy")
    check("results", data, "file.csv", store, copy)  # which has the same tasks
    check("results", data.replace(b"b1-", b"b9-"), "file.csv", store, mine)  # nobody's here: row by row, as before
    rows = read_comparisons(store, other, 1)
    plain = f"comparison_id,voter,choice\n{rows['task_id'][0]}-1,anna,left\n".encode()
    with pytest.raises(InputError, match="“Sea and law”"):
        check("results", plain, "file.csv", store, mine)


@pytest.mark.parametrize(
    ("command", "name", "said"),
    [
        (["tokens"], "Mechanical Turk", "Upload results"),
        (["ratings"], "batch", "It goes to the platform"),
        (["groups"], "project file", "New project, import"),
        (["best-worst"], "token table", "on the Tokens page"),
        (["group-orders"], "PNG", "is a picture"),
    ],
)
def test_commands_ask_as_pages_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], name: str, said: str
) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(FILES[name][0]())
    with pytest.raises(SystemExit) as ended:
        main([*command, str(path)])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_every_uploader_asks() -> None:
    asks = {path.name: path.read_text("utf-8") for path in (HERE.parent / "ui").rglob("*.py")}
    boxes = {name: text.count("st.file_uploader(") for name, text in asks.items() if "st.file_uploader(" in text}
    assert sum(boxes.values()) >= 13
    assert {name: asks[name].count("file_kinds.check(") for name in boxes} == boxes
