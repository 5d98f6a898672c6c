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

// Events for which Showdown asks only the holder itself, without onAlly, onFoe, onAny and onSource.
bool prefixed(int event) {
    return event != Ev::BeforeTurn && event != Ev::Update && event != Ev::Weather && event != Ev::WeatherChange;
}

}  // namespace

void Battle::initEffectState(EffectState& state, int id, Pokemon* target) {
    state = {};
    state.id = id;
    if (id && target && target->isActive) state.effectOrder = row.effectOrder++;
}

void Battle::findListening() {
    listening = {};
    for (Side& side : row.sides) {
        for (int slot = 0; slot < row.activePerSide; slot++) {
            const Pokemon& p = pokemon(side.order[slot]);
            for (int effect : {p.status, p.ability, p.item}) listen(effect);
            for (int n = 0; n < side.active[slot].volatileCount; n++) listen(side.active[slot].volatiles[n].id);
        }
        for (int n = 0; n < side.conditionCount; n++) listen(side.conditions[n].id);
    }
    listen(row.weatherState.id);
}

void Battle::add(Listeners& found, const Handler* handler, int effect, EffectState* state, Pokemon* holder, Side* side, int callback, bool ends,
                 int subOrder) {
    Listener& listener = found.list[found.size++];
    listener = {handler, effect, state, holder, side, int64_t(1) << 32, 0, 0, subOrder, 0, 0, ends, state ? state->effectOrder : 0};
    if (handler) {
        if (handler->order.order) listener.order = handler->order.order;
        listener.priority = handler->order.priority;
        if (handler->order.subOrder) listener.subOrder = handler->order.subOrder;
    }
    bool switchIn = callback / PREFIXES == Ev::SwitchIn;
    if (switchIn) listener.effectOrder = state->effectOrder;
    if (!holder) return;
    // In quarters: where Pokémon switch in, their place in the order of speeds breaks ties.
    listener.speed = 4 * holder->speed;
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
    Active& active = out(p);
    for (int n = 0; n < active.volatileCount; n++) consider(active.volatiles[n].id, &active.volatiles[n]);
    consider(p->ability, &p->abilityState);
    consider(p->item, &p->itemState);
}

void Battle::findSide(Listeners& found, Side& side, int callback, bool durations, Pokemon* holder) {
    for (int n = 0; n < side.conditionCount; n++) {
        EffectState* state = &side.conditions[n];
        const Handler* handler = HANDLERS.find(state->id, callback);
        if (handler || (durations && state->duration)) add(found, handler, state->id, state, holder, holder ? nullptr : &side, callback, durations && !holder, 4);
    }
}

void Battle::findField(Listeners& found, int callback, bool durations, Pokemon* holder) {
    EffectState* state = &row.weatherState;
    if (!state->id) return;
    const Handler* handler = HANDLERS.find(state->id, callback);
    if (handler || (durations && state->duration)) add(found, handler, state->id, state, holder, nullptr, callback, durations && !holder, 5);
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
            findSide(found, row.sides[side], side == target->side ? callback + On : callback + OnFoe);
            if (others) findSide(found, row.sides[side], callback + OnAny);
        }
    }
    findField(found, callback + On);
}

bool Battle::suppressed(const Listener& listener, int event) {
    if (EFFECTS[listener.effect].type == EffectType::Status && listener.holder->status != listener.effect) return true;
    return EFFECTS[listener.effect].breakable && suppressingAbility(listener.holder) && event != Ev::End;
}

Value Battle::run(const Listener& listener, Event& event) {
    event.effect = listener.effect;
    event.state = listener.state;
    event.holder = listener.holder;
    return listener.handler->run(*this, event);
}

Value Battle::runEvent(int id, Pokemon* target, Pokemon* source, Cause cause, Value relay, int adding, int* boosts, bool fastExit) {
    // Showdown's onEffect: what causes these events may have a handler itself.
    const Handler* own = id == Ev::BasePower || id == Ev::Damage ? HANDLERS.find(cause.id, callbackOf(id)) : nullptr;
    if (!own && !listening.has(id)) return relay == UNDEFINED ? Value(TRUE) : relay;
    Listeners found;
    if (own) add(found, own, cause.id, nullptr, target, nullptr, callbackOf(id), false, 0);
    findEvent(found, id, target, source);
    if (id == Ev::Invulnerability || id == Ev::DamagingHit || id == Ev::TryHit)
        stableSort(found, compareLeftToRightOrder);
    else if (fastExit)
        stableSort(found, compareRedirectOrder);
    else
        speedSort(found.list, found.size, compareHandlers);
    Event event;
    event.id = id, event.target = target, event.source = source, event.cause = cause, event.relay = relay;
    event.adding = adding, event.boosts = boosts;
    if (relay == UNDEFINED) event.relay = TRUE;
    for (int n = 0; n < found.size; n++) {
        if (suppressed(found.list[n], id)) continue;
        Value returned = run(found.list[n], event);
        if (returned == UNDEFINED) continue;
        event.relay = returned;
        if (!truthy(returned) || fastExit) break;
    }
    return isNumber(event.relay) && event.relay >= 0 ? modify(event.relay, event.modifier) : event.relay;
}

void Battle::runEvent(int id, const Targets& targets, Pokemon* source, Cause cause, Value* results) {
    if (!listening.has(id)) return;
    Listeners found;
    for (int n = 0; n < targets.size; n++) {
        int before = found.size;
        findEvent(found, id, targets.list[n], source);
        for (int k = before; k < found.size; k++) found.list[k].index = n;
    }
    if (id == Ev::DamagingHit || id == Ev::TryHit)
        stableSort(found, compareLeftToRightOrder);
    else
        speedSort(found.list, found.size, compareHandlers);
    Event event;
    event.id = id, event.source = source, event.cause = cause;
    for (int n = 0; n < found.size; n++) {
        const Listener& listener = found.list[n];
        Value& result = results[listener.index];
        if (!truthy(result) && !(result == 0 && id == Ev::DamagingHit)) continue;
        if (suppressed(listener, id)) continue;
        event.target = targets.list[listener.index];
        event.relay = result;
        Value returned = run(listener, event);
        if (returned != UNDEFINED) result = returned;
    }
}

Value Battle::singleEvent(int id, int effect, EffectState* state, Pokemon* target, Pokemon* source, Cause cause, Value relay, Side* side) {
    Value unchanged = relay == UNDEFINED ? Value(TRUE) : relay;
    const Handler* handler = HANDLERS.find(effect, callbackOf(id));
    if (!handler) return unchanged;
    if (EFFECTS[effect].type == EffectType::Status && target->status != effect) return unchanged;
    Event event;
    event.id = id, event.target = target, event.source = source, event.cause = cause, event.relay = relay;
    event.effect = effect, event.state = state, event.holder = target, event.side = side;
    Value returned = handler->run(*this, event);
    return returned == UNDEFINED ? unchanged : returned;
}

void Battle::eachEvent(int id, Cause cause) {
    Targets actives = getAllActive();
    speedSort(actives.list, actives.size, [](const Pokemon* a, const Pokemon* b) { return int64_t(b->speed) - a->speed; });
    for (int n = 0; n < actives.size; n++) runEvent(id, actives.list[n], nullptr, cause);
    if (id == Ev::Weather) eachEvent(Ev::Update);
}

void Battle::fieldEvent(int id, const Targets* targets) {
    bool residual = id == Ev::Residual;
    int callback = callbackOf(id);
    Listeners found;
    findField(found, residual ? int(onFieldResidual) : callback, residual);
    for (int side = 0; side < SIDES; side++) {
        findSide(found, row.sides[side], residual ? onSideResidual : onSideSwitchIn, residual);
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon* p = at(side, slot);
            if (!p) continue;
            if (!residual) findPokemon(found, p, callback + OnAny);
            bool included = !targets;
            for (int n = 0; targets && n < targets->size; n++) included = included || targets->list[n] == p;
            if (!included) continue;
            findPokemon(found, p, callback + On, residual);
            findSide(found, row.sides[side], callback + On, false, p);
            findField(found, callback + On, false, p);
        }
    }
    speedSort(found.list, found.size, compareHandlers);
    for (int n = 0; n < found.size; n++) {
        Listener listener = found.list[n];
        Pokemon* holder = listener.holder;
        EffectType type = EFFECTS[listener.effect].type;
        if (holder && holder->fainted) continue;
        // Volatiles and conditions that have ended move up in their lists: find this one again.
        if (type == EffectType::Condition) {
            EffectState* now = holder && !listener.side ? volatileOf(holder, listener.effect) : nullptr;
            for (int side = 0; !now && side < SIDES; side++)
                if (!holder || holder->side == side) now = sideCondition(side, listener.effect);
            if (!now || now->effectOrder != listener.stateOrder) continue;
            listener.state = now;
        } else if (type == EffectType::Status && holder->status != listener.effect) {
            continue;
        } else if (listener.state->id != listener.effect || listener.state->effectOrder != listener.stateOrder) {
            continue;
        }
        if (listener.ends && listener.state->duration) {
            if (!--listener.state->duration) {
                if (holder)
                    removeVolatile(holder, listener.effect);
                else if (type == EffectType::Weather)
                    clearWeather();
                if (ended()) return;
                continue;
            }
        }
        if (listener.handler && !suppressed(listener, id)) {
            Event event;
            event.id = id, event.target = holder, event.side = listener.side;
            run(listener, event);
        }
        faintMessages();
        if (ended()) return;
    }
}
