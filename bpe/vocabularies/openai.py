"""The encodings that OpenAI published, as data: rank table, split pattern and special tokens of each.

What tiktoken would download is in this folder (`load_ranks`); what it states in code is here. The split
patterns are those of pretokenize.py, by name. r50k_base is GPT-2's encoding under the name that tiktoken
gives it; it is listed apart because people look for it by that name.

Source: github.com/openai/tiktoken, tiktoken_ext/openai_public.py. Read pretrained.py next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["OPENAI_ENCODINGS", "PublishedEncoding"]


@dataclass(frozen=True)
class PublishedEncoding:
    """What makes an encoding out of a rank table.

    title           how a reader knows it: the models that use it
    ranks           name of the rank table, for `load_ranks`
    split           name of the split pattern, for `pretokenize.split`
    special_tokens  text -> token id
    vocab_size      highest token id plus one, which is how many rows a model's embedding has at least
    aliases         other names that people type
    """

    name: str
    title: str
    ranks: str
    split: str
    special_tokens: Mapping[str, int]
    vocab_size: int
    source: str
    licence: str
    aliases: tuple[str, ...] = ()


_GPT2_SOURCE = "OpenAI, published with GPT-2 in 2019"
_TIKTOKEN_SOURCE = "OpenAI, published with tiktoken"
_GPT2_LICENCE = "Modified MIT License"
_END_OF_TEXT = MappingProxyType({"<|endoftext|>": 50256})

OPENAI_ENCODINGS = (
    PublishedEncoding(
        name="gpt2",
        title="GPT-2",
        ranks="r50k",
        split="gpt2",
        special_tokens=_END_OF_TEXT,
        vocab_size=50257,
        source=_GPT2_SOURCE,
        licence=_GPT2_LICENCE,
    ),
    PublishedEncoding(
        name="r50k_base",
        title="GPT-3 (the same as GPT-2)",
        ranks="r50k",
        split="gpt2",
        special_tokens=_END_OF_TEXT,
        vocab_size=50257,
        source=_GPT2_SOURCE,
        licence=_GPT2_LICENCE,
        aliases=("r50k",),
    ),
    PublishedEncoding(
        name="p50k_base",
        title="Codex, text-davinci-003",
        ranks="p50k",
        split="gpt2",
        special_tokens=_END_OF_TEXT,
        vocab_size=50281,
        source=_TIKTOKEN_SOURCE,
        licence="MIT License",
        aliases=("p50k",),
    ),
    PublishedEncoding(
        name="cl100k_base",
        title="GPT-3.5, GPT-4",
        ranks="cl100k",
        split="cl100k",
        special_tokens=MappingProxyType(
            {
                "<|endoftext|>": 100257,
                "<|fim_prefix|>": 100258,
                "<|fim_middle|>": 100259,
                "<|fim_suffix|>": 100260,
                "<|endofprompt|>": 100276,
            }
        ),
        vocab_size=100277,
        source=_TIKTOKEN_SOURCE,
        licence="MIT License",
        aliases=("cl100k",),
    ),
    PublishedEncoding(
        name="o200k_base",
        title="GPT-4o and later",
        ranks="o200k",
        split="o200k",
        special_tokens=MappingProxyType({"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
        vocab_size=200019,
        source=_TIKTOKEN_SOURCE,
        licence="MIT License",
        aliases=("o200k",),
    ),
)
"""In order of publication."""
