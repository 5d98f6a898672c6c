// Showdown's events, and the handlers that effects have for them.
//
// A handler is an entry of a list, in the file of its kind (abilities.cpp, items.cpp, conditions.cpp, moves.cpp):
//
//     {ability::guts, onModifyAtk, {.priority = 5}, [](Battle& b, Event& e) -> Value { ... }},
//
// Its order, priority and subOrder are those that Showdown writes as onModifyAtkPriority and so on.

#pragma once

#include <initializer_list>

#include "tables.h"

class Battle;
struct Event;

#define EVENTS(X) \
    X(Accuracy) X(AfterBoost) X(AfterEachBoost) X(AfterFaint) X(AfterHit) X(AfterMega) X(AfterMove)                \
    X(AfterMoveSecondary) X(AfterMoveSecondarySelf) X(AfterSetStatus) X(AfterSubDamage) X(AfterTakeItem)           \
    X(AfterTerastallization) X(AfterUseItem) X(BasePower) X(BattleStart) X(BeforeFaint) X(BeforeMove)              \
    X(BeforeSwitchIn) X(BeforeSwitchOut) X(BeforeTurn) X(ChangeBoost) X(ChargeMove) X(CheckShow) X(Copy)           \
    X(CriticalHit) X(Damage) X(DamagingHit) X(DeductPP) X(DisableMove) X(DragOut) X(Eat) X(EatItem)                \
    X(Effectiveness) X(EmergencyExit) X(End) X(Faint) X(FieldEnd) X(FieldResidual) X(FieldRestart) X(FieldStart)   \
    X(Flinch) X(FractionalPriority) X(Heal) X(Hit) X(HitField) X(HitProtect) X(HitSide) X(Immunity)                \
    X(Invulnerability) X(LockMove) X(MaybeTrapPokemon) X(ModifyAccuracy) X(ModifyAtk) X(ModifyBoost)               \
    X(ModifyCritRatio) X(ModifyDamage) X(ModifyDef) X(ModifyMove) X(ModifyPriority) X(ModifySTAB)                  \
    X(ModifySecondaries) X(ModifySpA) X(ModifySpD) X(ModifySpe) X(ModifySpecies) X(ModifyTarget) X(ModifyType)     \
    X(ModifyWeight) X(MoveAborted) X(MoveFail) X(NegateImmunity) X(OverrideAction) X(PrepareHit)                   \
    X(PseudoWeatherChange) X(RedirectTarget) X(Residual) X(Restart) X(SecondaryHit) X(SelfHit) X(SemiLockMove)     \
    X(SetAbility) X(SetStatus) X(SetWeather) X(SideConditionStart) X(SideEnd) X(SideResidual) X(SideRestart)       \
    X(SideStart) X(SideSwitchIn) X(StallMove) X(Start) X(Swap) X(SwitchIn) X(SwitchOut) X(TakeItem)                \
    X(TerrainChange) X(TrapPokemon) X(Try) X(TryAddVolatile) X(TryBoost) X(TryEatItem) X(TryHeal) X(TryHit)        \
    X(TryHitField) X(TryHitSide) X(TryImmunity) X(TryMove) X(TryPrimaryHit) X(TryTerrain) X(Type) X(Update) X(Use) \
    X(UseItem) X(UseMoveMessage) X(Weather) X(WeatherChange) X(WeatherModifyDamage)

// Functions that Showdown's data has beside those of events. As events here: basePowerCallback is onBasePowerCallback.
#define CALLBACKS(X) \
    X(BasePowerCallback) X(BeforeMoveCallback) X(BeforeTurnCallback) X(DamageCallback) X(DurationCallback) X(PriorityChargeCallback)

namespace Ev {
enum : int {
#define X(name) name,
    EVENTS(X) CALLBACKS(X)
#undef X
        COUNT
};
}  // namespace Ev

// Whose handlers an event asks for: its target's own, the target's side's, the other side's, everyone's, its source's.
enum Prefix : int { On, OnAlly, OnFoe, OnAny, OnSource, PREFIXES };

// The callbacks by Showdown's names: onModifyAtk, onAllyModifyAtk, onFoeModifyAtk, onAnyModifyAtk, onSourceModifyAtk.
enum Callback : int {
#define X(name) on##name = int(Ev::name) * int(PREFIXES), onAlly##name, onFoe##name, onAny##name, onSource##name,
    EVENTS(X) CALLBACKS(X)
#undef X
};

constexpr int basePowerCallback = onBasePowerCallback, beforeMoveCallback = onBeforeMoveCallback, beforeTurnCallback = onBeforeTurnCallback,
              damageCallback = onDamageCallback, durationCallback = onDurationCallback, priorityChargeCallback = onPriorityChargeCallback;

constexpr int callbackOf(int event, int prefix = On) { return event * PREFIXES + prefix; }

struct Order {
    int order = 0, priority = 0, subOrder = 0;  // order 0: last
};

struct Handler {
    int effect;
    int callback;
    Order order;
    Value (*function)(Battle&, Event&);  // null: Showdown states an order for when its duration ends, and no function

#ifdef COVERAGE
    Value run(Battle& battle, Event& event) const;
#else
    Value run(Battle& battle, Event& event) const { return function(battle, event); }
#endif
};

// A set of events.
struct EventSet {
    uint64_t bits[(Ev::COUNT + 63) / 64] = {};

    void add(int event) { bits[event / 64] |= uint64_t(1) << event % 64; }
    void add(const EventSet& other) {
        for (unsigned part = 0; part < sizeof(bits) / sizeof(bits[0]); part++) bits[part] |= other.bits[part];
    }
    bool has(int event) const { return bits[event / 64] >> event % 64 & 1; }
};

// All handlers, by effect.
class Handlers {
  public:
    Handlers();
    // The handler of an effect for a callback, or null.
    const Handler* find(int effect, int callback) const {
        const Entry& entry = entries[effect];
        if (!entry.events.has(callback / PREFIXES)) return nullptr;
        for (const Handler* handler = entry.first; handler != entry.last; handler++)
            if (handler->callback == callback) return handler;
        // Showdown's getCallback: an ability or item that has onStart starts when its Pokémon switches in.
        return callback == onSwitchIn && entry.starts ? find(effect, onStart) : nullptr;
    }
    const EventSet& eventsOf(int effect) const { return entries[effect].events; }
    // Effect, callback, order, priority and subOrder of each; returns how many there are. null: only counts.
    int write(int32_t* words) const;

  private:
    struct Entry {
        const Handler *first = nullptr, *last = nullptr;
        EventSet events;
        bool starts = false;
    };
    static constexpr int EFFECT_COUNT = sizeof(EFFECTS) / sizeof(EFFECTS[0]), MOST = 2048;
    Entry entries[EFFECT_COUNT];
    Handler sorted[MOST];
};

extern const Handlers HANDLERS;

// The list of handlers of a file; handlers.cpp names it.
struct HandlerList {
    const Handler* handlers;
    int count;
};
