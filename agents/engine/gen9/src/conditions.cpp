// Handlers of statuses, volatiles, weather and what lies on a side (data/conditions.ts, and the conditions in data/moves.ts).

#include "battle.h"

namespace {

constexpr Handler HANDLERS_HERE[] = {
    {condition::brn, onResidual, {.order = 10}, [](Battle& b, Event& e) -> Value {
        b.damage(e.target->maxhp / 16, e.target, nullptr, e.effect);
        return UNDEFINED;
    }},
    {condition::par, onModifySpe, {.priority = -101}, [](Battle&, Event& e) -> Value {
        int speed = modify(e.relay, e.modifier);
        e.modifier = 4096;
        return speed * 50 / 100;
    }},
    {condition::par, onBeforeMove, {.priority = 1}, [](Battle& b, Event&) -> Value {
        return b.prng.randomChance(1, 4) ? FALSE : UNDEFINED;
    }},
    {condition::flinch, onBeforeMove, {.priority = 8}, [](Battle&, Event&) -> Value { return FALSE; }},
    {condition::stall, onStart, {}, [](Battle&, Event& e) -> Value {
        e.state->counter = 3;
        return UNDEFINED;
    }},
    {condition::stall, onStallMove, {}, [](Battle& b, Event& e) -> Value {
        bool success = b.prng.randomChance(1, e.state->counter);
        if (!success) b.deleteVolatile(e.target, condition::stall);
        return success ? TRUE : FALSE;
    }},
    {condition::stall, onRestart, {}, [](Battle&, Event& e) -> Value {
        if (e.state->counter < 729) e.state->counter *= 3;
        e.state->duration = 2;
        return UNDEFINED;
    }},
    {condition::choicelock, onStart, {}, [](Battle& b, Event& e) -> Value {
        e.state->move = b.activeMove->id;
        return UNDEFINED;
    }},
    {condition::choicelock, onBeforeMove, {}, [](Battle& b, Event& e) -> Value {
        if (!EFFECTS[e.target->item].is(Is::isChoice)) {
            b.removeVolatile(e.target, condition::choicelock);
            return UNDEFINED;
        }
        return e.move()->id != e.state->move && e.move()->id != move::struggle ? FALSE : UNDEFINED;
    }},
    {condition::choicelock, onDisableMove, {}, [](Battle& b, Event& e) -> Value {
        bool knows = false;
        for (int n = 0; n < e.target->moveCount; n++) knows = knows || e.target->moveSlots[n].id == e.state->move;
        if (!EFFECTS[e.target->item].is(Is::isChoice) || !knows)
            b.removeVolatile(e.target, condition::choicelock);
        else
            b.disableMoves(e.target, e.state->move);
        return UNDEFINED;
    }},
    {condition::raindance, durationCallback, {}, [](Battle& b, Event& e) -> Value {
        return e.source && b.hasItem(e.source, item::damprock) ? 8 : 5;
    }},
    {condition::raindance, onWeatherModifyDamage, {}, [](Battle& b, Event& e) -> Value {
        if (b.effectiveWeather() != condition::raindance) return UNDEFINED;
        if (e.move()->type == Type::Water) return e.chainModify(3, 2);
        return e.move()->type == Type::Fire ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {condition::raindance, onFieldResidual, {.order = 1}, [](Battle& b, Event&) -> Value {
        b.eachEvent(Ev::Weather);
        return UNDEFINED;
    }},
    {condition::stealthrock, onSwitchIn, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasItem(e.target, item::heavydutyboots)) return UNDEFINED;
        ActiveMove rocks{moveData(move::stealthrock)};
        int typeMod = clamp(b.runEffectiveness(e.target, &rocks), -6, 6);
        b.damage(typeMod >= 0 ? (e.target->maxhp << typeMod) / 8 : e.target->maxhp / (8 << -typeMod), e.target, nullptr, e.effect);
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList CONDITIONS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
