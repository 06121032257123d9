"""Vocabularies that come out of an installed package: Llama, Qwen, Gemma, Mistral, DeepSeek.

Most carry terms of their own, so nothing of them is copied into this repository. They are read from
`splintr-rs` at run time, and what was read is compared with a sha256, because ids depend on every byte of it.
That package says what each token is, not how a text is split; the split patterns here are the models'.

Left out: turning this into tokenizers (pretrained.py).
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from typing import Any, Literal

from bpe.errors import UnavailableError
from bpe.pretokenize import SPLIT_PATTERNS
from bpe.vocabularies import rank_file, token_ids

__all__ = [
    "PACKAGE",
    "PACKAGED_PIECES",
    "PACKAGED_RANKS",
    "PackagedPieces",
    "PackagedRanks",
    "has_package",
    "open_package",
    "read_pieces",
    "read_ranks",
]

PACKAGE = "splintr-rs==0.22.0"
"""What has to be installed, as pip takes it."""

SPACE_MARK = "\u2581"

_LLAMA3 = SPLIT_PATTERNS["llama3"]
_QWEN = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_TEKKEN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        r"\p{N}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


def _deepseek() -> str:
    r"""Return DeepSeek's three split patterns as one.

    They are applied one after the other: up to three digits, runs of Chinese and Japanese characters, and the
    rest; the third also inside what the second found. So each branch of the third comes twice, once for
    characters inside a run and once for those outside, and never goes from one to the other. What no branch
    matches stays together, as it does there.
    """
    run = r"一-龥぀-ゟ゠-ヿ"
    inside, outside = f"(?=[{run}])", rf"(?![\p{{N}}{run}])"
    before, letter, sign = r"[^\r\n\p{L}\p{P}\p{S}]", r"[\p{L}\p{M}]", r"[\p{P}\p{S}]"
    branches = "|".join(
        (
            r"\p{N}{1,3}",
            f"(?:{inside}{before})?(?:{inside}{letter})+",
            f"(?:{inside}{sign})+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+",
            f"(?:{outside}{before})?(?:{outside}{letter})+",
            rf" ?(?:{outside}{sign})+[\r\n]*",
            r"\s*[\r\n]+",
            rf"\s+(?!{outside}\S)",
            r"\s+",
        )
    )
    return rf"{branches}|(?:{inside}(?!{branches})[\s\S])+|(?:{outside}(?!{branches})[\s\S])+"


@dataclass(frozen=True)
class PackagedRanks:
    """A byte-level BPE in the package.

    key             its name there
    ids             the ids of its rank table; the special tokens lie outside
    special_tokens  text -> token id; those kept free for later (`<|reserved_special_token_7|>`) are left out
    vocab_size      highest token id plus one, special tokens and free ones included
    sha256          of the rank file that these ids make up
    """

    name: str
    title: str
    key: str
    ids: range
    split: str
    normalizer: Literal["none", "NFC"]
    special_tokens: dict[str, int]
    vocab_size: int
    sha256: str
    source: str
    licence: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class PackagedPieces:
    """A SentencePiece BPE in the package.

    first_byte  id of the piece for byte 0
    symbols     ranges of ids that are found in any text before merging, if their text is in brackets
    sha256      of all pieces, a line break after each
    """

    name: str
    title: str
    key: str
    first_byte: int
    adds_space: bool
    special_tokens: dict[str, int]
    vocab_size: int
    sha256: str
    source: str
    licence: str
    symbols: tuple[range, ...] = ()
    aliases: tuple[str, ...] = ()


def _numbered(first: int, *texts: str) -> dict[str, int]:
    """Number special tokens one after the other."""
    return {text: first + i for i, text in enumerate(texts)}


_LLAMA3_LICENCE = "Llama 3.1 Community License"
_GEMMA_LICENCE = "Gemma Terms of Use"
_THREE = _numbered(0, "<unk>", "<s>", "</s>")
_DEEPSEEK_CALLS = (
    f"<｜tool{SPACE_MARK}{part}{SPACE_MARK}{edge}｜>"
    for part in ("calls", "call", "outputs", "output")
    for edge in ("begin", "end")
)

PACKAGED_RANKS = (
    PackagedRanks(
        name="llama3",
        title="Llama 3, 3.1, 3.2, 3.3",
        key="llama3",
        ids=range(128_000),
        split="llama3",
        normalizer="none",
        special_tokens=_numbered(
            128_000,
            "<|begin_of_text|>",
            "<|end_of_text|>",
            "<|reserved_special_token_0|>",
            "<|reserved_special_token_1|>",
            "<|finetune_right_pad_id|>",
            "<|step_id|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eom_id|>",
            "<|eot_id|>",
            "<|python_tag|>",
        ),
        vocab_size=128_256,
        sha256="82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
        source="Meta, published with Llama 3 in 2024",
        licence=_LLAMA3_LICENCE,
    ),
    PackagedRanks(
        name="qwen2.5",
        title="Qwen 2, 2.5, 3",
        key="qwen3",
        ids=range(151_643),
        split=_QWEN,
        normalizer="NFC",
        special_tokens=_numbered(
            151_643,
            "<|endoftext|>",
            "<|im_start|>",
            "<|im_end|>",
            "<|object_ref_start|>",
            "<|object_ref_end|>",
            "<|box_start|>",
            "<|box_end|>",
            "<|quad_start|>",
            "<|quad_end|>",
            "<|vision_start|>",
            "<|vision_end|>",
            "<|vision_pad|>",
            "<|image_pad|>",
            "<|video_pad|>",
            "<tool_call>",
            "</tool_call>",
            "<|fim_prefix|>",
            "<|fim_middle|>",
            "<|fim_suffix|>",
            "<|fim_pad|>",
            "<|repo_name|>",
            "<|file_sep|>",
            "<tool_response>",
            "</tool_response>",
            "<think>",
            "</think>",
        ),
        vocab_size=151_669,
        sha256="b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        source="Alibaba, published with Qwen 2.5 in 2024",
        licence="Apache License 2.0",
        aliases=("qwen", "qwen2", "qwen3"),
    ),
    PackagedRanks(
        name="mistral-tekken",
        title="Mistral Nemo, Large 2, Pixtral (Tekken)",
        key="mistral_v3",
        ids=range(1000, 131_072),
        split=_TEKKEN,
        normalizer="none",
        special_tokens=_numbered(
            0,
            "<unk>",
            "<s>",
            "</s>",
            "[INST]",
            "[/INST]",
            "[AVAILABLE_TOOLS]",
            "[/AVAILABLE_TOOLS]",
            "[TOOL_RESULTS]",
            "[/TOOL_RESULTS]",
            "[TOOL_CALLS]",
        ),
        vocab_size=131_072,
        sha256="e601c3eb93ff531d545cf3c4f73e1ad59da1c456c538ba2368733ec157315b23",
        source="Mistral AI, published with Mistral Nemo in 2024",
        licence="Apache License 2.0",
        aliases=("tekken", "mistral-v3"),
    ),
    PackagedRanks(
        name="deepseek-v3",
        title="DeepSeek V3, R1",
        key="deepseek_v3",
        ids=range(3, 128_000),
        split=_deepseek(),
        normalizer="none",
        special_tokens=(
            _numbered(0, "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>")
            | _numbered(
                128_798,
                "<think>",
                "</think>",
                "<｜fim▁hole｜>",
                "<｜fim▁begin｜>",
                "<｜fim▁end｜>",
                "<｜User｜>",
                "<｜Assistant｜>",
                "<|EOT|>",
                *_DEEPSEEK_CALLS,
                "<｜tool▁sep｜>",
            )
        ),
        vocab_size=128_815,
        sha256="ea361439831165203088c236a65f20163f58a68d735b51593dfe1068a23920b2",
        source="DeepSeek, published with DeepSeek V3 in 2024",
        licence="MIT License (code), DeepSeek License Agreement (model)",
        aliases=("deepseek",),
    ),
)
"""The byte-level ones: their ranks can be replayed."""

PACKAGED_PIECES = (
    PackagedPieces(
        name="llama2",
        title="Llama, Llama 2",
        key="llama2",
        first_byte=3,
        adds_space=True,
        special_tokens=_THREE,
        vocab_size=32_000,
        sha256="7015eebad70f6975a0c548ce982fb76a4aa0835644628a5ed0b1fd41ff9a2912",
        source="Meta, published with Llama in 2023",
        licence="Llama 2 Community License",
    ),
    PackagedPieces(
        name="gemma2",
        title="Gemma, Gemma 2",
        key="gemma2",
        first_byte=217,
        adds_space=False,
        special_tokens=(
            _numbered(0, "<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
            | _numbered(106, "<start_of_turn>", "<end_of_turn>")
        ),
        vocab_size=256_000,
        sha256="e6ecc122c505d452eb6656f9d1ecfd09be119c1a3b075b593e0450767f697702",
        source="Google, published with Gemma in 2024",
        licence=_GEMMA_LICENCE,
        symbols=(range(4, 217), range(255_968, 256_000)),
    ),
    PackagedPieces(
        name="gemma3",
        title="Gemma 3",
        key="gemma3",
        first_byte=238,
        adds_space=False,
        special_tokens=(
            _numbered(0, "<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
            | _numbered(105, "<start_of_turn>", "<end_of_turn>")
            | _numbered(255_999, "<start_of_image>", "<end_of_image>")
        ),
        vocab_size=262_144,
        sha256="db41edd47fda06df0188989dea1e45e74e3ac5bcd904678f57afa8e500b5ec9b",
        source="Google, published with Gemma 3 in 2025",
        licence=_GEMMA_LICENCE,
        symbols=(range(4, 238), range(255_968, 262_144)),
    ),
    PackagedPieces(
        name="mistral-v1",
        title="Mistral 7B, Mixtral 8x7B",
        key="mistral_v1",
        first_byte=3,
        adds_space=True,
        special_tokens=_THREE,
        vocab_size=32_000,
        sha256="35c28c8df590b200c16cf9ec7a4573b3230fed9cde1bbd8d9ea57e1c4ba796fd",
        source="Mistral AI, published with Mistral 7B in 2023",
        licence="Apache License 2.0",
        aliases=("mistral",),
    ),
)
"""The SentencePiece ones: pieces without their merges."""


def has_package() -> bool:
    """Tell whether the package is installed."""
    return importlib.util.find_spec("splintr") is not None


def open_package(key: str) -> Any:
    """Return the package's own tokenizer of that name.

    Raises: UnavailableError.
    """
    if not has_package():
        raise UnavailableError(f"{PACKAGE} must be installed, but is not: python -m pip install {PACKAGE}")
    import splintr

    try:
        return splintr.Tokenizer.from_pretrained(key)
    except ValueError as error:
        raise UnavailableError(_say_other_package(key)) from error


def read_ranks(table: PackagedRanks) -> dict[bytes, int]:
    """Return the rank table, ids ascending, after checking its sha256.

    Raises: UnavailableError (the package is missing, or another version holds another table).
    """
    package = open_package(table.key)
    ids = token_ids(table.ids.stop)[table.ids.start :]
    ranks = {_token_bytes(package, table.key, token_id): token_id for token_id in ids}
    _check(table.key, rank_file(ranks), table.sha256)
    return ranks


def read_pieces(table: PackagedPieces, package: Any) -> list[str]:
    """Return the pieces as SentencePiece writes them, after checking their sha256.

    The package gives the bytes that each stands for, and nothing for special tokens.

    Raises: UnavailableError (another version of the package holds other pieces).
    """
    special = {token_id: text for text, token_id in table.special_tokens.items()}
    pieces = []
    for token_id in range(table.vocab_size):
        if token_id in special:
            pieces.append(special[token_id])
        elif table.first_byte <= token_id < table.first_byte + 256:
            pieces.append(f"<0x{token_id - table.first_byte:02X}>")
        else:
            written = _token_bytes(package, table.key, token_id)
            pieces.append(written.decode().replace(" ", SPACE_MARK))
    _check(table.key, "".join(f"{piece}\n" for piece in pieces).encode(), table.sha256)
    return pieces


def _token_bytes(package: Any, key: str, token_id: int) -> bytes:
    try:
        token: bytes = package.decode_token_bytes(token_id)
    except ValueError as error:
        raise UnavailableError(_say_other_package(key)) from error
    return token


def _check(key: str, data: bytes, expected: str) -> None:
    if hashlib.sha256(data).hexdigest() != expected:
        raise UnavailableError(_say_other_package(key))


def _say_other_package(key: str) -> str:
    return (
        f"the vocabulary {key} must be the one of {PACKAGE}, but the installed package holds another: "
        f"python -m pip install {PACKAGE}"
    )
