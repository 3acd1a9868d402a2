"""The content of an embedding file: its bytes as they are, or unpacked from gzip, bzip2, xz, or a zip of one member.

Unpacking is a stream: a few megabytes at a time, whatever sizes the file claims, and no more of them than
`zips.most_unpacked` of the file's own. How far it has come is told in bytes of the file itself, since the size of its
content isn't known before its end.

Some files hold vectors, but no words or none that can be read safely. They are recognised here, and the message says
how to write from them an array (.npy) with a list of words beside it, which is read. The lines of Python that messages
show are tested.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import json
import lzma
import re
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import BinaryIO, Protocol

import numpy as np

from ..base.durable import shown_path
from ..errors import InputError
from ..tabular.json_files import parse_json
from ..tabular.zips import DAMAGED, most_unpacked

_MOST_HEADER = 100_000_000
_N_SHOWN = 5
_OLD_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # its own number, pickled
_LIST = "Write the words beside it, one per line in the order of the rows, as {words}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _named(name: str) -> tuple[str, str, str]:
    """A file's name, the array's to write and the list's, as Python spells them."""
    stem = PurePath(name).stem or "vectors"
    return _quoted(name), _quoted(f"{stem}.npy"), _quoted(f"{stem}.txt")


def _then(name: str) -> str:
    return f"Then choose {PurePath(name).stem or 'vectors'}.npy."


def _listed(shapes: Mapping[str, Sequence[int]]) -> str:
    """The first few arrays of a file with their shapes."""
    return ", ".join(f"{key}: {' × '.join(map(str, shape))}" for key, shape in [*shapes.items()][:_N_SHOWN])


def safetensors(start: bytes, name: str) -> str:
    """What is said of a safetensors file that begins so; "" for any other."""
    length = int.from_bytes(start[:8], "little")
    if not 2 <= length <= _MOST_HEADER or start[8:9] != b"{":
        return ""
    tensor, message = "NAME", "NAME is that of its array of vectors"
    try:
        header = parse_json(start[8 : 8 + length])
        shapes = {key: entry["shape"] for key, entry in header.items() if key != "__metadata__"}
        tables = [key for key, shape in shapes.items() if len(shape) == 2]
        if len(tables) == 1:
            tensor, message = tables[0], f"it holds {_listed(shapes)}"
        elif shapes:
            message = f"NAME is one of its {len(shapes)} arrays, such as {_listed(shapes)}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if len(start) >= 8 + length:
            return ""
    file, array, words = _named(name)
    return (
        f"a safetensors file, which has arrays but no words; {message}. In Python: import numpy as np; from "
        f"safetensors.numpy import load_file; np.save({array}, load_file({file})[{_quoted(tensor)}]). "
        f"{_LIST.format(words=words)}; a model2vec folder has them in tokenizer.json. {_then(name)}"
    )


def gguf(start: bytes, name: str) -> str:
    """The same of a GGUF file."""
    if not start.startswith(b"GGUF"):
        return ""
    _, array, words = _named(name)
    return (
        "a GGUF file, whose numbers are mostly packed for one program. Take the model that it was made from; in "
        'Python: import numpy as np; from transformers import AutoModel; m = AutoModel.from_pretrained("FOLDER"); '
        f"np.save({array}, m.get_input_embeddings().weight.detach().float().numpy()). {_LIST.format(words=words)}. "
        f"{_then(name)}"
    )


def _of_torch(name: str) -> str:
    file, array, words = _named(name)
    return (
        "a PyTorch file, which has arrays but no words; NAME is one of its arrays, found.keys() has them all. In "
        f'Python: import numpy as np, torch; found = torch.load({file}, map_location="cpu", weights_only=True); '
        f'np.save({array}, found["NAME"].float().numpy()). {_LIST.format(words=words)}. {_then(name)}'
    )


def old_torch(start: bytes, name: str) -> str:
    """The same of a PyTorch file that is no zip archive (before version 1.6)."""
    return _of_torch(name) if start.startswith(_OLD_TORCH) else ""


# Each tells by the beginning of a content and the file's name what it is and what to do, "" where it isn't that.
KNOWN: tuple[Callable[[bytes, str], str], ...] = (safetensors, gguf, old_torch)


def zipped(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], name: str) -> str:
    """What is said of a zip archive of these files: NumPy's .npz or PyTorch's; "" for any other."""
    names = [member.filename for member in members]
    if any(PurePath(each).name == "data.pkl" for each in names):
        return _of_torch(name)
    if not names or not all(each.endswith(".npy") for each in names):
        return ""
    shapes = {member.filename.removesuffix(".npy"): _shape(archive, member) for member in members}
    tables = [key for key, (shape, kind) in shapes.items() if len(shape) == 2 and kind == "f"]
    lists = [key for key, (shape, kind) in shapes.items() if len(shape) == 1 and kind in "USO"]
    file, array, words = _named(name)
    of_vectors = tables[0] if len(tables) == 1 else "VECTORS"
    of_words = lists[0] if len(lists) == 1 else "WORDS"
    pickled = ", allow_pickle=True" if of_words in shapes and shapes[of_words][1] == "O" else ""
    trust = "; allow_pickle can run any program that its maker put in, so only for a file you trust" if pickled else ""
    listed = _listed({key: shape for key, (shape, _) in shapes.items()})
    return (
        f"several NumPy arrays in one file, .npz ({listed}){trust}. In Python: import numpy as np; "
        f"f = np.load({file}{pickled}); np.save({array}, f[{_quoted(of_vectors)}]); "
        f'open({words}, "w", encoding="utf-8").writelines('
        f'f"{{word}}\\n" for word in f[{_quoted(of_words)}]). {_then(name)}'
    )


def _shape(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[tuple[int, ...], str]:
    """Shape and kind of the array in a member, () and "" where it can't be told."""
    try:
        with archive.open(member) as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
    except (*DAMAGED, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        return (), ""
    return shape, dtype.kind


_CHUNK_BYTES = 1 << 18
_MAX_LZMA_BYTES = 1 << 28
_SMALL_PIECE = 1 << 12
_HIDDEN = ("__MACOSX/", ".DS_Store")
# What a file begins with, and the packing it tells of.
MAGICS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
)
_BZIP2 = re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")


class _Unpacker(Protocol):
    """What bz2 and lzma offer, and `_Inflater` for gzip."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflater:
    def __init__(self) -> None:
        self._object, self._left = zlib.decompressobj(wbits=31), b""

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def needs_input(self) -> bool:
        return not self._left and not self._object.eof

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        unpacked = self._object.decompress(self._left + data, max_length)
        self._left = self._object.unconsumed_tail
        return unpacked


_UNPACKERS: dict[str, Callable[[], _Unpacker]] = {
    "gzip": _Inflater,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MAX_LZMA_BYTES),
}


class _Hasher:
    """A hash that is computed while the reader goes on: by a thread, one piece behind."""

    def __init__(self, thread: Executor) -> None:
        self._hash, self._thread = hashlib.sha256(), thread
        self._pending: Future[None] | None = None

    def update(self, data: bytes) -> None:
        self.wait()
        self._pending = self._thread.submit(self._hash.update, data)

    def wait(self) -> None:
        if self._pending is not None:
            self._pending.result()
            self._pending = None

    def hexdigest(self) -> str:
        self.wait()
        return self._hash.hexdigest()


class Content:
    """The bytes of a file that isn't packed, read once from its beginning.

    `packing` is "" here, else the packing's name; `size` is the content's length in bytes, None where it isn't
    known; `file_size` the file's; `file_done` how many of the file's bytes have been used; `notes` are remarks.
    Only one with a `hasher` has a `sha256`.
    """

    def __init__(
        self, file: BinaryIO, name: str, file_size: int, hasher: _Hasher | None = None, *, packing: str = ""
    ) -> None:
        self.name, self.file_size, self.packing = name, file_size, packing
        self.size: int | None = file_size if packing == "" else None
        self.file_done = 0
        self._left = most_unpacked(file_size)
        self.notes: list[str] = []
        self._file, self._hash = file, hasher

    def _raw(self, n_bytes: int) -> bytes:
        try:
            data = self._file.read(n_bytes)
        except OSError as error:
            raise InputError(f"{self.name} can't be read any further than byte {self.file_done}: {error}.") from error
        if self._hash is not None:
            self._hash.update(data)
        self.file_done += len(data)
        return data

    def read(self, n_bytes: int) -> bytes:
        """The next bytes of the content, fewer than asked for only at its end."""
        return self._raw(n_bytes)

    def _unpacked(self, parts: list[bytes]) -> bytes:
        """The parts in one; `InputError` where it is more by now than such a file may hold."""
        data = b"".join(parts)
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"{self.name} has {self.file_size:,} bytes and unpacks to over {most_unpacked(self.file_size):,}, more "
                "than such a file may hold. Unpack it and choose the file inside."
            )
        return data

    def sha256(self) -> str:
        """The hash of the whole file, as hexadecimal digits; the content has been read to its end."""
        while self._raw(_CHUNK_BYTES):
            pass
        return self._hashed().hexdigest()

    def _hashed(self) -> _Hasher:
        if self._hash is None:
            raise ValueError(f"{self.name} was opened without a thread that hashes it.")
        return self._hash


class _Packed(Content):
    """gzip, bzip2 or xz, also as several streams one after the other."""

    def __init__(self, file: BinaryIO, name: str, file_size: int, hasher: _Hasher | None, *, packing: str) -> None:
        super().__init__(file, name, file_size, hasher, packing=packing)
        self._magic = next(magic for magic, kind in MAGICS if kind == packing)
        self._unpacker = _UNPACKERS[packing]()

    def read(self, n_bytes: int) -> bytes:
        parts = []
        while n_bytes > 0 and (data := self._some(n_bytes)):
            parts.append(data)
            n_bytes -= len(data)
        return self._unpacked(parts)

    def _some(self, n_bytes: int) -> bytes:
        """At most `n_bytes` of content; none at its end."""
        while True:
            data = b""
            if self._unpacker.eof:
                if not (data := self._following_stream()):
                    return b""
            elif self._unpacker.needs_input:
                data = self._raw(_CHUNK_BYTES)
            try:
                unpacked = self._unpacker.decompress(data, n_bytes)
            except (zlib.error, lzma.LZMAError, OSError, ValueError) as error:
                raise InputError(
                    f"{self.name} is damaged, its {self.packing} data can't be unpacked any further ({error}). "
                    "Fetch it again."
                ) from error
            if unpacked:
                return unpacked
            if not data and self._unpacker.needs_input and not self._unpacker.eof:
                raise InputError(
                    f"{self.name}: the file is truncated, its {self.packing} data ends before its end. Fetch it again."
                )

    def _following_stream(self) -> bytes:
        """Begin the stream after one that has ended: its first bytes, none where there is no other."""
        data = self._unpacker.unused_data
        while len(data) < len(self._magic) and (more := self._raw(_CHUNK_BYTES)):
            data += more
        if data.startswith(self._magic):
            self._unpacker = _UNPACKERS[self.packing]()
            return data
        if not data.strip(b"\0"):
            while more := self._raw(_CHUNK_BYTES):
                data = more
                if more.strip(b"\0"):
                    break
        if data.strip(b"\0") and not self.notes:
            self.notes.append(f"something stands after the {self.packing} data's end, left out")
        return b""


class _Zipped(Content):
    """The one member of a zip archive; the sizes that the archive states are not relied on."""

    def __init__(self, file: BinaryIO, name: str, file_size: int, hasher: _Hasher | None) -> None:
        super().__init__(file, name, file_size, hasher, packing="zip")
        try:
            archive = zipfile.ZipFile(file)
            members = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith(_HIDDEN)]
            if len(members) != 1 and (reason := zipped(archive, members, name)):
                raise InputError(f"{name} is {reason}")
            if len(members) != 1:
                names = ", ".join(member.filename[:60] for member in members[:5])
                content = f"{len(members)} files ({names}{', …' if len(members) > 5 else ''})" if members else "no file"
                raise InputError(
                    f"{name} is a zip archive of {content}; one that holds exactly one file can be read as it is. "
                    "Unpack it and choose the file inside."
                )
            if members[0].flag_bits & 1:
                raise InputError(f"{name} is a zip archive with a password: unpack it and choose the file inside.")
            self._member = archive.open(members[0])
            # Of bzip2 and xz the library unpacks all that it has read at once, however much that makes.
            is_bounded = members[0].compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            if not is_bounded and members[0].file_size > most_unpacked(file_size):
                raise InputError(f"{name} is packed in an unusual way: unpack it and choose the file inside.")
            self._most = _CHUNK_BYTES if is_bounded else _SMALL_PIECE
        except DAMAGED as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{name} is a zip archive that is truncated, damaged or of an unknown kind ({error}). Fetch it again, "
                "or unpack it and choose the file inside."
            ) from error
        self.member = members[0].filename

    def read(self, n_bytes: int) -> bytes:
        parts = []
        try:
            while n_bytes > 0 and (data := self._member.read(min(n_bytes, self._most))):
                parts.append(data)
                n_bytes -= len(data)
        except DAMAGED as error:
            raise InputError(
                f"{self.name} is a truncated or damaged zip archive ({str(error) or 'it ends too early'}). "
                "Fetch it again."
            ) from error
        self.file_done = min(self._file.tell(), self.file_size)
        return self._unpacked(parts)

    def sha256(self) -> str:
        self._file.seek(0)
        self.file_done = self.file_size
        while data := self._file.read(_CHUNK_BYTES):
            self._hashed().update(data)
        return self._hashed().hexdigest()


def packing_of(start: bytes) -> str:
    """The packing that a file's first bytes tell of, "" for none."""
    packing = next((packing for magic, packing in MAGICS if start.startswith(magic)), "")
    # "BZh" alone could be a word.
    return "" if packing == "bzip2" and not _BZIP2.match(start) else packing


@contextmanager
def open_content(path: Path, name: str, hashing: Executor | None = None) -> Iterator[Content]:
    """The content of the file at `path`, which messages call `name`; raises `InputError` where there is none.

    hashing : a thread of the caller's, where the hash of the file is wanted. None is started here: a generator that is
    left in the midst of a file is closed whenever memory is tidied, and must not wait for a thread then.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise InputError(f"There is no file {shown_path(path)}. Check the path.") from error
    except IsADirectoryError as error:
        raise InputError(f"{shown_path(path)} is a folder; choose the file of an embedding.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{shown_path(path)} can't be read: {getattr(error, 'strerror', None) or error}.") from error
    with file:
        file_size = file.seek(0, io.SEEK_END)
        file.seek(0)
        packing = packing_of(file.read(10))
        file.seek(0)
        hasher = None if hashing is None else _Hasher(hashing)
        if packing == "zip":
            yield _Zipped(file, name, file_size, hasher)
        elif packing:
            yield _Packed(file, name, file_size, hasher, packing=packing)
        else:
            yield Content(file, name, file_size, hasher)
