"""Rules about the files beside the database: uploads and releases under their hash, embeddings in their folders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import sqlalchemy as sa

from ...embeddings.storage import read_info
from ...errors import InputError
from .. import schema as t
from .looks import Found, Look

_BLOCK = 1 << 20


def kept_files(look: Look) -> Iterator[Found]:
    """Files that the database names by their SHA-256 and that are gone, or aren't what they were."""
    needed: dict[str, str] = {}
    u, r, f = t.upload.c, t.release.c, t.frequency_source.c
    for ballot_id, filename, digest in look.rows(sa.select(u.ballot_id, u.filename, u.sha256)):
        needed[digest] = f"{look.ballot(ballot_id)}, file {filename}"
    for project_id, version, digest in look.rows(sa.select(r.project_id, r.version, r.sha256)):
        needed[digest] = f"{look.project(project_id)}, version {version}"
    for project_id, label, digest in look.rows(sa.select(f.project_id, f.label, f.sha256)):
        if digest is not None:
            needed[digest] = f"{look.project(project_id)}, frequencies {label}"
    for digest, where in needed.items():
        fault = _fault_of(look, digest)
        if fault:
            yield Found(where, f"uploads/{digest} {fault}")


def _fault_of(look: Look, digest: str) -> str:
    """What is wrong with a kept file, "" where nothing is."""
    found = hashlib.sha256()
    try:
        with open(look.store.uploads / digest, "rb") as handle:
            while block := handle.read(_BLOCK):
                found.update(block)
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"can't be read ({error.strerror})"
    return "" if found.hexdigest() == digest else f"was changed: its SHA-256 is {found.hexdigest()}"


def embeddings(look: Look) -> Iterator[Found]:
    """Embeddings whose folder is gone, of another content, or whose files have other sizes.

    The hash is the one of the imported file, kept in both places; the numbers aren't hashed anew.
    """
    e = t.embedding.c
    for id_, name, digest in look.rows(sa.select(e.id, e.name, e.content_hash)):
        where = f"embedding {name} (embeddings/{id_})"
        try:
            info = read_info(look.store.embeddings / id_)
        except (InputError, ValueError) as error:
            yield Found(where, str(error))
            continue
        if info.identity != digest or digest[: len(id_)] != id_:
            yield Found(where, f"it holds {info.identity}, not {digest}")
