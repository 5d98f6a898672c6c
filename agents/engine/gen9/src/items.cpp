// Handlers of items (data/items.ts). Heavy-Duty Boots and Damp Rock have none: what they change asks for them.

#include "battle.h"

namespace {

constexpr Handler HANDLERS_HERE[] = {
    {item::choiceband, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.removeVolatile(e.target, condition::choicelock);
        return UNDEFINED;
    }},
    {item::choiceband, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        b.addVolatile(e.target, condition::choicelock, e.source, e.effect);
        return UNDEFINED;
    }},
    {item::choiceband, onModifyAtk, {.priority = 1}, [](Battle&, Event& e) -> Value { return e.chainModify(3, 2); }},
    {item::leftovers, onResidual, {.order = 5, .subOrder = 4}, [](Battle& b, Event& e) -> Value {
        b.heal(e.target->maxhp / 16, e.target);
        return UNDEFINED;
    }},
    {item::lifeorb, onModifyDamage, {}, [](Battle&, Event& e) -> Value { return e.chainModify(5324, 4096); }},
    {item::lifeorb, onAfterMoveSecondarySelf, {}, [](Battle& b, Event& e) -> Value {
        if (e.target != e.source && e.move()->category != Category::Status && !e.target->forceSwitchFlag)
            b.damage(e.target->maxhp / 10, e.target, e.target, e.effect);
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList ITEMS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
