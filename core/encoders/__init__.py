"""Sentence encoders from a folder on this machine: what it holds, and how its vectors are made.

look_at(folder)        what is there, by which way it can be opened, what must be said or installed first
open_encoder(found)    `encode(list of tokens) → array`
encode_into(folder, …) the vectors of some tokens, kept like an imported embedding

A BERT with mean or first-token pooling (MiniLM, BGE, E5, GTE and their like) is computed here with NumPy, from its
`model.safetensors`, and needs nothing else. Other kinds go by the optional package sentence-transformers.
"""

from .folder import ENCODED, FoundEncoder, digest_of, encode_into, encoder_of, inspect, open_encoder

__all__ = ["ENCODED", "FoundEncoder", "digest_of", "encode_into", "encoder_of", "inspect", "open_encoder"]
