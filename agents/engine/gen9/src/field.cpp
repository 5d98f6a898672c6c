// Weather, terrain, pseudo-weather, and what lies on a side or a slot: sim/field.ts and sim/side.ts.

#include "battle.h"

namespace {

EffectState* find(EffectState* list, int count, int id) {
    for (int n = 0; n < count; n++)
        if (list[n].id == id) return &list[n];
    return nullptr;
}

}  // namespace

bool Battle::suppressingWeather() { return false; }  // no ability that is played does (Cloud Nine, Air Lock)

// Puts a weather or terrain into its state, unless its start fails.
bool Battle::startField(EffectState& state, int id, Pokemon* source, Cause cause) {
    EffectState previous = state;
    state = {};
    state.id = id;
    state.source = nameOf(source);
    state.sourceSlot = source ? slotOf(source) : 0;
    state.duration = durationOf(id, source, source, cause);
    listen(id);
    if (truthy(singleEvent(Ev::FieldStart, id, &state, nullptr, source, cause))) return true;
    state = previous;
    return false;
}

Value Battle::setWeather(int weather, Pokemon* source, Cause cause) {
    cause = orEffect(cause);
    if (!source && event) source = event->target;
    if (row.weatherState.id == weather) return FALSE;
    if (source && !truthy(runEvent(Ev::SetWeather, source, source, weather))) return NUL;
    if (!startField(row.weatherState, weather, source, cause)) return FALSE;
    eachEvent(Ev::WeatherChange, cause);
    return TRUE;
}

bool Battle::clearWeather() {
    if (!row.weatherState.id) return false;
    singleEvent(Ev::FieldEnd, row.weatherState.id, &row.weatherState, nullptr);
    row.weatherState = {};
    eachEvent(Ev::WeatherChange);
    return true;
}

int Battle::effectiveTerrain(Pokemon* target) {
    if (!target && event) target = event->target;
    return truthy(runEvent(Ev::TryTerrain, target)) ? row.terrainState.id : 0;
}

Value Battle::setTerrain(int terrain, Pokemon* source, Cause cause) {
    cause = orEffect(cause);
    if (!source && event) source = event->target;
    if (row.terrainState.id == terrain) return FALSE;
    if (!startField(row.terrainState, terrain, source, cause)) return FALSE;
    eachEvent(Ev::TerrainChange, cause);
    return TRUE;
}

bool Battle::clearTerrain() {
    if (!row.terrainState.id) return false;
    singleEvent(Ev::FieldEnd, row.terrainState.id, &row.terrainState, nullptr);
    row.terrainState = {};
    eachEvent(Ev::TerrainChange);
    return true;
}

EffectState* Battle::pseudoWeather(int id) { return find(row.pseudoWeather, row.pseudoWeatherCount, id); }

Value Battle::addPseudoWeather(int id, Pokemon* source, Cause cause) {
    if (!source && event) source = event->target;
    if (EffectState* state = pseudoWeather(id)) {
        if (!HANDLERS.find(id, onFieldRestart)) return FALSE;
        return singleEvent(Ev::FieldRestart, id, state, nullptr, source, cause);
    }
    if (row.pseudoWeatherCount == MAX_PSEUDO_WEATHER) noRoom("pseudo-weathers");
    EffectState& state = row.pseudoWeather[row.pseudoWeatherCount++];
    state = {};
    state.id = id;
    state.source = nameOf(source);
    state.sourceSlot = source ? slotOf(source) : 0;
    listen(id);
    state.duration = durationOf(id, source, source, cause);
    if (!truthy(singleEvent(Ev::FieldStart, id, &state, nullptr, source, cause))) {
        state = {};
        return FALSE;
    }
    runEvent(Ev::PseudoWeatherChange, source, source, id);
    return TRUE;
}

bool Battle::removePseudoWeather(int id) {
    EffectState* state = pseudoWeather(id);
    if (!state) return false;
    singleEvent(Ev::FieldEnd, id, state, nullptr);
    *state = {};
    return true;
}

EffectState* Battle::sideCondition(int side, int id) { return find(row.sides[side].conditions, row.sides[side].conditionCount, id); }

Value Battle::addSideCondition(int number, int id, Pokemon* source, Cause cause) {
    Side& side = row.sides[number];
    if (!source && event) source = event->target;
    if (EffectState* state = sideCondition(number, id)) {
        if (!HANDLERS.find(id, onSideRestart)) return FALSE;
        return singleEvent(Ev::SideRestart, id, state, nullptr, source, cause, UNDEFINED, &side);
    }
    if (side.conditionCount == MAX_CONDITIONS) noRoom("conditions of a side");
    EffectState& state = side.conditions[side.conditionCount++];
    state = {};
    state.id = id;
    state.effectOrder = row.effectOrder++;
    state.source = nameOf(source);
    state.sourceSlot = source ? slotOf(source) : 0;
    listen(id);
    state.duration = durationOf(id, at(number, 0), source, cause);
    if (!truthy(singleEvent(Ev::SideStart, id, &state, nullptr, source, cause, UNDEFINED, &side))) {
        state = {};
        return FALSE;
    }
    // Of the tables only abilities answer to it.
    for (int position = 0; position < row.activePerSide; position++)
        if (Pokemon* p = at(number, position)) singleEvent(Ev::SideConditionStart, p->ability, &p->abilityState, p, source, id);
    return TRUE;
}

bool Battle::removeSideCondition(int side, int id) {
    EffectState* state = sideCondition(side, id);
    if (!state) return false;
    singleEvent(Ev::SideEnd, id, state, nullptr, nullptr, {}, UNDEFINED, &row.sides[side]);
    *state = {};
    return true;
}

EffectState* Battle::slotCondition(int side, int position, int id) {
    SlotConditions& slot = row.sides[side].slotConditions[position];
    return find(slot.list, slot.count, id);
}

Value Battle::addSlotCondition(const Pokemon* target, int id, Pokemon* source, Cause cause) {
    if (!source && event) source = event->target;
    Pokemon* holder = at(target->side, target->position);
    if (EffectState* state = slotCondition(target, id)) {
        if (!HANDLERS.find(id, onRestart)) return FALSE;
        return singleEvent(Ev::Restart, id, state, holder, source, cause);
    }
    SlotConditions& slot = row.sides[target->side].slotConditions[target->position];
    if (slot.count == MAX_SLOT_CONDITIONS) noRoom("conditions of a slot");
    EffectState& state = slot.list[slot.count++];
    state = {};
    state.id = id;
    state.effectOrder = row.effectOrder++;
    state.source = nameOf(source);
    state.sourceSlot = source ? slotOf(source) : 0;
    listen(id);
    state.duration = durationOf(id, at(target->side, 0), source, cause);
    if (!truthy(singleEvent(Ev::Start, id, &state, holder, source, cause))) {
        state = {};
        return FALSE;
    }
    return TRUE;
}

bool Battle::removeSlotCondition(int side, int position, int id) {
    EffectState* state = slotCondition(side, position, id);
    if (!state) return false;
    singleEvent(Ev::End, id, state, at(side, position));
    *state = {};
    return true;
}

bool Battle::checkMoveMakesContact(const ActiveMove* move, Pokemon* attacker, Pokemon* defender, bool announcePads) {
    if (!move->has(Flag::contact)) return false;
    if (!hasItem(attacker, item::protectivepads)) return true;
    if (announcePads) {
        add(Message::activate, defender, full(event->effect));
        add(Message::activate, attacker, full(item::protectivepads));
    }
    return false;
}

bool Battle::checkMoveBypassesProtect(ActiveMove* move, Pokemon* attacker, Pokemon* defender, bool blockStatus) {
    return !((move->category != Category::Status || blockStatus) && move->has(Flag::protect) &&
             truthy(runEvent(Ev::HitProtect, attacker, defender, move)));
}
