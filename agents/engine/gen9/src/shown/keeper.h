// Keeps what a seat has been shown (shown.h) as SeatBattle does: from a step's lines in their order, then from the request. Functions
// do what those of the same name in agents/battle/ and poke-env do, for what the engine plays: no Illusion, no Baton Pass, no
// forme that ends with leaving, no Sky Drop, singles.

#pragma once

#include "../battle.h"
#include "shown.h"

// What a line says that it is from: "[from] ability: Static". effect: 0 where it names none.
struct LineSource {
    EffectType type = EffectType::None;
    int32_t effect = 0;
};

// The active Pokémon of a side, null for none.
template <typename Side>
auto activeOf(Side& side) -> decltype(&side.pokemon[0]) {
    for (int n = 0; n < side.count; n++)
        if (side.pokemon[n].active) return &side.pokemon[n];
    return nullptr;
}

// quick_poke_env.py ability_of: 0 also for one that is not known
inline int abilityOf(const ShownPokemon& p) {
    if (p.temporaryAbility) return p.temporaryAbility == SHOWN_UNKNOWN ? 0 : p.temporaryAbility;
    return p.formeChangeAbility ? p.formeChangeAbility : p.ability;
}

class Keeper {
  public:
    Keeper(Shown& shown, int seat, const Row& row) : shown(shown), seat(seat), row(row) {}

    // keep.cpp: the team preview, a step's lines, a request
    void begin();
    void readLines(const Log& lines);
    void readRequest(int locked);
    void readEntry(ShownPokemon& p, const Pokemon& entry);

  private:
    Shown& shown;
    const int seat;
    const Row& row;
    const Log* log = nullptr;
    int line = 0;  // the number of the record that is read

    // A side of the battle as one of the seat's two, and the Pokémon there. Null where it is not known.
    ShownSide& sideOf(int side) { return shown.sides[side != seat]; }
    ShownSide& sideOf(const ShownPokemon& p) { return sideOf((p.pokemon - 1) / TEAM); }
    static ShownPokemon* find(ShownSide& side, int name);
    ShownPokemon* find(int name) { return name ? find(sideOf((name - 1) / TEAM), name) : nullptr; }
    ShownPokemon* find(const Argument& argument) { return argument.kind == Argument::Mon ? find(1 + argument.value) : nullptr; }
    ShownPokemon* facing(const ShownPokemon* p) { return activeOf(sideOf(1 - (p->pokemon - 1) / TEAM)); }
    template <typename Do>
    void eachActive(Do what) {
        for (ShownSide& side : shown.sides)
            if (ShownPokemon* p = activeOf(side)) what(*p);
    }

    // lines.cpp
    void readLine(const Record& record);
    void readSwitch(const Record& record);
    void readFaint(ShownPokemon& p);
    void readCant(const Record& record, ShownPokemon& p);
    void readDamage(const Record& record, ShownPokemon& p);
    void readHeal(const Record& record, ShownPokemon& p);
    void readStatus(const Record& record, ShownPokemon& p);
    void readUpkeep();
    void readTurn(int turn);
    void endTurn(int turn);
    void readWeather(const Record& record);
    bool hasField(int field) const;
    void startField(int field);
    void endField(int field);
    template <typename Test>
    void dropFields(Test drops);
    void showSetter(const Record& record);
    void readSideCondition(const Record& record, bool begins);
    void swapSideConditions();
    void setHp(ShownPokemon& p, const Argument& health);
    bool isAfterFutureMove() const;

    // effects.cpp: effects on a Pokémon, its abilities and items
    void readStart(const Record& record, ShownPokemon& p);
    void readEnd(const Record& record, ShownPokemon& p);
    void readSingleTurn(const Record& record, ShownPokemon& p);
    void readActivate(const Record& record, ShownPokemon* p);
    void readActiveItem(const Record& record, ShownPokemon& p);
    void readAbility(const Record& record, ShownPokemon& p);
    void readBlock(const Record& record, ShownPokemon& p);
    void readSwap(const Record& record, ShownPokemon& user);
    void readItem(const Record& record, ShownPokemon& p);
    void showCause(const Record& record, ShownPokemon& p);
    void takeBarb(ShownPokemon& p);
    bool isUsedAtOnce(const Record& record) const;

    // moves.cpp
    void readMove(const Record& record, ShownPokemon& p);
    void moved(ShownPokemon& p, int move, bool use, bool reveal, bool pressure);
    bool pressureOn(const ShownPokemon& user, int move, const Argument* target);
    void readTransform(const Record& record, ShownPokemon& p);
    static void endSingleMove(ShownPokemon& p);
    static ShownMove* findMove(ShownPokemon& p, int move);
    static ShownMove* addMove(ShownPokemon& p, int move);
    static void keepLastMove(ShownPokemon& p);

    // pokemon.cpp: poke-env's Pokemon
    void switchOut(ShownPokemon& p);
    static void endTransform(ShownPokemon& p);
    static void updateFromPokedex(ShownPokemon& p, int species);
    void updateFromDetails(ShownPokemon& p, int species, int tera);
    static void showAbility(ShownPokemon& p, int ability);
    static void giveAbility(ShownPokemon& p, int ability) { p.temporaryAbility = ability ? ability : int(SHOWN_UNKNOWN); }
    static void setTypes(ShownPokemon& p, int first, int second, int third = 0);
    static void copyTypes(ShownPokemon& p, const ShownPokemon& from);
    static void boost(ShownPokemon& p, int stat, int by);
};

inline bool hasEffect(const ShownPokemon& p, int effect) { return p.effects[effect / 32] >> effect % 32 & 1; }
inline void startEffect(ShownPokemon& p, int effect) { p.effects[effect / 32] |= 1 << effect % 32; }
inline void endEffect(ShownPokemon& p, int effect) { p.effects[effect / 32] &= ~(1 << effect % 32); }

// lines.cpp: what records say. start: the first argument that is looked at.
bool says(const Record& record, const char* text, int start = 1);
LineSource sourceOf(const Record& record, int start = 1);
int otherOf(const Record& record, int start = 1);  // 1 + the number of the Pokémon of "[of]", 0 for none
int namedIn(const char* const* names, int count, const Argument& argument);
