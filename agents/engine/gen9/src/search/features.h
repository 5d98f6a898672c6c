// What a search judges a position and its choices by: features, of which fitted weights make a value and priors.
// The features are those of scripts/poke_engine/fitted.rs, and some of the engine's own (from `hazards` on).

#pragma once

#include "search/damage_shares.h"

namespace search {

constexpr int ACTIONS = 13;
constexpr int SPECIES_COUNT = sizeof(SPECIES) / sizeof(SPECIES[0]);
constexpr int MOVE_COUNT = sizeof(MOVES) / sizeof(MOVES[0]);

// Of a side's value; behind them "alive:" and "hp:" of each species.
#define VALUE_FEATURES(X) \
    X(alive) X(hp) X(item) X(burn) X(sleep) X(freeze) X(paralyze) X(poison) X(toxic) X(burn_hp) X(sleep_hp) X(freeze_hp) X(paralyze_hp)     \
    X(poison_hp) X(toxic_hp) X(left_1) X(left_2) X(left_3) X(left_4) X(left_5) X(slept) X(tera_used) X(active_hp) X(active_burn)           \
    X(active_sleep) X(active_freeze) X(active_paralyze) X(active_poison) X(active_toxic) X(atk_up) X(def_up) X(spa_up) X(spd_up) X(spe_up) \
    X(atk_down) X(def_down) X(spa_down) X(spd_down) X(spe_down) X(accuracy_down) X(evasion_up) X(substitute) X(confusion) X(recharge)      \
    X(taunt) X(encore) X(saltcure) X(rocks) X(spikes) X(toxic_spikes) X(web) X(reflect) X(light_screen) X(veil) X(wish) X(faster)          \
    X(damage) X(two_hits) X(one_hit) X(faster_one_hit) X(faster_two_hits) X(no_damage) X(damage_squared) X(damage_health) X(safe)          \
    X(one_hit_health) X(stuck) X(hazards) X(tera_left) X(boosted_hp) X(best_answer) X(best_faster_answer) X(choice_locked) X(future_sight)

// Of a choice; behind them "move:" of each move and "switch:" of each species.
#define CHOICE_FEATURES(X) \
    X(damage) X(damage_squared) X(two_hits) X(one_hit) X(faster_one_hit) X(no_damage) X(inaccurate) X(status_wasted) X(heal_missing)    \
    X(boosted) X(in_danger) X(in_danger_slower) X(tera) X(tera_in_danger) X(tera_damage) X(is_switch) X(switch_hp) X(switch_ill)           \
    X(switch_asleep) X(switch_threat) X(switch_threat_one_hit) X(switch_answer) X(switch_answer_one_hit) X(switch_faster)                  \
    X(switch_in_danger) X(switch_in_danger_slower) X(switch_useless) X(switch_boosted) X(switch_hazards) X(tera_one_hit) X(priority_one_hit)

#define X(name) V_##name,
enum : int { VALUE_FEATURES(X) V_COUNT };
#undef X
#define X(name) C_##name,
enum : int { CHOICE_FEATURES(X) C_COUNT };
#undef X

constexpr int VALUE_SIZE = V_COUNT + 2 * SPECIES_COUNT, CHOICE_SIZE = C_COUNT + MOVE_COUNT + SPECIES_COUNT;
// What the network sees of a side: its features of the value, then "out:" each species and "move:" each move of who is out.
constexpr int SIDE_SIZE = VALUE_SIZE + SPECIES_COUNT + MOVE_COUNT;
constexpr int MOST_SIDE = 128;  // that one side has at once

struct Network;
struct Sums;

// Weights by the places of their features: value [VALUE_SIZE], choice [CHOICE_SIZE]. network: what judges instead, and corrects the
// logits of choices (network.h); null: nothing.
struct Weights {
    const float *value, *choice;
    const Network* network;
};

// Writes the features of a side; returns how many.
int sideFeatures(const Row& row, int side, int32_t places[MOST_SIDE], float amounts[MOST_SIDE]);
// Side 0's chance to win, 0 to 1.
float valueOf(const Row& row, const Weights& weights);
// Writes the logits of a side's legal actions, by the fitted weights alone.
void fittedLogits(const Row& row, int side, int legal, const Weights& weights, float logits[ACTIONS]);
// Writes how likely each legal action of a side is, to the power of `trust`; they sum to 1. sums: the network's; null: without it.
void priorsOf(const Row& row, int side, int legal, const Weights& weights, const Sums* sums, float trust, float priors[ACTIONS]);

}  // namespace search
