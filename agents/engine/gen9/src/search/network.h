// The search's network: a position's value and corrections of its actions' logits, as agents/search/exact/network.py has it for
// generation 1. Both sides' features are summed into `width` numbers each by one table; two small layers judge the pair, once from
// each side, so that exchanged sides have exactly 1 minus the value.

#pragma once

#include "search/features.h"

namespace search {

constexpr int MOST_WIDTH = 64, MOST_LAYER = 32;
// Rows of `actions`: each move, each move after terastallizing, each species that comes in.
constexpr int ACTION_ROWS = 2 * MOVE_COUNT + SPECIES_COUNT;

// table [SIDE_SIZE, width], bias [width]; first [2 width, layer], firstBias [layer], second [layer]: the judgement of a pair, own side
// first; actions [ACTION_ROWS, 2 width], actionBias: added to an action's logit, and `fitted` times the logit of the fitted weights.
struct Network {
    int32_t width, layer;
    float fitted;
    const float *table, *bias, *first, *firstBias, *second, *actions, *actionBias;
};

// Both sides' numbers, negative ones as 0.
struct Sums {
    float of[SIDES][MOST_WIDTH];
};

void sumsOf(const Row& row, const Network& network, Sums& sums);
// Side 0's chance to win, 0 to 1.
float judged(const Network& network, const Sums& sums);
// Turns the fitted logits of a side's legal actions into the network's.
void correct(const Row& row, int side, int legal, const Network& network, const Sums& sums, float logits[ACTIONS]);
// The row of `actions` of a side's action.
int actionRow(const Row& row, int side, int action);

}  // namespace search
