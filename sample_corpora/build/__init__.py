"""The scripts that make the sample corpora; see `python -m sample_corpora.build --help`.

One module per source. Each offers `build(...) -> list[Entry]`: the texts it makes, with what `index.json`
says of them. Running them needs npm and a Debian-like system (apt-get, dpkg-deb); reading the corpora needs
neither.
"""
