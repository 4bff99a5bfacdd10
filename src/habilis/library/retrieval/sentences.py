"""Sentence vectors by a small BERT (MiniLM and its like), computed with NumPy alone: no runtime to install.

Nothing is fetched: weights lie in a folder as they are handed around, `config.json`, `model.safetensors` and
`tokenizer.json`, beside it `1_Pooling/config.json` where there is one. Sources: Devlin et al.: BERT, NAACL 2019;
Reimers, Gurevych: Sentence-BERT, EMNLP 2019. The error function is approximated as in Abramowitz, Stegun, 7.1.26.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Tensors = Mapping[str, Matrix]

MAX_PIECES = 64
"""How much of a text counts, in pieces of words: what comes behind costs time and tells little."""
_AT_ONCE = 32
_EPSILON = 1e-12
Cut = Callable[[Sequence[str]], list[list[int]]]


def is_encoder(folder: Path) -> bool:
    """Whether the weights in `folder` are such a model."""
    return bool(_json(folder / "config.json").get("model_type") == "bert")


class Encoder:
    """Turns texts into vectors of length one."""

    def __init__(self, tensors: Tensors, config: Mapping[str, Any], cut: Cut, mark: str, *, first: bool) -> None:
        """`first`: the vector is that of the first piece, not the mean. Raises `UserError` for weights that lack any.

        `mark` differs for weights that differ.
        """
        if config.get("hidden_act") != "gelu":
            raise UserError(f"retrieval.vectors: weights with the activation {config.get('hidden_act')} are not read")
        self.mark, self._cut, self._first = mark, cut, first
        try:
            self._heads = int(config["num_attention_heads"])
            prefix = next((n for n in tensors if n.endswith("embeddings.word_embeddings.weight")), "")
            of = _Named(tensors, prefix.removesuffix("embeddings.word_embeddings.weight"))
            self._words = of("embeddings.word_embeddings.weight")
            kind = of("embeddings.token_type_embeddings.weight")[0]
            self._places = of("embeddings.position_embeddings.weight") + kind
            self._begin = of.pair("embeddings.LayerNorm")
            self._layers = [_Layer(of, f"encoder.layer.{n}.") for n in range(int(config["num_hidden_layers"]))]
        except KeyError as error:
            raise UserError(f"retrieval.vectors: the weights hold no {error.args[0]}") from None

    @classmethod
    def open(cls, folder: Path, tensors: Tensors, tokenizer: Any, mark: str) -> Encoder:
        """The model in `folder`, whose tensors and tokenizer were read. Raises `UserError`."""
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_PIECES)

        def cut(texts: Sequence[str]) -> list[list[int]]:
            return [one.ids for one in tokenizer.encode_batch(list(texts))]

        first = bool(_json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))
        return cls(tensors, _json(folder / "config.json"), cut, mark, first=first)

    def of(self, texts: Sequence[str]) -> Matrix:
        """One row for each text; those of one length go through together."""
        import numpy as np

        rows = self._cut(texts)
        found = np.zeros((len(rows), self._words.shape[1]), dtype=np.float32)
        by_length: dict[int, list[int]] = {}
        for number, row in enumerate(rows):
            by_length.setdefault(len(row), []).append(number)
        for length, numbers in by_length.items():
            for start in range(0, len(numbers) if length else 0, _AT_ONCE):
                some = numbers[start : start + _AT_ONCE]
                found[some] = self._encoded(np.array([rows[number] for number in some]))
        return found

    def _encoded(self, pieces: NDArray[np.int64]) -> Matrix:
        import numpy as np

        states = _normed(self._words[pieces] + self._places[: pieces.shape[1]], *self._begin)
        for layer in self._layers:
            states = layer.after(states, self._heads)
        vectors: Matrix = states[:, 0] if self._first else states.mean(axis=1)
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
        result: Matrix = vectors / lengths
        return result


class _Named:
    """Tensors by their names behind `prefix`. Raises KeyError with a name that is not there."""

    def __init__(self, tensors: Tensors, prefix: str) -> None:
        self._tensors, self._prefix = tensors, prefix

    def __call__(self, name: str) -> Matrix:
        return self._tensors[f"{self._prefix}{name}"]

    def pair(self, name: str) -> tuple[Matrix, Matrix]:
        """Weight and bias."""
        return self(f"{name}.weight"), self(f"{name}.bias")

    def turned(self, *names: str) -> tuple[Matrix, Matrix]:
        """Weights side by side, as they are multiplied from the right, and their biases."""
        import numpy as np

        pairs = [self.pair(name) for name in names]
        weights = np.ascontiguousarray(np.concatenate([weight.T for weight, _ in pairs], axis=1))
        return weights, np.concatenate([bias for _, bias in pairs])


class _Layer:
    """One layer: attention, then what is done to each piece by itself."""

    def __init__(self, of: _Named, name: str) -> None:
        self._asked = of.turned(*(f"{name}attention.self.{part}" for part in ("query", "key", "value")))
        self._met = of.turned(f"{name}attention.output.dense")
        self._met_norm = of.pair(f"{name}attention.output.LayerNorm")
        self._wide = of.turned(f"{name}intermediate.dense")
        self._narrow = of.turned(f"{name}output.dense")
        self._norm = of.pair(f"{name}output.LayerNorm")

    def after(self, states: Matrix, heads: int) -> Matrix:
        """What comes out of it."""
        import numpy as np

        texts, length, width = states.shape
        asked = (states @ self._asked[0] + self._asked[1]).reshape(texts, length, 3, heads, width // heads)
        query, key, value = asked.transpose(2, 0, 3, 1, 4)
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32((width / heads) ** 0.5)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        seen = (weights @ value).transpose(0, 2, 1, 3).reshape(texts, length, width)
        states = _normed(states + seen @ self._met[0] + self._met[1], *self._met_norm)
        inner = _gelu(states @ self._wide[0] + self._wide[1])
        return _normed(states + inner @ self._narrow[0] + self._narrow[1], *self._norm)


def _normed(states: Matrix, weight: Matrix, bias: Matrix) -> Matrix:
    import numpy as np

    apart = states - states.mean(axis=-1, keepdims=True)
    spread = np.sqrt((apart * apart).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
    result: Matrix = apart / spread * weight + bias
    return result


def _gelu(values: Matrix) -> Matrix:
    import numpy as np

    size = np.abs(values) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series: Any = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(factor)
    error = 1 - series * t * np.exp(-size * size)
    result: Matrix = values * np.float32(0.5) * (1 + np.copysign(error, values))
    return result


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
