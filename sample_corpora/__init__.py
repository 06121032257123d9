"""Sample corpora: texts that ship with the project, each with its source and licence in `index.json`.

Nothing here is needed to read them: `bpe.samples` does that. `python -m sample_corpora.build` makes every
file again from its public source; README.md lists the sources.
"""
