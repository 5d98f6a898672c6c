// The words of a battle: a row of int32 of one length for every battle, two active Pokémon a side. Names as in Showdown's
// sim/. A Pokémon is named by 1 + its number (6 * side + its place in the team), 0 for none; an effect by its number in data.h.

#pragma once

#include "values.h"

constexpr int SIDES = 2, ACTIVE = 2, TEAM = 6, MOVES_EACH = 4;
constexpr int MAX_VOLATILES = 16, MAX_CONDITIONS = 8, MAX_ACTIONS = 24;

namespace Stat {
enum : int32_t { atk, def, spa, spd, spe, accuracy, evasion, COUNT };
}

// What an effect in play remembers (Showdown's effectState); the same words for a status, volatile, ability, item, condition.
struct EffectState {
    int32_t id, effectOrder, duration, counter, move, source, sourceEffect;
};

struct MoveSlot {
    int32_t id, pp, disabled;
};

// Of a Pokémon whether it is active or not.
struct Pokemon {
    int32_t number, side, position;  // position: its place in the side's present order
    int32_t gender;  // 0 none, 1 male, 2 female; -1 before the start: drawn
    int32_t species, level, ability, item, teraType, terastallized, canTerastallize;
    int32_t hp, maxhp, status;
    EffectState statusState, abilityState, itemState;
    int32_t baseStoredStats[5];
    MoveSlot moveSlots[MOVES_EACH];
    int32_t moveCount;
    int32_t speed, isActive, isStarted, fainted, faintQueued;
    int32_t switchFlag, forceSwitchFlag, skipBeforeSwitchOutEventFlag;  // switchFlag: 1, or the move that switches
};

// Of an active slot: reset when another Pokémon takes it (Showdown's clearVolatile).
struct Active {
    int32_t pokemon;
    int32_t boosts[Stat::COUNT];
    int32_t storedStats[5];
    int32_t types[2];
    int32_t lastMove, moveThisTurn, trapped, newlySwitched, activeTurns, activeMoveActions;
    int32_t hurtThisTurn, lastDamage;
    EffectState volatiles[MAX_VOLATILES];  // in the order in which they began
    int32_t volatileCount;
};

struct Side {
    int32_t order[TEAM];  // position -> 1 + number of the Pokémon
    int32_t size, pokemonLeft, request;
    Active active[ACTIVE];
    EffectState conditions[MAX_CONDITIONS];
    int32_t conditionCount;
    Pokemon pokemon[TEAM];
};

// An entry of the queue. priority and fractionalPriority in tenths.
struct Action {
    int32_t choice = 0, order = 0, priority = 0, fractionalPriority = 0, speed = 0, pokemon = 0, move = 0, targetLoc = 0, target = 0;
};

struct Row {
    int32_t seed[4];  // 16 bits each, the highest first
    int32_t turn, winner, activePerSide, midTurn, requestState, effectOrder;
    EffectState weatherState;  // .id is the weather
    Action queue[MAX_ACTIONS];
    int32_t queueLength;
    Side sides[SIDES];
};

constexpr int WORDS = sizeof(Row) / sizeof(int32_t);

enum : int32_t { UNDECIDED = -1, TIE = 2 };
enum : int32_t { REQUEST_NONE, REQUEST_MOVE, REQUEST_SWITCH };
