"""The page Algorithms, through AppTest and its pure parts: every number equal to `bpe`'s, steps, links, bad inputs."""

from __future__ import annotations

import doctest
import json
import threading
from itertools import pairwise
from math import isclose

import numpy as np
import pytest
from pagetest import finished, open_page, page_at, plain, said

from bpe import (
    LongestMatch,
    TrainSettings,
    UnigramSettings,
    UnigramTokenizer,
    WordPieceSettings,
    compress_pairs,
    count_dropout,
    load_pretrained,
    train,
    train_unigram,
    train_wordpiece,
)
from bpe.bench import lay_out_round, lay_out_step
from bpe.errors import StoppedError
from bpe.samples import load_sample, load_word_counts
from ui import state
from ui.algorithms import about, bench, charts, digits, dropout, gage, greedy, lattice, models, race, runners
from ui.algorithms.charts import Curve, Spread, lattice_chart, lattice_rows, race_chart, spread_chart
from ui.algorithms.menu import PARTS
from ui.algorithms.runners import NAMES, run_race, tokens_of
from ui.choosing import Mine
from ui.compute import Corpus
from ui.jobs import Job
from ui.languages.contenders import find_contender

PAGE = "pages/4_Algorithms.py"
HUG = load_word_counts("hug-pug")
LOWEST = load_word_counts("lowest")


def opened(**params):
    app = open_page(PAGE, **params)
    assert not app.error, app.error
    return app


def strips(app) -> dict[str, str]:
    """Return the rows of tokens that a page drew: title -> labels joined by bars."""
    drawn = [json.loads(component.proto.json or "{}") for component in app.get("bidi_component")]
    return {
        row["title"]: "|".join("".join(text for text, _ in token["runs"]) for token in row["tokens"])
        for data in drawn
        for row in data.get("strips", [])
    }


def column(app, name: str, number: int = 0) -> list:
    return app.dataframe[number].value[name].tolist()


def press(app, label: str):
    return finished(next(button for button in app.button if button.label == label).click().run())


def warnings(app) -> str:
    return "\n".join(plain(warning.value) for warning in app.warning)


def errors(app) -> str:
    return "\n".join(plain(error.value) for error in app.error)


@pytest.mark.parametrize("part", list(PARTS))
def test_every_part_opens_on_something_and_says_what_to_try(part):
    app = opened(algorithm=part)
    assert not app.warning
    assert "Try next:" in said(app)
    assert len(app.get("bidi_component")) + len(app.get("plotly_chart")) >= 1
    assert any("how it works" in expander.label for expander in app.expander)


@pytest.mark.parametrize("module", [bench, charts, digits, dropout, gage, greedy, lattice, models, race, runners])
def test_examples_in_the_modules(module):
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_every_algorithm_has_a_formula_a_source_and_a_user():
    for entry in about.ABOUT.values():
        assert entry.paragraph
        assert entry.formulas
        assert all(formula.count("{") == formula.count("}") for formula in entry.formulas)
        assert entry.used_by
        assert all(title and address.startswith("http") for title, address in entry.sources)


# ---------------------------------------------------------------------------------------------- bench


def chars(table, **options):
    return train(table, TrainSettings(base="chars", split="whitespace", num_merges=500, min_pair_count=1, **options))


def test_the_bench_opens_on_the_textbook_table():
    app = opened()
    counts = dict(
        zip(zip(column(app, "left"), column(app, "right"), strict=True), column(app, "pair count"), strict=True)
    )
    # e s: newest 6, widest 3; s t the same; l o: low 5, lower 2; w e: lower 2, newest 6.
    assert [counts[pair] for pair in (("e", "s"), ("s", "t"), ("l", "o"), ("w", "e"))] == [9, 9, 7, 8]
    assert column(app, "")[:3] == ["wins the tie", "ties", ""]
    assert "Next: **e + s**, which occurs 9 times. As high: s + t. The rule *first-seen* decides" in said(app)
    assert strips(app)["newest"] == "n|e|w|e|s|t"


def test_the_steps_of_the_bench_are_those_of_the_trainer():
    training = chars(LOWEST)
    for step in (0, 1, 4, training.num_merges - 1):
        app = opened(at=str(step))
        step_now = lay_out_step(training, step)
        assert column(app, "pair count") == [pair.pair_count for pair in step_now.pairs]
        words = {cut.word: b"|".join(cut.symbols).decode() for cut in step_now.words}
        assert {word: strips(app)[word] for word in words} == words


def test_next_previous_and_the_last_step():
    app = opened()
    assert next(button for button in app.button if button.label == "Previous").disabled
    app = press(press(app, "Next"), "Next")
    assert app.slider(key=state.BENCH_SLIDER).value == 2
    assert "Next: **l + o**" in said(app)
    assert strips(app)["Learned so far"] == "es|est"
    app = press(app, "Previous")
    assert app.slider(key=state.BENCH_SLIDER).value == 1
    last = chars(LOWEST).num_merges
    app = finished(app.slider(key=state.BENCH_SLIDER).set_value(last).run())
    assert next(button for button in app.button if button.label == "Next").disabled
    assert "Done." in said(app)


def test_play_goes_on_by_itself_and_pause_stops_it():
    app = press(opened(at="1"), "Play")
    assert app.slider(key=state.BENCH_SLIDER).value == 2
    app = press(app, "Pause")
    at = app.slider(key=state.BENCH_SLIDER).value
    assert finished(app.run()).slider(key=state.BENCH_SLIDER).value == at


def test_play_at_the_end_begins_anew():
    app = press(opened(at=str(chars(LOWEST).num_merges)), "Play")
    assert app.slider(key=state.BENCH_SLIDER).value == 1


def test_end_marks_and_ties_are_the_trainer_s():
    app = opened(mark="separate", tie="greatest-pair")
    training = chars(LOWEST, end_of_word="separate", tie_break="greatest-pair")
    first = lay_out_step(training, 0)
    assert [column(app, "left")[0], column(app, "right")[0]] == [
        first.pairs[0].left.decode(),
        first.pairs[0].right.decode(),
    ]
    assert "comes last in the alphabet" in said(app)
    assert strips(app)["low"] == "l|o|w|</w>"


def test_wordpiece_shows_the_arithmetic_of_its_score():
    app = opened(trains="WordPiece", table="hug-pug")
    assert "Next: **##g + ##s**, which scores 5 / (20 × 5) = 0.05, more than any other of 6 pairs." in said(app)
    rows = zip(*(column(app, name) for name in ("pair count", "left count", "right count", "score")), strict=True)
    for pair_count, left_count, right_count, score in rows:
        assert isclose(score, pair_count / (left_count * right_count), rel_tol=1e-5)
    assert strips(app)["Your word: bug"] == "b|##u|##g"


def test_a_word_that_wordpiece_cannot_cover_is_unknown():
    app = opened(trains="WordPiece", table="hug-pug", **{"try": "mug"})
    assert strips(app)["Your word: mug"] == "[UNK]"


def test_unigram_shows_what_goes_and_what_it_would_lose():
    app = opened(trains="Unigram", table="hug-pug")
    training = train_unigram(HUG, UnigramSettings(vocab_size=10, split="whitespace"))
    first = lay_out_round(training, 0)
    assert column(app, "token") == [row.token.decode() for row in first.tokens]
    assert column(app, "") == ["goes" if row.goes else "" for row in first.tokens]
    assert column(app, "probability") == pytest.approx([row.probability for row in first.tokens])
    assert strips(app)["Your word: bug"].replace("|", "") == "bug"
    app = press(app, "Next")
    assert column(app, "token") == [row.token.decode() for row in lay_out_round(training, 1).tokens]


def test_a_word_of_a_link_that_is_too_long_is_a_sentence_beside_the_step():
    app = open_page(PAGE, **{state.BENCH_WORD: "a" * 3_000})
    assert "must be at most" in errors(app)
    assert "Next" in [button.label for button in app.button]


def test_another_table_begins_at_its_first_step_with_its_own_word():
    app = finished(opened().slider(key=state.BENCH_SLIDER).set_value(5).run())
    app = finished(app.segmented_control(key=state.TABLE).set_value("hug-pug").run())
    assert app.slider(key=state.BENCH_SLIDER).value == 0
    assert "Your word: bug" in strips(app)
    assert not app.warning


def test_an_edited_table_is_trained():
    app = opened(at="9")
    app = finished(app.text_area(key=f"{state.WORD_COUNTS}-lowest").set_value("ab\t3\nabc\t2\n").run())
    assert app.slider(key=state.BENCH_SLIDER).max == 2
    app = finished(app.slider(key=state.BENCH_SLIDER).set_value(0).run())
    assert "Next: **a + b**, which occurs 5 times" in said(app)


def test_markup_in_a_table_stays_text():
    app = opened()
    table = "<b>$x$\t2\n:red[x]\t3\n"
    app = finished(app.text_area(key=f"{state.WORD_COUNTS}-lowest").set_value(table).run())
    assert not app.error
    assert ":red[x]" in strips(app)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("", "must hold"),
        ("low\t0\n", "must be from 1"),
        ("low\t-3\n", "must be from 1"),
        ("low\tmany\n", "whole number"),
        ("".join(f"word{n}\t1\n" for n in range(200)), "at most 60 words"),
        ("a" * 5_000 + "\t1\n", "at most 60 words of 1,000 characters"),
    ],
)
@pytest.mark.parametrize("kind", list(bench.KINDS))
def test_a_wrong_table_gives_a_sentence(kind, table, sentence):
    app = opened(trains=kind)
    app = finished(app.text_area(key=f"{state.WORD_COUNTS}-lowest").set_value(table).run())
    assert sentence in errors(app)


def test_a_vocabulary_smaller_than_the_alphabet_gives_a_sentence():
    app = open_page(PAGE, trains="Unigram", table="hug-pug", keeps="3")
    assert "at least the 7 single chars" in errors(app)


def test_a_table_of_single_letters_has_nothing_to_step_through():
    app = opened()
    app = finished(app.text_area(key=f"{state.WORD_COUNTS}-lowest").set_value("a\t3\n").run())
    assert not app.error
    assert "nothing to step through" in said(app)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"algorithm": "LZ77"}, "LZ77"),
        ({"trains": "Morfessor"}, "Morfessor"),
        ({"at": "1000000"}, "1000000"),
        ({"at": "x"}, "'x'"),
        ({"table": "none"}, "none"),
        ({"tie": "coin"}, "coin"),
    ],
)
def test_a_bad_link_gives_a_notice(params, told):
    app = opened(**params)
    assert told in warnings(app)
    assert app.slider(key=state.BENCH_SLIDER).value == 0


# ---------------------------------------------------------------------------------------------- race

ENGLISH = Corpus.of("English", load_sample("udhr-eng"))


def test_the_race_is_what_the_three_trainers_give():
    app = opened(algorithm="Three on one corpus", ids="400")
    text = ENGLISH.source
    trained = (
        train(text, TrainSettings(base="chars", vocab_size=400)).tokenizer,
        train_wordpiece(text, WordPieceSettings(vocab_size=400)).tokenizer,
        train_unigram(text, UnigramSettings(vocab_size=400)).tokenizer,
    )
    assert column(app, "algorithm") == list(NAMES)
    assert column(app, "vocabulary") == [400, 400, 400]
    assert column(app, "corpus, tokens") == [len(tokenizer.encode(text)) for tokenizer in trained]
    sentence = app.text_input(key=state.SENTENCE).value
    for name, tokenizer in zip(NAMES, trained, strict=True):
        shown = "|".join(bytes(token.name).decode() for token in tokens_of(tokenizer, sentence))
        assert strips(app)[name] == shown.replace(" ", "·")
    assert all(speed > 0 for speed in column(app, "encodes, MB/s"))


def test_the_three_are_the_reader_s_own_on_other_pages():
    app = opened(algorithm="Three on one corpus", ids="400")
    own = app.session_state["own-neighbours"]
    assert list(own) == list(race.OWN_NAMES)
    contender = find_contender("your Unigram", Mine(neighbours=own), TrainSettings(num_merges=0), ())
    tokenizer = contender.load(lambda done, asked: True)
    assert isinstance(tokenizer, UnigramTokenizer)
    app.switch_page("pages/3_Languages.py")
    app.run()
    assert set(race.OWN_NAMES) <= set(finished(app).multiselect(key=state.CONTENDERS).options)


def test_each_can_be_taken_away_as_a_file_that_gives_its_ids():
    app = press(opened(algorithm="Three on one corpus", ids="400"), "Make a tokenizer.json of each")
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == [f"{name} as tokenizer.json" for name in ("BPE", "WordPiece", "Unigram")]
    assert not app.error


def test_a_race_on_a_table_of_words():
    app = opened(algorithm="Three on one corpus", source="word counts", ids="50")
    assert column(app, "vocabulary")[0] <= 50
    assert "stopped at" in said(app)


def test_a_vocabulary_below_the_alphabet_ends_the_race_with_a_sentence():
    app = open_page(PAGE, algorithm="Three on one corpus", corpus="udhr-cmn_hans", ids="50")
    assert "vocab_size must be at least" in errors(app)


def test_curves_come_from_both_sides_and_end_at_what_is_encoded():
    outcome = run_race(ENGLISH, 300, 2, Job("race"))
    bpe_run, wordpiece, unigram = outcome.runners
    assert bpe_run.sizes[-1] == wordpiece.sizes[-1] == unigram.sizes[0] == 300
    assert bpe_run.num_tokens[-1] == bpe_run.num_encoded
    assert unigram.num_tokens[0] == unigram.num_encoded
    for runner in outcome.runners:
        assert all(np.diff(runner.sizes) > 0)
        assert runner.num_unknown == 0
    assert outcome.num_bytes == len(ENGLISH.source.encode())


def test_a_race_that_is_stopped_ends():
    job = Job("race")
    job.cancel()
    with pytest.raises(StoppedError):
        run_race(ENGLISH, 300, 2, job)


@pytest.mark.parametrize("make", [models.small_bpe, models.small_unigram])
def test_a_small_model_that_was_stopped_does_not_stand_in_for_the_whole(monkeypatch, make):
    def stopped(_slot, _board, key, work, **_options):
        job = Job(key)
        job.cancel()
        return work(job)

    monkeypatch.setattr(models, "awaited", stopped)
    with pytest.raises(StoppedError):
        make(models.Source("lowest", 30))


def test_a_race_of_a_table_counts_every_word_as_often_as_it_says():
    outcome = run_race(Corpus.of("hug", HUG), 50, 1, Job("race"))
    assert outcome.num_bytes == sum(len(word) * count for word, count in HUG.items())
    whole = sum(HUG.values())  # every word of the table is one token in the end
    assert [runner.num_encoded for runner in outcome.runners] == [whole, whole, whole]
    assert all(runner.fell_short for runner in outcome.runners)


def test_the_chart_of_the_race_tells_lines_apart_without_colour():
    curves = [Curve(name, np.array([10, 20]), np.array([100, 50])) for name in NAMES]
    figure = race_chart(curves, 20)
    assert len({line.line.dash for line in figure.data}) == len(NAMES)
    assert [list(line.y) for line in figure.data] == [[100, 50]] * 3


# ---------------------------------------------------------------------------------------------- lattice


def test_the_lattice_shows_the_best_path_and_the_n_best():
    app = opened(algorithm="Lattice", best="5")
    source = models.Source("udhr-eng", app.number_input(key=state.LEARNED_IDS).value)
    tokenizer = train_unigram(
        source.content, UnigramSettings(vocab_size=source.vocab_size, split="whitespace")
    ).tokenizer
    ways = tokenizer.n_best("internationally", 5)
    written = ["|".join(tokenizer.decode([token]) for token in way.ids) for way in ways]
    assert column(app, "tokens") == written
    assert column(app, "probability, %") == pytest.approx([100 * way.probability for way in ways])
    assert f"The likeliest way is **{written[0].replace('|', ' | ')}**" in said(app)


@pytest.mark.parametrize("word", ["", "two words", "x" * 25, " "])
def test_what_is_no_word_gives_a_sentence(word):
    app = opened(algorithm="Lattice")
    app = finished(app.text_input(key=state.LATTICE_WORD).set_value(word).run())
    assert "one word of 1 to 24 characters" in errors(app)


def test_an_unknown_character_is_shown_and_marked():
    app = opened(algorithm="Lattice", cutting="naïve")
    assert "never occurred in the sample" in said(app)


def test_arcs_on_one_line_never_overlap():
    tokenizer = train_unigram(ENGLISH.source, UnigramSettings(vocab_size=500)).tokenizer
    drawn = tokenizer.lattice("internationally")
    lines: dict[int, list[tuple[int, int]]] = {}
    for arc, row in zip(drawn.arcs, lattice_rows(drawn), strict=True):
        assert (row == 0) == arc.on_best_path
        lines.setdefault(row, []).append((arc.start, arc.end))
    for arcs in lines.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(arcs)))
    figure = lattice_chart(drawn)
    assert sum(len(bars.y) for bars in figure.data) == len(drawn.arcs)
    assert list(figure.layout.xaxis.ticktext) == list("internationally")


def test_samples_stand_beside_what_was_expected():
    tokenizer = UnigramTokenizer.of_probabilities({"a": 0.5, "b": 0.25, "ab": 0.25})
    ways = tokenizer.n_best("abab", 10)
    for alpha in (0.0, 0.5, 1.0, 3.0):
        shares = [tokenizer.sampling_probability("abab", way.ids, alpha) for way in ways]
        assert isclose(sum(shares), 1)
    figure = spread_chart([Spread([b"ab"], 0.6, 0.5), Spread([b"a", b"b"], 0.4, 0.5)])
    assert list(figure.data[0].x) == [60.0, 40.0]
    assert list(figure.data[1].x) == [50.0, 50.0]
    assert list(figure.layout.yaxis.ticktext) == ["ab", "a|b"]


# ---------------------------------------------------------------------------------------------- dropout


def test_the_spread_is_that_of_the_package():
    app = opened(algorithm="Dropout", p="0.3", samples="500", seed="7")
    tokenizer = train(ENGLISH.source, TrainSettings(base="chars", split="whitespace", vocab_size=400)).tokenizer
    ways = count_dropout(tokenizer, "internationally", 0.3, num_samples=500, seed=7)
    assert f"is cut in **{len(ways):,} ways** in 500 samples; {dropout.mean_tokens(ways):.2f} tokens" in said(app)


def test_without_dropout_there_is_one_way_and_with_all_of_it_characters():
    assert "is cut in **1 way** in" in said(opened(algorithm="Dropout", p="0.0"))
    app = opened(algorithm="Dropout", p="1.0")
    assert strips(app) == {"× 1,000": "|".join("internationally")}


def test_a_text_with_unknown_characters_gives_a_sentence():
    app = open_page(PAGE, algorithm="Dropout", dropped="日本")
    assert "this text holds" in errors(app)


def test_the_reader_s_own_merges_can_be_dropped():
    app = page_at("pages/1_Train.py", merges="100")
    finished(app.run())
    app.switch_page(PAGE)
    app.query_params[state.ALGORITHM] = "Dropout"
    app.query_params[state.DROPOUT_MERGES] = state.OWN_NAME
    app = finished(app.run())
    assert not app.error
    assert "Trained here on" in said(app)


# ---------------------------------------------------------------------------------------------- longest match


def test_unit_is_cut_in_two_ways():
    app = opened(algorithm="Longest match", vocabulary="textbook")
    app = press(app, "unit")
    assert strips(app)["unit by rank replay"] == "u|ni|t"
    assert strips(app)["unit by longest match"] == "un|i|t"


def test_differences_are_those_of_the_package():
    app = opened(algorithm="Longest match")
    text = greedy.examples()["Genesis"]
    tokenizer = load_pretrained("gpt2")
    differences = LongestMatch(tokenizer).differences(text)
    assert column(app, "times") == [difference.num_occurrences for difference in differences]
    assert f"**{len(differences):,} different pre-tokens**" in said(app)


def test_a_text_on_which_both_agree_says_so():
    app = opened(algorithm="Longest match")
    app = finished(app.text_area(key=state.TEXT_AREA).set_value("the").run())
    assert "agree on this text" in app.info[0].value


# ---------------------------------------------------------------------------------------------- compression, digits


def test_the_compression_of_the_textbook_string():
    app = opened(algorithm="Compression")
    assert "11 bytes → 5 of data + 9 of table" in said(app)
    assert column(app, "replaced") == [2, 2, 2]
    assert column(app, "stands for") == ["aa", "aaa", "aaab"]
    assert strips(app)["after pass 3"] == "⟨fd⟩|d|⟨fd⟩|a|c"


def test_what_a_pass_saves_adds_up():
    data = ("she sells sea shells " * 9).encode()
    compressed = compress_pairs(data)
    states = gage.data_after(data, compressed.passes)
    assert states[-1] == compressed.data
    assert [len(after) for after in states[1:]] == [step.num_bytes for step in compressed.passes]
    assert len(data) - sum(gage.pass_table(data, compressed)["saved"]) == compressed.num_bytes


@pytest.mark.parametrize("text", ["", "a", "\ud800", "日本日本", "x" * 2_000])
def test_any_short_text_is_compressed_and_expanded(text):
    app = opened(algorithm="Compression")
    app = finished(app.text_area(key=state.GAGE_TEXT).set_value(text.encode("utf-8", "replace").decode()).run())
    assert not app.error
    assert "Expanded again it is the text: **yes**" in said(app)


def test_a_long_text_to_compress_gives_a_sentence():
    app = opened(algorithm="Compression")
    app = finished(app.text_area(key=state.GAGE_TEXT).set_value("x" * 2_001).run())
    assert "at most 2,000 bytes" in errors(app)


def test_digits_by_place_value_beside_real_vocabularies():
    app = opened(algorithm="Digits", number="1234567")
    assert "By place value: **1m 234k 567**" in said(app)
    assert strips(app)["Triadic tokens"] == "1|234|567"
    assert strips(app)["cl100k_base"] == "123|456|7"


@pytest.mark.parametrize("number", ["", "abc", "1.2.3", "12,34", "-5"])
def test_what_is_no_number_gives_a_sentence(number):
    app = opened(algorithm="Digits")
    app = finished(app.text_input(key=state.TRIAD_NUMBER).set_value(number).run())
    assert "Number must be digits" in errors(app)


def test_small_tokenizers_are_made_once():
    made = []

    def work(job):
        made.append(threading.get_ident())
        return UnigramTokenizer.of_probabilities({"a": 1.0})

    board = models._made()
    job = board.start("once", work, keep=lambda result: True)
    assert job.wait(10)
    assert board.known("once") is job.result
    assert len(made) == 1
