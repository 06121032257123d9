"""The page Languages, through AppTest and its pure parts: figures equal to those of `bpe`, links, and bad inputs."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest
from pagetest import finished, head_of, open_page, page_at, said
from streamlit.testing.v1 import AppTest

from bpe import Tokenizer, TrainSettings, train
from bpe.errors import CorpusError, StoppedError
from bpe.metrics import MEASURES, count_tokens, ratio_of_totals, token_distribution, whole_words
from bpe.parallel import load_parallel, parse_parallel_files
from bpe.pretrained import load_pretrained
from ui import state
from ui.brought import BroughtTokenizer
from ui.choosing import Mine
from ui.jobs import Job
from ui.kept import Budget
from ui.languages.bill import Workload, charge
from ui.languages.charts import Axis, bars, flips, heat_map, moving_most, ranks, write_value
from ui.languages.compute import Answer, Grid, Shelf, answer
from ui.languages.contenders import (
    RAW_BYTES,
    TRAINED_NAMES,
    Contender,
    contender_names,
    find_contender,
    training_text,
)
from ui.languages.question import ask
from ui.languages.views import table_csv

PAGE = "pages/3_Languages.py"
SETTINGS = TrainSettings(num_merges=50, split="o200k")
EVERY_ARTICLE = tuple(range(30))


def opened(**params) -> AppTest:
    return open_page(PAGE, **params)


def contenders(*names):
    return tuple(find_contender(name, Mine(), SETTINGS, ("eng", "hin")) for name in names)


def asked(codes, names, measures=("premium",), reference="eng", numbers=EVERY_ARTICLE, text=None):
    return ask(text or load_parallel("declaration"), codes, reference, contenders(*names), numbers, measures)


def answered(*arguments, **options) -> Answer:
    return answer(asked(*arguments, **options), Job("test"), Shelf(Budget(10**6)))


# --- the page -----------------------------------------------------------------------------------------


def test_it_opens_on_the_premium_in_twenty_languages_under_three_tokenizers():
    app = opened()
    figure = app.get("plotly_chart")[0].proto
    tokenizer, text = load_pretrained("o200k_base"), load_parallel("declaration")
    amharic, english = (count_tokens(tokenizer, text.units[code]).num_tokens.sum() for code in ("amh", "eng"))
    assert f"Amharic ({amharic / english:.2f}) pays most, English (1.00) least" in said(app).replace("**", "")
    assert "Counted over 30 articles of 30" in said(app)
    assert "gpt2" in figure.spec
    assert head_of(app)["views"][0]["title"] == "Amharic"


def test_article_1_alone_has_the_known_counts_and_no_interval():
    app = opened(units="1", view="table", languages=["Burmese"], tokenizers=["gpt2", "cl100k_base", "o200k_base"])
    row = app.dataframe[0].value.iloc[0]
    assert row["language"] == "Burmese"
    assert [row[name] for name in ("gpt2", "cl100k_base", "o200k_base")] == pytest.approx(
        [726 / 33, 512 / 33, 134 / 33]
    )
    assert "One alone has no interval" in said(app)


def test_the_reference_can_be_changed():
    app = opened(reference="Hindi", languages=["English", "Hindi"], tokenizers="gpt2", view="table")
    table = app.dataframe[0].value.set_index("language")["gpt2"]
    assert table["Hindi"] == 1
    assert table["English"] < 0.2
    assert "in Hindi" in said(app)


@pytest.mark.parametrize("view", ["bars", "heat map"])
@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_a_chart_with_definition_source_and_warning(view, measure):
    app = opened(view=view, measure=measure, languages=["English", "Finnish", "Korean"], tokenizers="gpt2")
    chart = app.get("plotly_chart")[0].proto
    assert "Finnish" in chart.spec
    assert all(part in said(app) for part in (MEASURES[measure].definition, MEASURES[measure].source, "Misleads when"))


def test_without_icu_languages_without_spaces_have_no_fertility_and_the_rest_has(monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr("bpe.metrics.words.importlib.import_module", refuse)
    app = opened(measure="fertility", view="table", languages=["English", "Thai"], tokenizers="gpt2")
    table = app.dataframe[0].value.set_index("language")["gpt2"]
    assert table["English"] > 1
    assert math.isnan(table["Thai"])
    assert "1 language without a value: no words without ICU" in said(app)
    app = opened(measure="fertility", languages=["Thai"], tokenizers="gpt2")
    assert "Tokens per grapheme need no words." in app.info[0].value


def test_rank_flips_show_chinese_worst_by_white_space_and_cheap_by_content():
    app = opened(view="rank flips", languages=["English", "Chinese (Simplified)", "Hindi", "German"], tokenizers="gpt2")
    assert "Chinese (Simplified) moves most" in said(app)
    assert "fertility by white space" in said(app).replace("*", "")


def test_the_bill_of_a_language_is_its_tokens_times_the_price():
    app = opened(view="bill", languages=["Hindi"], tokenizers="gpt2", price="2.5", amount="500000", window="8000")
    tokenizer, text = load_pretrained("gpt2"), load_parallel("declaration")
    hindi = count_tokens(tokenizer, text.units["hin"]).num_tokens.sum()
    words = sum(len(article.split()) for article in text.units["eng"])
    row = app.dataframe[0].value.iloc[0]
    assert row["tokens a month"] == pytest.approx(500_000 * hindi / words, rel=0.01)
    assert row["price a month"] == pytest.approx(2.5 * row["tokens a month"] / 1e6)
    assert row["words that fit"] == pytest.approx(8_000 * words / hindi, rel=0.01)
    assert "= 327,680 bytes a token" in said(app)


def test_tokenizers_trained_on_the_spot_are_measured_on_the_other_half():
    app = opened(tokenizers=list(TRAINED_NAMES), languages=["English", "Hindi"], learned="200", view="table")
    table = app.dataframe[0].value.set_index("language")
    english, hindi = (table.loc["Hindi", name] for name in TRAINED_NAMES[:2])
    assert hindi < 1 < english
    assert "Counted over 15 articles of 30: the even ones" in said(app)
    assert "200 merges learned from the odd articles in Hindi" in said(app).replace("**", "")


def test_interface_strings_leave_out_languages_they_lack_and_say_what_is_common():
    app = opened(parallel="interface strings", languages=["English", "Amharic", "Burmese"], tokenizers="gpt2")
    assert "Left out, because this text is not there in them: Amharic." in said(app)
    assert "those that all chosen languages have (Burmese has" in said(app)


def test_the_sessions_own_tokenizer_counts_at_its_step():
    training = train("the theme of the thesis", TrainSettings(num_merges=5))
    app = page_at(PAGE, tokenizers="yours", languages=["English", "German"], view="table")
    app.session_state["own-tokenizer"] = state.OwnTokenizer(training, "k", "a test", 2)
    finished(app.run())
    expected = Tokenizer(split="gpt2", merges=training.tokenizer.merges[:2])
    text = load_parallel("declaration")
    german, english = (count_tokens(expected, text.units[code]).num_tokens.sum() for code in ("deu", "eng"))
    assert app.dataframe[0].value.set_index("language").loc["German", "yours"] == pytest.approx(german / english)


def test_unknown_tokens_are_said_and_marked():
    training = train("abcdefghijklmnopqrstuvwxyz ABCDE", TrainSettings(base="chars", num_merges=0))
    app = page_at(PAGE, tokenizers="yours", languages=["English", "Hindi"])
    app.session_state["own-tokenizer"] = state.OwnTokenizer(training, "chars", "letters", 0)
    finished(app.run())
    (warning,) = app.warning
    assert "Hindi under yours (" in warning.value.replace("\\", "")
    assert "English" not in warning.value


@pytest.mark.parametrize(
    ("params", "notice"),
    [
        ({"languages": ["Hindi", "Klingon"]}, "Klingon"),
        ({"tokenizers": ["gpt2", "gpt9"]}, "gpt9"),
        ({"tokenizers": "yours"}, "yours"),
        ({"reference": "Klingon"}, "reference language"),
        ({"measure": "beauty"}, "measure"),
        ({"view": "pie"}, "view"),
        ({"parallel": "bible"}, "parallel text"),
        ({"read": "Klingon"}, "language to read"),
        ({"unit": "31"}, "31"),
        ({"tokenizers": "trained on Hindi", "learned": "-3"}, "merges"),
    ],
)
def test_what_a_link_asks_for_in_vain_is_said(params, notice):
    app = opened(**params)
    shown = [warning.value.replace("\\", "") for warning in app.warning]
    assert any("The link asks for" in warning and notice in warning for warning in shown), shown


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"units": "31"}, "Numbers must be from 1 to 30"),
        ({"units": "<b>"}, "Numbers must be like 1, 3-5"),
        ({"units": "1", "tokenizers": "trained on Hindi"}, "at least one even one"),
    ],
)
def test_units_that_cannot_be_counted_end_in_a_sentence(params, sentence):
    app = opened(**params)
    assert [sentence in error.value.replace("\\", "") for error in app.error] == [True]


def test_without_languages_it_asks_for_some():
    app = opened()
    app.multiselect(key=state.LANGUAGES).set_value([])
    finished(app.run())
    assert "Choose at least one language" in app.info[0].value


def test_examples_set_what_they_say():
    app = opened()
    app.button(key="languages-What if it had learned Hindi?").click()
    finished(app.run())
    assert app.multiselect(key=state.CONTENDERS).value == list(TRAINED_NAMES)
    app.button(key="languages-The usual chart").click()
    finished(app.run())
    assert app.selectbox(key=state.MEASURE).value == "fertility by white space"


def test_a_click_on_a_bar_opens_its_text():
    app = opened(languages=["English", "Arabic", "Thai"], tokenizers=["gpt2", "o200k_base"])
    app.session_state[state.READ_LANGUAGE] = "Arabic"
    app.session_state[state.READ_CONTENDER] = "o200k_base"
    finished(app.run())
    titles = [view["title"] for view in head_of(app)["views"]]
    assert titles == ["Arabic", "English"]
    assert head_of(app)["num_merges"] == load_pretrained("o200k_base").num_merges


# --- uploads ------------------------------------------------------------------------------------------


def upload(app, *files):
    app.file_uploader(key=state.PARALLEL_UPLOAD).set_value([(name, data, "text/plain") for name, data in files])
    return finished(app.run())


def test_own_files_are_compared_and_named_after_their_languages():
    app = upload(
        opened(parallel="your own", tokenizers="gpt2", view="table"),
        ("en.txt", b"All human beings\nare born free"),
        ("de.txt", "Alle Menschen\nsind frei geboren".encode("utf-8-sig")),
    )
    assert set(app.dataframe[0].value["language"]) == {"English", "German"}
    assert "de.txt: A byte order mark" in said(app)


def test_a_table_is_compared():
    app = upload(opened(parallel="your own", tokenizers="gpt2", view="table"), ("t.csv", "en,th\nyes,ใช่\n".encode()))
    assert set(app.dataframe[0].value["language"]) == {"English", "Thai"}


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([("en.txt", b"one\ntwo"), ("de.txt", b"eins")], "En.txt has 2, but de.txt has 1"),
        ([("en.txt", b"one language")], "must name at least two languages"),
        ([("t.csv", b"en,de\nyes,\n")], "de is empty"),
        ([("en.txt", b"one"), ("de.txt", b"")], "is empty (0 bytes)"),
        ([("en.txt", b"one"), ("de.txt", b"PK\x03\x04")], "zip archive"),
        ([("en.txt", b"one"), ("en.txt", b"two")], "two are called en.txt"),
    ],
)
def test_files_that_do_not_line_up_end_in_a_sentence(files, sentence):
    app = upload(opened(parallel="your own"), *files)
    (error,) = app.error
    assert sentence.lower() in error.value.replace("\\", "").lower()


def test_a_file_in_another_encoding_is_asked_about():
    app = upload(
        opened(parallel="your own", tokenizers="gpt2", view="table"),
        ("en.txt", b"size"),
        ("de.txt", "Größe".encode("cp1252")),
    )
    assert "byte 0xF6 at offset 2" in app.warning[0].value.replace("\\", "")
    assert len(app.dataframe[0].value) == 2


# --- questions and answers ----------------------------------------------------------------------------


def test_the_grid_equals_the_measures_taken_one_by_one():
    codes, names = ("deu", "hin"), ("gpt2", RAW_BYTES)
    result = answered(codes, names, ("premium", "words kept whole", "Rényi efficiency"), reference="fra")
    text = load_parallel("declaration")
    for row, code in enumerate(codes):
        for column, tokenizer in enumerate((load_pretrained("gpt2"), Tokenizer())):
            units = text.units[code]
            counts, reference = (count_tokens(tokenizer, text.units[one]).num_tokens for one in (code, "fra"))
            for name, expected in (
                ("premium", ratio_of_totals(counts, reference)),
                ("words kept whole", whole_words(tokenizer, units)),
                ("Rényi efficiency", token_distribution(tokenizer, units)),
            ):
                grid = result.grids[name]
                assert (grid.value[row, column], grid.low[row, column], grid.high[row, column]) == expected
            assert result.num_tokens[row, column] == counts.sum()


def test_counts_are_used_again_and_other_articles_cost_nothing_new():
    counted = []

    class Counting(Tokenizer):
        def symbols(self, pre_token):
            counted.append(pre_token)
            return super().symbols(pre_token)

    contender = Contender("counting", "counting", "", lambda progress: Counting())
    counts, text = Shelf(Budget(10**6)), load_parallel("declaration")
    answer(ask(text, ("deu",), "eng", (contender,), EVERY_ARTICLE, ("premium",)), Job("1"), counts)
    first = len(counted)
    assert first
    answer(ask(text, ("deu", "eng"), "deu", (contender,), (0, 3), ("tokens per byte",)), Job("2"), counts)
    assert len(counted) == first


def test_the_shelf_stays_within_its_bytes_and_forgets_the_oldest():
    budget = Budget(3_000)
    small = Shelf(budget)
    for number in range(10):
        small.get((number,), lambda: np.zeros(100, dtype=np.int64))
    assert 2_000 < budget.num_bytes <= 3_000
    made = []
    small.get((9,), lambda: made.append(9) or np.zeros(1, dtype=np.int64))
    small.get((0,), lambda: made.append(0) or np.zeros(1, dtype=np.int64))
    assert made == [0]


def test_a_job_that_is_cancelled_stops():
    job = Job("x")
    job.cancel()
    with pytest.raises(StoppedError):
        answer(asked(("deu",), ("gpt2",)), job, Shelf(Budget(10**6)))


def test_a_stopped_training_is_not_taken_for_a_tokenizer():
    (contender,) = contenders("trained on English")
    with pytest.raises(StoppedError):
        contender.load(lambda done, asked: False)


def test_the_key_of_a_question_tells_everything_apart():
    base = {"codes": ("deu",), "names": ("gpt2",)}
    questions = [
        asked(**base),
        asked(**base | {"codes": ("deu", "fra")}),
        asked(**base | {"names": ("gpt2", RAW_BYTES)}),
        asked(**base, reference="fra"),
        asked(**base, numbers=(1,)),
        asked(**base, measures=("tokens per byte",)),
        asked(**base, text=load_parallel("interface")),
    ]
    assert len({question.key for question in questions}) == len(questions)
    assert asked(**base).key == questions[0].key


def test_units_that_a_language_lacks_are_not_counted():
    text = parse_parallel_files({"en": "a\nb\nc", "de": "x\n\nz"})
    question = ask(text, ("deu",), "eng", contenders(RAW_BYTES), (0, 1, 2), ("premium",))
    assert question.numbers == (0, 2)
    with pytest.raises(CorpusError, match="take out German, which has the fewest"):
        ask(text, ("deu",), "eng", contenders(RAW_BYTES), (1,), ("premium",))


def test_training_text_is_the_odd_articles():
    text = load_parallel("declaration")
    lines = training_text(["eng"])
    assert text.units["eng"][0] in lines
    assert text.units["eng"][1] not in lines
    assert text.units["hin"][28] in training_text(["eng", "hin"])


def test_what_is_brought_is_on_offer():
    assert not {"yours", "your file"} & set(contender_names(Mine()))
    tokenizer = Tokenizer(merges=((97, 97),))
    mine = Mine(brought=BroughtTokenizer("m.model", "minbpe", "key", tokenizer))
    assert "your file" in contender_names(mine)
    assert find_contender("your file", mine, SETTINGS, ()).load(lambda done, asked: True) is tokenizer


def test_a_tokenizer_file_joins_the_list():
    app = opened(languages=["English", "German"], view="table")
    app.file_uploader(key=state.TOKENIZER_UPLOAD).set_value([("m.model", b"minbpe v1\n\n0\n97 97\n", "text/plain")])
    finished(app.run())
    app.multiselect(key=state.CONTENDERS).set_value(["your file"])
    finished(app.run())
    assert "your file" in app.dataframe[0].value


# --- charts -------------------------------------------------------------------------------------------


def small_answer(value, unknown=None) -> tuple[Grid, Answer, Axis]:
    value = np.array(value, dtype=float)
    grid = Grid(MEASURES["premium"], value, value - 0.1, value + 0.1)
    zeros = np.zeros_like(value)
    counts = np.nan_to_num(value).astype(np.int64)
    result = Answer({"premium": grid}, counts, zeros if unknown is None else np.array(unknown), (0,), counts, 1, 1)
    languages = tuple(f"language <{row}>" for row in range(len(value)))
    return grid, result, Axis(languages, tuple(f"t{column}" for column in range(value.shape[1])), "tokens")


def test_languages_are_sorted_by_the_first_tokenizer_and_missing_values_come_last():
    grid, result, axis = small_answer([[1, 9], [np.nan, 1], [3, 5]])
    assert grid.order() == [2, 0, 1]
    assert grid.order(1) == [0, 2, 1]
    assert replace(grid, measure=MEASURES["bytes per token"]).order() == [0, 2, 1]
    figure = bars(grid, result, axis)
    assert list(figure.layout.yaxis.ticktext) == [f"language &lt;{row}&gt;" for row in (2, 0, 1)]
    assert [point[0] for point in figure.data[0].customdata] == [2, 0, 1]


def test_bars_of_too_many_unknown_tokens_are_hatched():
    grid, result, axis = small_answer([[3, 1], [2, 1]], unknown=[[0.05, 0.5], [0.11, 0]])
    figure = bars(grid, result, axis)
    assert list(figure.data[0].marker.pattern.shape) == ["", "/"]
    assert [symbol.endswith("-open") for symbol in figure.data[1].marker.symbol] == [True, False]
    assert "not comparable" in figure.data[0].hovertext[1]
    assert "not comparable" not in figure.data[0].hovertext[0]


def test_every_cell_of_the_heat_map_is_written():
    grid, result, axis = small_answer([[22.1, 4.2], [np.nan, 1.0]])
    figure = heat_map(grid, result, axis)
    written = {
        (x, y): text for trace in figure.data[1:] for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)
    }
    assert written == {(0, 0): "22.1", (1, 0): "4.20", (0, 1): "–", (1, 1): "1.00"}


def test_text_on_the_heat_map_has_contrast_wherever_it_stands():
    def luminance(colour):
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
        return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))

    grid, result, axis = small_answer([[10 ** (row / 40)] for row in range(41)])
    figure = heat_map(grid, result, axis)
    scale = go.Heatmap(colorscale="Cividis").colorscale
    for trace in figure.data[1:3]:
        ink = luminance([int(trace.textfont.color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        for y in trace.y:
            share = 1 - y / 40
            at = min(int(share * (len(scale) - 1)), len(scale) - 2)
            ends = [[int(stop[1][i : i + 2], 16) / 255 for i in (1, 3, 5)] for stop in scale[at : at + 2]]
            part = share * (len(scale) - 1) - at
            ground = luminance(np.array(ends[0]) * (1 - part) + np.array(ends[1]) * part)
            lighter, darker = max(ink, ground), min(ink, ground)
            assert (lighter + 0.05) / (darker + 0.05) > 4


def test_ranks_share_places_and_skip_what_is_missing():
    premium, _, _ = small_answer([[3], [1], [3], [np.nan]])
    compression = replace(premium, measure=MEASURES["bytes per token"])
    places = ranks([premium, compression])
    assert places[:, 0].tolist()[:3] == [1, 3, 1]
    assert places[:, 1].tolist()[:3] == [2, 1, 2]
    assert math.isnan(places[3, 0])
    assert moving_most(places[:3]) == [1, 0, 2]


def test_every_language_has_a_line_and_a_label_of_its_own():
    places = np.array([[1, 2, 3], [1, 3, 1], [3, 1, 2]], dtype=float)
    figure = flips(places, ["a", "b", "c"], ["x", "y", "z"])
    assert sorted(trace.name for trace in figure.data) == ["a", "b", "c"]
    assert sorted(figure.layout.yaxis.ticktext) == ["a", "b", "c"]
    assert len(set(figure.layout.yaxis.tickvals)) == 3


@pytest.mark.parametrize("num_languages", [1, 45, 70])
def test_rows_of_all_charts_are_as_high_as_their_labels(num_languages):
    grid, result, axis = small_answer([[row + 1.0] for row in range(num_languages)])
    for figure in (bars(grid, result, axis), heat_map(grid, result, axis)):
        margin = figure.layout.margin
        rows = figure.layout.height - margin.t - (0 if margin.b < 50 else margin.b)
        assert rows / num_languages >= 18


def test_values_are_written_with_digits_that_matter():
    written = [write_value(value) for value in (0.7712, 9.994, 18.97, 307.5, float("nan"))]
    assert written == ["0.77", "9.99", "19.0", "308", "–"]


def test_the_bill_scales_with_the_tokens():
    workload = Workload(amount=10**6, document=1_000, price=3.0, window=32_000, cached_bytes=327_680)
    english, dear = charge(1.25, workload), charge(5.0, workload)
    assert dear.num_tokens == 4 * english.num_tokens == 5_000_000
    assert (english.price, dear.price) == (3.75, 15.0)
    assert (english.fits, dear.fits) == (25_600, 6_400)
    assert dear.cached_bytes == 5_000 * 327_680


def test_the_table_goes_out_whole():
    question = asked(("deu", "hin"), ("gpt2", RAW_BYTES))
    result = answer(question, Job("x"), Shelf(Budget(10**6)))
    rows = list(csv.DictReader(io.StringIO(table_csv(question, result, result.grids["premium"]))))
    assert [(row["language"], row["tokenizer"]) for row in rows] == [
        ("Hindi", "gpt2"),
        ("Hindi", RAW_BYTES),
        ("German", "gpt2"),
        ("German", RAW_BYTES),
    ]
    assert float(rows[0]["value"]) == pytest.approx(result.grids["premium"].value[1, 0], rel=1e-5)
    assert float(rows[0]["low"]) < float(rows[0]["value"]) < float(rows[0]["high"])
    assert SimpleNamespace(**rows[0]).reference == "English"
