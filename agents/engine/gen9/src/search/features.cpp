// Features of positions and choices: features.h.

#include "search/network.h"

namespace search {

namespace {

float exponential(float x) { return __builtin_expf(x); }
float sharp(float share) { return share < 1 ? share : 1; }
float health(const Pokemon& p) { return float(p.hp) / p.maxhp; }

int ill(int status) {
    switch (status) {
        case condition::brn: return 0;
        case condition::slp: return 1;
        case condition::frz: return 2;
        case condition::par: return 3;
        case condition::psn: return 4;
        case condition::tox: return 5;
        default: return -1;
    }
}

template <typename Add>
void visitSide(const Row& row, int number, const Fighter& out, const Fighter& foe, Add& add) {
    const Side& side = row.sides[number];
    int alive = 0;
    float bare = 0, walking = 0, hazards = 0;
    bool tera = false;
    float answer = 0, fastAnswer = 0;
    for (int position = 0; position < side.size; position++) {
        Fighter mon = position ? benchOf(row, number, position) : out;
        const Pokemon& p = mon.p;
        if (p.terastallized) add(V_tera_used, 1);
        tera = tera || p.canTerastallize > 0;
        if (p.hp <= 0) continue;
        float hp = health(p);
        alive++;
        add(V_alive, 1);
        add(V_hp, hp);
        if (p.item) add(V_item, 1);
        if (int status = ill(p.status); status >= 0) {
            add(V_burn + status, 1);
            add(V_burn_hp + status, hp);
        }
        add(V_COUNT + p.baseSpecies, 1);
        add(V_COUNT + SPECIES_COUNT + p.baseSpecies, hp);
        if (p.item != item::heavydutyboots) {
            bare += 1;
            walking += grounded(mon);
        }
        if (position) {
            float share = hazardShare(mon);
            hazards += share < hp ? share : hp;
        }
        if (position && foe.p.hp > 0) {
            float own = sharp(bestShare(mon, foe)), theirs = bestShare(foe, mon);
            if (theirs < 1 && own > answer) answer = own;
            if (own >= 1 && faster(mon, foe) > 0) fastAnswer = 1;
        }
    }
    if (1 <= alive && alive <= 5) add(V_left_1 + alive - 1, 1);
    add(V_hazards, hazards);
    if (tera) add(V_tera_left, 1);
    add(V_best_answer, answer);
    add(V_best_faster_answer, fastAnswer);
    for (int n = 0; n < side.conditionCount; n++) {
        const EffectState& state = side.conditions[n];
        switch (state.id) {
            case condition::stealthrock: add(V_rocks, bare); break;
            case condition::spikes: add(V_spikes, state.counter * walking); break;
            case condition::toxicspikes: add(V_toxic_spikes, state.counter * walking); break;
            case condition::stickyweb: add(V_web, walking); break;
            case condition::reflect: add(V_reflect, state.duration); break;
            case condition::lightscreen: add(V_light_screen, state.duration); break;
            case condition::auroraveil: add(V_veil, state.duration); break;
            default: break;
        }
    }
    const SlotConditions& slot = side.slotConditions[0];
    for (int n = 0; n < slot.count; n++) {
        if (slot.list[n].id == condition::wish) add(V_wish, 1);
        if (slot.list[n].id == condition::futuremove) add(V_future_sight, 1);
    }
    if (out.p.hp <= 0) return;
    float hp = health(out.p);
    add(V_active_hp, hp);
    if (int status = ill(out.p.status); status >= 0) add(V_active_burn + status, 1);
    const int32_t* boosts = out.active->boosts;
    int most = 0;
    for (int stat = Stat::atk; stat <= Stat::spe; stat++) {
        if (boosts[stat] > 0) add(V_atk_up + stat, boosts[stat]);
        if (boosts[stat] < 0) add(V_atk_down + stat, -boosts[stat]);
        if (boosts[stat] > most) most = boosts[stat];
    }
    add(V_boosted_hp, most * hp);
    if (boosts[Stat::accuracy] < 0) add(V_accuracy_down, -boosts[Stat::accuracy]);
    if (boosts[Stat::evasion] > 0) add(V_evasion_up, boosts[Stat::evasion]);
    for (int n = 0; n < out.active->volatileCount; n++) {
        switch (out.active->volatiles[n].id) {
            case condition::substitute: add(V_substitute, 1); break;
            case condition::confusion: add(V_confusion, 1); break;
            case condition::mustrecharge: add(V_recharge, 1); break;
            case condition::taunt: add(V_taunt, 1); break;
            case condition::encore: add(V_encore, 1); break;
            case condition::saltcure: add(V_saltcure, 1); break;
            case condition::choicelock: add(V_choice_locked, 1); break;
            default: break;
        }
    }
}

template <typename Add>
void visitBlow(float ours, float theirs, bool first, const Pokemon& mon, const Pokemon& other, Add& add) {
    float capped = sharp(ours);
    add(V_damage, capped);
    add(V_damage_squared, capped * capped);
    add(V_damage_health, capped * health(other));
    if (ours >= 0.5f) {
        add(V_two_hits, 1);
        if (first) add(V_faster_two_hits, 1);
    }
    if (ours >= 1) {
        add(V_one_hit, 1);
        add(V_one_hit_health, health(other));
        if (first) add(V_faster_one_hit, 1);
    }
    if (ours == 0) {
        add(V_no_damage, 1);
        if (theirs >= 0.5f) add(V_stuck, 1);
    }
    if (theirs < 0.25f) add(V_safe, health(mon));
}

bool helpsItself(const MoveData& move) {
    if (move.selfBoost) return true;
    return move.target == Target::self && move.hit.hasBoosts();
}

template <typename Add>
void visitMove(const Fighter& user, const Fighter& foe, int id, bool tera, float danger, bool slower, Add& add) {
    const MoveData& move = moveData(id);
    add(C_COUNT + id - FIRST_MOVE, 1);
    float share = shareOf(user, foe, id, tera), capped = sharp(share);
    if (tera) {
        add(C_tera, 1);
        add(C_tera_in_danger, danger);
        add(C_tera_damage, capped);
        if (share >= 1) add(C_tera_one_hit, 1);
    }
    if (move.category == Category::Status) {
        if (move.hit.status && foe.p.status) add(C_status_wasted, 1);
        if (move.has(Flag::heal)) add(C_heal_missing, 1 - health(user.p));
        if (helpsItself(move)) {
            int most = 0;
            for (int stat = Stat::atk; stat <= Stat::spa; stat++) most = user.boost(stat) > most ? user.boost(stat) : most;
            add(C_boosted, most);
        }
        add(C_in_danger, danger);
        if (slower) add(C_in_danger_slower, 1);
        return;
    }
    add(C_damage, capped);
    add(C_damage_squared, capped * capped);
    if (move.accuracy != TRUE) add(C_inaccurate, 1 - move.accuracy / 100.f);
    if (share == 0) add(C_no_damage, 1);
    if (share >= 0.5f) add(C_two_hits, 1);
    if (share >= 1) {
        add(C_one_hit, 1);
        if (move.priority > 0 || faster(user, foe) > 0) add(C_faster_one_hit, 1);
        if (move.priority > 0) add(C_priority_one_hit, 1);
    }
}

template <typename Add>
void visitSwitch(const Fighter& out, const Fighter& mon, const Fighter& foe, float danger, bool slower, Add& add) {
    add(C_is_switch, 1);
    add(C_switch_in_danger, danger);
    if (slower) add(C_switch_in_danger_slower, 1);
    int most = 0;
    for (int stat : {int(Stat::atk), int(Stat::spa), int(Stat::spe)}) most = out.boost(stat) > most ? out.boost(stat) : most;
    add(C_switch_boosted, most);
    add(C_COUNT + MOVE_COUNT + mon.p.baseSpecies, 1);
    add(C_switch_hp, health(mon.p));
    add(C_switch_hazards, sharp(hazardShare(mon) / (health(mon.p) + 0.01f)));
    if (mon.p.status) add(C_switch_ill, 1);
    if (mon.p.status == condition::slp || mon.p.status == condition::frz) add(C_switch_asleep, 1);
    if (foe.p.hp <= 0) return;
    float threat = bestShare(foe, mon), answer = bestShare(mon, foe);
    add(C_switch_threat, sharp(threat));
    add(C_switch_answer, sharp(answer));
    if (threat >= 1) add(C_switch_threat_one_hit, 1);
    if (answer >= 1) add(C_switch_answer_one_hit, 1);
    if (answer == 0) add(C_switch_useless, 1);
    if (faster(mon, foe) > 0) add(C_switch_faster, 1);
}

struct Danger {
    float share;
    bool slower;
};

Danger dangerOf(const Fighter& out, const Fighter& foe) {
    if (out.p.hp <= 0 || foe.p.hp <= 0) return {0, false};
    float share = sharp(bestShare(foe, out));
    return {share, share >= 1 && faster(out, foe) <= 0};
}

}  // namespace

template <typename Add>
void visitValue(const Row& row, Add&& add) {
    Fighter one = outOf(row, 0), two = outOf(row, 1);
    auto less = [&](int place, float amount) { add(place, -amount); };
    visitSide(row, 0, one, two, add);
    visitSide(row, 1, two, one, less);
    if (one.p.hp <= 0 || two.p.hp <= 0) return;
    int first = faster(one, two);
    float ours = bestShare(one, two), theirs = bestShare(two, one);
    add(V_faster, first);
    visitBlow(ours, theirs, first > 0, one.p, two.p, add);
    visitBlow(theirs, ours, first < 0, two.p, one.p, less);
}

int sideFeatures(const Row& row, int side, int32_t places[MOST_SIDE], float amounts[MOST_SIDE]) {
    int count = 0;
    auto add = [&](int place, float amount) {
        if (amount == 0 || count == MOST_SIDE) return;
        places[count] = place;
        amounts[count++] = amount;
    };
    Fighter own = outOf(row, side), foe = outOf(row, 1 - side);
    visitSide(row, side, own, foe, add);
    if (own.p.hp <= 0) return count;
    add(VALUE_SIZE + own.p.species, 1);
    for (int n = 0; n < own.p.moveCount; n++)
        if (own.p.moveSlots[n].pp > 0) add(VALUE_SIZE + SPECIES_COUNT + own.p.moveSlots[n].id - FIRST_MOVE, 1);
    if (foe.p.hp <= 0) return count;
    int first = faster(own, foe);
    add(V_faster, first);
    visitBlow(bestShare(own, foe), bestShare(foe, own), first > 0, own.p, foe.p, add);
    return count;
}

// What a side's action is among the features of choices.
template <typename Add>
void visitChoice(const Row& row, int side, int action, float danger, bool slower, Add&& add) {
    Fighter out = outOf(row, side), foe = outOf(row, 1 - side);
    if (action >= 8) {
        visitSwitch(out, benchOf(row, side, action - 7), foe, danger, slower, add);
        return;
    }
    bool single = out.p.moveCount <= action % 4 || !out.p.moveSlots[action % 4].id;
    visitMove(out, foe, single ? int(move::struggle) : out.p.moveSlots[action % 4].id, action >= 4, danger, slower, add);
}

float valueOf(const Row& row, const Weights& weights) {
    if (weights.network) {
        Sums sums;
        sumsOf(row, *weights.network, sums);
        return judged(*weights.network, sums);
    }
    float sum = 0;
    visitValue(row, [&](int place, float amount) { sum += amount * weights.value[place]; });
    return 1 / (1 + exponential(-sum));
}

void fittedLogits(const Row& row, int side, int legal, const Weights& weights, float logits[ACTIONS]) {
    Danger danger = dangerOf(outOf(row, side), outOf(row, 1 - side));
    for (int action = 0; action < ACTIONS; action++) {
        logits[action] = 0;
        if (!(legal >> action & 1)) continue;
        visitChoice(row, side, action, danger.share, danger.slower,
                    [&](int place, float amount) { logits[action] += amount * weights.choice[place]; });
    }
}

void priorsOf(const Row& row, int side, int legal, const Weights& weights, const Sums* sums, float trust, float priors[ACTIONS]) {
    fittedLogits(row, side, legal, weights, priors);
    if (sums) correct(row, side, legal, *weights.network, *sums, priors);
    float most = -1e9f, odds = 0;
    for (int action = 0; action < ACTIONS; action++)
        if (legal >> action & 1 && priors[action] > most) most = priors[action];
    for (int action = 0; action < ACTIONS; action++) {
        if (!(legal >> action & 1)) continue;
        priors[action] = exponential(trust * (priors[action] - most));
        odds += priors[action];
    }
    for (int action = 0; action < ACTIONS; action++) priors[action] /= odds > 1e-9f ? odds : 1e-9f;
}

}  // namespace search

extern "C" {

// The names of the features of a value, or of a choice, with spaces between them.
const char* gen9_search_names(int ofChoices) {
#define X(name) #name " "
    return ofChoices ? CHOICE_FEATURES(X) : VALUE_FEATURES(X);
#undef X
}

int gen9_search_size(int ofChoices) { return ofChoices ? search::CHOICE_SIZE : search::VALUE_SIZE; }

// Writes the features of a position's value [VALUE_SIZE].
void gen9_search_value_features(const int32_t* words, float* features) {
    search::visitValue(*reinterpret_cast<const Row*>(words), [&](int place, float amount) { features[place] += amount; });
}

// Writes the features of a side's legal choices [ACTIONS, CHOICE_SIZE].
void gen9_search_choice_features(const int32_t* words, int side, int legal, float* features) {
    const Row& row = *reinterpret_cast<const Row*>(words);
    search::Danger danger = search::dangerOf(search::outOf(row, side), search::outOf(row, 1 - side));
    for (int action = 0; action < search::ACTIONS; action++)
        if (legal >> action & 1)
            search::visitChoice(row, side, action, danger.share, danger.slower,
                                [&](int place, float amount) { features[action * search::CHOICE_SIZE + place] += amount; });
}

}  // extern "C"
