"""Text out of documents, and its passages: small plain texts here, all others inside the sandbox."""

from habilis.tools.documents.decoding import Decoded, decoded
from habilis.tools.documents.extracting import Extracted, Extractor, Part, Raw

__all__ = ["Decoded", "Extracted", "Extractor", "Part", "Raw", "decoded"]
