"""The one list of pages, in the order of the story."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["PAGES", "Page"]


class Page(NamedTuple):
    """A page: file, name in the navigation, icon, and the question it answers."""

    file: str
    name: str
    icon: str
    question: str

    @property
    def path(self) -> str:
        """Where it is below the root of the app; Streamlit makes it from the file.

        >>> PAGES["train"].path, PAGES["tokenize"].path
        ('Train', '')
        """
        return "" if self.file == "app.py" else Path(self.file).stem.partition("_")[2]


PAGES = {
    "tokenize": Page("app.py", "Tokenize", ":material/text_fields:", "What does a model read when it reads this?"),
    "train": Page("pages/1_Train.py", "Train", ":material/merge:", "What would a tokenizer learn from this text?"),
    "compare": Page(
        "pages/2_Compare.py", "Compare", ":material/compare_arrows:", "Who splits this best, and where do they differ?"
    ),
    "languages": Page(
        "pages/3_Languages.py", "Languages", ":material/translate:", "What does each language pay for the same words?"
    ),
    "algorithms": Page("pages/4_Algorithms.py", "Algorithms", ":material/account_tree:", "What if it were not BPE?"),
    "quirks": Page("pages/5_Quirks.py", "Quirks", ":material/extension:", "What do tokens do to letters and digits?"),
    "vocabulary": Page("pages/6_Vocabulary.py", "Vocabulary", ":material/list:", "Which tokens are there at all?"),
    "costs": Page("pages/7_Costs.py", "Costs", ":material/savings:", "What does a vocabulary cost, and save?"),
    "factcheck": Page(
        "pages/8_Fact_check.py", "Fact check", ":material/fact_check:", "What is said about tokens, and is it true?"
    ),
}
