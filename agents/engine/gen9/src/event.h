// What lives within one step of a battle: a move in use, what causes something, and an event as its handlers see it.

#pragma once

#include "events.h"

constexpr int SLOTS = SIDES * ACTIVE;
// What one may be immune to though it is no effect: of runStatusImmunity.
constexpr int POWDER = -2;

// A move in use: a copy of its data that handlers may change.
struct ActiveMove : MoveData {
    int32_t sourceEffect = 0;  // what made it be used: an ability, a move, or condition::lockedmove
    bool spreadHit = false, hasBounced = false, pranksterBoosted = false, isExternal = false, selfDropped = false, stellarBoosted = false;
    bool lastHit = false;
    int typeChangerBoosted = 0;  // the ability that did
    Pokemon *ruinedAtk = nullptr, *ruinedDef = nullptr, *ruinedSpA = nullptr, *ruinedSpD = nullptr;
    int allies[TEAM] = {}, allyCount = 0;  // of Beat Up: Pokémon by name
    int statusRoll = 0;
    int selfChances = 1;  // by how much what it does to its user is likelier (Serene Grace)
    int totalDamage = 0, hitNumber = 0;  // hitNumber: Showdown's `hit`
    bool crit[SLOTS] = {};               // Showdown's moveHitData, by slot
    int typeMod[SLOTS] = {};
    Pokemon* hitTargets[SLOTS] = {};  // those that were hit, when all hits are done
    int hitTargetCount = 0;

    ActiveMove() = default;
    explicit ActiveMove(const MoveData& data) : MoveData(data) {}
};

// What causes something: an effect, and the move in use where it is one.
struct Cause {
    int id = 0;
    ActiveMove* move = nullptr;
    int status = 0;  // of no effect of Showdown's, but of an object that gives a status (ofStatus)

    Cause() = default;
    Cause(int effect) : id(effect) {}
    Cause(ActiveMove* move) : id(move ? move->id : 0), move(move) {}
    // Synchronize's: with an id and a status, and nothing else of an effect.
    static Cause ofStatus(int effect, int status) {
        Cause cause(effect);
        cause.status = status;
        return cause;
    }
    EffectType type() const { return status ? EffectType::None : EFFECTS[id].type; }
    // The status that a move names as its own effect (Showdown's sourceEffect.status), not one of its secondaries.
    int setsStatus() const { return status ? status : move ? move->hit.status : id >= FIRST_MOVE ? moveData(id).hit.status : 0; }
};

// The types of a Pokémon.
struct Types {
    int list[3], count = 0;

    void add(int type) { list[count++] = type; }
    bool has(int type) const {
        for (int n = 0; n < count; n++)
            if (list[n] == type) return true;
        return false;
    }
    void remove(int type) {
        int kept = 0;
        for (int n = 0; n < count; n++)
            if (list[n] != type) list[kept++] = list[n];
        count = kept;
    }
};

// The secondaries that a hit has left (the ModifySecondaries event).
struct Secondaries {
    const HitEffect* list[3];
    int count = 0;

    // Leaves those that act on the move's user.
    void keepThoseWithSelf() {
        int kept = 0;
        for (int n = 0; n < count; n++)
            if (list[n]->self) list[kept++] = list[n];
        count = kept;
    }
};

// An event as a handler sees it. target, source and cause are the handler's arguments in Showdown, in that order; what else it
// gets or changes is below. Of an event of a side or of the field, target is null.
struct Event {
    int id = 0;
    Pokemon* target = nullptr;
    Pokemon* source = nullptr;
    Cause cause;
    Value relay = UNDEFINED;  // the value that is handed from handler to handler
    int modifier = 4096;
    bool isFraction = false;            // the relay stands for a number that is not whole: no modifier acts on it
    int* boosts = nullptr;              // of events about boosts
    Types* types = nullptr;             // of Type
    Secondaries* secondaries = nullptr; // of ModifySecondaries
    int effect = 0;                     // whose handler runs
    EffectState* state = nullptr;       // of that effect
    Pokemon* holder = nullptr;          // of that effect (Showdown's effectState.target)
    Side* side = nullptr;
    int adding = 0;  // of TryAddVolatile, SetStatus, Immunity, Effectiveness, TakeItem ...: the condition, type or item

    ActiveMove* move() const { return cause.move; }
    Value chainModify(int numerator, int denominator) {
        modifier = (modifier * (numerator * 4096 / denominator) + 2048) >> 12;
        return UNDEFINED;
    }
    // The value with what was chained so far; what is chained later starts anew.
    int finalModify(int value);
};

// The place of a Pokémon in an ActiveMove's moveHitData.
inline int slotIndex(const Pokemon* p) { return p->side + SIDES * (p->position < ACTIVE ? p->position : 0); }

struct Targets {
    Pokemon* list[SLOTS];  // null: no longer a target
    int size = 0;

    void add(Pokemon* pokemon) { list[size++] = pokemon; }
    bool has(const Pokemon* pokemon) const {
        for (int n = 0; n < size; n++)
            if (list[n] == pokemon) return true;
        return false;
    }
};

// A handler that will run.
struct Listener {
    const Handler* handler;  // null: only its duration counts
    int effect;
    EffectState* state;
    Pokemon* holder;
    Side* side;
    int64_t order;
    int priority, speed, subOrder, effectOrder, index;
    bool ends;  // of a residual: its duration is counted here
    int stateOrder;
    int slot;  // of a slot condition: 1 + its slot
};

struct Listeners {
    static constexpr int MOST = 96;
    Listener list[MOST];
    int size = 0;
};

enum Choice : int32_t {
    CHOICE_BEFORE_TURN = 1,
    CHOICE_BEFORE_TURN_MOVE,
    CHOICE_REVIVAL_BLESSING,
    CHOICE_RUN_SWITCH,
    CHOICE_INSTASWITCH,
    CHOICE_SWITCH,
    CHOICE_TERASTALLIZE,
    CHOICE_PRIORITY_CHARGE_MOVE,
    CHOICE_MOVE,
    CHOICE_RESIDUAL,
};

// How a move is run and used, as the options of Showdown's functions.
struct RunMove {
    int targetLoc = 0, sourceEffect = 0;
    bool externalMove = false;
    Pokemon* originalTarget = nullptr;
};
struct UseMove {
    Pokemon* target = nullptr;  // null: a random one
    int sourceEffect = 0;       // 0: the effect that runs, if any
    bool noTarget = false;      // there is none: null stays null
};

constexpr int modify(int64_t value, int64_t modifier) { return int((value * modifier + 2047) / 4096); }
constexpr int modify(int64_t value, int64_t numerator, int64_t denominator) { return modify(value, numerator * 4096 / denominator); }
constexpr int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
constexpr int atLeastOne(int value) { return value < 1 ? 1 : value; }
// JavaScript's Math.round of a quotient of whole numbers above 0.
constexpr int roundedQuotient(int64_t numerator, int64_t denominator) { return int((2 * numerator + denominator) / (2 * denominator)); }
inline int Event::finalModify(int value) {
    value = modify(value, modifier);
    modifier = 4096;
    return value;
}

// A handler that does nothing here, but has its place in the order of an event's handlers.
inline Value nothing(Battle&, Event&) { return UNDEFINED; }
