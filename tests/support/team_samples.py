"""Two small teams in export text."""

GOOD = """Starmie
- Recover
- Thunder Wave
- Blizzard
- Psychic

Tauros
- Body Slam
- Hyper Beam
- Blizzard
- Earthquake
"""
BAD = GOOD.replace("- Recover", "- Spore")
