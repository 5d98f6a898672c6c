#include "observe.h"

#include <cstring>

#include "keeper.h"
#include "share.h"

namespace {

constexpr int FIELD = 0, SIDE_TOKENS = 1, OURS = 3, THEIRS = 9, MOVES = 15;
constexpr int ESTIMATES = 21, ON_FIELD = 27, CONSTANTS = 9, MOVE_ESTIMATES = 3;
constexpr int LISTED_TERRAINS = 4, AGED = 4, OBSERVED_EFFECTS = 16, SHOWN_SLOTS = 4;

double stageFactor(int stage) { return double(stage > 0 ? 2 + stage : 2) / double(stage < 0 ? 2 - stage : 2); }

double health(const ShownPokemon& mon) { return mon.hp && mon.maxhp ? double(mon.hp) / mon.maxhp : 0; }

class Observer {
  public:
    Observer(Row& row, int seat, const Shown& shown, const Facts& facts, const Knowledge& knowledge, Missing& missing)
        : row(row), seat(seat), shown(shown), facts(facts), battle(row), request(requestOf(battle, seat, shown, facts.moveRank)),
          estimator(knowledge, missing) {}

    void write(int16_t* ids, float* features, uint8_t* legal) {
        if (request.kind == REQUEST_NONE) return;
        writeLegal(row, seat, request, legal);
        fieldToken(ids + FIELD * IDS_PER_TOKEN, features + FIELD * FEATURES);
        for (int side = 0; side < SIDES; side++)
            sideToken(shown.sides[side], ids + (SIDE_TOKENS + side) * IDS_PER_TOKEN, features + (SIDE_TOKENS + side) * FEATURES);
        for (Standing& standing : standings) standing.combatant = -1;
        ourTokens(ids + OURS * IDS_PER_TOKEN, features + OURS * FEATURES);
        theirTokens(ids + THEIRS * IDS_PER_TOKEN, features + THEIRS * FEATURES);
        for (int side = 0; side < SIDES; side++) factors[side] = factorsOf(shown.sides[side]);
        const bool preview = request.kind == REQUEST_PREVIEW;
        able[0] = !preview && exists[0] && standings[0].hp > 0;
        able[1] = !preview && exists[TEAM] && standings[TEAM].hp > 0;
        for (int n = 0; n < 2 * TEAM; n++) {
            int side = n / TEAM;
            if (exists[n] && able[1 - side])
                estimator.against(standings[n], factors[side], standings[(1 - side) * TEAM], factors[1 - side], side == 1,
                                  features + (OURS + n) * FEATURES + ESTIMATES);
        }
        if (preview) {  // who leads unless another one does
            memcpy(ids + (MOVES + FIRST_LEADS) * IDS_PER_TOKEN, ids + OURS * IDS_PER_TOKEN, IDS_PER_TOKEN * sizeof *ids);
            memcpy(features + (MOVES + FIRST_LEADS) * FEATURES, features + OURS * FEATURES, FEATURES * sizeof *features);
        } else {
            moveTokens(ids + MOVES * IDS_PER_TOKEN, features + MOVES * FEATURES);
        }
    }

  private:
    Row& row;
    int seat;
    const Shown& shown;
    const Facts& facts;
    Battle battle;
    Request request;
    Estimator estimator;
    Standing standings[2 * TEAM];
    Guess ourMoves[TEAM];
    bool exists[2 * TEAM] = {}, able[SIDES] = {};
    SideFactors factors[SIDES];

    // packed_tokens.py: field_token.
    void fieldToken(int16_t* ids, float* features) {
        int turn = shown.turn;
        ids[0] = facts.generation;
        ids[1] = shown.weather ? facts.word[shown.weather] : facts.noWeather;
        features[0] = float((turn < 100 ? turn : 100) / 100.);
        features[1] = float(1. / (1 + turn));
        features[2] = shown.weather ? float((turn - shown.weatherSince) / 8.) : 0;
        features[3] = request.kind == REQUEST_SWITCH;
        features[4] = request.trapped;
        features[5] = request.canTerastallize;
        int listed = 0;
        for (int n = 0; n < shown.fieldCount && listed < LISTED_TERRAINS; n++) {
            if (facts.fieldWord[shown.fields[n]] < 0) continue;
            ids[2 + listed] = facts.fieldWord[shown.fields[n]];
            features[6 + listed++] = float((turn - shown.fieldsSince[n]) / 8.);
        }
    }

    // packed_tokens.py: side_token.
    void sideToken(const ShownSide& side, int16_t* ids, float* features) {
        for (int n = 0; n < SHOWN_CONDITIONS; n++) {
            int value = side.conditions[n];
            if (value == SHOWN_ABSENT) continue;
            bool layers = n == ShownCondition::SPIKES || n == ShownCondition::TOXIC_SPIKES;
            features[n] = layers ? float(value / 3.) : 1;
            int age = n - ShownCondition::REFLECT;
            if (age >= 0 && age < AGED) features[SHOWN_CONDITIONS + age] = float((shown.turn - value) / 8.);
        }
        int standing = 0;
        double total = 0;
        for (int n = 0; n < side.count; n++) {
            if (side.pokemon[n].status == SHOWN_FAINTED) continue;
            standing++;
            total += health(side.pokemon[n]);
        }
        float* counts = features + SHOWN_CONDITIONS + AGED;
        counts[0] = float(standing / 6.);
        counts[1] = float(side.count / 6.);
        counts[2] = float((side.count - standing) / 6.);
        counts[3] = float(total / 6);
        counts[4] = side.usedTera != 0;
        ids[0] = facts.noLast;
        const ShownPokemon* active = activeOf(side);
        for (int n = active ? active->moveCount - 1 : -1; n >= 0; n--)
            if (active->moves[n].lastUsed) ids[0] = facts.lastWord[active->moves[n].id];
    }

    void ourTokens(int16_t* ids, float* features) {
        const Side& whole = row.sides[seat];
        const ShownSide& side = shown.sides[0];
        for (int n = 0; n <= request.benchCount; n++) {
            const Pokemon& own = atPosition(whole, n ? request.bench[n - 1] : 0);
            for (int k = 0; k < side.count && !exists[n]; k++) {
                if (side.pokemon[k].pokemon != 1 + own.number) continue;
                pokemonToken(side.pokemon[k], &own, n, ids + n * IDS_PER_TOKEN, features + n * FEATURES);
                exists[n] = true;
            }
        }
    }

    // observation.py: _theirs, _unseen.
    void theirTokens(int16_t* ids, float* features) {
        const ShownSide& side = shown.sides[1];
        const ShownPokemon* listed[TEAM] = {activeOf(side)};
        ShownPokemon previewed[TEAM];
        int count = request.kind == REQUEST_PREVIEW ? 0 : 1;
        for (int n = 0; n < side.count && count < TEAM; n++)
            if (&side.pokemon[n] != listed[0]) listed[count++] = &side.pokemon[n];
        const Side& whole = row.sides[1 - seat];
        bool seen[TEAM] = {};
        for (int n = 0; n < whole.size && count < TEAM; n++) {
            int species = facts.previewed[whole.pokemon[n].setSpecies];
            bool matched = false;
            for (int k = 0; k < side.count && !matched; k++)
                if (!seen[k] && facts.base[side.pokemon[k].species] == facts.base[species]) matched = seen[k] = true;
            if (matched) continue;
            previewed[count] = unseen(whole.pokemon[n], species);
            listed[count] = &previewed[count];
            count++;
        }
        for (int n = 0; n < TEAM; n++) {
            exists[TEAM + n] = n < count && listed[n];
            if (exists[TEAM + n])
                pokemonToken(*listed[n], nullptr, TEAM + n, ids + n * IDS_PER_TOKEN, features + n * FEATURES);
            else
                unknownToken(ids + n * IDS_PER_TOKEN, features + n * FEATURES);
        }
    }

    // A Pokémon that the team preview alone has shown.
    ShownPokemon unseen(const Pokemon& mon, int species) {
        ShownPokemon shown = {};
        shown.species = shown.weightSpecies = species;
        shown.level = mon.level;
        shown.item = SHOWN_UNKNOWN;
        shown.ability = facts.onlyAbility[species];
        return shown;
    }

    void unknownToken(int16_t* ids, float* features) {
        ids[0] = facts.unknownSpecies;
        ids[1] = facts.unknownItem;
        ids[2] = facts.unknownAbility;
        for (int n = 0; n < SHOWN_SLOTS; n++) ids[3 + n] = facts.unknownMove;
        features[1] = 1;
    }

    // Pokemon.types (battle/types.py): each 1 + type.
    int typesOf(const ShownPokemon& mon, int32_t* types) {
        if (mon.terastallized && mon.teraType && mon.teraType != 1 + Type::Stellar) {
            types[0] = mon.teraType;
            return 1;
        }
        int count = baseTypesOf(mon, types);
        if (!hasEffect(mon, ShownEffect::ROOST)) return count;
        int left = 0;
        for (int n = 0; n < count; n++)
            if (types[n] != 1 + Type::Flying || left < n) types[left++] = types[n];  // the first of them
        if (!left) types[left++] = 1 + Type::Normal;
        return left;
    }

    int baseTypesOf(const ShownPokemon& mon, int32_t* types) {
        int count = mon.typeCount;
        for (int n = 0; n < count; n++) types[n] = mon.types[n];
        for (int n = 0; n < 2 && !mon.typeCount; n++)
            if (facts.speciesTypes[2 * mon.species + n] >= 0) types[count++] = 1 + facts.speciesTypes[2 * mon.species + n];
        return count;
    }

    // The ids of the moves that its token names: those of the request, or those that are known; by id. Returns how many.
    int namedMoves(const ShownPokemon& mon, const Pokemon* own, int32_t* moves) {
        int count = own ? own->moveCount : mon.moveCount;
        for (int n = 0; n < count; n++) moves[n] = own ? own->moveSlots[n].id : mon.moves[n].id;
        sortBy(moves, count, [&](int32_t id) { return facts.moveRank[id]; });
        return count < SHOWN_SLOTS ? count : SHOWN_SLOTS;
    }

    double ppLeft(const ShownPokemon& mon, int move) {
        for (int n = 0; n < mon.moveCount; n++)
            if (mon.moves[n].id == move) return mon.moves[n].pp / facts.maxPp[move];
        return 1;
    }

    // pokemon_tokens.py. own: it in the battle's words, where it is ours.
    void pokemonToken(const ShownPokemon& mon, const Pokemon* own, int token, int16_t* ids, float* features) {
        int32_t moves[SHOWN_MOVES], types[SHOWN_TYPES] = {};
        int count = namedMoves(mon, own, moves), typeCount = typesOf(mon, types), ability = abilityOf(mon);
        ids[0] = facts.speciesWord[mon.species];
        ids[1] = mon.item == SHOWN_UNKNOWN ? facts.unknownItem : mon.item ? facts.word[mon.item] : facts.noItem;
        ids[2] = ability ? facts.word[ability] : facts.unknownAbility;
        for (int n = 0; n < SHOWN_SLOTS; n++) ids[3 + n] = n < count ? facts.moveWord[moves[n]] : own ? facts.noMove : facts.unknownMove;
        ids[7] = mon.status == SHOWN_FAINTED ? facts.fainted : mon.status ? facts.word[mon.status] : facts.noStatus;
        ids[8] = facts.typeWord[types[0]];
        ids[9] = typeCount > 1 ? facts.typeWord[types[1]] : facts.noType;
        ids[10] = mon.teraType ? facts.teraWord[mon.teraType] : facts.unknownTera;
        double hp = health(mon);
        features[0] = 1;
        features[2] = float(hp);
        features[3] = mon.status == SHOWN_FAINTED;
        features[4] = mon.active != 0;
        features[5] = own != nullptr;
        features[6] = mon.revealed != 0;
        features[7] = float(mon.level / 100.);
        features[8] = float((mon.statusCounter < 8 ? mon.statusCounter : 8) / 8.);
        features[9] = float(count / 4.);
        features[10] = mon.terastallized != 0;
        for (int n = 0; n < 6; n++) features[11 + n] = facts.baseStats[6 * mon.species + n];
        for (int n = 0; n < count; n++) features[17 + n] = float(ppLeft(mon, moves[n]));
        if (mon.active) onField(mon, features + ON_FIELD);
        standings[token] = standingOf(mon, ability, hp);
        estimate(mon, own, ability, token);
    }

    // pokemon_tokens.py: _on_field.
    void onField(const ShownPokemon& mon, float* features) {
        for (int n = 0; n < Stat::COUNT; n++) features[n] = float(mon.boosts[n] / 6.);
        float* states = features + Stat::COUNT;
        states[0] = mon.activeTurns == 1;
        states[1] = mon.mustRecharge != 0;
        states[2] = mon.preparing != 0;
        states[3] = float(mon.protectCounter / 4.);
        for (int n = 0; n < OBSERVED_EFFECTS; n++) states[4 + n] = hasEffect(mon, n);
    }

    // estimates.py: standing.
    Standing standingOf(const ShownPokemon& mon, int ability, double hp) {
        Standing standing = {-1, nullptr, {1, 1}, {1, 1}, 1, 0};
        if (mon.active) {
            standing.attack[0] = stageFactor(mon.boosts[Stat::atk]);
            standing.attack[1] = stageFactor(mon.boosts[Stat::spa]);
            standing.wall[0] = 1 / stageFactor(mon.boosts[Stat::def]);
            standing.wall[1] = 1 / stageFactor(mon.boosts[Stat::spd]);
            standing.pace = stageFactor(mon.boosts[Stat::spe]);
            if (hasEffect(mon, ShownEffect::REFLECT)) standing.wall[0] /= 2;
        }
        standing.hp = mon.status == SHOWN_FAINTED ? 0 : mon.maxhp ? hp : 1;
        if (mon.status == condition::brn && ability != ability::guts) standing.attack[0] /= 2;
        if (mon.status == condition::par && ability != ability::quickfeet) standing.pace *= 0.5;
        return standing;
    }

    // Finds what Estimates.known returns (agents/observation/gen9_estimates.py reads the keys in this order).
    void estimate(const ShownPokemon& mon, const Pokemon* own, int ability, int token) {
        Standing& standing = standings[token];
        if (own) {
            Guess& ours = ourMoves[token];
            ours.count = own->moveCount;
            for (int n = 0; n < ours.count; n++) {
                ours.moves[n] = own->moveSlots[n].id;
                ours.chances[n] = 1;
            }
            standing.guess = &ours;
        } else {
            GuessKey key = {{mon.species}};
            for (int n = 0; n < mon.moveCount; n++) key.words[1 + n] = mon.moves[n].id;
            standing.guess = estimator.guess(key);
            if (!standing.guess) return;
        }
        CombatantKey key = {{own ? 1 + own->teraType : 0, mon.species, mon.level, mon.weightSpecies, mon.item, ability, mon.terastallized,
                             mon.teraType, int32_t(hasEffect(mon, ShownEffect::ROOST)), mon.transformed, mon.typeCount, mon.types[0],
                             mon.types[1], mon.types[2], own ? mon.maxhp : standing.guess->set}};
        for (int n = 0; n < 5 && own; n++) key.words[15 + n] = own->baseStoredStats[n];
        standing.combatant = estimator.combatant(key);
    }

    // estimates.py: side_factors.
    SideFactors factorsOf(const ShownSide& side) {
        auto held = [&](int condition) { return side.conditions[condition] != SHOWN_ABSENT; };
        SideFactors found;
        if (held(ShownCondition::AURORA_VEIL) || held(ShownCondition::REFLECT)) found.wall[0] = 0.5;
        if (held(ShownCondition::AURORA_VEIL) || held(ShownCondition::LIGHT_SCREEN)) found.wall[1] = 0.5;
        if (held(ShownCondition::TAILWIND)) found.pace = 2;
        return found;
    }

    // packed_tokens.py: move_token.
    void moveTokens(int16_t* ids, float* features) {
        for (int n = 0; n < request.count; n++, ids += IDS_PER_TOKEN, features += FEATURES) {
            const ListedMove& listed = request.moves[request.order[n]];
            memcpy(ids, facts.moveToken + 3 * listed.id, 3 * sizeof *ids);
            features[0] = 1;
            features[1] = listed.disabled != 0;
            features[2] = listed.hasPp && listed.maxpp ? float(double(listed.pp) / listed.maxpp) : 1;
            features[MOVE_ESTIMATES + 4] = 1 / 4.f;
            if (able[0] && able[1])
                estimator.ofMove(listed.id, standings[0], standings[TEAM], factors[1], features + MOVE_ESTIMATES);
            memcpy(features + CONSTANTS, facts.moveConstants + MOVE_CONSTANTS * listed.id, MOVE_CONSTANTS * sizeof *features);
        }
    }
};

}  // namespace

void observe(Row& row, int seat, const Shown& shown, const Facts& facts, const Knowledge& knowledge, Missing& missing, int16_t* ids,
             float* features, uint8_t* legal) {
    memset(ids, 0, TOKENS * IDS_PER_TOKEN * sizeof *ids);
    memset(features, 0, TOKENS * FEATURES * sizeof *features);
    memset(legal, 0, NETWORK_ACTIONS);
    Observer(row, seat, shown, facts, knowledge, missing).write(ids, features, legal);
}

extern "C" {

// The observations of pairs (which[n], seats[n]). shown [battles, SIDES] (shown.h). missing [count]: what Python is to work out before
// that pair can be observed anew.
void gen9_observe(int32_t* rows, const int32_t* shown, const int64_t* which, const int64_t* seats, int64_t count, const Facts* facts,
                  const Knowledge* knowledge, Missing* missing, int16_t* ids, float* features, uint8_t* legal, int threads) {
    shareLoop(count, threads, [&](int64_t n) {
        Row& row = reinterpret_cast<Row*>(rows)[which[n]];
        const Shown& seen = reinterpret_cast<const Shown*>(shown)[SIDES * which[n] + seats[n]];
        missing[n].count = 0;
        observe(row, int(seats[n]), seen, *facts, *knowledge, missing[n], ids + n * TOKENS * IDS_PER_TOKEN,
                features + n * TOKENS * FEATURES, legal + n * NETWORK_ACTIONS);
    });
}

// The masks [count, NETWORK_ACTIONS] of those seats' legal actions.
void gen9_masks(int32_t* rows, const int32_t* shown, const int64_t* which, const int64_t* seats, int64_t count, const Facts* facts,
                uint8_t* masks, int threads) {
    shareLoop(count, threads, [&](int64_t n) {
        Battle battle(reinterpret_cast<Row*>(rows)[which[n]]);
        const Shown& seen = reinterpret_cast<const Shown*>(shown)[SIDES * which[n] + seats[n]];
        writeLegal(battle.row, int(seats[n]), requestOf(battle, int(seats[n]), seen, facts->moveRank), masks + n * NETWORK_ACTIONS);
    });
}

// The engine's actions for actions of the networks at those seats, -1 for one that is not legal. Where the request has hidden that a
// Pokémon cannot leave, or that a move is disabled, its next request shows that (Shown.revealed), and the action is -2.
void gen9_translate(int32_t* rows, int32_t* shown, const int64_t* which, const int64_t* seats, int64_t count, const Facts* facts,
                    const int64_t* actions, int32_t* found, int threads) {
    shareLoop(count, threads, [&](int64_t n) {
        const int seat = int(seats[n]);
        Battle battle(reinterpret_cast<Row*>(rows)[which[n]]);
        Shown& seen = reinterpret_cast<Shown*>(shown)[SIDES * which[n] + seat];
        Request request = requestOf(battle, seat, seen, facts->moveRank);
        uint8_t legal[NETWORK_ACTIONS];
        writeLegal(battle.row, seat, request, legal);
        found[n] = -1;
        if (actions[n] < 0 || actions[n] >= NETWORK_ACTIONS || !legal[actions[n]]) return;
        found[n] = engineAction(request, int(actions[n]));
        if (request.kind == REQUEST_PREVIEW) return;
        if (battle.legal(seat, 0) >> found[n] & 1) return;
        seen.revealed |= found[n] >= FIRST_ENGINE_SWITCH ? int(REVEALED_TRAP) : 1 << found[n] % FIRST_ENGINE_TERA;
        found[n] = -2;
    });
}

// Puts entries from first to count - 1 into an index. words: of a key; 0: keys of 64 bits.
void gen9_index(int32_t* slots, int64_t size, const void* keys, int64_t first, int64_t count, int words) {
    for (int64_t n = first; n < count; n++) {
        uint64_t at = words ? hashOf(static_cast<const int32_t*>(keys) + n * words, words) : hashOf(static_cast<const uint64_t*>(keys)[n]);
        while (slots[at & uint64_t(size - 1)]) at++;
        slots[at & uint64_t(size - 1)] = int32_t(n + 1);
    }
}

}  // extern "C"
