"""What each algorithm is, in a paragraph, its formulas, its source, and which deployed models use it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import streamlit as st

__all__ = ["ABOUT", "About", "show_about"]


@dataclass(frozen=True)
class About:
    """One algorithm. Texts are Markdown, formulas are LaTeX, each short enough for a phone.

    sources   title and address of each
    used_by   deployed models, or that there are none
    """

    name: str
    paragraph: str
    formulas: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    used_by: str


_WORDPIECE_SOURCES = (
    ("Schuster and Nakajima 2012, Japanese and Korean Voice Search", "https://doi.org/10.1109/ICASSP.2012.6289079"),
    ("Wu et al. 2016, arXiv 1609.08144", "https://arxiv.org/abs/1609.08144"),
)
_KUDO = ("Kudo 2018, Subword Regularization, arXiv 1804.10959", "https://arxiv.org/abs/1804.10959")

ABOUT = MappingProxyType(
    {
        "bpe": About(
            name="Byte-pair encoding",
            paragraph=(
                "Count every pair of neighbours, merge the most frequent one into a new symbol, repeat. The merges, "
                "in the order in which they were learned, *are* the tokenizer: a new word is cut by replaying them."
            ),
            formulas=(r"(u, v)^{*} = \arg\max_{(u, v)}\; \mathrm{count}(u\,v)",),
            sources=(("Sennrich et al. 2016, arXiv 1508.07909", "https://arxiv.org/abs/1508.07909"),),
            used_by=(
                "GPT-2 to GPT-4o, Llama 3, Qwen, DeepSeek and RoBERTa start from bytes; Llama 2, Mistral v1 and "
                "Gemma from characters, with single bytes for what is rare (SentencePiece)."
            ),
        ),
        "wordpiece": About(
            name="WordPiece",
            paragraph=(
                "Merge the pair that gains most over chance: its count divided by the counts of its two symbols. A "
                "pair of rare symbols that only occur together beats a frequent pair of frequent symbols. Encoding "
                "forgets the merges and takes the longest token that fits; `##` marks a token that goes on inside a "
                "word, and a word that cannot be covered is one `[UNK]`. Google never published its trainer; this "
                "is the rule as the literature describes it. The trainer of Hugging Face's library, which calls "
                "itself WordPiece, counts pairs like byte-pair encoding."
            ),
            formulas=(r"\mathrm{score}(u, v) = \frac{\mathrm{count}(u\,v)}{\mathrm{count}(u)\;\mathrm{count}(v)}",),
            sources=_WORDPIECE_SOURCES,
            used_by="BERT, DistilBERT, ELECTRA, MobileBERT, and many models for search that began as BERT.",
        ),
        "unigram": About(
            name="Unigram",
            paragraph=(
                "The other way round: begin with far too many substrings, give each a probability by expectation "
                "maximization, take away those whose loss hurts the likelihood least, repeat until the vocabulary "
                "has its size. A word is cut the likeliest way. As every way has a probability, a model can also be "
                "trained on cuts drawn by chance."
            ),
            formulas=(
                r"\mathbf{x}^{*} = \arg\max_{\mathbf{x} \in S(X)} \prod_i p(x_i)",
                r"\mathrm{loss}(x) = \mathbb{E}[\mathrm{count}(x)]\;\Delta(x)",
                r"\Delta(x) = \log p(x) - \max_{\mathbf{y} \ne x} \sum_i \log p(y_i)",
            ),
            sources=(_KUDO,),
            used_by=("T5, mT5, ALBERT, XLNet, XLM-R, mBART, PEGASUS and DeBERTa v3, all through SentencePiece."),
        ),
        "sampling": About(
            name="The lattice, and subword regularization",
            paragraph=(
                "All ways to cut a word form a lattice: nodes between its characters, an arc for every token that "
                "fits between two of them. The best path is the encoding. Sampling draws a path instead, each with "
                "its probability to the power of alpha, made to add up to one: with alpha 0 any way is as likely as "
                "the next, with a high alpha only the best is left. A model that is trained on samples sees rare "
                "words cut in several ways and copes better with spelling it has not met."
            ),
            formulas=(
                r"P(\mathbf{x}) = \prod_i p(x_i)",
                r"P_{\alpha}(\mathbf{x}) = P(\mathbf{x})^{\alpha} \Big/ \sum_{\mathbf{y}} P(\mathbf{y})^{\alpha}",
            ),
            sources=(_KUDO,),
            used_by=(
                "Training of translation models with SentencePiece (`enable_sampling`); deployed models encode the "
                "best way."
            ),
        ),
        "dropout": About(
            name="BPE-dropout",
            paragraph=(
                "The same merges as always, but at every step each possible one is left out with probability p, and "
                "what is left decides. With p = 0 it is ordinary byte-pair encoding, with p = 1 nothing is merged. "
                "It gives byte-pair encoding what sampling gives Unigram: several ways to see one word, in training "
                "only."
            ),
            formulas=(r"P(\text{a merge is left out}) = p",),
            sources=(("Provilkov et al. 2020, arXiv 1910.13267", "https://arxiv.org/abs/1910.13267"),),
            used_by=(
                "Training of translation models; offered by `tokenizers`, subword-nmt and YouTokenToMe. Deployed "
                "models encode with p = 0."
            ),
        ),
        "greedy": About(
            name="Longest match",
            paragraph=(
                "A vocabulary alone does not say how a text is cut. Byte-pair encoding replays its merges in the "
                "order in which they were learned; longest match reads from the left and takes the longest token "
                "that fits. Mostly the two agree. Where they part, the model gets tokens that it never saw in that "
                "place."
            ),
            formulas=(
                r"t_i = \text{longest token from } e_{i-1}",
                r"e_i = e_{i-1} + |t_i|",
            ),
            sources=(
                ("Uzan et al. 2024, Greed is All You Need, arXiv 2403.01289", "https://arxiv.org/abs/2403.01289"),
            ),
            used_by=(
                "BERT and its family encode by longest match, over a vocabulary made for it. Over a BPE vocabulary "
                "it is a common mistake of programs that only read the vocabulary file."
            ),
        ),
        "gage": About(
            name="Gage's byte-pair compression",
            paragraph=(
                "Where it began, a compressor: replace the most frequent pair of bytes by a byte value that does "
                "not occur, note it in a table, repeat while a byte value is free. Tokenizers kept the loop and "
                "dropped the limit: their new symbols are numbers beyond the bytes, and the table is the "
                "vocabulary."
            ),
            formulas=(r"\text{saved} = \text{pairs replaced} - 3",),
            sources=(
                (
                    "Gage 1994, A New Algorithm for Data Compression, The C Users Journal 12(2)",
                    "http://www.pennelynn.com/Documents/CUJ/HTML/94HTML/19940045.HTM",
                ),
            ),
            used_by="No language model: its descendants are all of byte-pair encoding.",
        ),
        "triadic": About(
            name="Triadic digit groups",
            paragraph=(
                "Frequency decides how byte-pair encoding cuts a number, so the place value of a digit depends on "
                "its neighbours. Triadic tokens cut by place value instead: in threes from the right before the "
                "decimal point, from the left after it, each with a mark for its power of ten. That cutting from "
                "the right helps a model to add has been measured (Singh and Strouse); the scheme with marks is a "
                "proposal that leaves experiments to later work."
            ),
            formulas=(
                r"12345678.1234",
                r"\to\; 12_{m}\; 345_{k}\; 678 \;.\; 123_{p}\; 4_{pp}",
            ),
            sources=(
                ("Chetverina 2026, arXiv 2604.11582", "https://arxiv.org/abs/2604.11582"),
                ("Singh and Strouse 2024, Tokenization counts, arXiv 2402.14903", "https://arxiv.org/abs/2402.14903"),
            ),
            used_by=(
                "No deployed model marks magnitudes. cl100k, o200k and Llama 3 cut digits in threes, but from the "
                "left; Llama 2, Gemma and Qwen give every digit a token of its own."
            ),
        ),
    }
)
"""Short name -> what is said of it."""


def show_about(*names: str) -> None:
    """Draw what is said of some algorithms, folded away."""
    for name in names:
        about = ABOUT[name]
        with st.expander(f"{about.name}: how it works, where it is from, who uses it", icon=":material/menu_book:"):
            st.markdown(about.paragraph)
            for formula in about.formulas:
                st.latex(formula)
            st.markdown("**Used by:** " + about.used_by)
            st.caption("Source: " + " · ".join(f"[{title}]({address})" for title, address in about.sources))
