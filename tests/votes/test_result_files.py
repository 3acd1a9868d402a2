"""Every file of the cases and of the platforms' samples, wherever a person puts it: taken, or refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaigns import draw_batch, make_project
from test_platforms import TestSamples as Samples

from core import embeddings
from core.errors import InputError, RunoffError
from core.platforms import read_results
from core.store import Store
from core.store.projects.archive import import_project
from core.store.votes.intake import preview_upload
from core.tokens.files import read_areas_file
from core.tokens.frequencies import read_frequencies

CASES = sorted(path for path in (Path(__file__).parents[1] / "cases").rglob("*") if path.is_file())
# Each results file of the samples with its columns renamed to ours (`TestSamples.ours`): platform, rows, unreadable,
# answers; or what it lacks, where a task holds several comparisons or was made for other columns.
SAMPLES = {
    "samples/mturk_results_crowd_button_on.csv": ("mturk", 6, 0, 6),
    "samples/mturk_results_crowd_flatten.csv": ("mturk", 6, 0, 6),
    "samples/mturk_results_multi.csv": "Input.left_a, Input.left_b, Input.right_a, Input.right_b, Answer.choice",
    "samples/mturk_results_plain_radio.csv": ("mturk", 6, 0, 6),
    "samples/mturk_results_taskAnswers.csv": ("mturk", 6, 0, 6),
    "samples/mturk_review_upload.csv": ("mturk", 6, 0, 6),
    "samples/turkle_results_admin_crlf.csv": ("turkle", 6, 0, 6),
    "samples/turkle_results_api_TRUNCATED_BUG.csv": ("turkle", 6, 1, 5),
    "samples/turkle_results_api_ascii.csv": ("turkle", 6, 0, 6),
    "samples/turkle_results_multi_api.csv": "Input.left_a, Input.left_b, Input.right_a, Input.right_b, Answer.choice",
    "turkle-run/ballot_template_results.csv": ("turkle", 6, 0, 6),
    "turkle-run/crowd_results_admin.csv": "Input.left_b, Input.right_b, Answer.choice",
    "turkle-run/multi_results.csv": "Input.left_a, Input.left_b, Input.right_a, Input.right_b, Answer.choice",
    "turkle-run/single_results.csv": ("turkle", 6, 1, 5),
    "turkle-run/single_results_admin.csv": ("turkle", 6, 0, 6),
    "turkle-run/single_results_ormexport.csv": ("turkle", 6, 0, 6),
}


@pytest.fixture
def open_project(store: Store) -> tuple[Store, str]:
    project_id = make_project(store)
    draw_batch(store, project_id)
    return store, project_id


def put_everywhere(store: Store, project_id: str, path: Path) -> list[str]:
    """Put a file into every box of the pages that takes files; what each says to it, "" where it was read."""
    data = path.read_bytes()
    boxes = (
        lambda: preview_upload(store, project_id, data, path.name),
        lambda: read_areas_file(data, path.name),
        lambda: read_frequencies(data, path.name),
        lambda: import_project(store, data),
        lambda: embeddings.sniff(path),
        lambda: embeddings.load(path),
    )
    said = []
    for box in boxes:
        try:
            box()
        except RunoffError as error:
            said.append(str(error))
        else:
            said.append("")
    return said


def test_no_box_falls_over_a_case(open_project):
    assert len(CASES) > 60
    for path in CASES:
        said = put_everywhere(*open_project, path)
        assert all(len(text) > 20 for text in said if text), path.name


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08", "a picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01", "a picture"),
        (b"GIF89a\x01\0\x01\0\x80", "a picture"),
        (bytes(range(256)) * 4, "not a text file"),
        (b"40 2\nship \x00\x01\x9c\x3e\xcd\xcc", "not a text file"),  # vectors
    ],
)
def test_a_file_that_is_no_text_is_called_so(open_project, tmp_path, data, what):
    """Not read as letters, shown as a table of them, and refused for its tabs."""
    path = tmp_path / "pairs.csv"
    path.write_bytes(data)
    votes, tokens, frequencies, *_ = put_everywhere(*open_project, path)
    assert what in votes
    assert what in tokens
    assert what in frequencies


@pytest.mark.release
def test_no_box_falls_over_a_sample(open_project, shared):
    """And not over the cases that aren't copied."""
    paths = [path for part in ("platforms", "cases") for path in sorted((shared / part).rglob("*")) if path.is_file()]
    assert len(paths) > 80
    for path in paths:
        said = put_everywhere(*open_project, path)
        assert all(len(text) > 20 for text in said if text), path.name


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_give_the_right_counts(shared, name):
    expected, data = SAMPLES[name], Samples().ours(shared / "platforms" / name)
    if isinstance(expected, str):
        with pytest.raises(InputError) as caught:
            read_results(data, name)
        assert expected in str(caught.value)
        return
    found = read_results(data, name)
    assert (found.platform, found.n_rows, found.n_unreadable, len(found.answers)) == expected


def test_every_results_file_of_the_samples_is_in_the_table(shared):
    folder = shared / "platforms"
    there = {str(path.relative_to(folder)) for path in folder.rglob("*.csv") if "results" in path.name}
    mine = {name for name in SAMPLES if "review" not in name}
    assert there == mine


def test_real_rows_two_fields_short_of_their_header(shared):
    """As Mechanical Turk wrote them; the sample has such rows, and they are read to the last answer."""
    path = shared / "platforms/samples/mturk_results_plain_radio.csv"
    header, row = path.read_text(encoding="utf-8").splitlines()[:2]
    assert len(header.split('","')) - len(row.split('","')) == 2
    assert set(read_results(Samples().ours(path), path.name).answers["choice"]) == {"left", "right"}
