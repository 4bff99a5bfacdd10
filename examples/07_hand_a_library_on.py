"""Hand tools on and take them over: a package of one's own, taken back by another library, called from LangChain.

Every tool passes the gate in the sandbox before it is taken over; what is the same is recognised by its digest.
"""

import asyncio
import tempfile
from pathlib import Path

from habilis import Library, load_settings
from habilis.exchange.exporting import Exporter
from habilis.exchange.importing import Importer
from habilis.runtime.host import ToolHost

TOOL = """
from pydantic import BaseModel, Field

__TOOL_META__ = {
    "name": "count_words",
    "description": "How often a word stands in a text, whatever its case.",
    "examples": [{"arguments": {"text": "Tea for tea", "word": "tea"}}],
}


class InputModel(BaseModel):
    text: str
    word: str = Field(description="the word to count")


class OutputModel(BaseModel):
    count: int | None = None
    error: str | None = None


def run(input: InputModel) -> OutputModel:
    return OutputModel(count=input.text.lower().split().count(input.word.lower()))
"""


async def exchange(home: Path) -> None:
    """From a file into a library, out as a package, into another library, and back."""
    settings = load_settings(files=[Path("offline")])
    host = ToolHost(settings.sandbox)
    try:
        (home / "count_words.py").write_text(TOOL)
        (home / "no_tool.py").write_text("print('hello')")
        for source, library in (("", "mine"), ("package", "yours"), ("package", "mine")):
            if source and not (home / source).exists():
                exporter = Exporter(Library(home / "mine"), settings, host)
                report = await exporter.export("package", home / "package", name="my_tools")
                print("exported:", ", ".join(tool.name for tool in report.tools))
            paths = [home / source] if source else [home / "count_words.py", home / "no_tool.py"]
            taken = await Importer(home / library, settings, host).run(paths)
            for line in taken.lines:
                print(f"into {library}: {line.text.replace(str(home), '.')}")
    finally:
        await host.aclose()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        asyncio.run(exchange(home))
        with Library(home / "yours").as_langchain_tools() as tools:
            said = tools[0].invoke({"text": "To be or not to be", "word": "be"})
            print(f"{tools[0].name} for LangChain: {said}")


if __name__ == "__main__":
    main()
