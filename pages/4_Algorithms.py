"""Algorithms: the neighbours of byte-pair encoding, step by step and side by side."""

from ui import frame
from ui.algorithms import menu

frame.begin("algorithms")
with frame.readable_errors():
    menu.choose_part()()
frame.show_notices()
frame.end()
