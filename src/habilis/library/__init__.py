"""Libraries of tools: a folder that keeps every tool whole, and a task's view of a private one over a public one."""

from habilis.library.folder import Broken, Library
from habilis.library.layered import LayeredLibrary, public_library
from habilis.library.tool import Manifest, Origin, Tool

__all__ = ["Broken", "LayeredLibrary", "Library", "Manifest", "Origin", "Tool", "public_library"]
