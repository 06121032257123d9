"""Fetches a tokenizer.json from the Hugging Face hub, by the id of a model: one of the few things that need a network.

Nothing here runs unless a reader asks for an id. Only the one file is fetched, from the one host, up to a size; it is
read by formats/ like any other file. Gated models and private ones need a login, which this program does not have.
"""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request

from bpe.errors import FormatError, SettingsError, UnavailableError

__all__ = ["HUB", "fetch_tokenizer_file"]

HUB = "https://huggingface.co"
MOST_BYTES = 64_000_000
SECONDS = 8.0
"""How long to wait for the hub: for an answer, and for each part of it."""

_FILE = "tokenizer.json"
_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}")


def fetch_tokenizer_file(hub_id: str, *, hub: str = HUB) -> dict[str, bytes]:
    """Return the tokenizer.json of a model, as name -> content, to be given to `load_tokenizer`.

    Raises:
        SettingsError: this is no id.
        UnavailableError: the hub cannot be reached, has no such file, or asks for a login.
        FormatError: the file is too large.
    """
    if not _ID.fullmatch(hub_id) or ".." in hub_id:
        raise SettingsError(
            f"a hub id must read like openai-community/gpt2, but is {hub_id[:80]!r}; copy it from the page of the model"
        )
    way_out = f"download {_FILE} of this model elsewhere and open it as a file"
    try:
        with urllib.request.urlopen(f"{hub}/{hub_id}/resolve/main/{_FILE}", timeout=SECONDS) as answer:
            data: bytes = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error:
            raise UnavailableError(f"{_say_refusal(error.code, hub_id)}; {way_out}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise UnavailableError(f"the hub cannot be reached from this machine ({reason}); {way_out}") from None
    if len(data) > MOST_BYTES:
        raise FormatError(f"{_FILE} of {hub_id} must be at most {MOST_BYTES:,} bytes, but is larger; {way_out}")
    return {_FILE: data}


def _say_refusal(status: int, hub_id: str) -> str:
    if status in (401, 403):
        return (
            f"the hub gives {hub_id} only to those who are logged in and have agreed to its terms, or has no such model"
        )
    if status == 404:
        return f"the hub has no {_FILE} for {hub_id}; check the id, or"
    return f"the hub answered with status {status}"
