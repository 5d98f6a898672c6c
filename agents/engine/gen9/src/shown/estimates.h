// Damage estimates of observations (agents/observation/estimates.py), from what Python has worked out about Pokémon and their
// moves (agents/observation/gen9_estimates.py): only what depends on two of them is reckoned here, by the same operations in
// the same order. What is not known yet is asked for.

#pragma once

#include <cstdint>

// What a Pokémon without its moves depends on: 1 + the tera type of the request (0: theirs), species, level, the species of its weight,
// item, ability, terastallized, tera type, Roost, Transform, how many types were changed and these, then maximum HP and stats
// of the request, or the set that theirs is taken for.
constexpr int KEY_WORDS = 22, GUESS_WORDS = 10;
struct CombatantKey {
    int32_t words[KEY_WORDS];
};
// What the guess of their moves depends on: species, and its known moves in their order.
struct GuessKey {
    int32_t words[GUESS_WORDS];
};

// A healthy Pokémon as a target. walls: Defense and Special Defense. types: its row of Knowledge.effectiveness. guard: its column
// of Knowledge.guards. weight: its class for Low Kick and the like, of kg.
struct Combatant {
    double speed, low, high, walls[2], hp, attack, kg;
    int32_t types, guard, hasItem, weight;
};

// A move of a combatant. by: what its power depends on, each class of which has its own push. type: of the move, as
// effectiveness is shown, -1 of one that does no damage; kind: its column of Knowledge.effectiveness as it is used.
struct Strike {
    // It does no damage; by the formula; so many HP (push[0]) or such a share (push[1]); whatever Python says for each target.
    enum : int32_t { NONE, USUAL, FIXED, PAIR };
    // ITEM: whether the target has one; RATIO: of both weights; ATTACK: of the target, with push[1], its factor.
    enum : int32_t { NOTHING, ITEM, WEIGHT, RATIO, ATTACK };
    static constexpr int CLASSES = 6;
    double accuracy, hits, final, critical, sharp, chance, kg, push[CLASSES];
    int32_t how, by, special, wall, type, kind, guard, sameType;

    double pushOn(const Combatant& target) const;
};

// A Pokémon's moves with the probability that it has each. set: a number for the item, spread ... of theirs that go with them.
struct Guess {
    static constexpr int MOST = 24;
    int32_t set, count, moves[MOST];
    double chances[MOST];
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
    Index guessIndex, combatantIndex, attackIndex, pairIndex;
    const GuessKey* guessKeys;
    const Guess* guesses;
    const CombatantKey* combatantKeys;
    const Combatant* combatants;
    const uint64_t* attackKeys;
    const int32_t* attackIds;
    const Strike* attacks;
    const uint64_t* pairKeys;
    const Damage* pairs;
    const double* effectiveness;  // [types, KIND_COUNT]
    const double* guards;         // [guard of an attack, guardColumns]: factor of the damage, 0 where it is blocked
    int64_t guardColumns;

    int find(const GuessKey& key) const;
    int find(const CombatantKey& key) const;
    int findAttack(int combatant, int move) const;
    int findPair(int attack, int combatant) const;
};

// What Python is asked to work out.
struct Missing {
    static constexpr int MOST = 24;
    struct Entry {
        int32_t what, first, second;  // ATTACK: combatant, move; PAIR: attack, combatant
        CombatantKey key;             // GUESS, COMBATANT
    };
    enum : int32_t { GUESS, COMBATANT, ATTACK, PAIR };
    int32_t count;
    Entry entries[MOST];
};

// A Pokémon's present state: factors by physical and special. guess: its moves.
struct Standing {
    int32_t combatant;  // -1: there is none, or it is not known yet
    const Guess* guess;
    double attack[2], wall[2], pace, hp;
};
struct SideFactors {
    double wall[2] = {1, 1}, pace = 1;
};

class Estimator {
  public:
    Estimator(const Knowledge& knowledge, Missing& missing) : knowledge(knowledge), missing(missing) {}

    const Guess* guess(const GuessKey& key);
    int combatant(const CombatantKey& key);
    // Writes six features of a Pokémon against the other side's active one.
    void against(const Standing& mon, const SideFactors& near, const Standing& foe, const SideFactors& far, bool first, float* features);
    // Writes six features of a move of our active Pokémon.
    void ofMove(int move, const Standing& own, const Standing& foe, const SideFactors& far, float* features);

  private:
    const Knowledge& knowledge;
    Missing& missing;

    Missing::Entry& miss(int what, int first = 0, int second = 0);
    int strike(int combatant, int move);
    Damage damage(int attack, int defender);
    void deals(const Standing& attacker, int defender, double* most);
};

uint64_t hashOf(const int32_t* words, int count);
uint64_t hashOf(uint64_t number);
