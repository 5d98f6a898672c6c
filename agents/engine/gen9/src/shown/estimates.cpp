#include "estimates.h"

#include <cstring>

namespace {

constexpr double MOST_DAMAGE = 1.5;

double clipped(double damage) { return damage < MOST_DAMAGE ? damage : MOST_DAMAGE; }

template <typename Same>
int lookUp(const Index& index, uint64_t hash, Same same) {
    for (uint64_t at = hash & index.mask;; at = (at + 1) & index.mask) {
        int entry = index.slots[at] - 1;
        if (entry < 0 || same(entry)) return entry;
    }
}

}  // namespace

uint64_t hashOf(uint64_t number) {
    number ^= number >> 33;
    number *= 0xFF51AFD7ED558CCDull;
    number ^= number >> 33;
    number *= 0xC4CEB9FE1A85EC53ull;
    return number ^ number >> 33;
}

uint64_t hashOf(const int32_t* words, int count) {
    uint64_t hash = 0x9E3779B97F4A7C15ull;
    for (int n = 0; n < count; n += 2) {
        uint64_t pair;
        memcpy(&pair, words + n, sizeof pair);
        hash = (hash ^ pair) * 0xD6E8FEB86659FD93ull;
        hash ^= hash >> 32;
    }
    return hash;
}

int Knowledge::find(const GuessKey& key) const {
    return lookUp(guessIndex, hashOf(key.words, GUESS_WORDS), [&](int entry) { return !memcmp(&guessKeys[entry], &key, sizeof key); });
}

int Knowledge::find(const CombatantKey& key) const {
    return lookUp(combatantIndex, hashOf(key.words, KEY_WORDS), [&](int entry) { return !memcmp(&combatantKeys[entry], &key, sizeof key); });
}

int Knowledge::findAttack(int combatant, int move) const {
    uint64_t key = uint64_t(combatant) << 32 | uint32_t(move);
    int entry = lookUp(attackIndex, hashOf(key), [&](int entry) { return attackKeys[entry] == key; });
    return entry < 0 ? -1 : attackIds[entry];
}

int Knowledge::findPair(int attack, int combatant) const {
    uint64_t key = uint64_t(attack) << 32 | uint32_t(combatant);
    return lookUp(pairIndex, hashOf(key), [&](int entry) { return pairKeys[entry] == key; });
}

Missing::Entry& Estimator::miss(int what, int first, int second) {
    if (missing.count < Missing::MOST) missing.count++;
    Missing::Entry& entry = missing.entries[missing.count - 1];
    entry = {what, first, second, {}};
    return entry;
}

const Guess* Estimator::guess(const GuessKey& key) {
    int found = knowledge.find(key);
    if (found >= 0) return &knowledge.guesses[found];
    memcpy(miss(Missing::GUESS).key.words, key.words, sizeof key);
    return nullptr;
}

int Estimator::combatant(const CombatantKey& key) {
    int found = knowledge.find(key);
    if (found < 0) miss(Missing::COMBATANT).key = key;
    return found;
}

int Estimator::strike(int combatant, int move) {
    int found = knowledge.findAttack(combatant, move);
    if (found < 0) miss(Missing::ATTACK, combatant, move);
    return found;
}

// unrounded_damage.py: _push, with the power of unrounded_modifiers.py: POWER_BY_TARGET.
double Strike::pushOn(const Combatant& target) const {
    switch (by) {
        case ITEM: return push[target.hasItem];
        case WEIGHT: return push[target.weight];
        case ATTACK: return push[0] * (target.attack * push[1]);
        case RATIO: {
            double ratio = kg / (target.kg > 0.1 ? target.kg : 0.1);
            return push[ratio >= 5 ? 4 : ratio >= 4 ? 3 : ratio >= 3 ? 2 : ratio >= 2];
        }
        default: return push[0];
    }
}

// unrounded_damage.py: CachedStrike.against and UnroundedStrike.on.
Damage Estimator::damage(int number, int defender) {
    const Strike& attack = knowledge.attacks[number];
    if (attack.how == Strike::NONE) return {};
    if (attack.how == Strike::PAIR) {
        int found = knowledge.findPair(number, defender);
        if (found >= 0) return knowledge.pairs[found];
        miss(Missing::PAIR, number, defender);
        return {};
    }
    const Combatant& target = knowledge.combatants[defender];
    double factor = knowledge.effectiveness[target.types * KIND_COUNT + attack.kind] * attack.hits;
    double guard = knowledge.guards[attack.guard * knowledge.guardColumns + target.guard];
    if (factor == 0 || guard == 0) return {};
    if (attack.how == Strike::FIXED) {
        double part = attack.push[1] > 0 ? attack.push[1] : attack.push[0] / target.hp;
        return {part, part, part};
    }
    double plain = (attack.pushOn(target) / target.walls[attack.wall] / 50 + 2) * (attack.final * guard);
    double critical = plain * attack.critical * attack.sharp;
    double mean = ((1 - attack.chance) * plain + attack.chance * critical) * factor * (target.low + target.high) / 2;
    double base = (attack.chance >= 1 ? critical : plain) * factor;
    return {base * target.low, base * target.high, mean};
}

// estimates.py: Estimates._deals.
void Estimator::deals(const Standing& attacker, int defender, double* most) {
    most[0] = most[1] = 0;
    for (int n = 0; n < attacker.guess->count; n++) {
        int number = strike(attacker.combatant, attacker.guess->moves[n]);
        if (number < 0) continue;
        const Strike& attack = knowledge.attacks[number];
        if (attack.how == Strike::NONE) continue;
        double expected = damage(number, defender).mean * attack.accuracy * attacker.guess->chances[n];
        if (expected > most[attack.special]) most[attack.special] = expected;
    }
}

// estimates.py: Estimates.rows.
void Estimator::against(const Standing& mon, const SideFactors& near, const Standing& foe, const SideFactors& far, bool first,
                        float* features) {
    if (mon.combatant < 0 || foe.combatant < 0) return;
    double received[2], dealt[2];
    deals(foe, mon.combatant, received);
    deals(mon, foe.combatant, dealt);
    double taken = 0, given = 0;
    for (int kind = 0; kind < 2; kind++) {
        double one = received[kind] * foe.attack[kind] * mon.wall[kind] * near.wall[kind];
        double other = dealt[kind] * mon.attack[kind] * (foe.wall[kind] * far.wall[kind]);
        if (kind == 0 || one > taken) taken = one;
        if (kind == 0 || other > given) given = other;
    }
    double pace = mon.pace * (knowledge.combatants[mon.combatant].speed * near.pace);
    double foePace = knowledge.combatants[foe.combatant].speed * foe.pace * far.pace;
    features[0] = 1;
    features[1] = float(clipped(taken));
    features[2] = float(clipped(mon.hp > 0 ? taken / mon.hp : 0));
    features[3] = float(clipped(given));
    features[4] = float(clipped(foe.hp > 0 ? given / foe.hp : 0));
    features[5] = pace > foePace || (first && pace == foePace);
}

// estimates.py: of_move.
void Estimator::ofMove(int move, const Standing& own, const Standing& foe, const SideFactors& far, float* features) {
    if (own.combatant < 0 || foe.combatant < 0) return;
    int number = strike(own.combatant, move), target = foe.combatant;
    if (number < 0) return;
    const Strike& attack = knowledge.attacks[number];
    int kind = attack.special;
    Damage found = damage(number, target);
    double factor = own.attack[kind] * foe.wall[kind] * far.wall[kind];
    double mean = found.mean * attack.accuracy * factor;
    features[0] = float(clipped(mean));
    features[1] = float(clipped(foe.hp > 0 ? mean / foe.hp : 0));
    features[2] = found.high * factor >= foe.hp && foe.hp > 0;
    features[3] = found.low * factor >= foe.hp && foe.hp > 0;
    features[4] = attack.type < 0 ? 1 / 4.f
                                             : float(knowledge.effectiveness[knowledge.combatants[target].types * KIND_COUNT + attack.type] / 4);
    features[5] = float(attack.sameType);
}
