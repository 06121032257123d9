"""Byte-pair encoding for reading, measuring and looking at.

Start with `train` and `Tokenizer`; read the modules in the order pretokenize, trainer, encoder, lifetimes,
tokenizer. Plain data in, plain data out: nothing here draws, prints or reaches the network.
"""

from bpe.encoder import encode_reference, encode_trace, rank_lifetimes
from bpe.errors import BpeError
from bpe.formats import load_tokenizer, save_tokenizer
from bpe.lifetimes import INSIDE, NEVER, WALL, History
from bpe.pretokenize import SPLIT_PATTERNS, count_pre_tokens, split
from bpe.pretrained import load_pretrained, pretrained_info, pretrained_names
from bpe.rank_tokenizer import RankTokenizer
from bpe.settings import TrainSettings
from bpe.tokenizer import UNKNOWN_ID, MergeRows, Tokenizer, TokenizerLike
from bpe.trainer import train, train_files, train_reference
from bpe.training import Contest, Merge, Training

__all__ = [
    "INSIDE",
    "NEVER",
    "SPLIT_PATTERNS",
    "UNKNOWN_ID",
    "WALL",
    "BpeError",
    "Contest",
    "History",
    "Merge",
    "MergeRows",
    "RankTokenizer",
    "Tokenizer",
    "TokenizerLike",
    "TrainSettings",
    "Training",
    "count_pre_tokens",
    "encode_reference",
    "encode_trace",
    "load_pretrained",
    "load_tokenizer",
    "pretrained_info",
    "pretrained_names",
    "rank_lifetimes",
    "save_tokenizer",
    "split",
    "train",
    "train_files",
    "train_reference",
]
