"""Models of texts that encode a project's tokens: from a folder on this machine, or behind a server.

A folder may hold a sentence encoder, a static model or a cross-encoder.

inspect(folder)           what is there, by which way it can be opened, what must be said or installed first
open_encoder(found)       `encode(list of tokens) → array`
open_scorer(found)        a cross-encoder: `predict(list of pairs) → array`
encode_into(folder, …)    the vectors of some tokens, kept like an imported embedding
EmbeddingServer(…)        what a server makes of tokens (`server.py`)

A BERT with mean or first-token pooling (MiniLM, BGE, E5, GTE and their like) is computed here with NumPy, from its
`model.safetensors`, and needs nothing else; a static model with the small package tokenizers. Other kinds go by the
optional package sentence-transformers.
"""

from .encoding import ENCODED, FORMATS, SCORED, SERVED, ModelSource, encode_into, encoder_of, score_into
from .folder import FoundEncoder, digest_of, inspect, open_encoder, open_scorer
from .server import EmbeddingServer

__all__ = [
    "ENCODED",
    "FORMATS",
    "SCORED",
    "SERVED",
    "EmbeddingServer",
    "FoundEncoder",
    "ModelSource",
    "digest_of",
    "encode_into",
    "encoder_of",
    "inspect",
    "open_encoder",
    "open_scorer",
    "score_into",
]
