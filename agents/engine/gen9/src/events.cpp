// How an event finds its handlers, in what order they run, and what they make of it: sim/battle.ts's runEvent, singleEvent,
// eachEvent, fieldEvent and the functions that those use.

#include "battle.h"

namespace {

int64_t compareHandlers(const Listener& a, const Listener& b) {
    if (int64_t by = comparePriority(a, b)) return by;
    return a.subOrder != b.subOrder ? a.subOrder - b.subOrder : a.effectOrder - b.effectOrder;
}

int64_t compareLeftToRightOrder(const Listener& a, const Listener& b) {
    if (a.order != b.order) return a.order - b.order;
    return a.priority != b.priority ? b.priority - a.priority : a.index - b.index;
}

int64_t compareRedirectOrder(const Listener& a, const Listener& b) {
    if (a.priority != b.priority) return b.priority - a.priority;
    if (a.speed != b.speed) return b.speed - a.speed;
    return a.holder && b.holder ? a.holder->abilityState.effectOrder - b.holder->abilityState.effectOrder : 0;
}

// As JavaScript's sort: equal ones stay in their order.
template <typename Compare>
void stableSort(Listeners& found, Compare compare) {
    for (int n = 1; n < found.size; n++) {
        Listener moved = found.list[n];
        int place = n;
        for (; place > 0 && compare(found.list[place - 1], moved) > 0; place--) found.list[place] = found.list[place - 1];
        found.list[place] = moved;
    }
}

// Showdown's resolvePriority, where an effect states no subOrder of its own.
int defaultSubOrder(EffectType type) {
    switch (type) {
        case EffectType::Condition: return 2;
        case EffectType::Weather: return 5;
        case EffectType::Ability: return 7;
        case EffectType::Item: return 8;
        default: return 0;
    }
}
constexpr int SLOT_CONDITION = 3, SIDE_CONDITION = 4, POISON_TOUCH = 6, STALL = 9;

// Events for which Showdown asks only the holder itself, without onAlly, onFoe, onAny and onSource.
bool prefixed(int event) {
    return event != Ev::BeforeTurn && event != Ev::Update && event != Ev::Weather && event != Ev::WeatherChange && event != Ev::TerrainChange;
}

bool leftToRight(int event) { return event == Ev::Invulnerability || event == Ev::DamagingHit || event == Ev::TryHit; }

}  // namespace

void Battle::initEffectState(EffectState& state, int id, Pokemon* target) {
    state = {};
    state.id = id;
    if (id && target && target->isActive) state.effectOrder = row.effectOrder++;
}

void Battle::clearEffectState(EffectState& state) { state = {}; }

void Battle::findListening() {
    listening = {};
    listeningFound = true;
    auto listenTo = [&](const EffectState* states, int count) {
        for (int n = 0; n < count; n++) listen(states[n].id);
    };
    for (Side& side : row.sides) {
        for (int slot = 0; slot < row.activePerSide; slot++) {
            const Pokemon& p = pokemon(side.order[slot]);
            for (int effect : {p.status, p.ability, p.item}) listen(effect);
            listenTo(side.active[slot].volatiles, side.active[slot].volatileCount);
            listenTo(side.slotConditions[slot].list, side.slotConditions[slot].count);
        }
        listenTo(side.conditions, side.conditionCount);
    }
    listenTo(row.pseudoWeather, row.pseudoWeatherCount);
    listen(row.weatherState.id);
    listen(row.terrainState.id);
}

void Battle::add(Listeners& found, const Handler* handler, int effect, EffectState* state, Pokemon* holder, Side* side, int callback, bool ends,
                 int subOrder) {
    Listener& listener = found.list[found.size++];
    listener = {handler, effect, state, holder, side, int64_t(1) << 32, 0, 0, subOrder, 0, 0, ends, state ? state->effectOrder : 0, 0};
    if (handler) {
        if (handler->order.order) listener.order = handler->order.order;
        listener.priority = handler->order.priority;
        if (handler->order.subOrder) listener.subOrder = handler->order.subOrder;
    } else {
        const EffectData& data = EFFECTS[effect];
        if (data.residualOrder) listener.order = data.residualOrder;
        if (data.residualSubOrder) listener.subOrder = data.residualSubOrder;
    }
    if (effect == ability::poisontouch) listener.subOrder = POISON_TOUCH;
    if (effect == ability::stall) listener.subOrder = STALL;
    int event = callback / PREFIXES;
    bool switchIn = event == Ev::SwitchIn || event == Ev::BeforeSwitchIn || event == Ev::SideSwitchIn;
    if ((switchIn || event == Ev::RedirectTarget) && state) listener.effectOrder = state->effectOrder;
    if (!holder) return;
    // In quarters: where Pokémon switch in, their place in the order of speeds breaks ties.
    listener.speed = 4 * holder->speed;
    if (effect == ability::magicbounce && callback == onAllyTryHitSide) listener.speed = 4 * getStat(holder, Stat::spe, true, true);
    if (switchIn) {
        int value = holder->side + SIDES * holder->position, place = -1;
        for (int n = 0; n < speedOrderSize; n++)
            if (speedOrder[n] == value) place = n;
        listener.speed -= 4 * place / (2 * row.activePerSide);
    }
}

void Battle::findPokemon(Listeners& found, Pokemon* p, int callback, bool durations) {
    auto consider = [&](int effect, EffectState* state) {
        if (!effect) return;
        const Handler* handler = HANDLERS.find(effect, callback);
        if (handler || (durations && state->duration)) add(found, handler, effect, state, p, nullptr, callback, durations, defaultSubOrder(EFFECTS[effect].type));
    };
    consider(p->status, &p->statusState);
    bool inPlay = p->position < row.activePerSide;
    if (inPlay) {
        Active& active = out(p);
        for (int n = 0; n < active.volatileCount; n++) consider(active.volatiles[n].id, &active.volatiles[n]);
    }
    consider(p->ability, &p->abilityState);
    consider(p->item, &p->itemState);
    if (!inPlay) return;
    SlotConditions& slot = row.sides[p->side].slotConditions[p->position];
    for (int n = 0; n < slot.count; n++) {
        EffectState* state = &slot.list[n];
        if (!state->id) continue;
        const Handler* handler = HANDLERS.find(state->id, callback);
        if (!handler && !(durations && state->duration)) continue;
        add(found, handler, state->id, state, p, nullptr, callback, durations, SLOT_CONDITION);
        found.list[found.size - 1].slot = 1 + p->position;
    }
}

void Battle::findSide(Listeners& found, Side& side, int callback, bool durations, Pokemon* holder) {
    for (int n = 0; n < side.conditionCount; n++) {
        EffectState* state = &side.conditions[n];
        if (!state->id) continue;
        const Handler* handler = HANDLERS.find(state->id, callback);
        if (handler || (durations && state->duration))
            add(found, handler, state->id, state, holder, &side, callback, durations && !holder, SIDE_CONDITION);
    }
}

void Battle::findField(Listeners& found, int callback, bool durations, Pokemon* holder) {
    auto consider = [&](EffectState* state) {
        if (!state->id) return;
        const Handler* handler = HANDLERS.find(state->id, callback);
        if (handler || (durations && state->duration))
            add(found, handler, state->id, state, holder, nullptr, callback, durations && !holder, defaultSubOrder(EFFECTS[state->id].type));
    };
    for (int n = 0; n < row.pseudoWeatherCount; n++) consider(&row.pseudoWeather[n]);
    consider(&row.weatherState);
    consider(&row.terrainState);
}

void Battle::findEvent(Listeners& found, int event, Pokemon* target, Pokemon* source) {
    int callback = callbackOf(event);
    bool others = prefixed(event);
    if (target && (target->isActive || (source && source->isActive))) {
        findPokemon(found, target, callback + On);
        if (others) {
            Targets friends = allies(target->side), enemies = foes(target);
            for (int n = 0; n < friends.size; n++) {
                findPokemon(found, friends.list[n], callback + OnAlly);
                findPokemon(found, friends.list[n], callback + OnAny);
            }
            for (int n = 0; n < enemies.size; n++) {
                findPokemon(found, enemies.list[n], callback + OnFoe);
                findPokemon(found, enemies.list[n], callback + OnAny);
            }
        }
    }
    if (source && others) findPokemon(found, source, callback + OnSource);
    if (target && (target->isActive || (source && source->isActive))) {
        for (int side = 0; side < SIDES; side++) {
            if (side == target->side || others) findSide(found, row.sides[side], side == target->side ? callback + On : callback + OnFoe);
            if (others) findSide(found, row.sides[side], callback + OnAny);
        }
    }
    findField(found, callback + On);
}

// Whether an effect that a Pokémon holds does not act now. holder: null: of a side or of the field.
bool Battle::suppressed(int effect, Pokemon* holder, int event) {
    const EffectData& data = EFFECTS[effect];
    switch (data.type) {
        case EffectType::Status: return holder && holder->status != effect;
        case EffectType::Ability: return holder && event != Ev::End && ignoringAbility(holder);
        case EffectType::Item: return holder && event != Ev::Start && event != Ev::TakeItem && ignoringItem(holder);
        case EffectType::Weather:
            return event != Ev::FieldStart && event != Ev::FieldResidual && event != Ev::FieldEnd && event != Ev::Residual && suppressingWeather();
        default: return false;
    }
}

Value Battle::run(const Listener& listener, Event& running) {
    Event* parent = event;
    running.effect = listener.effect;
    running.state = listener.state;
    running.holder = listener.holder;
    if (listener.side) running.side = listener.side;
    event = &running;
    Value returned = listener.handler->run(*this, running);
    event = parent;
    return returned;
}

Value Battle::runEvent(int id, Pokemon* target, Pokemon* source, Cause cause, Value relay, int adding, int* boosts, bool fastExit) {
    // Showdown's onEffect: what causes these events may have a handler itself.
    bool own = (id == Ev::BasePower || id == Ev::Damage) && HANDLERS.find(cause.id, callbackOf(id));
    if (!own && !listening.has(id)) return relay == UNDEFINED ? Value(TRUE) : relay;
    Event running;
    running.id = id, running.target = target, running.source = source, running.cause = cause, running.relay = relay;
    running.adding = adding, running.boosts = boosts;
    return runEvent(running, fastExit);
}

Value Battle::runEvent(Event& running, bool fastExit) {
    int id = running.id;
    const Handler* own = id == Ev::BasePower || id == Ev::Damage ? HANDLERS.find(running.cause.id, callbackOf(id)) : nullptr;
    Listeners found;
    if (own) add(found, own, running.cause.id, nullptr, running.target, nullptr, callbackOf(id), false, 0);
    findEvent(found, id, running.target, running.source);
    if (leftToRight(id))
        stableSort(found, compareLeftToRightOrder);
    else if (fastExit)
        stableSort(found, compareRedirectOrder);
    else
        speedSort(found.list, found.size, compareHandlers);
    if (running.relay == UNDEFINED) running.relay = TRUE;
    for (int n = 0; n < found.size; n++) {
        const Listener& listener = found.list[n];
        if (EFFECTS[listener.effect].is(Is::breakable) && suppressingAbility(listener.holder)) continue;
        if (suppressed(listener.effect, listener.holder, id)) continue;
        Value returned = run(listener, running);
        if (returned == UNDEFINED) continue;
        running.relay = returned;
        if (!truthy(returned) || fastExit) break;
    }
    bool modified = isNumber(running.relay) && running.relay >= 0 && !running.isFraction;
    return modified ? modify(running.relay, running.modifier) : running.relay;
}

// results: for each target what its handlers make of it: first the relay.
void Battle::runEvent(int id, const Targets& targets, Pokemon* source, Cause cause, Value* results) {
    if (!listening.has(id)) return;
    Listeners found;
    for (int n = 0; n < targets.size; n++) {
        int before = found.size;
        findEvent(found, id, targets.list[n], source);
        for (int k = before; k < found.size; k++) found.list[k].index = n;
    }
    if (leftToRight(id))
        stableSort(found, compareLeftToRightOrder);
    else
        speedSort(found.list, found.size, compareHandlers);
    Event running;
    running.id = id, running.source = source, running.cause = cause;
    for (int n = 0; n < found.size; n++) {
        const Listener& listener = found.list[n];
        Value& result = results[listener.index];
        if (!truthy(result) && !(result == 0 && id == Ev::DamagingHit)) continue;
        if (EFFECTS[listener.effect].is(Is::breakable) && suppressingAbility(listener.holder)) continue;
        if (suppressed(listener.effect, listener.holder, id)) continue;
        running.target = targets.list[listener.index];
        running.relay = result;
        Value returned = run(listener, running);
        // Showdown notes what stops, and hands a number on
        if (returned != UNDEFINED && !truthy(returned)) result = returned;
    }
}

Value Battle::singleEvent(int id, int effect, EffectState* state, Pokemon* target, Pokemon* source, Cause cause, Value relay, Side* side, int adding,
                          int prefix) {
    Value unchanged = relay == UNDEFINED ? Value(TRUE) : relay;
    const Handler* handler = HANDLERS.find(effect, callbackOf(id, prefix));
    if (!handler || suppressed(effect, target, id)) return unchanged;
    Event running;
    running.id = id, running.target = target, running.source = source, running.cause = cause, running.relay = relay, running.adding = adding;
    Listener listener{};
    EffectState none{};
    listener.handler = handler, listener.effect = effect, listener.state = state ? state : &none, listener.holder = target, listener.side = side;
    Value returned = run(listener, running);
    return returned == UNDEFINED ? unchanged : returned;
}

void Battle::eachEvent(int id, Cause cause) {
    Targets actives = getAllActive();
    cause = orEffect(cause);
    speedSort(actives.list, actives.size, [](const Pokemon* a, const Pokemon* b) { return int64_t(b->speed) - a->speed; });
    for (int n = 0; n < actives.size; n++) runEvent(id, actives.list[n], nullptr, cause);
    if (id == Ev::Weather) eachEvent(Ev::Update);
}

// An effect whose duration is over ends.
void Battle::endDuration(const Listener& listener) {
    Pokemon* holder = listener.holder;
    switch (EFFECTS[listener.effect].type) {
        case EffectType::Weather: clearWeather(); break;
        case EffectType::Terrain: clearTerrain(); break;
        case EffectType::Status: cureStatus(holder); break;
        default:
            if (listener.slot)
                removeSlotCondition(holder->side, listener.slot - 1, listener.effect);
            else if (holder)
                removeVolatile(holder, listener.effect);
            else if (listener.side)
                removeSideCondition(int(listener.side - row.sides), listener.effect);
            else
                removePseudoWeather(listener.effect);
    }
}

namespace {

// Whether the state with which a handler was found is still that of its effect.
bool inPlay(const Listener& listener) {
    const EffectState& state = *listener.state;
    switch (EFFECTS[listener.effect].type) {
        case EffectType::Status: return listener.holder->status == listener.effect && state.effectOrder == listener.stateOrder;
        // A used item's state is cleared and remains the same object in Showdown; so does that of one that Trick took and gave back.
        case EffectType::Item: return !state.effectOrder || state.effectOrder == listener.stateOrder;
        // A state is cleared when its effect ends, and its place is not used again in this step.
        default: return state.id == listener.effect && state.effectOrder == listener.stateOrder;
    }
}

}  // namespace

void Battle::fieldEvent(int id, const Targets* targets) {
    bool residual = id == Ev::Residual;
    int callback = callbackOf(id);
    Listeners found;
    if (residual) findField(found, onFieldResidual, true);
    for (int side = 0; side < SIDES; side++) {
        findSide(found, row.sides[side], residual ? onSideResidual : onSideSwitchIn, residual);
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon* p = at(side, slot);
            if (!p) continue;
            if (!residual) findPokemon(found, p, callback + OnAny);
            if (targets && !targets->has(p)) continue;
            findPokemon(found, p, callback + On, residual);
            findSide(found, row.sides[side], callback + On, false, p);
            findField(found, callback + On, false, p);
        }
    }
    speedSort(found.list, found.size, compareHandlers);
    for (int n = 0; n < found.size; n++) {
        const Listener& listener = found.list[n];
        Pokemon* holder = listener.holder;
        if (holder && holder->fainted && !listener.slot) continue;
        if (!inPlay(listener)) continue;
        if (listener.ends && listener.state->duration && !--listener.state->duration) {
            endDuration(listener);
            if (ended()) return;
            continue;
        }
        int event = id;
        if (!holder) event = listener.side ? (residual ? Ev::SideResidual : Ev::SideSwitchIn) : Ev::FieldResidual;
        bool breaking = id == Ev::SwitchIn && EFFECTS[listener.effect].is(Is::breakable) && suppressingAbility(holder);
        if (listener.handler && listener.handler->function && !breaking && !suppressed(listener.effect, holder, event)) {
            Event running;
            running.id = event, running.target = holder;
            run(listener, running);
        }
        faintMessages();
        if (ended()) return;
    }
}
