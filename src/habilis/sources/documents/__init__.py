"""Text out of documents, and its passages: small plain texts here, all others inside the sandbox."""

from habilis.sources.documents.decoding import Decoded, decoded
from habilis.sources.documents.extracting import Extracted, Extractor, Part, Raw

__all__ = ["Decoded", "Extracted", "Extractor", "Part", "Raw", "decoded"]
