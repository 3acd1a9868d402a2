"""Files that hold vectors, but no words or none that can be read safely: what they are, and how to write from them an
array (.npy) with a list of words beside it, which is read. The lines of Python that messages show are tested."""

from __future__ import annotations

import json
import tokenize
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

import numpy as np

from ..tabular.json_texts import parse_json
from ..tabular.zips import DAMAGED

_MOST_HEADER = 100_000_000
_N_SHOWN = 5
_OLD_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # its own number, pickled
_LIST = "Write the words beside it, one a line in the order of the rows, as {words}"


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
    tensor, told = "NAME", "NAME is that of its array of vectors"
    try:
        header = parse_json(start[8 : 8 + length])
        shapes = {key: entry["shape"] for key, entry in header.items() if key != "__metadata__"}
        tables = [key for key, shape in shapes.items() if len(shape) == 2]
        if len(tables) == 1:
            tensor, told = tables[0], f"it holds {_listed(shapes)}"
        elif shapes:
            told = f"NAME is one of its {len(shapes)} arrays, such as {_listed(shapes)}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if len(start) >= 8 + length:
            return ""
    file, array, words = _named(name)
    return (
        f"a safetensors file, which has arrays but no words; {told}. In Python: import numpy as np; from "
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
