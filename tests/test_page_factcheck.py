"""The page Fact check, through AppTest: verdicts that are computed, filters, links, and a way to stop."""

from __future__ import annotations

import pytest
from pagetest import ROOT, open_page, page_at, plain, said

from bpe.claims import CLAIMS, Finding, Play
from bpe.errors import UnavailableError
from bpe.metrics import MEASURES
from ui import state
from ui.factcheck import checking
from ui.factcheck.cards import ANY, MISSING, chosen, link_of, summary_sentence, verdict_of
from ui.factcheck.checking import Missing
from ui.frame import PAGES
from ui.jobs import Job
from ui.languages.controls import VIEWS
from ui.links import pack_text, unpack_text

PAGE = "pages/8_Fact_check.py"


@pytest.fixture(scope="module")
def results():
    return {name: checking.check(claim) for name, claim in CLAIMS.items()}


def shown(app) -> list[str]:
    """Return the names of the claims on the page, in order."""
    text = said(app)
    places = {name: text.find(f"**{claim.text}**") for name, claim in CLAIMS.items()}
    return [name for name in sorted(places, key=places.__getitem__) if places[name] >= 0]


def test_it_shows_every_claim_with_its_computed_verdict(results):
    app = open_page(PAGE)
    assert shown(app) == list(CLAIMS)
    assert plain(summary_sentence(results)) in said(app)
    for result in results.values():
        text = result.answer if isinstance(result, Finding) else result.reason
        assert text[1:] in said(app)


@pytest.mark.parametrize("verdict", ["true", "false", "depends"])
def test_a_link_opens_one_verdict(results, verdict):
    app = open_page(PAGE, verdict=verdict)
    assert shown(app) == [name for name, result in results.items() if verdict_of(result) == verdict]


def test_a_link_opens_one_topic():
    app = open_page(PAGE, topic="digits")
    assert shown(app) == [name for name, claim in CLAIMS.items() if claim.topic == "digits"]


@pytest.mark.parametrize(("param", "says"), [("verdict", "the verdict 'perhaps'"), ("topic", "the topic 'perhaps'")])
def test_a_bad_link_shows_all_and_says_so(param, says):
    app = open_page(PAGE, **{param: "perhaps"})
    assert says in plain(app.warning[0].value)
    assert len(shown(app)) == len(CLAIMS)


def test_the_computation_opens():
    app = open_page(PAGE, topic="digits")
    assert not app.dataframe
    app.session_state["computation-integers-to-521"] = True
    app.run()
    assert not app.exception
    table = app.dataframe[0].value
    assert table.set_index("integer").loc[521, "tokens"] == "5|21"


def test_an_empty_choice_is_said(results):
    assert chosen(results, "true", "no such topic") == []
    topics = {claim.topic for claim in CLAIMS.values()}
    empty = next(
        ((verdict, topic) for topic in topics for verdict in ("true", "false") if not chosen(results, verdict, topic)),
        None,
    )
    assert empty is not None
    app = open_page(PAGE, verdict=empty[0], topic=empty[1])
    assert "No claim has this verdict" in app.info[0].value


# ---------------------------------------------------------------------------------------------- work


def test_claims_appear_before_all_are_checked(monkeypatch):
    monkeypatch.setattr(checking, "_SHORT_SECONDS", 0.0)
    checking._results.clear()
    app = page_at(PAGE).run()
    assert not app.exception
    assert shown(app) == list(CLAIMS)
    assert app.get("progress")


def test_stopped_work_can_be_taken_up_again():
    checking._results.clear()
    app = page_at(PAGE)
    job = Job("claims")
    job.cancel()
    job._over.set()
    app.session_state[state.CLAIMS_JOB] = job
    app.run()
    assert f"Stopped after 0 of {len(CLAIMS)} claims" in app.info[0].value
    next(button for button in app.button if button.label == "Check the rest").click().run()
    assert not app.exception
    assert not app.info
    assert len(shown(app)) == len(CLAIMS)


def test_an_error_in_a_claim_stays_visible(caplog):
    checking._results.clear()
    broken = Job("claims")
    broken.error = ZeroDivisionError("a bug")
    broken._over.set()
    app = page_at(PAGE)
    app.session_state[state.CLAIMS_JOB] = broken
    app.run()
    assert app.exception
    assert "ZeroDivisionError: a bug" in caplog.text


def test_what_is_missing_is_said():
    def lacking() -> Finding:
        raise UnavailableError("this needs the tokenizer xyz")

    claim = next(iter(CLAIMS.values()))
    result = checking.check(type(claim)("name", "text", "topic", "source", claim.play, lacking))
    assert result == Missing("this needs the tokenizer xyz")
    assert verdict_of(result) == MISSING
    assert "1 cannot be checked here" in summary_sentence({"name": result})
    assert chosen({}, ANY, ANY) == list(CLAIMS)


# ---------------------------------------------------------------------------------------------- links


@pytest.mark.parametrize("name", list(CLAIMS))
def test_play_links_open_pages_that_take_them(name):
    file, _label, params = link_of(CLAIMS[name].play)
    assert (ROOT / file).exists()
    if state.TEXT in params:
        assert unpack_text(params[state.TEXT]) == CLAIMS[name].play.opens_on()
    if file == PAGES["languages"].file:
        assert params.get(state.MEASURE, "premium") in MEASURES
        assert params.get(state.LANGUAGES_VIEW, "bars") in VIEWS
        assert set(params) <= {state.MEASURE, state.LANGUAGES_VIEW}
    if file == PAGES["quirks"].file:
        app = open_page(file, **params)
        assert not app.warning
        assert not app.error


def test_a_page_that_is_not_there_falls_back_to_the_first():
    file, label, params = link_of(Play("nowhere", "gpt2", text="hello", options={"x": "y"}))
    assert (file, label) == (PAGES["tokenize"].file, PAGES["tokenize"].name)
    assert params == {state.TOKENIZER: "gpt2", state.TEXT: pack_text("hello")}
