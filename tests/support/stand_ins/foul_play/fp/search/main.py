"""A stand-in for foul-play's choice by the visits of its searches."""

from collections import namedtuple

Option = namedtuple("Option", ["move_choice", "visits"])
Result = namedtuple("Result", ["side_one", "total_visits"])


def select_move_from_mcts_results(results):
    visits = {option.move_choice: option.visits for option in results[0][0].side_one}
    return max(visits, key=visits.get)
