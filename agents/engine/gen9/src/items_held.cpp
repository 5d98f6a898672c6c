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

Value sharpen(Battle&, Event& e) { return e.relay + 1; }

constexpr Handler HANDLERS_HERE[] = {
    {item::abilityshield, onSetAbility, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.type() == EffectType::Ability && e.cause.id != ability::trace) b.add(Message::ability, e.source, named(e.cause.id));
        b.add(Message::block, e.target, full(item::abilityshield));
        return NUL;
    }},
    {item::assaultvest, onModifySpD, {.priority = 1}, half},
    {item::assaultvest, onDisableMove, {}, [](Battle& b, Event& e) -> Value {
        for (int n = 0; n < e.target->moveCount; n++)
            if (moveData(e.target->moveSlots[n].id).category == Category::Status) b.disableMove(e.target, e.target->moveSlots[n].id);
        return UNDEFINED;
    }},
    {item::blackbelt, onBasePower, {.priority = 15}, raiseType<Type::Fighting>},
    {item::blackglasses, onBasePower, {.priority = 15}, raiseType<Type::Dark>},
    {item::blacksludge, onResidual, {.order = 5, .subOrder = 4}, [](Battle& b, Event& e) -> Value {
        if (b.hasType(e.target, Type::Poison))
            b.heal(e.target->maxhp / 16);
        else
            b.damage(e.target->maxhp / 8);
        return UNDEFINED;
    }},
    {item::charcoal, onBasePower, {.priority = 15}, raiseType<Type::Fire>},
    {item::choiceband, onStart, {}, startChoice},
    {item::choiceband, onModifyMove, {}, lockChoice},
    {item::choiceband, onModifyAtk, {.priority = 1}, half},
    {item::choicescarf, onStart, {}, startChoice},
    {item::choicescarf, onModifyMove, {}, lockChoice},
    {item::choicescarf, onModifySpe, {}, half},
    {item::choicespecs, onStart, {}, startChoice},
    {item::choicespecs, onModifyMove, {}, lockChoice},
    {item::choicespecs, onModifySpA, {.priority = 1}, half},
    {item::clearamulet, onTryBoost, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        bool kept = false;
        for (int stat = 0; e.target != e.source && stat < Stat::COUNT; stat++) {
            if (e.boosts[stat] >= 0) continue;
            e.boosts[stat] = 0;
            kept = true;
        }
        bool secondary = e.move() && e.move()->secondaryCount;
        if (kept && !secondary) b.add(Message::fail, e.target, "unboost", from(e.effect), of(e.target));
        return UNDEFINED;
    }},
    {item::cornerstonemask, onBasePower, {.priority = 15}, raiseMask<species::ogerponcornerstone, species::ogerponcornerstonetera>},
    {item::cornerstonemask, onTakeItem, {}, keepMask},
    {item::covertcloak, onModifySecondaries, {}, [](Battle&, Event& e) -> Value {
        e.secondaries->keepThoseWithSelf();
        return UNDEFINED;
    }},
    {item::dragonfang, onBasePower, {.priority = 15}, raiseType<Type::Dragon>},
    {item::eviolite, onModifyDef, {.priority = 2}, halfUnevolved},
    {item::eviolite, onModifySpD, {.priority = 2}, halfUnevolved},
    {item::expertbelt, onModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.move()->typeMod[slotIndex(e.source)] > 0 ? e.chainModify(4915, 4096) : UNDEFINED;
    }},
    {item::fairyfeather, onBasePower, {.priority = 15}, raiseType<Type::Fairy>},
    {item::flameorb, onResidual, {.order = 28, .subOrder = 3}, orb<condition::brn>},
    {item::hardstone, onBasePower, {.priority = 15}, raiseType<Type::Rock>},
    {item::laggingtail, onFractionalPriority, {}, [](Battle&, Event&) -> Value { return -1; }},  // in tenths
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
    {item::magnet, onBasePower, {.priority = 15}, raiseType<Type::Electric>},
    {item::metalcoat, onBasePower, {.priority = 15}, raiseType<Type::Steel>},
    {item::metronome, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.addVolatile(e.target, condition::metronome);
        return UNDEFINED;
    }},
    {item::miracleseed, onBasePower, {.priority = 15}, raiseType<Type::Grass>},
    {item::muscleband, onBasePower, {.priority = 16}, [](Battle&, Event& e) -> Value {
        return e.move()->category == Category::Physical ? e.chainModify(4505, 4096) : UNDEFINED;
    }},
    {item::mysticwater, onBasePower, {.priority = 15}, raiseType<Type::Water>},
    {item::nevermeltice, onBasePower, {.priority = 15}, raiseType<Type::Ice>},
    {item::poisonbarb, onBasePower, {.priority = 15}, raiseType<Type::Poison>},
    {item::razorclaw, onModifyCritRatio, {}, sharpen},
    {item::rockyhelmet, onDamagingHit, {.order = 2}, [](Battle& b, Event& e) -> Value {
        if (b.checkMoveMakesContact(e.move(), e.source, e.target)) b.damage(e.source->maxhp / 6, e.source, e.target);
        return UNDEFINED;
    }},
    {item::safetygoggles, onImmunity, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::sandstorm || e.adding == POWDER ? Value(FALSE) : Value(UNDEFINED);
    }},
    {item::safetygoggles, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (!e.move()->has(Flag::powder) || e.target == e.source || b.hasType(e.target, Type::Grass)) return UNDEFINED;
        b.add(Message::activate, e.target, full(item::safetygoggles), named(e.move()->id));
        return NUL;
    }},
    {item::scopelens, onModifyCritRatio, {}, sharpen},
    {item::sharpbeak, onBasePower, {.priority = 15}, raiseType<Type::Flying>},
    {item::shedshell, onTrapPokemon, {.priority = -10}, [](Battle&, Event& e) -> Value {
        e.target->trapped = 0;
        return UNDEFINED;
    }},
    {item::shedshell, onMaybeTrapPokemon, {.priority = -10}, [](Battle&, Event& e) -> Value {
        e.target->maybeTrapped = 0;
        return UNDEFINED;
    }},
    {item::silkscarf, onBasePower, {.priority = 15}, raiseType<Type::Normal>},
    {item::silverpowder, onBasePower, {.priority = 15}, raiseType<Type::Bug>},
    {item::softsand, onBasePower, {.priority = 15}, raiseType<Type::Ground>},
    {item::souldew, onBasePower, {.priority = 15}, [](Battle&, Event& e) -> Value {
        int species = e.target->baseSpecies, type = e.move()->type;
        if (species != species::latias && species != species::latios) return UNDEFINED;
        return type == Type::Psychic || type == Type::Dragon ? e.chainModify(4915, 4096) : UNDEFINED;
    }},
    {item::spelltag, onBasePower, {.priority = 15}, raiseType<Type::Ghost>},
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
    {item::twistedspoon, onBasePower, {.priority = 15}, raiseType<Type::Psychic>},
    {item::wellspringmask, onBasePower, {.priority = 15}, raiseMask<species::ogerponwellspring, species::ogerponwellspringtera>},
    {item::wellspringmask, onTakeItem, {}, keepMask},
    {item::widelens, onSourceModifyAccuracy, {.priority = -2}, [](Battle&, Event& e) -> Value {
        return isNumber(e.relay) ? e.chainModify(4505, 4096) : UNDEFINED;
    }},
    {item::wiseglasses, onBasePower, {.priority = 16}, [](Battle&, Event& e) -> Value {
        return e.move()->category == Category::Special ? e.chainModify(4505, 4096) : UNDEFINED;
    }},
    // counter: how often in a row; move: the last.
    {condition::metronome, onStart, {}, nothing},
    {condition::metronome, onTryMove, {.priority = -2}, [](Battle& b, Event& e) -> Value {
        if (!b.hasItem(e.target, item::metronome)) {
            b.removeVolatile(e.target, condition::metronome);
            return UNDEFINED;
        }
        const ActiveMove& move = *e.move();
        if (move.callsMove) return UNDEFINED;
        bool same = e.state->move == move.id;
        if (same && truthy(b.out(e.target).moveLastTurnResult))
            e.state->counter++;
        else if (b.volatileOf(e.target, condition::twoturnmove))
            e.state->counter = same ? e.state->counter + 1 : 1;
        else
            e.state->counter = 0;
        e.state->move = move.id;
        return UNDEFINED;
    }},
    {condition::metronome, onModifyDamage, {}, [](Battle&, Event& e) -> Value {
        constexpr int POWERS[] = {4096, 4915, 5734, 6553, 7372, 8192};
        return e.chainModify(POWERS[e.state->counter > 5 ? 5 : e.state->counter], 4096);
    }},
};

}  // namespace

extern const HandlerList ITEMS_HELD = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
