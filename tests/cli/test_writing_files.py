"""Items made by writing, from the command line: a form by hand, the task page's batch and results, zeros by lot."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

from core.__main__ import cli
from core.errors import InputError
from core.questions.rating.scales import CLSS
from core.questions.writing import draw_writing, pair_by_lot, pool_of, read_form, read_texts, write_form

TEXTS = ("text,genre\n" + "\n".join(f"paragraph {n} of {g},{g}" for g in ("news", "fable") for n in range(10))).encode()
POOL = ("text,genre\n" + "\n".join(f"sentence {n},news" for n in range(3))).encode()


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def csv_of(rows: list[dict[str, str]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def form_of(seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    tasks, aside = draw_writing(read_texts(TEXTS, "texts.csv").texts, rng=rng)
    return write_form(tasks, *pair_by_lot(aside, pool_of(read_texts(POOL, "pool.csv").texts), rng=rng))


def test_the_form_wants_each_rating_equally_often_and_takes_zeros_of_the_pool():
    form = form_of(1)
    assert form == form_of(1)
    rows = rows_of(form)
    for genre in ("news", "fable"):
        assert Counter(row["wanted"] for row in rows if row["genre"] == genre) == dict.fromkeys("01234", 2)
    pool = {row["text"] for row in rows_of(POOL)}
    for row in rows:
        assert (row["smaller"] in pool) == (row["wanted"] == "0" and row["genre"] == "news")
        assert row["meaning"] == CLSS.describe(float(row["wanted"]))
    assert len({row["text_id"] for row in rows}) == 20
    read = read_form(form, "form.csv")
    assert (len(read.tasks), len(read.lots), len(read.aside)) == (16, 2, 2)
    assert {text.genre for text in read.aside} == {"fable"}  # nothing of its kind is in the pool


def test_what_is_wrong_is_told():
    with pytest.raises(InputError, match="lacks the column text"):
        read_texts(b"words,genre\na,b\n", "x.csv")
    with pytest.raises(InputError, match="row 4"):
        read_texts(b"text,genre\na,n\nb,n\na,n\n", "x.csv")
    with pytest.raises(InputError, match="row 3"):
        read_form(b"larger,smaller\na,b\na,b\n", "x.csv")
    with pytest.raises(InputError, match="row 3: this id is another text's"):
        read_form(b"text_id,larger,smaller\n1,a,b\n1,c,d\n", "x.csv")
    with pytest.raises(InputError, match="lacks the column smaller"):
        read_form(b"larger\na\n", "x.csv")


def run(*args: object) -> dict[str, object]:
    found = CliRunner().invoke(cli, [*map(str, args), "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def test_a_form_filled_in_by_hand(tmp_path):
    texts, pool, form, items = (tmp_path / name for name in ("texts.csv", "pool.csv", "form.csv", "items.csv"))
    texts.write_bytes(TEXTS)
    pool.write_bytes(POOL)
    found = run("draw-writing", texts, "--pool", pool, "--output", form)
    assert [found[name] for name in ("n_texts", "n_to_write", "n_by_lot", "n_aside")] == [20, 16, 2, 2]
    rows = rows_of(form.read_bytes())
    for n, row in enumerate(rows):
        row["smaller"] = row["smaller"] or ("" if row["wanted"] == "0" else f"written {n}")
    rows[3]["smaller"] = ""
    rows[4]["smaller"] = rows[4]["larger"].upper()
    form.write_bytes(csv_of(rows))
    found = run("written-items", form, "--output", items)
    assert [found[name] for name in ("n_pairs", "n_by_lot", "n_aside", "n_blank")] == [18, 4, 0, 1]
    assert found["issues"] == [f"row 6: repeats the larger text (found '{rows[4]['text_id']}')"]
    pairs = rows_of(items.read_bytes())
    assert list(pairs[0]) == ["text_a", "text_b", "genre", "level"]
    wanted = {row["larger"]: row["wanted"] for row in rows}
    assert [wanted[pair["text_a"]] for pair in pairs] != sorted(wanted[pair["text_a"]] for pair in pairs)
    own = {row["larger"]: row["smaller"] for row in rows}
    for pair in pairs:
        if wanted[pair["text_a"]] != "0":
            assert pair["text_b"] == own[pair["text_a"]]
        elif pair["genre"] == "fable":  # written for another text of the genre
            assert pair["text_b"] in {row["smaller"] for row in rows if row["genre"] == "fable" and row["smaller"]}


def test_a_form_of_ones_own_and_an_empty_one(tmp_path):
    form, items = tmp_path / "form.csv", tmp_path / "items.csv"
    form.write_text("larger,smaller\na,b\na,c\nd,\n")
    assert run("written-items", form, "--output", items)["n_pairs"] == 2
    form.write_text("larger,smaller\na,\n")
    found = CliRunner().invoke(cli, ["written-items", str(form), "--output", str(items)])
    assert isinstance(found.exception, InputError)
    assert "left blank" in str(found.exception)


@pytest.mark.release
def test_the_batch_of_the_task_page_and_its_results(tmp_path):
    texts, form, batch, page, results, items = (
        tmp_path / name for name in ["texts", "form", "batch", "page", "results", "items"]
    )
    texts.write_bytes(TEXTS)
    found = run(
        "draw-writing", texts, "--output", form, "--batch", batch, "--page", page, "--task-size", 3,
        "--target", "mturk", "--smaller", "phrase",
    )  # fmt: skip
    assert (found["n_to_write"], found["n_aside"]) == (16, 4)
    assert "<crowd-form" in page.read_text(encoding="utf-8")
    lines = []
    for at, row in enumerate(rows_of(batch.read_bytes())):
        assert set(row) == {
            "task_id",
            *(f"{c}_{n}" for c in ("text_id", "larger", "wanted", "anchor") for n in (1, 2, 3)),
        }
        given = {f"Answer.text_{n}": row[f"text_id_{n}"] and f"short {row[f'text_id_{n}']}" for n in (1, 2, 3)}
        if at == 0:
            given["Answer.text_1"] = ""
        lines.append({"AssignmentId": f"A{at}", "WorkerId": "W1", **{f"Input.{k}": v for k, v in row.items()}, **given})
    results.write_bytes(csv_of(lines))
    found = run("written-items", form, "--results", results, "--output", items)
    assert [found[name] for name in ("n_pairs", "n_by_lot", "n_aside", "n_blank")] == [19, 4, 0, 1]
    id_of = {row["larger"]: (row["text_id"], row["wanted"]) for row in rows_of(form.read_bytes())}
    for pair in rows_of(items.read_bytes()):
        text_id, wanted = id_of[pair["text_a"]]
        assert (pair["text_b"] == f"short {text_id}") == (wanted != "0")
