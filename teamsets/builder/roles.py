"""The roles of a team member, by its moves, item and EVs: the terms of the recipes' at_least and at_most."""

from __future__ import annotations

import re

from teamsets.builder.published import Member

_FAST = 110  # base speed from which a species outruns most of a tier
_BULKY = 200  # HP EVs of something meant to be hit

_MOVES = {
    "sleep": {"Sleep Powder", "Spore", "Hypnosis", "Lovely Kiss", "Sing"},
    "paralysis": {"Thunder Wave", "Stun Spore", "Glare", "Nuzzle"},
    "trapping": {"Wrap", "Clamp", "Fire Spin", "Bind"},
    "explosion": {"Explosion", "Self-Destruct"},
    "rocks": {"Stealth Rock"},
    "spikes": {"Spikes", "Toxic Spikes", "Ceaseless Edge"},
    "removal": {"Rapid Spin", "Defog", "Mortal Spin", "Tidy Up", "Court Change"},
    "phazing": {"Roar", "Whirlwind", "Dragon Tail", "Haze"},
    "tailwind": {"Tailwind"},
    "trick_room": {"Trick Room"},
    "speed_control": {"Tailwind", "Trick Room", "Icy Wind", "Electroweb", "Glaciate", "Thunder Wave", "Bulldoze"},
    "support": {"Fake Out", "Follow Me", "Rage Powder", "Helping Hand", "Beat Up", "Coaching", "Parting Shot", "Howl"},
    "protection": {"Protect", "Detect", "Spiky Shield", "Baneful Bunker", "Burning Bulwark", "Silk Trap", "Wide Guard"},
    "pivot": {"U-turn", "Volt Switch", "Flip Turn", "Teleport", "Chilly Reception", "Parting Shot"},
    "priority": {
        *("Extreme Speed", "Sucker Punch", "Bullet Punch", "Mach Punch", "Ice Shard", "Vacuum Wave", "Aqua Jet"),
        *("Shadow Sneak", "Grassy Glide", "First Impression", "Thunderclap", "Water Shuriken"),
    },
    "boosting": {
        *("Swords Dance", "Dragon Dance", "Calm Mind", "Nasty Plot", "Curse", "Agility", "Belly Drum", "Amnesia"),
        *("Bulk Up", "Growth", "Shell Smash", "Tail Glow", "Take Heart", "Iron Defense", "Clangorous Soul"),
    },
    "recovery": {
        *("Recover", "Soft-Boiled", "Milk Drink", "Moonlight", "Morning Sun", "Synthesis", "Roost", "Slack Off"),
        *("Wish", "Rest", "Strength Sap", "Pain Split"),
    },
}
_MEGA_STONE = re.compile(r".+ite( [XY])?")
_Z_CRYSTAL = re.compile(r".+ Z")
_BREAKING_ITEMS = {"Choice Band", "Choice Specs", "Life Orb", "Expert Belt", "Flame Orb", "Booster Energy"}


def roles(member: Member, base_speed: int) -> set[str]:
    """The roles of a member: those of its moves, and those that its item, EVs and speed make of them.

    `choice`, `scarf`, `mega` (a mega stone), `zmove` (a Z-crystal): the item; `speed`: outruns or strikes first;
    `breaker`: hits hard or sets up; `wall`: bulk that heals; `control`: has a say in the hazards or the other side's
    boosts.
    """
    own_roles = {role for role, moves in _MOVES.items() if moves.intersection(member.moves)}
    if member.item.startswith("Choice"):
        own_roles.add("choice")
    if member.item == "Choice Scarf":
        own_roles.add("scarf")
    if _MEGA_STONE.fullmatch(member.item) and member.item != "Eviolite":
        own_roles.add("mega")
    if _Z_CRYSTAL.fullmatch(member.item):
        own_roles.add("zmove")
    bulky = (member.evs or {}).get("hp", 0) >= _BULKY
    if bulky and "recovery" in own_roles:
        own_roles.add("wall")
    if base_speed >= _FAST or own_roles & {"scarf", "priority"}:
        own_roles.add("speed")
    if member.item in _BREAKING_ITEMS or ("boosting" in own_roles and not bulky):
        own_roles.add("breaker")
    if own_roles & {"spikes", "removal", "phazing"}:
        own_roles.add("control")
    return own_roles
