"""The file to take away: everything in it, nothing outside it, and no more than it says."""

from __future__ import annotations

import base64
import re
import zlib

from bpe import TrainSettings, train
from ui.stage.export import export_html
from ui.stage.payload import StageView, build_payload, with_head


def payload_of(text: str, num_merges: int = 50) -> bytes:
    training = train(text, TrainSettings(num_merges=num_merges))
    return build_payload(
        [StageView(training.history(text))],
        training.rows,
        training.tokenizer.base_names(),
        num_merges=training.num_merges,
        step=training.num_merges,
    )


def test_the_file_holds_the_payload_and_asks_for_nothing():
    payload = with_head(payload_of("low low lower lowest " * 20), step=3)
    page = export_html(payload, "A <b>title</b>").decode()
    packed = re.search(r'id="payload">([^<]*)<', page)
    assert packed is not None
    assert zlib.decompress(base64.b64decode(packed[1])) == payload
    assert "default-src 'none'" in page
    assert "A &lt;b&gt;title" in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "import " not in page.split('<script type="module">')[1].split("\n//")[0]


def test_the_file_stays_small():
    text = "the quick brown fox " * 100
    assert len(export_html(payload_of(text), "small")) < 200_000 + len(text)


def test_a_text_that_closes_script_tags_stays_inside():
    page = export_html(payload_of("</script><script>alert(1)</script>" * 3), "</title><script>").decode()
    assert page.count("</script>") == 2
    assert page.count("<script") == 2
