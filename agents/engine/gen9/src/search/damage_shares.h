// How much damage the moves of a position do: means without critical hits, as shares of what the target has left. An estimate, in
// some tens of nanoseconds: what matters most of stats, boosts, types, items, abilities, weather and screens.

#pragma once

#include "battle.h"

namespace search {

// A Pokémon as it is, or would be if it came in now. active: null for one that is not out.
struct Fighter {
    const Row& row;
    int side;
    const Pokemon& p;
    const Active* active;

    int boost(int stat) const { return active ? active->boosts[stat] : 0; }
    int stored(int stat) const { return active ? active->storedStats[stat] : p.baseStoredStats[stat]; }
    bool has(int condition) const;
    const EffectState* state(int condition) const;
    bool hasType(int type) const;
    float speed() const;
};

// The fighter of a side that is out, and one of its team.
Fighter outOf(const Row& row, int side);
inline Fighter benchOf(const Row& row, int side, int position) {
    return {row, side, row.sides[side].pokemon[(row.sides[side].order[position] - 1) % TEAM], nullptr};
}

// Whether it cannot use a move now.
bool held(const Fighter& fighter);
// A move's mean damage to the target, accuracy counted, as a share of its HP. tera: after terastallizing.
float shareOf(const Fighter& user, const Fighter& target, int move, bool tera = false);
// The share of its best move that it can use.
float bestShare(const Fighter& user, const Fighter& target);
// 1 where the first is faster, -1 where the second is, 0 for a tie.
int faster(const Fighter& a, const Fighter& b);
bool grounded(const Fighter& fighter);
// The share of its HP that hazards take as it comes in.
float hazardShare(const Fighter& fighter);

}  // namespace search
