// Handlers of items (data/items.ts) that their holder keeps: powers, stats, choice items, residual damage and healing.
// Heavy-Duty Boots, rocks and clays have none: what they change asks for them.

#include "battle.h"

namespace {

// Of onBasePower: a fifth more for moves of a type.
template <int TYPE>
Value raiseType(Battle&, Event& e) {
    return e.move()->type == TYPE ? e.chainModify(4915, 4096) : UNDEFINED;
}

Value half(Battle&, Event& e) { return e.chainModify(3, 2); }

// Eviolite
Value halfUnevolved(Battle&, Event& e) { return SPECIES[e.target->baseSpecies].nfe ? e.chainModify(3, 2) : UNDEFINED; }

Value startChoice(Battle& b, Event& e) {
    b.removeVolatile(e.target, condition::choicelock);
    return UNDEFINED;
}

Value lockChoice(Battle& b, Event& e) {
    b.addVolatile(e.target, condition::choicelock);
    return UNDEFINED;
}

template <int STATUS>
Value orb(Battle& b, Event& e) {
    b.trySetStatus(e.target, STATUS, e.target);
    return UNDEFINED;
}

// Ogerpon's masks
template <int FORME, int TERA_FORME>
Value raiseMask(Battle&, Event& e) {
    int species = e.target->baseSpecies;
    return species == FORME || species == TERA_FORME ? e.chainModify(4915, 4096) : UNDEFINED;
}

Value keepMask(Battle&, Event& e) {
    return SPECIES[e.target->baseSpecies].baseSpecies == species::ogerpon ? FALSE : TRUE;
}

constexpr Handler HANDLERS_HERE[] = {
    {item::assaultvest, onModifySpD, {.priority = 1}, half},
    {item::assaultvest, onDisableMove, {}, [](Battle& b, Event& e) -> Value {
        for (int n = 0; n < e.target->moveCount; n++)
            if (moveData(e.target->moveSlots[n].id).category == Category::Status) b.disableMove(e.target, e.target->moveSlots[n].id);
        return UNDEFINED;
    }},
    {item::blackglasses, onBasePower, {.priority = 15}, raiseType<Type::Dark>},
    {item::choiceband, onStart, {}, startChoice},
    {item::choiceband, onModifyMove, {}, lockChoice},
    {item::choiceband, onModifyAtk, {.priority = 1}, half},
    {item::choicescarf, onStart, {}, startChoice},
    {item::choicescarf, onModifyMove, {}, lockChoice},
    {item::choicescarf, onModifySpe, {}, half},
    {item::choicespecs, onStart, {}, startChoice},
    {item::choicespecs, onModifyMove, {}, lockChoice},
    {item::choicespecs, onModifySpA, {.priority = 1}, half},
    {item::cornerstonemask, onBasePower, {.priority = 15}, raiseMask<species::ogerponcornerstone, species::ogerponcornerstonetera>},
    {item::cornerstonemask, onTakeItem, {}, keepMask},
    {item::covertcloak, onModifySecondaries, {}, [](Battle&, Event& e) -> Value {
        e.secondaries->keepThoseWithSelf();
        return UNDEFINED;
    }},
    {item::eviolite, onModifyDef, {.priority = 2}, halfUnevolved},
    {item::eviolite, onModifySpD, {.priority = 2}, halfUnevolved},
    {item::expertbelt, onModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.move()->typeMod[slotIndex(e.source)] > 0 ? e.chainModify(4915, 4096) : UNDEFINED;
    }},
    {item::flameorb, onResidual, {.order = 28, .subOrder = 3}, orb<condition::brn>},
    {item::leftovers, onResidual, {.order = 5, .subOrder = 4}, [](Battle& b, Event& e) -> Value {
        b.heal(e.target->maxhp / 16);
        return UNDEFINED;
    }},
    {item::lifeorb, onModifyDamage, {}, [](Battle&, Event& e) -> Value { return e.chainModify(5324, 4096); }},
    {item::lifeorb, onAfterMoveSecondarySelf, {}, [](Battle& b, Event& e) -> Value {
        if (e.target != e.source && e.move()->category != Category::Status && !e.target->forceSwitchFlag)
            b.damage(e.target->maxhp / 10, e.target, e.target, item::lifeorb);
        return UNDEFINED;
    }},
    {item::loadeddice, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        e.move()->multiaccuracy = false;
        return UNDEFINED;
    }},
    {item::metalcoat, onBasePower, {.priority = 15}, raiseType<Type::Steel>},
    {item::mysticwater, onBasePower, {.priority = 15}, raiseType<Type::Water>},
    {item::nevermeltice, onBasePower, {.priority = 15}, raiseType<Type::Ice>},
    {item::rockyhelmet, onDamagingHit, {.order = 2}, [](Battle& b, Event& e) -> Value {
        if (b.checkMoveMakesContact(e.move(), e.source, e.target)) b.damage(e.source->maxhp / 6, e.source, e.target);
        return UNDEFINED;
    }},
    {item::softsand, onBasePower, {.priority = 15}, raiseType<Type::Ground>},
    {item::souldew, onBasePower, {.priority = 15}, [](Battle&, Event& e) -> Value {
        int species = e.target->baseSpecies, type = e.move()->type;
        if (species != species::latias && species != species::latios) return UNDEFINED;
        return type == Type::Psychic || type == Type::Dragon ? e.chainModify(4915, 4096) : UNDEFINED;
    }},
    {item::stickybarb, onResidual, {.order = 28, .subOrder = 3}, [](Battle& b, Event& e) -> Value {
        b.damage(e.target->maxhp / 8);
        return UNDEFINED;
    }},
    {item::stickybarb, onHit, {}, [](Battle& b, Event& e) -> Value {
        if (!e.source || e.source == e.target || e.source->item || !b.checkMoveMakesContact(e.move(), e.source, e.target)) return UNDEFINED;
        int barb = b.takeItem(e.target);
        if (barb) b.setItem(e.source, barb);
        return UNDEFINED;
    }},
    {item::toxicorb, onResidual, {.order = 28, .subOrder = 3}, orb<condition::tox>},
    {item::wellspringmask, onBasePower, {.priority = 15}, raiseMask<species::ogerponwellspring, species::ogerponwellspringtera>},
    {item::wellspringmask, onTakeItem, {}, keepMask},
};

}  // namespace

extern const HandlerList ITEMS_HELD = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
