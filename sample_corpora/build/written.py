"""The page of emoji and chat: written for this project, so its file is its own source."""

from __future__ import annotations

from .entries import CORPORA, Entry

__all__ = ["build"]


def build() -> list[Entry]:
    """Return the hand-written text as it stands in the repository."""
    file = "texts/emoji-chat.txt"
    return [
        Entry(
            name="emoji-chat",
            title="Emoji and chat in several languages",
            language="mul",
            language_name="Several languages",
            script="Zyyy",
            kind="text",
            source="Written for this project",
            licence="MIT, as this project",
            file=file,
            text=(CORPORA / file).read_bytes().decode("utf-8"),
        )
    ]
