"""Word vectors from a folder: read as they were written, and of use where no word of a question stands in a tool."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from habilis.core.errors import UserError
from habilis.core.types import ToolCard
from habilis.tools.retrieval import BM25Retriever
from habilis.tools.retrieval.vectors import Vectors, read_matrix

tokenizers = pytest.importorskip("tokenizers")
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
    with pytest.raises(UserError, match="is no folder"):
        Vectors.open(str(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"no \*.safetensors in"):
        Vectors.open(str(tmp_path / "empty"))
    for broken in (b"", b"\x00" * 8, struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 1 << 60) + b"{"):
        (folder / "model.safetensors").write_bytes(broken)
        with pytest.raises(UserError, match="holds no matrix of word vectors"):
            read_matrix(folder / "model.safetensors")
