// A battle being played: its row, and what lives within one step only (the move in use, the events, who is about to faint).
// Functions have the names of Showdown's and do what those do in generation 9, in the same order.

#pragma once

#include "events.h"
#include "prng.h"

// A move in use: a copy of its data that handlers may change.
struct ActiveMove : MoveData {
    bool ignoreImmunity = false, ignoreAbility = false, spreadHit = false;
    int totalDamage = 0;
    bool crit[2 * ACTIVE] = {};
};

// What causes something: an effect, and the move in use where it is one.
struct Cause {
    int id = 0;
    ActiveMove* move = nullptr;

    Cause() = default;
    Cause(int effect) : id(effect) {}
    Cause(ActiveMove* move) : id(move ? move->id : 0), move(move) {}
    EffectType type() const { return EFFECTS[id].type; }
};

// An event as a handler sees it. target, source and cause are the handler's arguments in Showdown, in that order.
struct Event {
    int id = 0;
    Pokemon* target = nullptr;
    Pokemon* source = nullptr;
    Cause cause;
    Value relay = UNDEFINED;  // the value that is handed from handler to handler
    int modifier = 4096;
    int* boosts = nullptr;  // of events about boosts
    int effect = 0;         // whose handler runs
    EffectState* state = nullptr;
    Pokemon* holder = nullptr;
    Side* side = nullptr;
    int adding = 0;  // of TryAddVolatile, SetStatus, Immunity, Effectiveness: the condition or type

    ActiveMove* move() const { return cause.move; }
    Value chainModify(int numerator, int denominator) {
        modifier = (modifier * (numerator * 4096 / denominator) + 2048) >> 12;
        return UNDEFINED;
    }
};

struct Targets {
    Pokemon* list[2 * ACTIVE];  // null: no longer a target
    int size = 0;

    void add(Pokemon* pokemon) { list[size++] = pokemon; }
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
};

struct Listeners {
    static constexpr int MOST = 96;
    Listener list[MOST];
    int size = 0;
};

enum Choice : int32_t {
    CHOICE_BEFORE_TURN = 1,
    CHOICE_RUN_SWITCH,
    CHOICE_SWITCH,
    CHOICE_TERASTALLIZE,
    CHOICE_MOVE,
    CHOICE_RESIDUAL,
};

constexpr int modify(int64_t value, int64_t modifier) { return int((value * modifier + 2047) / 4096); }
constexpr int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
constexpr int atLeastOne(int value) { return value < 1 ? 1 : value; }

class Battle {
  public:
    explicit Battle(Row& row) : row(row), prng(row) {}

    Row& row;
    Prng prng;
    ActiveMove* activeMove = nullptr;
    Pokemon* activePokemon = nullptr;
    Pokemon* activeTarget = nullptr;

    // battle.cpp: the turn
    void start();
    void commitChoices(const int32_t* choices);
    int legal(int side, int slot);
    bool ended() const { return row.winner != UNDECIDED; }

    // events.cpp
    Value runEvent(int event, Pokemon* target, Pokemon* source = nullptr, Cause cause = {}, Value relay = UNDEFINED, int adding = 0,
                   int* boosts = nullptr, bool fastExit = false);
    void runEvent(int event, const Targets& targets, Pokemon* source, Cause cause, Value* results);
    Value singleEvent(int event, int effect, EffectState* state, Pokemon* target, Pokemon* source = nullptr, Cause cause = {},
                      Value relay = UNDEFINED, Side* side = nullptr);
    void eachEvent(int event, Cause cause = {});
    void fieldEvent(int event, const Targets* targets = nullptr);
    void listen(int effect) { listening.add(HANDLERS.eventsOf(effect)); }
    void findListening();
    void initEffectState(EffectState& state, int id, Pokemon* target = nullptr);

    // pokemon.cpp
    Pokemon& pokemon(int name) { return row.sides[(name - 1) / TEAM].pokemon[(name - 1) % TEAM]; }
    Pokemon* at(int side, int position) {
        int name = row.sides[side].order[position];
        return name ? &pokemon(name) : nullptr;
    }
    static int nameOf(const Pokemon* p) { return p ? 1 + p->number : 0; }
    Active& out(const Pokemon* p) { return row.sides[p->side].active[p->position]; }
    Targets getAllActive(bool includeFainted = false);
    Targets allies(int side, bool all = false);
    Targets foes(const Pokemon* p, bool all = false) { return allies(1 - p->side, all); }
    bool hasAbility(const Pokemon* p, int ability) const { return p->ability == ability; }
    bool hasItem(const Pokemon* p, int item) const { return p->item == item; }
    bool suppressingAbility(const Pokemon* target) const;
    int getStat(Pokemon* p, int stat);
    int calculateStat(Pokemon* p, int stat, int boost);
    int getActionSpeed(Pokemon* p) { return getStat(p, Stat::spe) & 0x1FFF; }
    void updateSpeed();
    bool hasType(Pokemon* p, int type);
    int getTypes(Pokemon* p, int types[2], bool preterastallized = false);
    bool isGrounded(Pokemon* p);
    int runEffectiveness(Pokemon* p, ActiveMove* move);
    bool runImmunity(Pokemon* p, int type);
    bool runStatusImmunity(Pokemon* p, int effect);
    EffectState* volatileOf(Pokemon* p, int id);
    Value addVolatile(Pokemon* p, int id, Pokemon* source = nullptr, Cause cause = {});
    bool removeVolatile(Pokemon* p, int id);
    void deleteVolatile(Pokemon* p, int id);
    Value setStatus(Pokemon* p, int status, Pokemon* source, Cause cause);
    Value trySetStatus(Pokemon* p, int status, Pokemon* source, Cause cause);
    int takeItem(Pokemon* p, Pokemon* source);
    void clearVolatile(Pokemon* p, bool includeSwitchFlags = true);
    void disableMoves(Pokemon* p, int except);
    int faint(Pokemon* p, Pokemon* source = nullptr, Cause cause = {});
    Value boost(const int by[Stat::COUNT], Pokemon* target, Pokemon* source, Cause cause);
    Value damage(int amount, Pokemon* target, Pokemon* source, Cause cause);
    Value spreadDamage(Value amount, Pokemon* target, Pokemon* source, Cause cause);
    int directDamage(int amount, Pokemon* target);
    Value heal(int amount, Pokemon* target, Pokemon* source = nullptr, Cause cause = {});
    Value healHp(Pokemon* p, int amount);

    // field.cpp
    int effectiveWeather() const { return row.weatherState.id; }
    Value setWeather(int weather, Pokemon* source, Cause cause);
    void clearWeather();
    EffectState* sideCondition(int side, int id);
    Value addSideCondition(int side, int id, Pokemon* source, Cause cause);
    bool checkMoveBypassesProtect(ActiveMove* move, Pokemon* attacker, Pokemon* defender);

    // queue.cpp
    bool willAct() const;
    void cancelAction(const Pokemon* p);
    void addChoice(Action action);
    void insertChoice(Action action);
    template <typename Item, typename Compare>
    void speedSort(Item* list, int size, Compare compare);

    // actions.cpp
    bool switchIn(Pokemon* incoming, int position);
    void runSwitch(Pokemon* pokemon);
    void runMove(int move, Pokemon* pokemon, int targetLoc);
    void terastallize(Pokemon* pokemon);
    Pokemon* getTarget(Pokemon* pokemon, const MoveData& move, int targetLoc);
    Pokemon* getRandomTarget(Pokemon* pokemon, const MoveData& move);

    // damage.cpp
    Value getDamage(Pokemon* source, Pokemon* target, ActiveMove* move);

  private:
    struct Fainting {
        Pokemon *target, *source;
        Cause cause;
    };
    Fainting faintQueue[2 * TEAM];
    int faintCount = 0;
    EventSet listening;  // to what some effect in play may listen
    int speedOrder[2 * ACTIVE];
    int speedOrderSize = 0;

    // battle.cpp
    void turnLoop();
    bool runAction(Action& action);
    void endTurn();
    void makeRequest(int type);
    bool faintMessages(bool checkWinAlways = true);
    bool checkWin(const Fainting* last = nullptr);
    void win(int side) { row.winner = side; }
    int canSwitch(int side) const;
    void addMoves(int side, int slot, int choice);

    // events.cpp
    void findPokemon(Listeners& found, Pokemon* p, int callback, bool durations = false);
    void findSide(Listeners& found, Side& side, int callback, bool durations = false, Pokemon* holder = nullptr);
    void findField(Listeners& found, int callback, bool durations = false, Pokemon* holder = nullptr);
    void findEvent(Listeners& found, int event, Pokemon* target, Pokemon* source);
    void add(Listeners& found, const Handler* handler, int effect, EffectState* state, Pokemon* holder, Side* side, int callback, bool ends,
             int subOrder);
    bool suppressed(const Listener& listener, int event);
    Value run(const Listener& listener, Event& event);

    // queue.cpp
    int resolveAction(Action action, Action out[2]);
    void updateActionSpeed(Action& action);

    // actions.cpp
    bool useMoveInner(ActiveMove& move, Pokemon* pokemon, Pokemon* target);
    bool trySpreadMoveHit(Targets& targets, Pokemon* pokemon, ActiveMove& move);
    Value tryMoveHit(Targets& targets, Pokemon* pokemon, ActiveMove& move);
    bool hitStepAccuracy(Pokemon* target, Pokemon* pokemon, ActiveMove& move);
    void hitStepMoveHitLoop(Targets& targets, Pokemon* pokemon, ActiveMove& move, Value* results);
    void spreadMoveHit(Targets& targets, Pokemon* pokemon, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf,
                       Value* damage);
    Value moveHit(Pokemon* target, Pokemon* pokemon, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf);
    void runMoveEffects(Value* damage, Targets& targets, Pokemon* source, ActiveMove& move, const HitEffect& data, bool isSecondary,
                        bool isSelf);
    void applyRecoilDamage(int dealt, ActiveMove& move, Pokemon* pokemon);
    Value modifyDamage(int baseDamage, Pokemon* source, Pokemon* target, ActiveMove* move);
    void emergencyExit(Pokemon* p, int hpBefore);
};

// Showdown's order: order up, priority down, speed down, subOrder up, effectOrder up. Negative: a first.
template <typename Item>
int64_t comparePriority(const Item& a, const Item& b) {
    if (a.order != b.order) return int64_t(a.order) - b.order;
    if (a.priority != b.priority) return int64_t(b.priority) - a.priority;
    return int64_t(b.speed) - a.speed;
}

// Sorts, and shuffles what compares as equal.
template <typename Item, typename Compare>
void Battle::speedSort(Item* list, int size, Compare compare) {
    int ties[64];
    for (int sorted = 0; sorted + 1 < size;) {
        int count = 1;
        ties[0] = sorted;
        for (int n = sorted + 1; n < size; n++) {
            int64_t delta = compare(list[ties[0]], list[n]);
            if (delta > 0) count = 0;
            if (delta >= 0) ties[count++] = n;
        }
        for (int n = 0; n < count; n++) {
            if (ties[n] == sorted + n) continue;
            Item kept = list[sorted + n];
            list[sorted + n] = list[ties[n]];
            list[ties[n]] = kept;
        }
        if (count > 1) prng.shuffle(list, sorted, sorted + count);
        sorted += count;
    }
}
