// The words of a battle: a row of int32 of one length for every battle, two active Pokémon a side. Names as in Showdown's
// sim/. A Pokémon is named by 1 + its number (6 * side + its place in the team), 0 for none; an effect by its number in data.h.
// What Showdown may leave undefined, null or false is a Value (values.h), where so noted.

#pragma once

#include "values.h"

constexpr int SIDES = 2, ACTIVE = 2, TEAM = 6, MOVES_EACH = 4;
constexpr int MAX_VOLATILES = 24, MAX_CONDITIONS = 16, MAX_SLOT_CONDITIONS = 8, MAX_PSEUDO_WEATHER = 8, MAX_ACTIONS = 24, MAX_ATTACKS = 6;

namespace Stat {
enum : int32_t { atk, def, spa, spd, spe, accuracy, evasion, COUNT };
}

// What an effect in play remembers (Showdown's effectState); the same words for a status, volatile, ability, item, condition.
// counter: the number that it counts or keeps, whatever its name there (counter, time, stage, layers, hp, trueDuration, targetLoc,
// ending ...); extra: another (startTime, targetSlot ...). source: a Pokémon. sourceSlot: 1 + side + 2 * position. linkedPokemon: a bit for each number.
struct EffectState {
    int32_t id, effectOrder, duration, counter, extra, move, source, sourceSlot, sourceEffect, linkedPokemon, linkedStatus;
};

// disabled: 0, 1, or 2: hidden from its owner.
struct MoveSlot {
    int32_t id, pp, maxpp, disabled, used;
};

// Of a Pokémon whether it is active or not.
struct Pokemon {
    int32_t number, side, position;  // position: its place in the side's present order
    int32_t gender;  // 0 none, 1 male, 2 female; -1 before the start: drawn
    int32_t species, baseSpecies, level, ability, baseAbility, item, lastItem, teraType;
    int32_t setSpecies, setAbility;  // of its team: before any change of forme
    int32_t terastallized;      // 1 + the type
    int32_t canTerastallize;    // 1; 0: no more; -1: not while it is transformed
    int32_t hp, maxhp, status;
    EffectState statusState, abilityState, itemState;
    int32_t points[6], plus, minus;  // of a stat: IV + EV / 4, from HP on; the stats of its nature, -1 for none
    int32_t baseStoredStats[5];
    MoveSlot moveSlots[MOVES_EACH];
    int32_t moveCount;
    MoveSlot baseMoveSlots[MOVES_EACH];  // while it is transformed: its own moves
    int32_t baseMoveCount;
    int32_t speed, isActive, isStarted, fainted, faintQueued, beingCalledBack;
    int32_t switchFlag, forceSwitchFlag, skipBeforeSwitchOutEventFlag;  // switchFlag: 1, or the move that switches
    int32_t usedItemThisTurn, statsRaisedThisTurn, statsLoweredThisTurn, ateBerry;
    int32_t timesAttacked, previouslySwitchedIn, formeRegression, stellarBoostedTypes;  // a bit for each type
    int32_t swordBoost, shieldBoost, bondTriggered, syrupTriggered;
    int32_t staleness, pendingStaleness, volatileStaleness;  // 1 internal, 2 external
    int32_t lastMoveTargetLoc;
    int32_t trapped, maybeTrapped, maybeDisabled, maybeLocked;  // trapped: 1, or 2: hidden
};

// An attack that a Pokémon took. damageValue: a Value.
struct Attack {
    int32_t source, damage, move, thisTurn, slot, damageValue;
};

// Of an active slot: reset when another Pokémon takes it (Showdown's clearVolatile).
struct Active {
    int32_t pokemon;
    int32_t boosts[Stat::COUNT];
    int32_t storedStats[5];
    int32_t types[2], addedType;  // Type::none for none
    int32_t apparentTypes[2];     // 1 + those that the other side has been shown
    int32_t transformed, lastMove, lastMoveUsed, moveThisTurn, newlySwitched, activeTurns, activeMoveActions;
    int32_t moveThisTurnResult, moveLastTurnResult;                // Values
    int32_t unknownType;   // Showdown's !knownType: it took a foe's forme, and has not been attacked since
    int32_t hurtThisTurn;              // hurtThisTurn: its HP thereafter, 0: not hurt
    Attack attackedBy[MAX_ATTACKS];    // oldest first: of earlier turns each attacker's latest
    int32_t attackedByCount;
    EffectState volatiles[MAX_VOLATILES];  // in the order in which they began
    int32_t volatileCount;
};

struct SlotConditions {
    EffectState list[MAX_SLOT_CONDITIONS];
    int32_t count;
};

struct Side {
    int32_t order[TEAM];  // position -> 1 + number of the Pokémon
    int32_t size, pokemonLeft, totalFainted, faintedThisTurn, faintedLastTurn, request;
    Active active[ACTIVE];
    EffectState conditions[MAX_CONDITIONS];
    int32_t conditionCount;
    SlotConditions slotConditions[ACTIVE];
    Pokemon pokemon[TEAM];
};

// An entry of the queue. priority and fractionalPriority in tenths.
struct Action {
    int32_t choice = 0, order = 0, priority = 0, fractionalPriority = 0, speed = 0, pokemon = 0, move = 0, targetLoc = 0, target = 0;
    int32_t originalTarget = 0, sourceEffect = 0, movePriority = 0, pranksterBoosted = 0;  // movePriority: of the move in use
};

struct Row {
    int32_t seed[4];  // 16 bits each, the highest first
    int32_t turn, winner, activePerSide, midTurn, requestState, effectOrder;
    int32_t lastMove, lastSuccessfulMoveThisTurn;
    EffectState weatherState, terrainState;  // .id is the weather, the terrain
    EffectState pseudoWeather[MAX_PSEUDO_WEATHER];
    int32_t pseudoWeatherCount;
    Action queue[MAX_ACTIONS];
    int32_t queueLength;
    Side sides[SIDES];
};

constexpr int WORDS = sizeof(Row) / sizeof(int32_t);

enum : int32_t { UNDECIDED = -1, TIE = 2 };
enum : int32_t { REQUEST_NONE = 0, REQUEST_MOVE = 1, REQUEST_SWITCH = 2 };
