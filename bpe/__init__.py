"""Byte-pair encoding for reading, measuring and looking at.

Start with `train` and `Tokenizer`; read the modules in the order pretokenize, trainer, encoder, lifetimes,
tokenizer. Plain data in, plain data out: nothing here draws, only the command line prints, and only hub.py reaches
the network, when it is asked for a tokenizer by name.
"""

from bpe.dropout import count_dropout, encode_dropout
from bpe.encoder import encode_reference, encode_trace, rank_lifetimes
from bpe.errors import BpeError
from bpe.formats import load_tokenizer, save_tokenizer
from bpe.gage import compress_pairs, expand_pairs
from bpe.greedy import LongestMatch
from bpe.lifetimes import INSIDE, NEVER, WALL, History
from bpe.pretokenize import SPLIT_PATTERNS, count_pre_tokens, split
from bpe.pretrained import load_pretrained, pretrained_info, pretrained_names
from bpe.rank_tokenizer import RankTokenizer
from bpe.settings import TrainSettings
from bpe.tokenizer import UNKNOWN_ID, MergeRows, Tokenizer, TokenizerLike
from bpe.trainer import train, train_files, train_reference
from bpe.training import Contest, Merge, Training
from bpe.triadic import cut_digits, triadic_tokens, triads, write_triads
from bpe.unigram import Lattice, UnigramTokenizer
from bpe.unigram_training import UnigramSettings, UnigramTraining, train_unigram
from bpe.wordpiece import WordPieceTokenizer
from bpe.wordpiece_training import WordPieceSettings, WordPieceTraining, train_wordpiece

__all__ = [
    "INSIDE",
    "NEVER",
    "SPLIT_PATTERNS",
    "UNKNOWN_ID",
    "WALL",
    "BpeError",
    "Contest",
    "History",
    "Lattice",
    "LongestMatch",
    "Merge",
    "MergeRows",
    "RankTokenizer",
    "Tokenizer",
    "TokenizerLike",
    "TrainSettings",
    "Training",
    "UnigramSettings",
    "UnigramTokenizer",
    "UnigramTraining",
    "WordPieceSettings",
    "WordPieceTokenizer",
    "WordPieceTraining",
    "compress_pairs",
    "count_dropout",
    "count_pre_tokens",
    "cut_digits",
    "encode_dropout",
    "encode_reference",
    "encode_trace",
    "expand_pairs",
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
    "train_unigram",
    "train_wordpiece",
    "triadic_tokens",
    "triads",
    "write_triads",
]
