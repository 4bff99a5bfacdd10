"""Vectors beside the words themselves: of static words, a text being the mean of its pieces, or of whole sentences.

Nothing is fetched. Weights come with a package that is installed (`wordllama`, MIT) or from a folder with a
`*.safetensors` file of one matrix (tokens × dimensions, as model2vec and wordllama write it) and its `tokenizer.json`;
or with those of a small BERT, MiniLM say, which `sentences.py` computes.
"""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError
from habilis.core.types import ToolCard
from habilis.library.retrieval.sentences import Encoder, is_encoder
from habilis.rundir import atomic_write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]

PACKAGE = "wordllama"
ALIKE = 0.8
"""Weight of likeness by vectors beside that by words."""
KEPT_FROM = 200
"""How many new vectors it takes for keeping them to pay."""
_KINDS = {"F16": "float16", "F32": "float32"}
_FILE = "vectors.bin"
_MAX_HEADER = 10 << 20
_BROKEN = (OSError, ValueError, KeyError, AttributeError, TypeError, struct.error)
Cut = Callable[[Sequence[str]], list[list[int]]]
"""Texts as rows of the matrix."""


class Vectors:
    """Turns texts into vectors of length one."""

    def __init__(self, matrix: Matrix, cut: Cut, mark: str = "") -> None:
        """`mark` differs for weights that differ."""
        self._matrix, self._cut, self.mark = matrix, cut, mark

    @classmethod
    def open(cls, where: str) -> Meaning:
        """What `where` means: `wordllama`, a folder of weights, or an installed package that holds such a folder.

        Raises `UserError` when there are none.
        """
        weights, pieces = _package() if where == PACKAGE else _folder(_place(where))
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError:
            raise UserError("retrieval.vectors needs the package tokenizers: pip install 'habilis[vectors]'") from None
        tokenizer: Any = Tokenizer.from_file(str(pieces))
        status = weights.stat()
        mark = f"{weights.name} {status.st_size} {status.st_mtime_ns}"
        if is_encoder(weights.parent):
            return Encoder.open(weights.parent, read_tensors(weights), tokenizer, mark)
        tokenizer.no_padding()
        tokenizer.no_truncation()

        def cut(texts: Sequence[str]) -> list[list[int]]:
            return [one.ids for one in tokenizer.encode_batch(list(texts), add_special_tokens=False)]

        return cls(read_matrix(weights), cut, mark)

    def of(self, texts: Sequence[str]) -> Matrix:
        """One row for each text; a text without a known piece is all zeros."""
        import numpy as np

        found = np.zeros((len(texts), self._matrix.shape[1]), dtype=np.float32)
        for row, pieces in enumerate(self._cut(texts)):
            known = [piece for piece in pieces if piece < len(self._matrix)]
            if known:
                mean = self._matrix[known].astype(np.float32).mean(axis=0)
                found[row] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return found


Meaning = Vectors | Encoder
"""What turns texts into vectors."""


@lru_cache(maxsize=4)
def vectors_of(where: str) -> Meaning | None:
    """What the setting `retrieval.vectors` means, read once; None where it is empty. Raises `UserError`."""
    return Vectors.open(where) if where else None


class Likeness:
    """How like a query the cards of an index are. A card's vector is made once; `kept` is a folder for many of them."""

    def __init__(self, vectors: Meaning, kept: Path | None = None) -> None:
        self.vectors, self._kept = vectors, kept
        self._rows: dict[str, Matrix] = _read(kept, vectors.mark) if kept else {}
        self._known: tuple[int, Matrix] | None = None

    def scores(
        self, query: str, names: Sequence[str], cards: Mapping[str, ToolCard], dead: Collection[int], state: int
    ) -> Floats:
        """The cosine of the query and each card, by place, 0 at least; cards at the places `dead` have none.

        `state` differs whenever the cards do.
        """
        import numpy as np

        if self._known is None or self._known[0] != state:
            texts = [_text(cards[name]) if name in cards else "" for name in names]
            self._learn(texts)
            self._known = (state, np.stack([self._rows[text] for text in texts]))
        found: Floats = np.maximum(self._known[1] @ self.vectors.of([query])[0], 0.0).astype(np.float64)
        found[list(dead)] = 0.0
        return found

    def _learn(self, texts: Sequence[str]) -> None:
        new = list(dict.fromkeys(text for text in texts if text not in self._rows))
        if not new:
            return
        self._rows |= dict(zip(new, self.vectors.of(new), strict=True))
        if self._kept and len(new) >= KEPT_FROM:
            with contextlib.suppress(OSError):
                _write(self._kept, self.vectors.mark, self._rows)


def _text(card: ToolCard) -> str:
    return f"{card.name.replace('_', ' ')}. {card.description}"


def _write(folder: Path, mark: str, rows: Mapping[str, Matrix]) -> None:
    import numpy as np

    folder.mkdir(exist_ok=True)
    head = json.dumps({"mark": mark, "texts": list(rows)}, ensure_ascii=True).encode("ascii")
    numbers = np.stack(list(rows.values())).astype(np.float16)
    atomic_write(folder / _FILE, struct.pack("<Q", len(head)) + head + numbers.tobytes(), durable=False)


def _read(folder: Path, mark: str) -> dict[str, Matrix]:
    """What `_write` left, if it was made with weights of this mark; nothing when it is broken."""
    import numpy as np

    try:
        raw = (folder / _FILE).read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        head = json.loads(raw[8 : 8 + length])
        if head["mark"] != mark:
            return {}
        numbers = np.frombuffer(raw[8 + length :], np.float16).reshape(len(head["texts"]), -1).astype(np.float32)
        return dict(zip(head["texts"], numbers, strict=True))
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return {}


def read_matrix(path: Path) -> Matrix:
    """The one matrix in a safetensors file: a header in JSON behind its length, then plain numbers.

    Raises `UserError` for anything else.
    """
    try:
        raw = path.read_bytes()
        (told,) = [tensor for tensor in _header(raw).values() if len(tensor.get("shape", ())) == 2]
        return _numbers(raw, told)
    except _BROKEN as error:
        raise UserError(f"{path} holds no matrix of word vectors: {error}") from None


def read_tensors(path: Path) -> dict[str, Matrix]:
    """All tensors of floating numbers in a safetensors file, by name. Raises `UserError` for anything else."""
    import numpy as np

    try:
        raw = path.read_bytes()
        told = {name: tensor for name, tensor in _header(raw).items() if tensor.get("dtype") in _KINDS}
        return {name: _numbers(raw, tensor).astype(np.float32, copy=False) for name, tensor in told.items()}
    except _BROKEN as error:
        raise UserError(f"{path} holds no weights: {error}") from None


def _header(raw: bytes) -> dict[str, Any]:
    """What a safetensors file says of its tensors, by name."""
    (length,) = struct.unpack("<Q", raw[:8])
    header: dict[str, Any] = json.loads(raw[8 : 8 + min(length, _MAX_HEADER)])
    return header


def _numbers(raw: bytes, told: Mapping[str, Any]) -> Matrix:
    import numpy as np

    (length,) = struct.unpack("<Q", raw[:8])
    begin, end = told["data_offsets"]
    return np.frombuffer(raw[8 + length + begin : 8 + length + end], _KINDS[told["dtype"]]).reshape(told["shape"])


def _package() -> tuple[Path, Path]:
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise UserError(f"retrieval.vectors: {PACKAGE} is not installed: pip install 'habilis[vectors]'")
    root = Path(found.submodule_search_locations[0])
    return _one(root / "weights", "*.safetensors"), _one(root / "tokenizers", "*.json")


def _place(where: str) -> Path:
    """The folder `where`, or that of weights inside an installed package of this name."""
    path = Path(where).expanduser()
    found = find_spec(where) if where.isidentifier() and not path.exists() else None
    for root in found.submodule_search_locations or () if found is not None else ():
        path = next((one.parent for one in sorted(Path(root).rglob("*.safetensors"))), Path(root))
    return path


def _folder(root: Path) -> tuple[Path, Path]:
    if not root.is_dir():
        raise UserError(
            f"retrieval.vectors: {root} is not a folder; give one with a *.safetensors and a tokenizer.json"
        )
    return _one(root, "*.safetensors"), _one(root, "tokenizer.json")


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise UserError(f"retrieval.vectors: no {pattern} in {folder}")
    return found[0]
