"""Pages inside another page: the stage alone, with everything that the link asks for in force."""

from __future__ import annotations

from pagetest import finished, head_of, page_at


def embedded(page: str = "app.py", **params: str):
    app = page_at(page, **params)
    app.context["is_embedded"] = True
    return finished(app.run())


def stage_heads(app) -> list[dict]:
    names = [part.proto.component_name for part in app.get("bidi_component")]
    return [head_of(app, number) for number, name in enumerate(names) if name.endswith("token_stage")]


def test_tokenize_inside_another_page_shows_the_stage_alone():
    app = embedded(tokenizer="cl100k_base", step="300", shown="marks")
    (head,) = stage_heads(app)
    assert (head["step"], head["options"]["marks"], head["height"]) == (300, True, None)
    assert not app.title
    assert not app.get("download_button")
    assert not app.get("popover")
    assert app.selectbox(key="tokenizer").value == "cl100k_base"


def test_train_inside_another_page_trains_what_the_link_asks_for():
    app = embedded("pages/1_Train.py", source="word counts", base="chars", merges="9", step="4")
    (head,) = stage_heads(app)
    assert (head["num_merges"], head["step"]) == (9, 4)
    assert not app.title
    assert not app.get("plotly_chart")
    assert not app.get("download_button")


def test_a_page_that_is_not_embedded_has_everything():
    app = finished(page_at().run())
    assert [title.value for title in app.title] == ["Tokenize"]
    assert app.get("download_button")
    assert stage_heads(app)[0]["height"] == 400


def test_what_a_link_cannot_have_is_said_inside_another_page_too():
    app = embedded(step="999999")
    assert len(app.warning) == 1


def test_a_view_that_needs_a_file_says_so():
    app = embedded("pages/1_Train.py", source="upload")
    assert app.info
    assert not stage_heads(app)
