"""Small files that would fill the memory: each reader stops at what is stated, or at what any honest file has.

The bombs are kept small enough for a test; without its limit each reader takes several times the memory that it may.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from bench.fuzz import look
from bench.fuzz_readers import TARGETS, Target
from core.dataset.files import read_dataset
from core.dataset.formats import unpacked_bytes
from core.dataset.published import is_published, read_published
from core.embeddings import load
from core.encoders.static import read_tensors
from core.errors import InputError, RunoffError
from core.store.backups import back_up, restore
from core.store.projects.project_zip import read_zip
from core.store.projects.records import record_from
from core.tabular import read_workbook, workbook_reading, zips
from core.tabular.zips import MAX_JSON, SMALL_BYTES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measures memory by /proc")
MB = 1 << 20
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def refused(reader, data: bytes, match: str) -> None:
    """The reader tells a sentence, and needs no more memory than 64 MB beside ten times what the file may hold."""
    with pytest.raises(RunoffError, match=match):
        reader(data)
    finding = look(Target("bomb", reader, list), data)
    assert finding is None, finding


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def signed(members: dict[str, bytes], *, listed: str, **changes: object) -> bytes:
    """The zip of these members with a manifest that has their sums."""
    manifest = json.loads(members["manifest.json"]) | changes
    manifest[listed] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
        if name != "manifest.json"
    }
    return zipped(members | {"manifest.json": json.dumps(manifest).encode()})


@pytest.fixture(scope="module")
def project() -> dict[str, bytes]:
    return members_of(TARGETS["project"].seeds()[0][1])


@pytest.fixture(scope="module")
def published() -> dict[str, bytes]:
    return members_of(next(data for name, data in TARGETS["published"].seeds() if name.endswith(".zip")))


@pytest.mark.sqlite
class TestProjects:
    @pytest.mark.parametrize(
        ("bomb", "match"),
        [
            (b"\r\n" * (4 * MB), "more rows; the manifest says"),
            (b"," * (8 * MB) + b"\r\n", "over 1.. cells in row"),
            (b'x"' + b"," * (8 * MB) + b'"\r\n', "over 1.. cells in row"),
            (b'"a\r\n""' + b'","' * (3 * MB) + b'"\r\n', "over 1.. cells in row"),
        ],
        ids=["line ends", "a wide row", "a mark that quotes nothing", "a quoted row of several lines"],
    )
    def test_a_table_is_read_as_far_as_the_manifest_counts_its_rows(self, project, bomb, match):
        for text in (project["tables/log.csv"] + bomb, bomb):
            data = signed(project | {"tables/log.csv": text}, listed="members")
            assert len(data) < 100_000
            with pytest.raises(InputError):
                read_zip(data)
            assert look(TARGETS["project"], data) is None
        refused(
            read_zip, signed(project | {"tables/log.csv": project["tables/log.csv"] + bomb}, listed="members"), match
        )

    def test_one_row_more_than_the_manifest_says_is_an_error(self, project):
        rows = json.loads(project["manifest.json"])["rows"]
        for more, match in ((-1, "more rows"), (1, "the manifest says")):
            data = signed(project, listed="members", rows=rows | {"log": rows["log"] + more})
            with pytest.raises(InputError, match=rf"tables/log.csv.*{match}"):
                read_zip(data)

    def test_a_manifest_of_nothing_but_lists(self, project):
        refused(read_zip, zipped(project | {"manifest.json": b"[" + b"[]," * (5 * MB)}), "unpacks to more than the")


class TestPublished:
    def test_a_manifest_of_nothing_but_lists(self, published):
        data = zipped(published | {"manifest.json": b"[" + b"[]," * (5 * MB)})
        refused(read_published, data, "unpacks to more than the")
        assert not is_published(data)
        assert look(Target("bomb", is_published, list), data) is None

    def test_a_description_and_a_plan_of_nothing_but_lists(self, published):
        lists = b'{"a": [' + b"[]," * (5 * MB) + b"0]}"
        refused(read_dataset, signed(published | {"dataset.json": lists}, listed="files"), "longer than 4,194,304")
        data = signed(published | {"campaign/plan.json": lists}, listed="files")
        refused(lambda data: record_from(read_published(data).files), data, "longer than 4,194,304")

    @pytest.mark.parametrize("wide", [b"," * (2 * MB) + b"\n", b'"a\n"' + b"," * (2 * MB) + b"\n"])
    def test_a_table_of_columns_without_end(self, published, wide):
        refused(
            read_dataset, signed(published | {"dataset.csv": b"token_a,token_b,score," + wide}, listed="files"), "cells"
        )
        data = signed(published | {"campaign/items.csv": wide}, listed="files")
        refused(lambda data: record_from(read_published(data).files), data, "cells in row 1")


def book(**parts: str) -> bytes:
    """A workbook with other parts; a name such as `sheet1` stands for the part that has it in its own."""
    out, made = io.BytesIO(), Workbook()
    made.worksheets[0]["A1"] = "x"
    made.save(out)
    members = members_of(out.getvalue())
    if "strings" in parts:
        members["xl/sharedStrings.xml"] = b""
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
        told = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
        if b"sharedStrings" not in members["[Content_Types].xml"]:
            types = members["[Content_Types].xml"].replace(b"</Types>", told.encode())
            members["[Content_Types].xml"] = types
    for name, text in parts.items():
        found = next(member for member in members if name.lower() in member.lower() and member.endswith(".xml"))
        members[found] = text.encode()
    return zipped(members)


def sheet(rows: str, more: str = "") -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>{more}</worksheet>'


class TestWorkbooks:
    @pytest.mark.parametrize(
        "parts",
        [
            {"sheet1": sheet("<row>" + "<c/>" * MB + "</row>")},
            {"sheet1": sheet("", f"<dataValidations>{'<dataValidation/>' * (MB // 2)}</dataValidations>")},
            {"sheet1": sheet('<row xmlns="elsewhere"><c/></row>' * (MB // 4))},
            {"sheet1": sheet('<row a="1"/>' * 2000)},
            {"styles": f'<styleSheet xmlns="{MAIN}"><cellXfs>{"<xf/>" * MB}</cellXfs></styleSheet>'},
            {"strings": f'<sst xmlns="{MAIN}"><si>{"<r/>" * MB}</si></sst>'},
            {"sheet1": sheet('<row r="99999999999"><c r="A1"><v>1</v></c></row>')},
            {"sheet1": '<!DOCTYPE x [<!ENTITY a "aaaa">]>' + sheet("<row><c><v>1</v></c></row>")},
        ],
        ids=["cells", "rules", "rows of another kind", "rows", "styles", "parts of a text", "a far row", "entities"],
    )
    def test_a_part_of_more_than_any_table_has_is_refused_before_it_becomes_objects(self, parts, monkeypatch):
        monkeypatch.setattr(workbook_reading, "MOST_ROWS", 1999)
        refused(lambda data: read_workbook(data, "x.xlsx"), book(**parts), "holds more than a workbook can")

    def test_a_long_text_that_many_cells_share(self):
        strings = f'<sst xmlns="{MAIN}"><si><t>{"x" * MB}</t></si></sst>'
        data = book(strings=strings, sheet1=sheet('<row><c t="s"><v>0</v></c></row>' * 100))
        refused(lambda data: read_workbook(data, "x.xlsx"), data, "shows more than 16,777,216 letters")

    def test_a_large_table_passes(self, monkeypatch):
        monkeypatch.setattr(workbook_reading, "MOST_ELEMENTS", 2000)
        out, made = io.BytesIO(), Workbook()
        for number in range(1000):
            made.worksheets[0].append([f"token {number}", number])
        made.save(out)
        assert len(read_workbook(out.getvalue(), "x.xlsx")[0].rows) == 1000


def varint(number: int) -> bytes:
    """A number as Parquet's end of a file writes it."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


class TestParquet:
    def written(self, **columns: pa.Array) -> bytes:
        out = io.BytesIO()
        pq.write_table(pa.table(columns), out, compression="zstd")
        return out.getvalue()

    def repeated(self, value: object, n: int) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([value]))

    def test_rows_that_a_few_bytes_repeat(self):
        names = {"token_a": "a", "token_b": "b", "score": 0.5}
        data = self.written(**{name: self.repeated(value, 10 * MB) for name, value in names.items()})
        assert len(data) < 200_000
        refused(read_dataset, data, "more than 20,000,000 cells")

    def test_long_texts_that_a_few_bytes_repeat(self):
        long = {name: self.repeated(name * (MB // 8), 1000) for name in ("token_a", "token_b")}
        data = self.written(**long, score=pa.array([0.5] * 1000))
        refused(read_dataset, data, "holds over 16,777,216")

    @pytest.mark.parametrize("version", ["1.0", "2.0"])
    def test_pages_of_which_the_end_of_the_file_tells_less(self, version):
        out = io.BytesIO()
        table = pa.table({"token_a": ["a" * (40 * MB)], "token_b": ["b"], "score": [0.5]})
        pq.write_table(
            table, out, compression="zstd", use_dictionary=False, data_page_version=version, write_statistics=False
        )
        data = out.getvalue()
        group = pq.read_metadata(io.BytesIO(data)).row_group(0)
        end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        told = data[end:]
        for size in {group.total_byte_size, group.column(0).total_uncompressed_size}:
            told = told.replace(varint(2 * size), b"\x94" + b"\x80" * (len(varint(2 * size)) - 2) + b"\x00")
        lying = data[:end] + told
        assert pq.read_metadata(io.BytesIO(lying)).row_group(0).total_byte_size == 10
        refused(read_dataset, lying, "holds over 16,777,216")

    def test_the_sizes_of_pages_are_those_that_an_honest_file_tells(self, monkeypatch):
        rng = np.random.default_rng(3)
        tokens = [f"token {n}" for n in rng.integers(0, 500, 30_000)]
        table = pa.table({"token_a": tokens, "token_b": tokens[::-1], "score": rng.random(30_000)})
        for options in (
            {"compression": "zstd"},
            {"compression": "none", "data_page_version": "2.0", "row_group_size": 7000},
            {"compression": "snappy", "use_dictionary": False, "data_page_size": 5000, "write_page_checksum": True},
        ):
            out = io.BytesIO()
            pq.write_table(table, out, **options)
            described = pq.read_metadata(io.BytesIO(out.getvalue()))
            told = sum(described.row_group(group).total_byte_size for group in range(described.num_row_groups))
            found = unpacked_bytes(out.getvalue(), described)
            assert 0 < told - found < 0.05 * told, options  # the headers count with what is told
            assert read_dataset(out.getvalue())["token_a"].tolist() == tokens

    def test_lists(self):
        data = self.written(token_a=["a"], token_b=["b"], score=[0.5], more=[[1] * 10])
        with pytest.raises(InputError, match="holds lists"):
            read_dataset(data)

    def test_texts_that_repeat_are_read(self):
        found = read_dataset(
            self.written(token_a=self.repeated("a", 9), token_b=["b", ""] * 4 + ["ü"], score=[0.5] * 9)
        )
        assert found["token_a"].tolist() == ["a"] * 9
        assert found["token_b"].tolist() == ["b", ""] * 4 + ["ü"]


class TestEmbeddings:
    @pytest.mark.parametrize("name", ["gzip", "bzip2", "xz", "zip"])
    def test_what_unpacks_to_more_than_a_hundred_times_itself(self, name: str, tmp_path: Path, monkeypatch):
        import bz2
        import lzma

        monkeypatch.setattr(zips, "SMALL_BYTES", MB)
        rows = b"token_a,token_b,similarity\n" + b"a,b,1\n" * (MB // 6)
        packers = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
        data = zipped({"pairs.csv": rows}) if name == "zip" else packers[name](rows)
        path = tmp_path / "pairs.csv"
        path.write_bytes(data)
        with pytest.raises(InputError, match="unpacks to over 1,048,576"):
            load(path)

    def test_a_list_of_words_that_unpacks_to_more(self, tmp_path: Path):
        np.save(tmp_path / "model.npy", np.ones((2, 3), np.float32))
        (tmp_path / "vocab.txt").write_bytes(gzip.compress(b"[" + b"[]," * (8 * MB)))
        with pytest.raises(InputError, match="unpacks to over"):
            load(tmp_path / "model.npy")

    def test_many_names_for_the_same_weights(self, tmp_path: Path):
        header = {f"w{n}": {"dtype": "F32", "shape": [MB], "data_offsets": [0, 4 * MB]} for n in range(100)}
        text = json.dumps(header).encode()
        path = tmp_path / "model.safetensors"
        path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(4 * MB))
        with pytest.raises(InputError, match="two arrays share the byte 0"):
            read_tensors(path)


@pytest.mark.sqlite
class TestBackups:
    def test_a_manifest_of_nothing_but_lists_and_a_database_of_nothing_but_zeros(self, store, tmp_path: Path):
        back_up(store, tmp_path / "whole.zip")
        members = members_of((tmp_path / "whole.zip").read_bytes())
        bombs = {"manifest.json": b"[" + b"[]," * (6 * MB), "runoff.sqlite": bytes(2 * SMALL_BYTES)}
        for name, bomb in bombs.items():
            target = tmp_path / f"{name}.zip"
            target.write_bytes(zipped(members | {name: bomb}))
            with pytest.raises(RunoffError, match="unpacks to"):
                restore(store, target)


def test_a_limit_of_json_that_any_manifest_keeps():
    """A project of 20,000 kept files."""
    listed = {f"uploads/{'0' * 64}{n}": {"bytes": 10**9, "sha256": "0" * 64} for n in range(20_000)}
    assert len(json.dumps({"members": listed}, indent=1)) < MAX_JSON
