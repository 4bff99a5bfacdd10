"""Word vectors from a folder: read as they were written, and of use where no word of a question stands in a tool."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from habilis.core.errors import UserError
from habilis.core.types import ToolCard
from habilis.library.retrieval import BM25Retriever
from habilis.library.retrieval.vectors import Vectors, read_matrix

tokenizers = pytest.importorskip("tokenizers")
Array = Any
"""Of numbers; what it holds is tested, not its type."""
PIECES = {"[UNK]": 0, "movie": 1, "cinema": 2, "row": 3, "line": 4, "count": 5, "tickets": 6}
ROWS = np.array(
    [[0, 0, 0], [1, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0.1, 1, 0], [0, 0, 1], [0.8, 0, 0.1]], dtype=np.float16
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of seven words in three dimensions."""
    raw = ROWS.tobytes()
    told = {"embeddings": {"dtype": "F16", "shape": list(ROWS.shape), "data_offsets": [0, len(raw)]}}
    header = json.dumps({"__metadata__": {"format": "pt"}, **told}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + raw)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(PIECES, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_a_text_is_the_mean_of_its_pieces_in_length_one(folder: Path) -> None:
    vectors = Vectors.open(str(folder))
    movie, both, none = vectors.of(["Movie", "movie count", ""])
    assert np.allclose(movie, [1, 0, 0])
    assert np.allclose(both, np.array([1, 0, 1]) / np.sqrt(2), atol=1e-3)
    assert not none.any()


def test_a_tool_is_found_by_what_its_words_are_near_to(folder: Path) -> None:
    cards = [
        ToolCard(name="book_cinema", description="cinema tickets"),
        ToolCard(name="count_row", description="count each row"),
    ]
    plain, with_vectors = BM25Retriever(cards), BM25Retriever(cards, vectors=Vectors.open(str(folder)))
    assert [card.name for card in plain.search("line", 2)] == []
    assert [card.name for card in with_vectors.search("line", 1)] == ["count_row"]
    assert [card.name for card in with_vectors.search("count", 1)] == ["count_row"]
    with_vectors.remove("count_row")
    assert [card.name for card in with_vectors.search("line", 2)] == ["book_cinema"]


def test_what_is_no_model_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        Vectors.open(str(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"no \*.safetensors in"):
        Vectors.open(str(tmp_path / "empty"))
    for broken in (b"", b"\x00" * 8, struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 1 << 60) + b"{"):
        (folder / "model.safetensors").write_bytes(broken)
        with pytest.raises(UserError, match="holds no matrix of word vectors"):
            read_matrix(folder / "model.safetensors")


# ---- sentences


WIDE, HEADS = 8, 2
CONFIG = {"model_type": "bert", "hidden_act": "gelu", "num_attention_heads": HEADS, "num_hidden_layers": 2}


def weights() -> dict[str, Array]:
    """The tensors of a model of seven words, drawn by lot."""
    lot = np.random.default_rng(3)
    shapes: dict[str, Any] = {
        f"embeddings.{name}_embeddings.weight": (7, WIDE) for name in ("word", "position", "token_type")
    }
    for layer in (f"encoder.layer.{number}." for number in range(2)):
        parts: dict[str, Any] = {f"attention.self.{part}": (WIDE, WIDE) for part in ("query", "key", "value")}
        parts |= {"attention.output.dense": (WIDE, WIDE), "intermediate.dense": (20, WIDE), "output.dense": (WIDE, 20)}
        for name, shape in parts.items():
            shapes |= {f"{layer}{name}.weight": shape, f"{layer}{name}.bias": shape[:1]}
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}{norm}.weight": (WIDE,), f"{layer}{norm}.bias": (WIDE,)}
    shapes |= {"embeddings.LayerNorm.weight": (WIDE,), "embeddings.LayerNorm.bias": (WIDE,)}
    return {name: lot.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def laid(folder: Path, tensors: dict[str, Array], config: dict[str, object]) -> str:
    """The model in `folder`, whose tokenizer is there; returns its path."""
    header, payload = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        header[f"bert.{name}"] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [len(payload), len(payload) + len(raw)],
        }
        payload += raw
    head = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + payload)
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def by_the_book(tensors: dict[str, Array], pieces: list[int]) -> Array:
    """The vector of a text, piece by piece and head by head, as the papers have it."""

    def normed(row: Array, name: str) -> Array:
        return (row - row.mean()) / np.sqrt(row.var() + 1e-12) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def through(row: Array, name: str) -> Array:
        return tensors[f"{name}.weight"] @ row + tensors[f"{name}.bias"]

    words, places, kinds = (tensors[f"embeddings.{n}_embeddings.weight"] for n in ("word", "position", "token_type"))
    rows = [normed(words[p] + places[i] + kinds[0], "embeddings.LayerNorm") for i, p in enumerate(pieces)]
    for layer in ("encoder.layer.0.", "encoder.layer.1."):
        query, key, value = (
            [through(row, f"{layer}attention.self.{part}") for row in rows] for part in ("query", "key", "value")
        )
        after = []
        for i, row in enumerate(rows):
            seen = []
            for head in range(HEADS):
                part = slice(head * WIDE // HEADS, (head + 1) * WIDE // HEADS)
                scores = np.array([query[i][part] @ k[part] / math.sqrt(WIDE / HEADS) for k in key])
                shares = np.exp(scores) / np.exp(scores).sum()
                seen.append(sum(share * v[part] for share, v in zip(shares, value, strict=True)))
            met = through(np.concatenate(seen), f"{layer}attention.output.dense")
            met = normed(row + met, f"{layer}attention.output.LayerNorm")
            inner = through(met, f"{layer}intermediate.dense")
            inner = np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in inner])
            after.append(normed(met + through(inner, f"{layer}output.dense"), f"{layer}output.LayerNorm"))
        rows = after
    mean = np.mean(rows, axis=0)
    return mean / np.linalg.norm(mean)


def test_sentences_are_computed_as_the_papers_have_it(folder: Path) -> None:
    tensors = weights()
    encoder = Vectors.open(laid(folder, tensors, CONFIG))
    texts = {"movie": [1], "row count movie": [3, 5, 1], "line tickets": [4, 6], "cinema row": [2, 3]}
    found = encoder.of(list(texts))
    for row, pieces in zip(found, texts.values(), strict=True):
        assert np.allclose(row, by_the_book(tensors, pieces), atol=1e-5)
    assert not encoder.of([""]).any()


def test_the_first_piece_stands_for_a_sentence_where_the_model_says_so(folder: Path) -> None:
    where = laid(folder, weights(), CONFIG)
    mean = Vectors.open(where).of(["row count"])
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert not np.allclose(Vectors.open(where).of(["row count"]), mean, atol=1e-2)


def test_a_tool_is_found_by_sentences_and_what_changed_is_seen(folder: Path) -> None:
    encoder = Vectors.open(laid(folder, weights(), CONFIG))
    cards = [ToolCard(name="a", description="movie"), ToolCard(name="b", description="count")]
    retriever = BM25Retriever(cards, vectors=encoder)
    assert {card.name for card in retriever.search("line", 5)} <= {"a", "b"}
    retriever.remove("a")
    retriever.add(ToolCard(name="c", description="line"))
    assert retriever.search("line", 1)[0].name == "c"
    assert "a" not in {card.name for card in retriever.search("movie", 5)}


def test_weights_that_are_none_are_said(folder: Path) -> None:
    tensors = weights()
    del tensors["encoder.layer.1.output.dense.bias"]
    with pytest.raises(UserError, match=r"hold no .*encoder\.layer\.1\.output\.dense\.bias"):
        Vectors.open(laid(folder, tensors, CONFIG))
    with pytest.raises(UserError, match="the activation relu"):
        Vectors.open(laid(folder, weights(), CONFIG | {"hidden_act": "relu"}))
    (folder / "model.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(UserError, match="holds no weights"):
        Vectors.open(str(folder))


def test_weights_inside_an_installed_package_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = folder.parent / "site" / "some_weights"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('nobody needs to import it')")
    laid(package / "model", weights(), CONFIG)
    (folder / "tokenizer.json").rename(package / "model" / "tokenizer.json")
    monkeypatch.syspath_prepend(str(package.parent))
    assert Vectors.open("some_weights").of(["movie"]).shape == (1, WIDE)
    with pytest.raises(UserError, match="is not a folder"):
        Vectors.open("no_such_weights")
