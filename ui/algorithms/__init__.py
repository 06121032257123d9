"""The page Algorithms: the neighbours of byte-pair encoding, each to step through, to train and to play with."""
