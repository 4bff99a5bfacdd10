"""Search in folders of the user's documents: `search_documents`."""

from habilis.sources.knowledge.source import SEARCH_DOCUMENTS, Knowledge, SearchDocuments

__all__ = ["SEARCH_DOCUMENTS", "Knowledge", "SearchDocuments"]
