// What a side is asked, as agents/engine/gen9/requests.py says it in Showdown's words, or at the team preview, and the legal actions
// of the networks (agents/observation/actions.py).

#pragma once

#include "../battle.h"
#include "shown.h"

constexpr int32_t REQUEST_PREVIEW = REQUEST_SWITCH + 1;

// A move that a request lists. hasPp: 0 where it is listed alone, without PP.
struct ListedMove {
    int32_t id, pp, maxpp, disabled, slot, hasPp;
};

struct Request {
    int32_t kind;  // REQUEST_NONE: it waits; REQUEST_PREVIEW: who leads
    bool trapped, canTerastallize;
    int32_t count;
    ListedMove moves[MOVES_EACH];  // in the order of the request
    int32_t order[MOVES_EACH];     // indices of moves in the order of their ids
    int32_t bench[TEAM];           // positions in the team in the order of the actions 4 to 8
    int32_t benchCount;
};

constexpr int NETWORK_ACTIONS = 13, FIRST_LEADS = 0, FIRST_SWITCH = 4, FIRST_TERA = 9, REVEALED_TRAP = 1 << 4;
constexpr int FIRST_ENGINE_TERA = 4, FIRST_ENGINE_SWITCH = 8;

inline const Pokemon& atPosition(const Side& side, int position) { return side.pokemon[(side.order[position] - 1) % TEAM]; }

// Sorts a few indices or ids by a number of each, equal ones as they were.
template <typename Number>
void sortBy(int32_t* indices, int count, Number number) {
    for (int n = 1; n < count; n++) {
        int32_t moved = indices[n];
        int at = n;
        for (; at > 0 && number(indices[at - 1]) > number(moved); at--) indices[at] = indices[at - 1];
        indices[at] = moved;
    }
}

// moveRank: of each effect that is a move its place in the order of ids.
Request requestOf(Battle& battle, int side, const Shown& shown, const int32_t* moveRank);
// Writes the mask [NETWORK_ACTIONS] of legal actions.
void writeLegal(const Row& row, int side, const Request& request, uint8_t* legal);
// The engine's action of a legal one of the networks; at the team preview the position of who leads.
int engineAction(const Request& request, int action);
