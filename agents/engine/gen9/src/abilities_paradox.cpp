// Handlers of Protosynthesis and Quark Drive and of their conditions (data/abilities.ts).

#include "battle.h"

namespace {

// counter of the condition's state: the raised stat; extra: whether Booster Energy began it.
Value start(Battle& b, Event& e) {
    e.state->extra = e.cause.id == item::boosterenergy;
    if (e.state->extra)
        b.add(Message::activate, e.target, named(e.effect).after("ability: "), "[fromitem]");
    else
        b.add(Message::activate, e.target, named(e.effect).after("ability: "));
    e.state->counter = b.getBestStat(e.target, false, true);
    const char* before = e.effect == condition::protosynthesis ? "protosynthesis" : "quarkdrive";
    b.add(Message::start, e.target, statName(e.state->counter).after(before));
    return UNDEFINED;
}

Value end(Battle& b, Event& e) {
    b.add(Message::end, e.target, named(e.effect));
    return UNDEFINED;
}

template <int STAT>
Value raise(Battle& b, Event& e) {
    if (e.state->counter != STAT || b.ignoringAbility(e.target)) return UNDEFINED;
    return STAT == Stat::spe ? e.chainModify(3, 2) : e.chainModify(5325, 4096);
}

// Begins or ends the condition with the sun or terrain.
void follow(Battle& b, Event& e, int condition, bool on) {
    const EffectState* state = b.volatileOf(e.target, condition);
    if (on)
        b.addVolatile(e.target, condition);
    else if (!state || !state->extra)
        b.removeVolatile(e.target, condition);
}

Value followSun(Battle& b, Event& e) {
    follow(b, e, condition::protosynthesis, b.isWeather(condition::sunnyday));
    return UNDEFINED;
}

Value followTerrain(Battle& b, Event& e) {
    follow(b, e, condition::quarkdrive, b.isTerrain(condition::electricterrain));
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {ability::protosynthesis, onStart, {.priority = -2}, followSun},
    {ability::protosynthesis, onWeatherChange, {}, followSun},
    {ability::protosynthesis, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.deleteVolatile(e.target, condition::protosynthesis);
        b.add(Message::end, e.target, "Protosynthesis", "[silent]");
        return UNDEFINED;
    }},
    {ability::quarkdrive, onStart, {.priority = -2}, followTerrain},
    {ability::quarkdrive, onTerrainChange, {}, followTerrain},
    {ability::quarkdrive, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.deleteVolatile(e.target, condition::quarkdrive);
        b.add(Message::end, e.target, "Quark Drive", "[silent]");
        return UNDEFINED;
    }},

    {condition::protosynthesis, onStart, {}, start},
    {condition::protosynthesis, onEnd, {}, end},
    {condition::protosynthesis, onModifyAtk, {.priority = 5}, raise<Stat::atk>},
    {condition::protosynthesis, onModifyDef, {.priority = 6}, raise<Stat::def>},
    {condition::protosynthesis, onModifySpA, {.priority = 5}, raise<Stat::spa>},
    {condition::protosynthesis, onModifySpD, {.priority = 6}, raise<Stat::spd>},
    {condition::protosynthesis, onModifySpe, {}, raise<Stat::spe>},

    {condition::quarkdrive, onStart, {}, start},
    {condition::quarkdrive, onEnd, {}, end},
    {condition::quarkdrive, onModifyAtk, {.priority = 5}, raise<Stat::atk>},
    {condition::quarkdrive, onModifyDef, {.priority = 6}, raise<Stat::def>},
    {condition::quarkdrive, onModifySpA, {.priority = 5}, raise<Stat::spa>},
    {condition::quarkdrive, onModifySpD, {.priority = 6}, raise<Stat::spd>},
    {condition::quarkdrive, onModifySpe, {}, raise<Stat::spe>},
};

}  // namespace

extern const HandlerList ABILITIES_PARADOX = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
