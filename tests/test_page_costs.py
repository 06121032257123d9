"""The page Costs through AppTest: its figures are those of bpe.costs; and its charts and units."""

from __future__ import annotations

import numpy as np
import pytest
from pagetest import finished, open_page, plain, said

from bpe.costs import MODEL_SHAPES, compare_units, forward_work, kv_cache_bytes, sweet_spot, text_costs
from bpe.pretrained import load_pretrained
from bpe.samples import load_sample
from ui import state
from ui.costs.charts import language_chart, model_chart, trade_chart
from ui.costs.compute import LanguageBytes, count, language_bytes
from ui.jobs import Job
from ui.links import pack_text
from ui.units import in_bytes, in_count, in_percent

PAGE = "pages/7_Costs.py"


def opened(**params):
    return open_page(PAGE, **params)


def words(app) -> str:
    return said(app).replace("**", "")


# ---------------------------------------------------------------------------------------------- figures


def test_it_opens_on_a_text_a_tokenizer_and_a_model():
    app = opened()
    gpt2 = load_pretrained("gpt2")
    text = load_sample("kjv-genesis")
    shape = MODEL_SHAPES["GPT-2 small"]
    num_tokens = len(gpt2.encode(text))
    assert f"{num_tokens:,} tokens" in words(app)
    assert "38.6 million parameters" in words(app)
    assert "50,257 × 768, one matrix: 31.0 % of 124 million" in words(app)
    costs = text_costs(num_tokens, shape, bytes_per_number=2)
    assert in_bytes(costs.kv_bytes) in words(app)
    assert f"of 1,024 tokens: {'does not fit'}" in words(app)


def test_the_arithmetic_of_llama_3_70b():
    app = opened(model="Llama 3 70B")
    assert in_bytes(kv_cache_bytes(MODEL_SHAPES["Llama 3 70B"])) == "328 kB"
    assert "328 kB" in words(app)
    assert "2 × 8 heads × 128 × 80 layers × 2 bytes" in words(app)
    assert "50,257 × 8,192, two matrices" in words(app)


def test_the_sweet_spot_is_that_of_bpe():
    app = opened()
    gpt2 = load_pretrained("gpt2")
    curve = gpt2.history(load_sample("kjv-genesis")).num_tokens
    shape = MODEL_SHAPES["GPT-2 small"]
    spot = sweet_spot(curve, 257, shape)
    assert 0 < spot < gpt2.num_merges
    assert f"reading costs least with {257 + spot:,} entries ({spot:,} merges)" in words(app)


def test_units_of_the_text():
    table = opened().dataframe[0].value
    rows = compare_units(load_sample("kjv-genesis"), load_pretrained("gpt2"))
    assert table["unit"].tolist() == ["bytes", "characters", "words", "subwords"]
    assert table["length of the text"].tolist() == [row.num_units for row in rows]
    assert table["entries here"].tolist() == [row.num_entries for row in rows]
    assert table["unknown"].tolist() == [in_percent(row.unknown_share) for row in rows]


def test_the_price_is_the_readers_own():
    app = opened(permillion="2.5")
    num_tokens = len(load_pretrained("gpt2").encode(load_sample("kjv-genesis")))
    assert f"{num_tokens * 2.5 / 1e6:,.6g}" in words(app)
    assert "at 2.5 per million tokens, your figure" in words(app)


def test_precision_halves_what_is_stored():
    assert f"{in_bytes(50_257 * 768 * 4)}" in words(opened(numbers="float32"))
    assert f"{in_bytes(50_257 * 768 * 0.5)}" in words(opened(numbers="int4"))


def test_a_text_in_the_link_is_the_text():
    app = opened(z=pack_text("unhappy"), tokenizer="gpt2")
    assert "2 tokens" in words(app)
    assert app.text_area(key=state.TEXT_AREA).value == "unhappy"


def test_an_empty_text_has_no_curve_and_no_error():
    app = opened(**{"from": "your text"})
    app.text_area(key=state.TEXT_AREA).set_value("").run()
    finished(app)
    assert "there is no curve to draw" in words(app)
    assert "an empty text" in words(app)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"width": "0"}, "the width of a model must be at least 1, but is 0"),
        ({"millions": "0"}, "the model size of a model must be at least 1, but is 0"),
        ({"millions": "1"}, "larger than the matrices of its vocabulary"),
        ({"kvheads": "0"}, "number of KV heads"),
        ({"contextsize": "0"}, "context window"),
    ],
)
def test_an_impossible_model_is_one_sentence(params, sentence):
    app = opened(model="your own", **params)
    assert len(app.error) == 1
    assert sentence in plain(app.error[0].value).lower().replace("kv", "KV")


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"model": "GPT-9"}, "model 'GPT-9'"),
        ({"numbers": "float8"}, "precision 'float8'"),
        ({"from": "thin air"}, "text 'thin air'"),
        ({"corpus": "udhr-xxx"}, "sample 'udhr-xxx'"),
        ({"model": "your own", "width": "-5"}, "'-5' as width"),
    ],
)
def test_a_bad_link_opens_the_nearest_view_and_says_so(params, says):
    app = opened(**params)
    assert any(says in plain(warning.value) for warning in app.warning)
    assert "How large a vocabulary pays?" in [block.value for block in app.subheader]


# ---------------------------------------------------------------------------------------------- parts


def test_the_trade_chart_keeps_both_ends_and_the_spot():
    curve = np.arange(60_000, 10_000, -1)
    sizes = 256 + np.arange(len(curve))
    work = forward_work(curve, sizes, MODEL_SHAPES["GPT-2 small"])
    figure = trade_chart(sizes, curve, work, 12_345)
    line = figure.data[0]
    assert len(line.x) < 2_000
    assert {256, 256 + 12_345, int(sizes[-1])} <= set(line.x)
    assert figure.data[1].x[0] == 256 + 12_345


def test_a_curve_of_one_point_can_be_drawn():
    figure = trade_chart(np.array([256]), np.array([10]), np.array([1.0]), 0)
    assert list(figure.data[0].x) == [256]


def test_model_chart_marks_the_chosen_one():
    shapes = list(MODEL_SHAPES.values())
    bar = model_chart(shapes, "Gemma 2 9B").data[0]
    assert len(set(bar.marker.color)) == 2
    assert bar.marker.color.count(bar.marker.color[shapes.index(MODEL_SHAPES["Gemma 2 9B"])]) == 1
    assert bar.x[0] == pytest.approx(0.310, abs=5e-4)


def test_languages_are_counted_and_sorted():
    rows = language_bytes("gpt2", load_pretrained("gpt2"))
    english = next(row for row in rows if row.name == "English")
    text = load_sample("udhr-eng")
    assert english.num_tokens == len(load_pretrained("gpt2").encode(text))
    assert english.num_bytes == len(text.encode())
    ratios = [row.bytes_per_token for row in rows]
    assert ratios == sorted(ratios, reverse=True)
    assert len({row.script for row in rows}) >= 15


def test_language_chart_names_every_language():
    rows = [LanguageBytes("A", "Latn", 30, 30, 10), LanguageBytes("B", "Hani", 30, 10, 30)]
    bar = language_chart(rows).data[0]
    assert list(bar.x) == [3.0, 1.0]
    assert list(bar.y) == ["A", "B"]


def test_counts_of_a_text_agree_with_the_curve():
    counts = count(load_pretrained("gpt2"), "unhappy people", Job("test"))
    assert counts.curve is not None
    assert counts.curve[-1] == counts.num_tokens == 3
    assert counts.curve[0] == counts.num_bytes == 14


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (in_bytes(0), "0 bytes"),
        (in_bytes(2.1e9), "2.10 GB"),
        (in_bytes(999), "999 bytes"),
        (in_count(1.05e9), "1.05 billion"),
        (in_count(0), "0"),
        (in_percent(1e-9), "1e-07 %"),
        (in_percent(12.5), "1,250 %"),
    ],
)
def test_numbers_as_a_reader_says_them(shown, words):
    assert shown == words
