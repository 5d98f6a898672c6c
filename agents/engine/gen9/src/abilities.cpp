// Handlers of abilities (data/abilities.ts). Levitate has none: isGrounded asks for it.

#include "battle.h"

namespace {

constexpr Handler HANDLERS_HERE[] = {
    {ability::drizzle, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.setWeather(condition::raindance, e.target, e.effect);
        return UNDEFINED;
    }},
    {ability::guts, onModifyAtk, {.priority = 5}, [](Battle&, Event& e) -> Value {
        return e.target->status ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::hugepower, onModifyAtk, {.priority = 5}, [](Battle&, Event& e) -> Value { return e.chainModify(2, 1); }},
    {ability::intimidate, onStart, {}, [](Battle& b, Event& e) -> Value {
        constexpr int LOWERED[Stat::COUNT] = {-1};
        Targets enemies = b.foes(e.target);
        for (int n = 0; n < enemies.size; n++) b.boost(LOWERED, enemies.list[n], e.target, e.effect);
        return UNDEFINED;
    }},
    {ability::magicguard, onDamage, {}, [](Battle&, Event& e) -> Value {
        return e.cause.type() == EffectType::Move ? UNDEFINED : FALSE;
    }},
    {ability::multiscale, onSourceModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.source->hp >= e.source->maxhp ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {ability::regenerator, onSwitchOut, {}, [](Battle& b, Event& e) -> Value {
        b.healHp(e.target, e.target->maxhp / 3);
        return UNDEFINED;
    }},
    {ability::roughskin, onDamagingHit, {.order = 1}, [](Battle& b, Event& e) -> Value {
        if (b.checkMoveMakesContact(e.move(), e.source, e.target)) b.damage(e.source->maxhp / 8, e.source, e.target, e.effect);
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList ABILITIES = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
