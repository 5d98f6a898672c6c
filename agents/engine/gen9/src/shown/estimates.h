// Damage estimates of observations (agents/observation/estimates.py), from what Python has worked out about Pokémon and their
// moves (agents/observation/gen9_estimates.py): only what depends on two of them is reckoned here, by the same operations in
// the same order. What is not known yet is asked for.

#pragma once

#include <cstdint>

// Words of what an estimate may depend on of a Pokémon (Knowledge.words): whose, species, level, the species of its weight, item,
// ability, terastallized, tera type, types, Roost, and either its moves as they became known or stats and moves of the request.
constexpr int KEY_WORDS = 28;
struct Key {
    int32_t words[KEY_WORDS];
};

// A healthy Pokémon as a target. walls: Defense and Special Defense. types: its row of Knowledge.effectiveness. guard: its column
// of Knowledge.guards. weight: its class for moves whose power depends on it.
struct Combatant {
    double speed, low, high, walls[2];
    int32_t types, guard, hasItem, weight;
};

// A move of a combatant. by: what its power depends on, each class of which has its own push. type: of the move, as
// effectiveness is shown, -1 of one that does no damage; kind: as it is used.
struct Strike {
    enum : int32_t { NONE, USUAL, PAIR };  // it does no damage; by formula; whatever Python says for each target
    enum : int32_t { NOTHING, ITEM, WEIGHT };
    static constexpr int CLASSES = 6;
    double accuracy, hits, final, critical, sharp, chance, push[CLASSES];
    int32_t how, by, special, wall, type, kind, guard, sameType;
};

// A Pokémon's damaging moves with the probability that it has each.
struct Known {
    static constexpr int MOST = 24;
    int32_t combatant, count, attacks[MOST];
    double accuracy[MOST], chance[MOST];
};

struct Damage {
    double low, high, mean;
};

// A table with open addressing: slots hold 1 + an index.
struct Index {
    const int32_t* slots;
    uint64_t mask;
};

constexpr int KIND_COUNT = 21;

// All that is known. Strike of a combatant's move: by attackIndex, whose keys are combatant << 32 | move; damage of an attack
// that is a PAIR: by pairIndex, attack << 32 | combatant.
struct Knowledge {
    Index knownIndex, attackIndex, pairIndex;
    const Key* keys;
    const Known* knowns;
    const Combatant* combatants;
    const uint64_t* attackKeys;
    const int32_t* attackIds;
    const Strike* attacks;
    const uint64_t* pairKeys;
    const Damage* pairs;
    const double* effectiveness;  // [types, KIND_COUNT]
    const double* guards;         // [guard of an attack, guardColumns]: factor of the damage, 0 where it is blocked
    int64_t guardColumns;

    int find(const Key& key) const;
    int findAttack(int combatant, int move) const;
    int findPair(int attack, int combatant) const;
};

// What Python is asked to work out.
struct Missing {
    static constexpr int MOST = 24;
    struct Entry {
        int32_t what, first, second;  // KNOWN: key of this place; ATTACK: combatant, move; PAIR: attack, combatant
        Key key;
    };
    enum : int32_t { KNOWN, ATTACK, PAIR };
    int32_t count;
    Entry entries[MOST];
};

// A Pokémon's present state: factors by physical and special. side: of its side's conditions.
struct Standing {
    int32_t known;  // -1: there is none, or it is not known yet
    double attack[2], wall[2], pace, hp;
};
struct SideFactors {
    double wall[2] = {1, 1}, pace = 1;
};

class Estimator {
  public:
    Estimator(const Knowledge& knowledge, Missing& missing) : knowledge(knowledge), missing(missing) {}

    int known(const Key& key);
    // Writes six features of a Pokémon against the other side's active one.
    void against(const Standing& mon, const SideFactors& near, const Standing& foe, const SideFactors& far, bool first, float* features);
    // Writes six features of a move of our active Pokémon.
    void ofMove(int move, const Standing& own, const Standing& foe, const SideFactors& far, float* features);

  private:
    const Knowledge& knowledge;
    Missing& missing;

    void miss(int what, int first, int second, const Key* key = nullptr);
    Damage damage(int attack, int defender);
    void deals(const Known& attacker, int defender, double* most);
};

uint64_t hashOf(const Key& key);
uint64_t hashOf(uint64_t number);
