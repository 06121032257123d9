"""The page Train, through AppTest: corpora, settings, stops, links, and inputs that break such pages."""

from __future__ import annotations

import time

import pytest
from pagetest import finished, head_of, open_page, page_at, plain, said

from bpe import TrainSettings, train
from bpe.samples import load_sample
from ui import compute, state

PAGE = "pages/1_Train.py"


def opened(**params):
    return open_page(PAGE, **params)


def test_it_opens_on_a_trained_sample():
    app = opened()
    training = train(load_sample("udhr-eng"), TrainSettings(num_merges=500))
    assert head_of(app)["num_merges"] == training.num_merges == 500
    assert "Learned the 500 merges that were asked for." in said(app)
    assert f"The curve: {training.num_tokens[-1]:,} tokens after 500 merges" in said(app)


def test_the_step_of_the_link_rules_contest_and_curve():
    app = opened(merges="50", step="3")
    training = train(load_sample("udhr-eng"), TrainSettings(num_merges=50))
    assert head_of(app)["step"] == 3
    assert f"The curve: {training.num_tokens[3]:,} tokens after 3 merges" in said(app)
    merge = training.merges[3]
    name = training.tokenizer.token_bytes
    pair = " + ".join(name(token).decode().replace(" ", "·") for token in (merge.left, merge.right))
    assert f"{pair} comes next: it occurs {merge.pair_count} times" in said(app)


def test_a_textbook_table_with_end_marks_names_the_tie_and_the_rule():
    app = opened(source="word counts", base="chars", mark="separate", step="0", merges="10")
    assert "e + s comes next: it occurs 9 times. As often occur: s + t, t + </w>." in said(app)
    assert "The rule *first-seen* decides" in said(app)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"corpus": "udhr-eng", "merges": "5000"}, "no pair occurs twice any more"),
        ({"source": "word counts", "table": "low-look", "base": "chars", "least": "1"}, "every pre-token is one token"),
        ({"merges": "0"}, "Learned the 0 merges"),
    ],
)
def test_an_early_stop_reads_as_a_sentence(params, sentence):
    assert sentence in said(opened(**params))


@pytest.mark.parametrize("text", ["", "x", "abcdefgh"])
def test_a_text_with_nothing_to_merge_is_explained(text):
    app = opened(source="paste")
    app.text_area(key=state.CORPUS_PASTE).set_value(text).run()
    finished(app)
    assert "Stopped after 0 merges" in said(app)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"corpus": "udhr-xxx"}, "sample 'udhr-xxx'"),
        ({"merges": "999999"}, "must be a whole number from 0 to 50,000"),
        ({"merges": "9" * 300}, "must be a whole number from 0 to 50,000"),
        ({"step": "9" * 5_000}, "which is no number"),
        ({"tie": "random"}, "tie rule 'random'"),
        ({"merges": "10", "step": "50"}, "only 10 merges"),
        ({"source": "telepathy"}, "kind of corpus"),
    ],
)
def test_a_bad_link_opens_the_nearest_view_and_says_so(params, says):
    app = opened(**params)
    assert any(says in plain(warning.value) for warning in app.warning)
    assert head_of(app)["num_merges"] > 0


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("low 5\nlow 6", "must stand on one line"),
        ("low\t-1", "line 1"),
        ("low", "line 1"),
        ("", "must hold at least one line"),
    ],
)
def test_a_malformed_table_ends_in_a_sentence_and_stays(table, says):
    app = opened(source="word counts")
    area = app.text_area(key=f"{state.WORD_COUNTS}-lowest")
    area.set_value(table).run()
    assert not app.exception
    assert any(says in plain(error.value).lower() for error in app.error)
    assert app.text_area(key=f"{state.WORD_COUNTS}-lowest").value == table


@pytest.mark.parametrize("pattern", ["([", ""])
def test_a_pattern_that_does_not_compile_ends_in_a_sentence(pattern):
    app = opened(split="own", pattern="[a-z]+")
    app.text_input(key=state.PATTERN).set_value(pattern).run()
    assert not app.exception
    assert any("split must be" in plain(error.value).lower() for error in app.error)


def test_long_training_shows_progress_and_can_be_stopped(monkeypatch):
    def run_until_stopped(corpus, settings, progress):
        """Train with the engine in Python, and stand at 100 merges: on no machine it is through before the reader."""

        def stand(done, asked):
            goes_on = progress(done, asked)
            while goes_on and done >= 100:
                time.sleep(0.02)
                goes_on = progress(done, asked)
            return goes_on

        return train(corpus.source, settings, engine="python", progress=stand)

    monkeypatch.setattr(compute, "run_training", run_until_stopped)
    app = page_at(PAGE, corpus="kjv", merges="20000").run()
    assert not app.exception
    stop = next(button for button in app.button if button.label.startswith("Stop here"))
    stop.click().run()
    finished(app)
    assert "Cancelled after" in said(app)
    assert "of its 4,139,730 bytes are drawn" in said(app)


def test_a_stopped_training_does_not_stand_in_for_one_that_ran_to_its_end(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(
            compute,
            "run_training",
            lambda corpus, settings, _progress: train(corpus.source, settings, progress=lambda done, asked: done < 3),
        )
        stopped = opened(merges="23")
    assert "Cancelled after 3 merges" in said(stopped)
    assert head_of(stopped)["num_merges"] == 3
    assert head_of(opened(merges="23"))["num_merges"] == 23


def test_characters_never_seen_are_shown_as_unknown_in_the_sentence():
    app = opened(source="word counts", base="chars", sentence="low ☃ newest")
    # the snowman and the two spaces: the table holds words only
    assert "3 symbols of your sentence never occurred in the corpus" in said(app)
    assert head_of(app)["views"][1]["title"] == "Your sentence"


def test_the_trained_tokenizer_is_offered_on_the_first_page():
    app = page_at(tokenizer="yours")
    training = train("low low lower", TrainSettings(num_merges=3, min_pair_count=1))
    app.session_state["own-tokenizer"] = state.OwnTokenizer(training, "key", "a corpus", 3)
    finished(app.run())
    assert "Trained here on a corpus, 3 merges" in said(app)
    assert "joined token bytes equal the text: **yes**" in said(app)
