"""The token stage: a text whose tokens are drawn behind it, at any number of merges, without asking the server.

`payload` packs a `bpe.lifetimes.History` into bytes, `component` mounts the stage in a page, `bundle` joins its
scripts, and `js/` draws. Read payload.py first, then js/model.js (its other end) and js/stage.js.
"""
