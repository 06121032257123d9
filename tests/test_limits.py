"""Limits come from the environment, have safe defaults, are said where they apply, and hold."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from pagetest import open_page, plain, said

from ui import brought, controls, limits, state
from ui.languages import upload
from ui.limits import LIMITS, Limits, LimitsError, lower_uploads, read_limits

ROOT = Path(__file__).resolve().parents[1]


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


def test_streamlit_takes_the_largest_upload_that_a_page_offers_and_no_larger_one():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["maxUploadSize"] == max(Limits().upload_mb, Limits().tokenizer_mb)


def test_a_server_that_takes_less_lowers_what_the_pages_say():
    assert lower_uploads(Limits(), 30) == Limits(tokenizer_mb=30)
    assert lower_uploads(Limits(), 5) == Limits(upload_mb=5, tokenizer_mb=5)


def offered(app) -> set[int]:
    """What the uploaders of a page say that they take, in MB."""
    return {uploader.proto.max_upload_size_mb for uploader in app.get("file_uploader")}


@pytest.mark.parametrize(
    ("page", "params", "megabytes"),
    [
        ("app.py", {}, {LIMITS.upload_mb, LIMITS.tokenizer_mb}),
        ("pages/1_Train.py", {"source": "upload"}, {LIMITS.upload_mb}),
        ("pages/2_Compare.py", {}, {LIMITS.upload_mb, LIMITS.tokenizer_mb}),
        ("pages/3_Languages.py", {"parallel": "your own"}, {LIMITS.upload_mb}),
    ],
)
def test_each_uploader_says_its_own_limit(page, params, megabytes):
    assert offered(open_page(page, **params)) == megabytes


def test_tokenizer_files_beyond_the_limit_end_in_a_sentence(monkeypatch):
    monkeypatch.setattr(brought, "MOST_BYTES", 1_000)
    app = open_page()
    app.file_uploader(key=state.TOKENIZER_UPLOAD).set_value([("tokenizer.json", b"x" * 1_001, "application/json")])
    app.run()
    (error,) = [plain(error.value) for error in app.error]
    assert error.startswith("the files of a tokenizer must have at most 1,000 bytes here, but these have 1,001:")


def test_a_file_of_a_parallel_text_beyond_the_limit_ends_in_a_sentence(monkeypatch):
    monkeypatch.setattr(upload, "_MOST_FILE_BYTES", 10)
    app = open_page("pages/3_Languages.py", parallel="your own")
    app.file_uploader(key=state.PARALLEL_UPLOAD).set_value([("de.txt", b"eins\nzwei\ndrei\n", "text/plain")])
    app.run()
    (error,) = [plain(error.value) for error in app.error]
    assert error == "Each file must have at most 10 bytes, but de.txt has 15: take a part of it."


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
