"""GGUF files of our own: any head, and a whole model too small to know anything.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"
_WIDTH, _INNER, _HEADS = 32, 64, 2


def packed(value: Any, *, kind: bool = True) -> bytes:
    """A value with the number of its kind before it."""
    if isinstance(value, bool):
        number, data = 7, struct.pack("<?", value)
    elif isinstance(value, int):
        number, data = (10, struct.pack("<Q", value)) if value > 0xFFFFFFFF else (4, struct.pack("<I", value))
    elif isinstance(value, float):
        number, data = 6, struct.pack("<f", value)
    elif isinstance(value, str):
        number, data = 8, struct.pack("<Q", len(value.encode())) + value.encode()
    elif value and isinstance(value[0], int):  # llama.cpp wants signed ones in its lists
        number, data = 9, struct.pack(f"<IQ{len(value)}i", 5, len(value), *value)
    else:
        number = 9
        inner = packed(value[0])[:4] if value else struct.pack("<I", 4)
        data = inner + struct.pack("<Q", len(value)) + b"".join(packed(one, kind=False) for one in value)
    return struct.pack("<I", number) + data if kind else data


def head(values: Mapping[str, Any], tensors: int = 0, version: int = 3) -> bytes:
    rows = b"".join(packed(name, kind=False) + packed(value) for name, value in values.items())
    return b"GGUF" + struct.pack("<IQQ", version, tensors, len(values)) + rows


def tiny_model(path: Path, *, template: str | None = TEMPLATE) -> Path:
    """A llama of one layer with weights by lot, written to `path`. It loads, and answers nonsense."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"abcdefghijklmnopqrstuvwxyz", "▁"]
    kinds = [2, 3, 3, *[6] * 256, *[1] * 27]
    values: dict[str, Any] = {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.context_length": 4096,
        "llama.embedding_length": _WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": _INNER,
        "llama.attention.head_count": _HEADS,
        "llama.attention.head_count_kv": _HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": _WIDTH // _HEADS,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * len(tokens),
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    if template:
        values["tokenizer.chat_template"] = template
    shapes = {"token_embd": (_WIDTH, len(tokens)), "output_norm": (_WIDTH,), "output": (_WIDTH, len(tokens))}
    layer = {"attn_norm": (_WIDTH,), "ffn_norm": (_WIDTH,), "ffn_down": (_INNER, _WIDTH)}
    layer |= {f"attn_{name}": (_WIDTH, _WIDTH) for name in ("q", "k", "v", "output")}
    layer |= {f"ffn_{name}": (_WIDTH, _INNER) for name in ("gate", "up")}
    shapes |= {f"blk.0.{name}": shape for name, shape in layer.items()}
    lot, infos, data = random.Random(7), b"", b""
    for name, shape in shapes.items():
        size = 1
        for length in shape:
            size *= length
        infos += packed(f"{name}.weight", kind=False) + struct.pack(
            f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data)
        )
        weights = struct.pack(f"<{size}f", *(lot.gauss(0.0, 0.3) for _ in range(size)))
        data += weights + bytes(-len(weights) % 32)
    begun = head(values, len(shapes)) + infos
    path.write_bytes(begun + bytes(-len(begun) % 32) + data)
    return path
