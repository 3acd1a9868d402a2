"""Word embeddings: recognised by content, imported once, memory-mapped, compared by cosine.

    sniff(path)                           what a file is, and what must still be said before it can be read
    load(path, tokens=[…])                any known file, without a workspace
    import_embedding(path, folder)        once, into a folder …
    open_embedding(folder)                … that opens in milliseconds

A format is one module with a `Reader`, listed in `loading.READERS`. Similarities of pairs are an embedding too, of the
kind "similarities".
"""

from ..tabular.encoding import ENCODINGS
from .formats import EncodingError, Recognised, TrustError, VocabularyError
from .loading import READERS, import_embedding, load, open_embedding, sniff
from .neighbours import DuplicateVectors, NormsSummary
from .similarities import Similarities
from .storage import EmbeddingInfo
from .vectors import MODES, Embedding, LookUp, Mode, as_mode

__all__ = [
    "ENCODINGS",
    "MODES",
    "READERS",
    "DuplicateVectors",
    "Embedding",
    "EmbeddingInfo",
    "EncodingError",
    "LookUp",
    "Mode",
    "NormsSummary",
    "Recognised",
    "Similarities",
    "TrustError",
    "VocabularyError",
    "as_mode",
    "import_embedding",
    "load",
    "open_embedding",
    "sniff",
]
