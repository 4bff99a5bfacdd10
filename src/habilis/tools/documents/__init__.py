"""Text out of documents: bytes to characters here, HTML and PDF by libraries that run inside the sandbox."""

from habilis.tools.documents.decoding import Decoded, decoded
from habilis.tools.documents.extracting import Extracted, Extractor, Part, Raw

__all__ = ["Decoded", "Extracted", "Extractor", "Part", "Raw", "decoded"]
