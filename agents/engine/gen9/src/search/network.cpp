// The search's network: network.h.

#include "search/network.h"

namespace search {

namespace {

float ofPair(const Network& network, const float* own, const float* other) {
    float layer[MOST_LAYER];
    int width = network.width, size = network.layer;
    for (int k = 0; k < size; k++) layer[k] = network.firstBias[k];
    for (int j = 0; j < width; j++) {
        const float *mine = network.first + j * size, *theirs = network.first + (width + j) * size;
        for (int k = 0; k < size; k++) layer[k] += own[j] * mine[k] + other[j] * theirs[k];
    }
    float total = 0;
    for (int k = 0; k < size; k++) total += (layer[k] > 0 ? layer[k] : 0) * network.second[k];
    return total;
}

}  // namespace

void sumsOf(const Row& row, const Network& network, Sums& sums) {
    int32_t places[MOST_SIDE];
    float amounts[MOST_SIDE];
    int width = network.width;
    for (int side = 0; side < SIDES; side++) {
        float* own = sums.of[side];
        for (int j = 0; j < width; j++) own[j] = network.bias[j];
        int count = sideFeatures(row, side, places, amounts);
        for (int n = 0; n < count; n++) {
            const float* added = network.table + places[n] * width;
            for (int j = 0; j < width; j++) own[j] += amounts[n] * added[j];
        }
        for (int j = 0; j < width; j++) own[j] = own[j] > 0 ? own[j] : 0;
    }
}

float judged(const Network& network, const Sums& sums) {
    float logit = ofPair(network, sums.of[0], sums.of[1]) - ofPair(network, sums.of[1], sums.of[0]);
    return 1 / (1 + __builtin_expf(-logit));
}

int actionRow(const Row& row, int side, int action) {
    const Side& whole = row.sides[side];
    if (action >= 8) return 2 * MOVE_COUNT + whole.pokemon[(whole.order[action - 7] - 1) % TEAM].baseSpecies;
    const Pokemon& out = whole.pokemon[(whole.order[0] - 1) % TEAM];
    bool single = out.moveCount <= action % 4 || !out.moveSlots[action % 4].id;
    int move = (single ? int(move::struggle) : out.moveSlots[action % 4].id) - FIRST_MOVE;
    return action >= 4 ? MOVE_COUNT + move : move;
}

void correct(const Row& row, int side, int legal, const Network& network, const Sums& sums, float logits[ACTIONS]) {
    const float *own = sums.of[side], *other = sums.of[1 - side];
    int width = network.width;
    for (int action = 0; action < ACTIONS; action++) {
        if (!(legal >> action & 1)) continue;
        int place = actionRow(row, side, action);
        const float* weights = network.actions + place * 2 * width;
        float total = network.fitted * logits[action] + network.actionBias[place];
        for (int j = 0; j < width; j++) total += own[j] * weights[j] + other[j] * weights[width + j];
        logits[action] = total;
    }
}

}  // namespace search

extern "C" {

// SIDE_SIZE, MOST_SIDE, ACTION_ROWS, MOST_WIDTH, MOST_LAYER.
void gen9_search_network_sizes(int32_t sizes[5]) {
    using namespace search;
    const int32_t all[] = {SIDE_SIZE, MOST_SIDE, ACTION_ROWS, MOST_WIDTH, MOST_LAYER};
    for (int n = 0; n < 5; n++) sizes[n] = all[n];
}

// What a network is fitted to: writes both sides' features (places [SIDES, MOST_SIDE], -1 behind the last; amounts), and of the legal
// actions the rows of `actions` (rows [SIDES, ACTIONS], -1: not legal) and the logits, by the network or, where it is null, the
// fitted weights. Returns the value, by the same.
float gen9_search_position(const int32_t* words, const int32_t* legal, const float* value, const float* choice,
                           const search::Network* network, int32_t* places, float* amounts, int32_t* rows, float* logits) {
    using namespace search;
    const Row& row = *reinterpret_cast<const Row*>(words);
    Weights weights = {value, choice, network};
    Sums sums;
    if (network) sumsOf(row, *network, sums);
    for (int side = 0; side < SIDES; side++) {
        int count = sideFeatures(row, side, places + side * MOST_SIDE, amounts + side * MOST_SIDE);
        for (int n = count; n < MOST_SIDE; n++) places[side * MOST_SIDE + n] = -1;
        float* own = logits + side * ACTIONS;
        fittedLogits(row, side, legal[side], weights, own);
        if (network) correct(row, side, legal[side], *network, sums, own);
        for (int action = 0; action < ACTIONS; action++)
            rows[side * ACTIONS + action] = legal[side] >> action & 1 ? actionRow(row, side, action) : -1;
    }
    return valueOf(row, weights);
}

}  // extern "C"
