"""A stand-in for foul-play's battle: what our launcher touches of it, with its names."""

from collections import namedtuple

LastUsedMove = namedtuple("LastUsedMove", ["pokemon_name", "move", "turn"])


class Pokemon:
    def __init__(self, index, details):
        self.index, self.name = index, details.partition(",")[0]
        self.nature, self.evs = "serious", (0, 0, 0, 0, 0, 0)


class Battler:
    def __init__(self):
        self.active, self.reserve = None, []
        self.last_selected_move = LastUsedMove("", "", 0)

    def initialize_first_turn_user_from_json(self, request_json):
        for index, entry in enumerate(request_json["side"]["pokemon"], 1):
            pokemon = Pokemon(index, entry["details"])
            if entry["active"]:
                self.active = pokemon
            else:
                self.reserve.append(pokemon)


class Battle:
    def __init__(self, battle_tag):
        self.battle_tag, self.user, self.request, self.wait = battle_tag, Battler(), None, False
