// The tree search on the engine: simultaneous moves, a PUCT of its own for each seat, chance drawn anew by every iteration.
//
// An iteration copies the root, draws new random numbers and what only the simulator knows (turns of sleep left ...), and plays
// down the tree. A node stands for what both seats see after the same actions: requests, legal actions, who is out, HP in steps,
// statuses, boosts and conditions; the exact state differs between its visits. At the first new node the value of the state goes
// back up. The same as agents/search/exact/tree.py, which is generation 1's.

#include <cstdlib>
#include <cstring>

#include "search/network.h"

namespace search {

namespace {

constexpr int DEEPEST = 64;
// Columns of `hidden` [SIDES, HIDDEN]: turns that each Pokémon has slept, turns of confusion, of a rampage and bound so far, or
// -1; 1 where the Pokémon that is out has yet to do what was chosen for it.
enum : int { CONFUSED = TEAM, LOCKED, BOUND, PENDING, HIDDEN };

uint64_t nextRandom(uint64_t& x) {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

int between(uint64_t& x, int least, int most) { return least + int((nextRandom(x) >> 33) % uint64_t(most - least + 1)); }

struct Node {
    int32_t visits, opened;
    float total;
    int32_t edgeVisits[SIDES][ACTIONS];
    float edgeTotals[SIDES][ACTIONS], priors[SIDES][ACTIONS];
};

struct Settings {
    float exploration, first, trust, steps;
};

struct Tree {
    int64_t capacity, size;
    Node* nodes;
    uint64_t* keys;
    int32_t* places;
    Row root;
    int32_t hidden[SIDES][HIDDEN], allowed[SIDES];
    float guide[SIDES][ACTIONS];
    Settings settings;
    Weights weights;
    uint64_t x;
};

uint64_t mix(uint64_t key, int64_t number) { return ((key ^ uint64_t(number + 1)) * 0x9E3779B97F4A7C15ull) ^ (key >> 29); }

// What both seats see of a side.
uint64_t seen(const Row& row, int side, uint64_t key, int steps) {
    const Side& whole = row.sides[side];
    const Pokemon& p = whole.pokemon[(whole.order[0] - 1) % TEAM];
    const Active& active = whole.active[0];
    key = mix(key, (whole.request * 16 + whole.order[0]) * 64 + p.terastallized);
    key = mix(key, (int64_t(p.status) * 1024 + (p.hp * steps + p.maxhp - 1) / p.maxhp) * 1024 + p.item);
    int64_t boosts = p.species;
    for (int boost : active.boosts) boosts = boosts * 13 + boost + 6;
    key = mix(key, boosts);
    uint64_t effects = 0;  // in any order
    for (int n = 0; n < active.volatileCount; n++) effects += mix(1, active.volatiles[n].id);
    for (int n = 0; n < whole.conditionCount; n++) effects += mix(2, whole.conditions[n].id * 8 + whole.conditions[n].counter);
    for (int n = 0; n < whole.slotConditions[0].count; n++) effects += mix(3, whole.slotConditions[0].list[n].id);
    return mix(key, int64_t(effects >> 1));
}

// The key of the node that a step led to; never 0.
uint64_t childKey(const Row& row, int64_t node, const int actions[SIDES], const int legal[SIDES], int steps) {
    uint64_t key = mix(0x243F6A8885A308D3ull, (node * 16 + actions[0]) * 16 + actions[1]);
    key = mix(key, int64_t(legal[0]) << 13 | legal[1]);
    key = mix(key, row.weatherState.id * 4096 + row.terrainState.id);
    key = seen(row, 1, seen(row, 0, key, steps), steps);
    return key | 1;
}

// Draws what a player is not shown: the random numbers to come, and turns left.
void draw(Tree& tree, Row& row) {
    uint64_t& x = tree.x;
    nextRandom(x);
    for (int part = 0; part < 4; part++) row.seed[part] = int32_t(x >> 16 * part & 0xFFFF);
    for (int side = 0; side < SIDES; side++) {
        const int32_t* hidden = tree.hidden[side];
        for (int place = 0; place < TEAM; place++)
            if (hidden[place] >= 0)  // of 2 to 4, more than were slept
                row.sides[side].pokemon[place].statusState.counter =
                    hidden[place] < 3 ? between(x, hidden[place] < 1 ? 2 : hidden[place] + 1, 4) - hidden[place] : 1;
        Active& active = row.sides[side].active[0];
        for (int n = 0; n < active.volatileCount; n++) {
            EffectState& state = active.volatiles[n];
            auto left = [&](int so, int least, int most) { return most > so ? between(x, least > so ? least : so + 1, most) - so : 1; };
            if (state.id == condition::confusion && hidden[CONFUSED] >= 0) state.counter = left(hidden[CONFUSED], 2, 5);
            if (state.id == condition::lockedmove && hidden[LOCKED] >= 0) state.counter = left(hidden[LOCKED], 2, 3);
            if (state.id == condition::partiallytrapped && hidden[BOUND] >= 0) state.duration = left(hidden[BOUND], 5, 6);
        }
    }
}

// What the side chose that is still to move in this turn, by how likely it is: a move, as a switch would be done.
void drawPending(Tree& tree, Battle& battle, int side) {
    Row& row = battle.row;
    battle.findListening();
    Pokemon* p = battle.at(side, 0);
    Action residual = row.queue[0];
    row.queueLength = 0;
    if (int locked = battle.getLockedMove(p)) {
        battle.addChoice({.choice = CHOICE_MOVE, .pokemon = Battle::nameOf(p), .move = locked, .targetLoc = 1});
    } else {
        for (int n = 0; n < p->moveCount; n++) p->moveSlots[n].disabled = 0;
        battle.runEvent(Ev::DisableMove, p);
        int legal = 0;
        for (int n = 0; n < p->moveCount; n++)
            if (p->moveSlots[n].pp && !p->moveSlots[n].disabled) legal |= 1 << n;
        int chosen = move::struggle;
        if (legal) {
            float priors[ACTIONS];
            priorsOf(row, side, legal, tree.weights, nullptr, tree.settings.trust, priors);
            float left = float(nextRandom(tree.x) >> 40) / float(1 << 24);
            for (int n = 0; n < p->moveCount; n++) {
                if (!(legal >> n & 1)) continue;
                chosen = p->moveSlots[n].id;
                if ((left -= priors[n]) <= 0) break;
            }
        }
        battle.addChoice({.choice = CHOICE_MOVE, .pokemon = Battle::nameOf(p), .move = chosen});
    }
    row.queue[row.queueLength++] = residual;
}

// A seat's action of the greatest value plus exploration. mean: of its node, from this seat's side.
int best(const Tree& tree, const Node& node, int seat, int legal) {
    float mean = node.total / node.visits, reach = tree.settings.exploration * __builtin_sqrtf(float(node.visits)), most = -1e9f;
    if (seat) mean = 1 - mean;
    int chosen = 0;
    for (int action = 0; action < ACTIONS; action++) {
        if (!(legal >> action & 1)) continue;
        int visits = node.edgeVisits[seat][action];
        float known = visits ? node.edgeTotals[seat][action] / visits : mean - tree.settings.first;
        float prior = node.priors[seat][action] > 0.001f ? node.priors[seat][action] : 0.001f;
        float score = known + reach * prior / (1 + visits);
        if (score > most) chosen = action, most = score;
    }
    return chosen;
}

void open(Tree& tree, Node& node, const Row& row, const int legal[SIDES], bool root) {
    node.opened = true;
    Sums sums;
    const Network* network = tree.weights.network;
    if (network) sumsOf(row, *network, sums);
    for (int seat = 0; seat < SIDES; seat++) {
        float* priors = node.priors[seat];
        priorsOf(row, seat, legal[seat], tree.weights, network ? &sums : nullptr, tree.settings.trust, priors);
        if (!root) continue;
        float kept = 1;
        for (float share : tree.guide[seat]) kept -= share;
        for (int action = 0; action < ACTIONS; action++) priors[action] = kept * priors[action] + tree.guide[seat][action];
    }
}

// The slot of a key in the hash table: where it is, or a free one.
int64_t find(const Tree& tree, uint64_t key) {
    int64_t mask = 2 * tree.capacity - 1, slot = int64_t(key >> 20) & mask;
    while (tree.keys[slot] && tree.keys[slot] != key) slot = (slot + 1) & mask;
    return slot;
}

void addNode(Tree& tree, float value) {
    Node& node = tree.nodes[tree.size++];
    memset(&node, 0, sizeof(Node));
    node.visits = 1;
    node.total = value;
}

float resultOf(const Row& row) { return row.winner == TIE ? 0.5f : row.winner == 0; }

void iterate(Tree& tree) {
    struct Step {
        int64_t node;
        int actions[SIDES];
    } path[DEEPEST];
    Row row = tree.root;
    draw(tree, row);
    int64_t at = 0;
    int depth = 0, legal[SIDES];
    float value;
    {
        Battle battle(row);
        for (int side = 0; side < SIDES; side++)
            if (tree.hidden[side][PENDING] > 0) drawPending(tree, battle, side);
        for (int side = 0; side < SIDES; side++) legal[side] = battle.legal(side, 0) & tree.allowed[side];
    }
    for (;;) {
        Node& node = tree.nodes[at];
        if (!node.opened) open(tree, node, row, legal, !at);
        Step& step = path[depth++];
        step.node = at;
        int32_t choices[SIDES * ACTIVE] = {};
        for (int side = 0; side < SIDES; side++) choices[side * ACTIVE] = step.actions[side] = best(tree, node, side, legal[side]);
        Battle battle(row);
        battle.commitChoices(choices);
        if (battle.ended()) {
            value = resultOf(row);
            break;
        }
        for (int side = 0; side < SIDES; side++) legal[side] = battle.legal(side, 0);
        uint64_t key = childKey(row, at, step.actions, legal, int(tree.settings.steps));
        int64_t slot = find(tree, key);
        if (!tree.keys[slot] || depth == DEEPEST) {
            value = valueOf(row, tree.weights);
            if (!tree.keys[slot] && tree.size < tree.capacity) {
                tree.keys[slot] = key;
                tree.places[slot] = int32_t(tree.size);
                addNode(tree, value);
            }
            break;
        }
        at = tree.places[slot];
    }
    for (int n = 0; n < depth; n++) {
        Node& node = tree.nodes[path[n].node];
        node.visits++;
        node.total += value;
        for (int seat = 0; seat < SIDES; seat++) {
            node.edgeVisits[seat][path[n].actions[seat]]++;
            node.edgeTotals[seat][path[n].actions[seat]] += seat ? 1 - value : value;
        }
    }
}

}  // namespace

}  // namespace search

extern "C" {

// A tree with room for so many nodes, a power of 2; null: no memory.
void* gen9_search_new(int64_t capacity) {
    using namespace search;
    Tree* tree = static_cast<Tree*>(calloc(1, sizeof(Tree)));
    if (!tree) return nullptr;
    tree->capacity = capacity;
    tree->nodes = static_cast<Node*>(calloc(size_t(capacity), sizeof(Node)));
    tree->keys = static_cast<uint64_t*>(calloc(size_t(2 * capacity), sizeof(uint64_t)));
    tree->places = static_cast<int32_t*>(calloc(size_t(2 * capacity), sizeof(int32_t)));
    if (tree->nodes && tree->keys && tree->places) return tree;
    free(tree->nodes);
    free(tree->keys);
    free(tree->places);
    free(tree);
    return nullptr;
}

void gen9_search_delete(void* given) {
    auto* tree = static_cast<search::Tree*>(given);
    free(tree->nodes);
    free(tree->keys);
    free(tree->places);
    free(tree);
}

// Begins a new search. hidden [SIDES, HIDDEN]; allowed [SIDES]: actions at the root as bits; guide [SIDES, ACTIONS]: probabilities
// that are mixed into the root's priors; settings: exploration, first, trust, steps of HP; weights stay the caller's, and so does the
// network (null: none); seed: not 0.
void gen9_search_plant(void* given, const int32_t* root, const int32_t* hidden, const int32_t* allowed, const float* guide,
                       const float* settings, const float* value, const float* choice, const search::Network* network, uint64_t seed) {
    using namespace search;
    Tree& tree = *static_cast<Tree*>(given);
    memset(tree.keys, 0, size_t(2 * tree.capacity) * sizeof(uint64_t));
    memcpy(&tree.root, root, sizeof(Row));
    memcpy(tree.hidden, hidden, sizeof(tree.hidden));
    memcpy(tree.allowed, allowed, sizeof(tree.allowed));
    memcpy(tree.guide, guide, sizeof(tree.guide));
    tree.settings = {settings[0], settings[1], settings[2], settings[3]};
    tree.weights = {value, choice, network};
    tree.x = seed;
    tree.size = 0;
    addNode(tree, 0.5f);
}

// Adds iterations; returns how many nodes there are.
int64_t gen9_search_grow(void* given, int64_t iterations) {
    auto& tree = *static_cast<search::Tree*>(given);
    for (int64_t n = 0; n < iterations; n++) search::iterate(tree);
    return tree.size;
}

// Writes visits and sums of values [ACTIONS] of a seat's actions at the root.
void gen9_search_edges(void* given, int seat, int32_t* visits, float* totals) {
    using namespace search;
    const Node& root = static_cast<Tree*>(given)->nodes[0];
    memcpy(visits, root.edgeVisits[seat], sizeof(root.edgeVisits[seat]));
    memcpy(totals, root.edgeTotals[seat], sizeof(root.edgeTotals[seat]));
}

}  // extern "C"
