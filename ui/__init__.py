"""The app's own library: what the pages share, on top of the `bpe` package."""
