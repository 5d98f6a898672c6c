// A battle being played: its row, and what lives within one step only (the move in use, the events, who is about to faint).
// Functions have the names of Showdown's and do what those do in generation 9, in the same order.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <new>

#include "coverage.h"
#include "event.h"
#include "log.h"
#include "prng.h"

// Ends the process: with a list that is too short a battle would go on otherwise than Showdown's, and nobody would know.
[[noreturn]] inline void noRoom(const char* what) {
    std::fprintf(stderr, "the engine of generation 9 has no room for more %s: report the battle; layout.h has the limits\n", what);
    std::abort();
}

class Battle {
  public:
    explicit Battle(Row& row) : row(row), prng(row) {}

    Row& row;
    Prng prng;
    ActiveMove* activeMove = nullptr;
    Pokemon* activePokemon = nullptr;
    Pokemon* activeTarget = nullptr;
    Event* event = nullptr;  // that runs now; event->effect is Showdown's this.effect
    Log* log = nullptr;      // null: no message is kept

    template <typename... Arguments>
    void add(Message message, const Arguments&... arguments) {
        if (!log) return;
        Argument list[] = {Argument(arguments)..., Argument()};
        log->add(message, list, sizeof...(arguments));
    }
    template <typename... Arguments>
    void addMove(Message message, const Arguments&... arguments) {
        if (!log) return;
        Argument list[] = {Argument(arguments)...};
        log->addMove(message, list, sizeof...(arguments));
    }
    void attrLastMove(const Argument& attribute) {
        if (log) log->attrLastMove(attribute, false);
    }
    void stillLastMove() {
        if (log) log->attrLastMove("[still]", true);
    }
    void retargetLastMove(const Pokemon* target) {
        if (log) log->retargetLastMove(target);
    }
    // "-fail" and no animation
    void addFail(const Pokemon* p) {
        add(Message::fail, p);
        stillLastMove();
    }
    // onlySide: 1 + the side that reads it
    void hint(const char* text, int effect = 0, int number = 0, int onlySide = 0) {
        Argument argument(Argument::Text, effect, number);
        argument.text = text;
        if (log) log->add(Message::hint, &argument, 1, onlySide);
    }

    // battle.cpp: the turn
    void prepare();
    void start();
    void commitChoices(const int32_t* choices);
    bool ended() const { return row.winner != UNDECIDED; }
    void win(int side);
    bool faintMessages(bool lastFirst = false, bool forceCheck = false, bool checkWinAlways = true);
    bool checkWin() { return checkWin(nullptr); }

    // requests.cpp
    int legal(int side, int slot);
    int lockedMove(int side, int slot);
    int canSwitch(int side) const;
    Pokemon* getRandomSwitchable(int side);

    // events.cpp. Where target, source or cause are left out, functions below take those of the event that runs, as Showdown's do.
    Value runEvent(int event, Pokemon* target, Pokemon* source = nullptr, Cause cause = {}, Value relay = UNDEFINED, int adding = 0,
                   int* boosts = nullptr, bool fastExit = false);
    void runEvent(int event, const Targets& targets, Pokemon* source, Cause cause, Value* results);
    Value runEvent(Event& event, bool fastExit = false);
    Value priorityEvent(int event, Pokemon* target, Pokemon* source = nullptr, Cause cause = {}, Value relay = UNDEFINED) {
        return runEvent(event, target, source, cause, relay, 0, nullptr, true);
    }
    Value singleEvent(int event, int effect, EffectState* state, Pokemon* target, Pokemon* source = nullptr, Cause cause = {},
                      Value relay = UNDEFINED, Side* side = nullptr, int adding = 0, int prefix = On);
    void eachEvent(int event, Cause cause = {});
    void fieldEvent(int event, const Targets* targets = nullptr);
    void listen(int effect) { listening.add(HANDLERS.eventsOf(effect)); }
    void findListening();
    void initEffectState(EffectState& state, int id, Pokemon* target = nullptr);
    static void clearEffectState(EffectState& state);

    // pokemon.cpp: who is where, and what a Pokémon is
    Pokemon& pokemon(int name) { return row.sides[(name - 1) / TEAM].pokemon[(name - 1) % TEAM]; }
    Pokemon* at(int side, int position) {
        int name = row.sides[side].order[position];
        return name ? &pokemon(name) : nullptr;
    }
    static int nameOf(const Pokemon* p) { return p ? 1 + p->number : 0; }
    static int slotOf(const Pokemon* p) { return 1 + p->side + SIDES * p->position; }
    Pokemon* getAtSlot(int slot) { return slot ? at((slot - 1) % SIDES, (slot - 1) / SIDES) : nullptr; }
    static int getLocOf(const Pokemon* user, const Pokemon* target) { return user->side == target->side ? -target->position - 1 : target->position + 1; }
    Pokemon* getAtLoc(const Pokemon* user, int targetLoc) {
        return at(targetLoc < 0 ? user->side : 1 - user->side, (targetLoc < 0 ? -targetLoc : targetLoc) - 1);
    }
    Pokemon* sourceOf(const EffectState& state) { return state.source ? &pokemon(state.source) : nullptr; }
    int number(const Side& side) const { return int(&side - row.sides); }
    Side& sideOf(const Pokemon* p) { return row.sides[p->side]; }
    Side& foeSideOf(const Pokemon* p) { return row.sides[1 - p->side]; }
    // What its slot holds for a Pokémon that is out; for another what it would have there at first.
    Active& out(const Pokemon* p) { return p->position < row.activePerSide ? row.sides[p->side].active[p->position] : benched(p); }
    Targets getAllActive(bool includeFainted = false);
    Targets allies(int side, bool all = false);
    Targets adjacentAllies(const Pokemon* p);
    Targets foes(const Pokemon* p, bool all = false) { return allies(1 - p->side, all); }
    Targets adjacentFoes(const Pokemon* p) { return foes(p); }
    static bool isAlly(const Pokemon* p, const Pokemon* other) { return other && p->side == other->side; }
    bool isAdjacent(const Pokemon* p, const Pokemon* other) const { return !p->fainted && !other->fainted && p != other; }
    bool ignoringAbility(const Pokemon* p);
    bool ignoringItem(const Pokemon* p);
    bool hasAbility(const Pokemon* p, int ability) {
        bool has = p->ability == ability && !ignoringAbility(p);
        if (has) countUse(ability);
        return has;
    }
    bool hasItem(const Pokemon* p, int item) {
        bool has = p->item == item && !ignoringItem(p);
        if (has) countUse(item);
        return has;
    }
    bool suppressingAbility(const Pokemon* target);
    // Whether Sheer Force keeps from happening what comes after a move's hits.
    bool sheerForces(const ActiveMove& move, const Pokemon* user) { return move.hasSheerForce && user && hasAbility(user, ability::sheerforce); }
    static const SpeciesData& speciesOf(const Pokemon* p) { return SPECIES[p->species]; }
    int getStat(Pokemon* p, int stat, bool unboosted = false, bool unmodified = false);
    int calculateStat(Pokemon* p, int stat, int boost, Pokemon* statUser = nullptr);
    int getBestStat(Pokemon* p, bool unboosted, bool unmodified);
    int getActionSpeed(Pokemon* p);
    void updateSpeed();
    int getWeight(Pokemon* p);
    int positiveBoosts(const Pokemon* p);
    Types getTypes(Pokemon* p, bool excludeAdded = false, bool preterastallized = false);
    bool hasType(Pokemon* p, int type) { return getTypes(p).has(type); }
    bool setType(Pokemon* p, int type, int second = Type::none);
    Value isGrounded(Pokemon* p, bool negateImmunity = false);
    bool isSemiInvulnerable(const Pokemon* p);
    int runEffectiveness(Pokemon* p, ActiveMove* move);
    bool runImmunity(Pokemon* p, int type, bool message = false);
    bool runImmunity(Pokemon* p, const ActiveMove* move, bool message = false);
    bool runStatusImmunity(Pokemon* p, int effect, bool message = false);
    static int immuneTypes(int effect);
    int effectiveWeather(const Pokemon* p);
    MoveSlot* getMoveData(Pokemon* p, int move);
    bool hasMove(const Pokemon* p, int move);
    int deductPP(Pokemon* p, int move, int amount = 1);
    int getLockedMove(Pokemon* p);
    void disableMove(Pokemon* p, int move, bool isHidden = false);
    void disableMoves(Pokemon* p, int except);
    bool tryTrap(Pokemon* p, bool isHidden = false);
    Attack* getLastAttackedBy(Pokemon* p);
    // Whether it took damage above 0 from this source in this turn.
    bool damagedThisTurnBy(Pokemon* p, const Pokemon* source);

    // effects.cpp: what happens to a Pokémon
    EffectState* volatileOf(const Pokemon* p, int id);
    Value addVolatile(Pokemon* p, int id, Pokemon* source = nullptr, Cause cause = {}, int linkedStatus = 0);
    bool removeVolatile(Pokemon* p, int id);
    void deleteVolatile(Pokemon* p, int id);
    Value setStatus(Pokemon* p, int status, Pokemon* source = nullptr, Cause cause = {}, bool ignoreImmunities = false);
    Value trySetStatus(Pokemon* p, int status, Pokemon* source = nullptr, Cause cause = {});
    bool cureStatus(Pokemon* p, bool silent = false);
    bool clearStatus(Pokemon* p);
    int faint(Pokemon* p, Pokemon* source = nullptr, Cause cause = {});
    Value boost(const int by[Stat::COUNT], Pokemon* target = nullptr, Pokemon* source = nullptr, Cause cause = {}, bool isSecondary = false,
                bool isSelf = false);
    Value boost(int stat, int by, Pokemon* target = nullptr, Pokemon* source = nullptr, Cause cause = {}, bool isSecondary = false,
                bool isSelf = false);
    void clearBoosts(Pokemon* p);
    Value damage(int amount, Pokemon* target = nullptr, Pokemon* source = nullptr, Cause cause = {});
    Value spreadDamage(Value amount, Pokemon* target, Pokemon* source, Cause cause);
    int directDamage(int amount, Pokemon* target = nullptr, Pokemon* source = nullptr, Cause cause = {});
    Value heal(int amount, Pokemon* target = nullptr, Pokemon* source = nullptr, Cause cause = {});
    Value healHp(Pokemon* p, int amount);  // Showdown's pokemon.heal
    int sethp(Pokemon* p, int hp);

    // formes.cpp
    // Returns the former ability, or FALSE or NUL.
    Value setAbility(Pokemon* p, int ability, Pokemon* source = nullptr, Cause cause = {}, bool isFromFormeChange = false, bool isTransform = false);
    Value skillSwap(Pokemon* source, Pokemon* target);
    bool setSpecies(Pokemon* p, int species, bool isTransform = false);
    bool formeChange(Pokemon* p, int species, Cause source, bool isPermanent = false);
    bool transformInto(Pokemon* p, Pokemon* target, int effect = 0);
    void updateMaxHp(Pokemon* p);
    void clearVolatile(Pokemon* p, bool includeSwitchFlags = true);

    // held_items.cpp
    int takeItem(Pokemon* p, Pokemon* source = nullptr);
    bool setItem(Pokemon* p, int item, Pokemon* source = nullptr, Cause cause = {});
    bool eatItem(Pokemon* p, bool force = false, Pokemon* source = nullptr, Cause cause = {});
    bool useItem(Pokemon* p, Pokemon* source = nullptr, Cause cause = {});
    static bool isRestorative(int item);

    // field.cpp
    bool suppressingWeather();
    int effectiveWeather() { return suppressingWeather() ? 0 : row.weatherState.id; }
    bool isWeather(int weather) { return effectiveWeather() == weather; }
    bool startField(EffectState& state, int id, Pokemon* source, Cause cause);
    Value setWeather(int weather, Pokemon* source = nullptr, Cause cause = {});
    bool clearWeather();
    int effectiveTerrain(Pokemon* target = nullptr);
    bool isTerrain(int terrain, Pokemon* target = nullptr) { return effectiveTerrain(target) == terrain; }
    Value setTerrain(int terrain, Pokemon* source = nullptr, Cause cause = {});
    bool clearTerrain();
    EffectState* pseudoWeather(int id);
    Value addPseudoWeather(int id, Pokemon* source = nullptr, Cause cause = {});
    bool removePseudoWeather(int id);
    EffectState* sideCondition(int side, int id);
    Value addSideCondition(int side, int id, Pokemon* source = nullptr, Cause cause = {});
    bool removeSideCondition(int side, int id);
    EffectState* slotCondition(int side, int position, int id);
    EffectState* slotCondition(const Pokemon* p, int id) { return slotCondition(p->side, p->position, id); }
    Value addSlotCondition(const Pokemon* target, int id, Pokemon* source = nullptr, Cause cause = {});
    bool removeSlotCondition(int side, int position, int id);
    bool removeSlotCondition(const Pokemon* p, int id) { return removeSlotCondition(p->side, p->position, id); }
    bool checkMoveMakesContact(const ActiveMove* move, Pokemon* attacker, Pokemon* defender, bool announcePads = false);
    bool checkMoveBypassesProtect(ActiveMove* move, Pokemon* attacker, Pokemon* defender, bool blockStatus = true);

    // queue.cpp. What is found points into the queue.
    bool willAct() const;
    Action* willMove(const Pokemon* p);
    bool cancelAction(const Pokemon* p);
    void addChoice(Action action);
    void insertChoice(Action action, bool midTurn = false);
    template <typename Item, typename Compare>
    void speedSort(Item* list, int size, Compare compare);

    // actions.cpp
    void runMove(const ActiveMove& base, Pokemon* pokemon, RunMove options = {});
    Value useMove(int move, Pokemon* pokemon, UseMove options = {});
    Value useMove(const ActiveMove& move, Pokemon* pokemon, UseMove options = {});
    void setActiveMove(ActiveMove* move, Pokemon* pokemon, Pokemon* target);
    void clearActiveMove(bool failed = false);
    // notActive: as a move that hits later (Future Sight)
    bool trySpreadMoveHit(Targets targets, Pokemon* pokemon, ActiveMove& move, bool notActive = false);

    // switching.cpp
    bool switchIn(Pokemon* incoming, int position, int sourceEffect = 0, bool isDrag = false);
    void runSwitch(Pokemon* pokemon);
    void terastallize(Pokemon* pokemon);

    // targets.cpp
    Pokemon* getTarget(Pokemon* pokemon, const MoveData& move, int targetLoc, Pokemon* originalTarget = nullptr);
    Pokemon* getRandomTarget(Pokemon* pokemon, const MoveData& move);

    // hits.cpp, damage.cpp
    void applyRecoilDamage(int dealt, ActiveMove& move, Pokemon* pokemon);
    Value getDamage(Pokemon* source, Pokemon* target, ActiveMove* move);
    int getConfusionDamage(Pokemon* p, int basePower);

  private:
    struct Fainting {
        Pokemon *target, *source;
        Cause cause;
    };
    Fainting faintQueue[2 * TEAM];
    int faintCount = 0;
    EventSet listening;  // to what some effect in play may listen
    bool listeningFound = false;
    int speedOrder[SLOTS];
    int speedOrderSize = 0;
    Active bench[SIDES];
    // Moves in use: as many as can be at once.
    struct alignas(ActiveMove) Memory {
        unsigned char bytes[sizeof(ActiveMove)];
    } movePool[16];
    int moveCount = 0;

    // battle.cpp
    void turnLoop();
    bool runAction(Action& action);
    void endTurn();
    bool checkWin(const Fainting* last);
    void checkFainted();
    void beginTurn(Pokemon* p);
    void showChangedTypes(Pokemon* p);
    void warnOfTie();
    bool maybeTriggerEndlessBattleClause(const bool* trapped, const int* staleness);
    void tidy();

    // requests.cpp
    void addMoves(int side, int slot, int choice);
    void makeRequest(int type);
    void noteLocks(Pokemon* p);
    bool requestSwitches();

    // events.cpp
    void findPokemon(Listeners& found, Pokemon* p, int callback, bool durations = false);
    void findSide(Listeners& found, Side& side, int callback, bool durations = false, Pokemon* holder = nullptr);
    void findField(Listeners& found, int callback, bool durations = false, Pokemon* holder = nullptr);
    void findEvent(Listeners& found, int event, Pokemon* target, Pokemon* source);
    void add(Listeners& found, const Handler* handler, int effect, EffectState* state, Pokemon* holder, Side* side, int callback, bool ends,
             int subOrder);
    bool suppressed(int effect, Pokemon* holder, int event);
    void endDuration(const Listener& listener);
    Value run(const Listener& listener, Event& event);

    // queue.cpp
    int resolveAction(Action action, Action out[4], bool midTurn = false);
    void updateActionSpeed(Action& action);
    void removeAction(int index);

    // pokemon.cpp, effects.cpp
    Active& benched(const Pokemon* p);
    void addDamage(Pokemon* target, Pokemon* source, const Cause& cause);
    void addHeal(Pokemon* target, Pokemon* source, const Cause& cause);
    void showTeraType(Pokemon* p);
    void gotAttacked(Pokemon* p, const ActiveMove& move, Value damage, Pokemon* source);
    void forgetAttacks(Active& active);
    Pokemon* orTarget(Pokemon* given) const { return given || !event ? given : event->target; }
    Pokemon* orSource(Pokemon* given) const { return given || !event ? given : event->source; }
    Cause orEffect(Cause given) const {
        if (given.id || !event) return given;
        if (event->effect == event->cause.id) return event->cause;
        return activeMove && activeMove->id == event->effect ? Cause(activeMove) : Cause(event->effect);
    }
    int durationOf(int id, Pokemon* target, Pokemon* source, Cause cause);
    void unlinkVolatiles(Pokemon* p, int linkedStatus, int linkedPokemon);

    // actions.cpp
    ActiveMove& getActiveMove(const ActiveMove& move);
    void dance(Pokemon* pokemon, const ActiveMove& move);
    Value useMoveInner(ActiveMove& move, Pokemon* pokemon, UseMove options);
    Value tryMoveHit(Targets& targets, Pokemon* pokemon, ActiveMove& move);
    bool hitStepTryImmunity(Pokemon* target, Pokemon* pokemon, ActiveMove& move);
    bool hitStepAccuracy(Pokemon* target, Pokemon* pokemon, ActiveMove& move);
    void hitStepBreakProtect(Targets& targets, const ActiveMove& move);
    void hitStepStealBoosts(Pokemon* target, Pokemon* pokemon);
    void emergencyExit(Pokemon* p, int hpBefore, Pokemon* source = nullptr);

    // switching.cpp, targets.cpp
    bool dragIn(int side, int position);
    Targets getMoveTargets(Pokemon* pokemon, ActiveMove& move, Pokemon* target, Targets& pressureTargets);

    // hits.cpp
    static constexpr Value STOPPED = TRUE + 1;
    int hitsOf(Pokemon* pokemon, const ActiveMove& move);
    bool multiaccuracyHits(Pokemon* target, Pokemon* pokemon, ActiveMove& move);
    void hitStepMoveHitLoop(Targets& targets, Pokemon* pokemon, ActiveMove& move, Value* damage);
    void spreadMoveHit(Targets& targets, Pokemon* pokemon, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf,
                       Value* damage);
    Value moveHit(Pokemon* target, Pokemon* pokemon, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf);
    void runMoveEffects(Value* damage, Targets& targets, const bool* failed, Pokemon* pokemon, ActiveMove& move, const HitEffect& data,
                        bool isSecondary, bool isSelf);
    Value runEffectsOn(Pokemon* target, Pokemon* pokemon, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf);
    void selfDrops(Targets& targets, const bool* failed, Pokemon* pokemon, ActiveMove& move, const HitEffect& data, bool isSecondary);
    void secondaries(Targets& targets, const bool* failed, Pokemon* pokemon, ActiveMove& move, bool isSelf);
    void forceSwitch(Value* damage, Targets& targets, Pokemon* pokemon, ActiveMove& move);

    // damage.cpp
    Value modifyDamage(int64_t baseDamage, Pokemon* source, Pokemon* target, ActiveMove* move);
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
    int ties[Listeners::MOST];
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
