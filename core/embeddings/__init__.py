"""Word embeddings: recognised by content, imported once, memory-mapped, compared by cosine.

    load(path, tokens=[…])                any known file, without a workspace
    import_embedding(path, folder)        once, into a folder …
    open_embedding(folder)                … that opens in milliseconds

A format is one module with a `Reader`, listed in `loading.READERS`.
"""

from .formats import Recognised
from .loading import READERS, import_embedding, load, sniff
from .storage import EmbeddingInfo
from .vectors import Embedding, open_embedding, spellings

__all__ = [
    "READERS",
    "Embedding",
    "EmbeddingInfo",
    "Recognised",
    "import_embedding",
    "load",
    "open_embedding",
    "sniff",
    "spellings",
]
