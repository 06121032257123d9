"""What a vocabulary costs a model: parameters, KV cache, context, arithmetic; and what the alternatives would.

A larger vocabulary makes texts shorter and the model's first and last matrix larger. Everything here is that one
trade in different units, from plain numbers: nothing is measured, every formula stands in its function.

The shapes of published models are data, each with its source. There is no price list: prices change weekly, and
the reader brings a figure of their own. Neighbour: metrics.py, on what a text costs in different languages.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bpe.errors import SettingsError
from bpe.in_pieces import Progress, encode_marked
from bpe.metrics import unknown_id
from bpe.tokenizer import TokenizerLike

__all__ = [
    "MODEL_SHAPES",
    "PRECISIONS",
    "USUAL_ENTRIES",
    "ModelShape",
    "TextCosts",
    "UnitCosts",
    "attention_work",
    "compare_units",
    "embedding_parameters",
    "forward_work",
    "kv_cache_bytes",
    "sweet_spot",
    "text_costs",
]

PRECISIONS = MappingProxyType({"float32": 4.0, "bfloat16": 2.0, "int8": 1.0, "int4": 0.5})
"""How numbers are stored -> bytes of one."""

USUAL_ENTRIES = MappingProxyType(
    {"characters": (256, 10**3), "words": (10**6, 10**7), "subwords": (3 * 10**4, 25 * 10**4)}
)
"""Entries of a vocabulary of this unit that is meant for a whole language: orders of magnitude, least and most."""


def embedding_parameters(vocab_size: int, width: int, *, tied: bool) -> int:
    """Return the parameters that a vocabulary takes: |V| d, and twice that where the output has its own matrix.

    >>> embedding_parameters(128_256, 8_192, tied=True)
    1050673152
    """
    if vocab_size < 1 or width < 1:
        raise SettingsError(
            f"vocabulary size and width must be at least 1, but are {vocab_size:,} and {width:,}; enter larger ones"
        )
    return vocab_size * width * (1 if tied else 2)


@dataclass(frozen=True)
class ModelShape:
    """The sizes of a transformer that its costs follow from. All at least 1.

    vocab_size      rows of the embedding matrix, padding included
    width           length of the vector of a token
    num_kv_heads    heads whose keys and values are kept; fewer than query heads with grouped queries
    tied            whether the output matrix is the embedding matrix
    num_parameters  of the whole model
    context         longest sequence it was made for, in tokens

    Raises:
        SettingsError: a size is below 1, or the matrices of the vocabulary hold more than the whole model.
    """

    name: str
    vocab_size: int
    width: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    tied: bool
    num_parameters: int
    context: int
    source: str = ""

    def __post_init__(self) -> None:
        sizes = {
            "vocabulary size": self.vocab_size,
            "width": self.width,
            "number of layers": self.num_layers,
            "number of heads": self.num_heads,
            "number of KV heads": self.num_kv_heads,
            "head size": self.head_size,
            "model size": self.num_parameters,
            "context window": self.context,
        }
        for name, size in sizes.items():
            if size < 1:
                raise SettingsError(f"the {name} of a model must be at least 1, but is {size:,}; enter a larger one")
        if self.num_body_parameters < 1:
            raise SettingsError(
                f"a model must be larger than the matrices of its vocabulary, {self.num_vocabulary_parameters:,} "
                f"parameters, but has {self.num_parameters:,}; enter more parameters or a smaller width"
            )

    @property
    def num_vocabulary_parameters(self) -> int:
        """Parameters of the embedding, and of the output matrix where that is another one."""
        return embedding_parameters(self.vocab_size, self.width, tied=self.tied)

    @property
    def num_body_parameters(self) -> int:
        """All other parameters: what the model keeps when it gets another vocabulary."""
        return self.num_parameters - self.num_vocabulary_parameters

    def with_vocabulary(self, vocab_size: int) -> ModelShape:
        """Return the same body with a vocabulary of another size.

        >>> MODEL_SHAPES["Llama 3 8B"].with_vocabulary(32_000).num_parameters
        7241732096
        """
        num_parameters = self.num_body_parameters + embedding_parameters(vocab_size, self.width, tied=self.tied)
        return replace(self, vocab_size=vocab_size, num_parameters=num_parameters)


_GPT2 = "Radford et al. (2019) and the published model files"
_LLAMA2 = "Touvron et al. (2023), arXiv 2307.09288, and the published configuration"
_LLAMA3 = "Grattafiori et al. (2024), arXiv 2407.21783, and the published configuration"
_QWEN = "Qwen Team (2024), arXiv 2412.15115, and the published configuration"
_GEMMA = "Gemma Team (2024), arXiv 2408.00118, and the published configuration"

# Tests compute the number of parameters of each again from its architecture.
MODEL_SHAPES = MappingProxyType(
    {
        shape.name: shape
        for shape in (
            ModelShape("GPT-2 small", 50_257, 768, 12, 12, 12, 64, True, 124_439_808, 1_024, _GPT2),
            ModelShape("GPT-2 XL", 50_257, 1_600, 48, 25, 25, 64, True, 1_557_611_200, 1_024, _GPT2),
            ModelShape("Llama 2 7B", 32_000, 4_096, 32, 32, 32, 128, False, 6_738_415_616, 4_096, _LLAMA2),
            ModelShape("Llama 2 70B", 32_000, 8_192, 80, 64, 8, 128, False, 68_976_648_192, 4_096, _LLAMA2),
            ModelShape("Llama 3 8B", 128_256, 4_096, 32, 32, 8, 128, False, 8_030_261_248, 8_192, _LLAMA3),
            ModelShape("Llama 3 70B", 128_256, 8_192, 80, 64, 8, 128, False, 70_553_706_496, 8_192, _LLAMA3),
            ModelShape("Qwen 2.5 0.5B", 151_936, 896, 24, 14, 2, 64, True, 494_032_768, 32_768, _QWEN),
            ModelShape("Qwen 2.5 3B", 151_936, 2_048, 36, 16, 2, 128, True, 3_085_938_688, 32_768, _QWEN),
            ModelShape("Qwen 2.5 7B", 152_064, 3_584, 28, 28, 4, 128, False, 7_615_616_512, 131_072, _QWEN),
            ModelShape("Gemma 2 2B", 256_000, 2_304, 26, 8, 4, 256, True, 2_614_341_888, 8_192, _GEMMA),
            ModelShape("Gemma 2 9B", 256_000, 3_584, 42, 16, 8, 256, True, 9_241_705_984, 8_192, _GEMMA),
            ModelShape("Gemma 2 27B", 256_000, 4_608, 46, 32, 16, 128, True, 27_227_128_320, 8_192, _GEMMA),
        )
    }
)
"""Name -> shape of published models."""


def kv_cache_bytes(shape: ModelShape, bytes_per_number: float = 2.0) -> float:
    """Return the bytes that a model keeps for each token it has read: a key and a value per KV head and layer.

    >>> kv_cache_bytes(MODEL_SHAPES["Llama 3 70B"])
    327680.0
    """
    return 2 * shape.num_kv_heads * shape.head_size * shape.num_layers * bytes_per_number


def attention_work(num_units: int) -> int:
    """Return the pairs that attention looks at, every unit with every unit: its square. Only ratios mean much.

    >>> attention_work(7) // attention_work(1)
    49
    """
    return num_units**2


def forward_work(
    num_tokens: NDArray[np.int64], vocab_sizes: NDArray[np.int64], shape: ModelShape
) -> NDArray[np.float64]:
    """Return the floating-point operations of reading a text once: two for each parameter and token, and attention.

    `num_tokens` of the text with a vocabulary of each of `vocab_sizes`; the body is that of `shape`. A token costs
    2 (body + |V| d) for the matrices, where |V| d is the output (looking up an embedding costs none), and
    2 layers d_attention n for attention over the n tokens before it, at most the context window.

    Source: Kaplan et al. (2020), arXiv 2001.08361, table 1.
    """
    tokens = num_tokens.astype(np.float64)
    matrices = 2.0 * (shape.num_body_parameters + vocab_sizes.astype(np.float64) * shape.width)
    width_of_attention = shape.num_heads * shape.head_size
    attention = 2.0 * shape.num_layers * width_of_attention * np.minimum(tokens, shape.context)
    work: NDArray[np.float64] = tokens * (matrices + attention)
    return work


def sweet_spot(num_tokens: NDArray[np.int64], num_base: int, shape: ModelShape) -> int:
    """Return the number of merges at which reading the text costs the model the fewest operations.

    `num_tokens[k]` is the text after k merges, with a vocabulary of `num_base + k`. The smallest where several
    cost the same. It is the spot for this text, this merge order and this body alone.

    >>> small = ModelShape("small", 10, 4, 1, 1, 1, 4, True, 140, 64)
    >>> sweet_spot(np.array([100, 60, 50, 49, 49]), 10, small)
    3
    """
    sizes = num_base + np.arange(len(num_tokens), dtype=np.int64)
    return int(np.argmin(forward_work(num_tokens, sizes, shape)))


@dataclass(frozen=True)
class TextCosts:
    """What a text of so many tokens costs a model.

    kv_bytes        KV cache of the whole text
    context_share   part of the context window that it fills; above 1 it does not fit
    num_that_fit    copies of it that fit into the window
    price           at the reader's own price for a million tokens, in whatever currency that was
    """

    num_tokens: int
    kv_bytes: float
    context_share: float
    num_that_fit: int
    price: float


def text_costs(
    num_tokens: int, shape: ModelShape, *, bytes_per_number: float = 2.0, price_per_million: float = 0.0
) -> TextCosts:
    """Return what a text of so many tokens costs.

    >>> text_costs(4_096, MODEL_SHAPES["Llama 3 8B"], price_per_million=2.0).price
    0.008192
    """
    if price_per_million < 0:
        raise SettingsError(f"a price must not be negative, but is {price_per_million:,}; enter 0 or more")
    return TextCosts(
        num_tokens=num_tokens,
        kv_bytes=num_tokens * kv_cache_bytes(shape, bytes_per_number),
        context_share=num_tokens / shape.context,
        num_that_fit=shape.context // num_tokens if num_tokens else 0,
        price=num_tokens * price_per_million / 10**6,
    )


# ---------------------------------------------------------------------------------------------- units


@dataclass(frozen=True)
class UnitCosts:
    """A text in one kind of unit.

    unit           bytes, characters, words, or subwords
    num_entries    vocabulary: all 256 bytes; the characters or words of this text; the tokenizer's vocabulary
    num_units      length of the text
    unknown_share  characters or words of the text's last fifth that its first four fifths do not hold; of
                   subwords, unknown ones in the whole text
    """

    unit: str
    num_entries: int
    num_units: int
    unknown_share: float


def compare_units(text: str, tokenizer: TokenizerLike, *, progress: Progress | None = None) -> tuple[UnitCosts, ...]:
    """Return the same text in bytes, characters, words and the tokenizer's subwords.

    Words are what stands between white space; the white space itself is left out of the count.

    Raises:
        StoppedError: the progress function, called while the subwords are counted, said so.

    >>> from bpe.pretrained import load_pretrained
    >>> rows = compare_units("the cat and the cut", load_pretrained("gpt2"))
    >>> [(row.unit, row.num_entries, row.num_units, row.unknown_share) for row in rows[1:3]]
    [('characters', 9, 19, 0.3333333333333333), ('words', 4, 5, 1.0)]
    """
    words = text.split()
    ids = encode_marked(tokenizer, text, progress=progress)
    unknown = ids.count(unknown_id(tokenizer)) / len(ids) if ids else 0.0
    return (
        UnitCosts("bytes", 256, len(text.encode()), 0.0),
        UnitCosts("characters", len(set(text)), len(text), _unseen_share(text)),
        UnitCosts("words", len(set(words)), len(words), _unseen_share(words)),
        UnitCosts("subwords", tokenizer.vocab_size, len(ids), unknown),
    )


def _unseen_share(units: Sequence[Hashable]) -> float:
    """Return the share of the last fifth that does not occur before it; 0 where there is no last fifth."""
    cut = len(units) - len(units) // 5
    late = units[cut:]
    if not late:
        return 0.0
    seen = set(units[:cut])
    return sum(unit not in seen for unit in late) / len(late)
