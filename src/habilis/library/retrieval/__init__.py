"""Finding tools by words, offline and in milliseconds."""

from habilis.library.retrieval.index import BM25Retriever, Met, Why

__all__ = ["BM25Retriever", "Met", "Why"]
