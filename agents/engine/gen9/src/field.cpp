// Weather, and what lies on a side: sim/field.ts and sim/side.ts.

#include "battle.h"

Value Battle::setWeather(int weather, Pokemon* source, Cause cause) {
    if (row.weatherState.id == weather) return FALSE;
    Value result = runEvent(Ev::SetWeather, source, source, weather);
    if (!truthy(result)) return NUL;
    row.weatherState = {};
    row.weatherState.id = weather;
    row.weatherState.source = nameOf(source);
    row.weatherState.duration = weather == condition::raindance && hasItem(source, item::damprock) ? 8 : EFFECTS[weather].duration;
    listen(weather);
    singleEvent(Ev::FieldStart, weather, &row.weatherState, nullptr, source, cause);
    eachEvent(Ev::WeatherChange, cause);
    return TRUE;
}

void Battle::clearWeather() {
    if (!row.weatherState.id) return;
    singleEvent(Ev::FieldEnd, row.weatherState.id, &row.weatherState, nullptr);
    row.weatherState = {};
    eachEvent(Ev::WeatherChange);
}

EffectState* Battle::sideCondition(int side, int id) {
    Side& whole = row.sides[side];
    for (int n = 0; n < whole.conditionCount; n++)
        if (whole.conditions[n].id == id) return &whole.conditions[n];
    return nullptr;
}

Value Battle::addSideCondition(int side, int id, Pokemon* source, Cause cause) {
    if (sideCondition(side, id)) return FALSE;
    EffectState& state = row.sides[side].conditions[row.sides[side].conditionCount++];
    state = {};
    state.id = id;
    state.effectOrder = row.effectOrder++;
    state.source = nameOf(source);
    state.duration = EFFECTS[id].duration;
    listen(id);
    singleEvent(Ev::SideStart, id, &state, nullptr, source, cause, UNDEFINED, &row.sides[side]);
    return TRUE;
}

bool Battle::checkMoveBypassesProtect(ActiveMove* move, Pokemon* attacker, Pokemon* defender) {
    return !(move->flags & Flag::protect && truthy(runEvent(Ev::HitProtect, attacker, defender, move)));
}
