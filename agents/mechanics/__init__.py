"""The game's arithmetic that several families of agents need: types, moves, sets, damage, status, matchups."""
