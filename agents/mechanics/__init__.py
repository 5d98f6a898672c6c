"""Game mechanics shared by several agent families: types, moves, published sets, damage, status, duels."""
