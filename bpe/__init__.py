"""Byte-pair encoding for reading, measuring and looking at."""
