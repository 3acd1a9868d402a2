"""The encoding of result files can be chosen where they are uploaded; what is taken is what was shown."""

from __future__ import annotations

import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project
from page_words import labelled, press, words

from core.store import schema as t


def test_voters_of_a_file_in_gbk(empty, visit):
    project_id = make_project(empty)
    data = answer_batch(draw_batch(empty, project_id)).decode().splitlines()
    names = data[0].replace('"', "").split(",")
    cells = [line.split('","') for line in data]
    for row in cells[1:]:
        row[names.index("WorkerId")] = "张伟"
    text = "\n".join('","'.join(row) for row in cells) + "\n"
    app = visit("collect", project_id)
    app.file_uploader[0].set_value([("results.csv", text.encode("gbk"), "text/csv")]).run()
    assert "Windows-1252" in words(app)
    labelled(app.selectbox, "Encoding").select("gb18030").run()
    assert "Windows-1252" not in words(app)
    labelled(app.selectbox, "Encoding").select("utf-8").run()
    assert "is not in the encoding utf-8: line 2 holds the byte 0xd5" in words(app)
    labelled(app.selectbox, "Encoding").select("gb18030").run()
    press(app, "Accept these votes")
    with empty.read() as conn:
        assert set(conn.scalars(sa.select(t.voter.c.external_id))) == {"张伟"}
