"""Whatever a link holds where a number belongs, the page opens and says so."""

from __future__ import annotations

import pytest
from pagetest import page_at, plain

NUMBERS = [
    ("pages/1_Train.py", {}, "merges"),
    ("pages/1_Train.py", {}, "least"),
    ("pages/6_Vocabulary.py", {}, "shortest"),
    ("pages/5_Quirks.py", {"quirk": "Numbers"}, "integer"),
]


@pytest.mark.parametrize("value", ["inf", "nan", "9" * 400, "1e9", "-", "٣"])
@pytest.mark.parametrize(("page", "params", "name"), NUMBERS, ids=lambda value: str(value))
def test_what_is_no_number_is_dropped_from_the_link(page, params, name, value):
    app = page_at(page, **params, **{name: value}).run()
    assert not app.exception
    if not app.get("progress"):  # else the notice comes with the result
        assert any(value[:20] in plain(warning.value) for warning in app.warning)
    assert name not in app.query_params
    app.run()
    assert not app.exception
