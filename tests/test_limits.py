"""Limits come from the environment, have safe defaults, are said where they apply, and hold."""

from __future__ import annotations

import re
from dataclasses import asdict, fields

import pytest
from pagetest import open_page, plain, said

from ui import controls, limits, state
from ui.limits import LIMITS, Limits, LimitsError, read_limits


def test_each_limit_has_its_variable():
    environment = {f"BPE_{field.name.upper()}": str(number) for number, field in enumerate(fields(Limits), 1)}
    assert list(asdict(read_limits(environment)).values()) == list(range(1, len(environment) + 1))


def test_without_variables_the_defaults_hold():
    assert read_limits({"BPE_UPLOAD_MB": " "}) == Limits()


def test_the_table_of_the_module_is_the_code():
    listed = dict(re.findall(r"^\| `(BPE_\w+)` \| (\d+) \|", limits.__doc__ or "", re.MULTILINE))
    assert listed == {f"BPE_{name.upper()}": str(value) for name, value in asdict(Limits()).items()}


@pytest.mark.parametrize("value", ["0", "-3", "2.5", "many", "1e3", "٣"])
def test_a_limit_that_is_no_number_stops_the_start(value):
    with pytest.raises(LimitsError, match="BPE_JOB_SECONDS must be a whole number of at least 1"):
        read_limits({"BPE_JOB_SECONDS": value})


def test_limits_are_said_on_the_page_of_trainings():
    words = said(open_page("pages/1_Train.py"))
    assert f"up to {LIMITS.training_mb} MB, for up to {LIMITS.job_seconds} seconds" in words
    assert f"{LIMITS.jobs_at_once} trainings at a time" in words


def test_a_corpus_beyond_the_limit_ends_in_a_sentence(monkeypatch):
    monkeypatch.setattr(controls, "LIMITS", Limits(training_mb=1))
    app = open_page("pages/1_Train.py", source="paste")
    app.text_area(key=state.CORPUS_PASTE).set_value("ä" * 600_000).run()
    assert [plain(error.value) for error in app.error] == [
        "A corpus must have at most 1 MB here, but this one has 1.2 MB: take a part of it, or run the app on your own "
        "machine, where BPE_TRAINING_MB sets the limit."
    ]
