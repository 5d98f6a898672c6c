// Conditions that data/moves.ts defines: what moves leave on a Pokémon, a side, a slot or the field.

#include "battle.h"

namespace {

// Reflect, Light Screen and Aurora Veil: half the damage, unless it is a critical hit. target attacks source.
Value weaken(Battle& b, Event& e) {
    const Pokemon* hit = e.source;
    if (hit == e.target || e.side != &b.sideOf(hit) || e.move()->crit[Battle::slotOf(hit) - 1] || e.move()->infiltrates) return UNDEFINED;
    return b.row.activePerSide > 1 ? e.chainModify(2732, 4096) : e.chainModify(1, 2);
}

Value weakenCategory(Battle& b, Event& e, Category category) { return e.move()->category == category ? weaken(b, e) : UNDEFINED; }

Value screenDuration(Battle& b, Event& e) { return e.source && b.hasItem(e.source, item::lightclay) ? 8 : 5; }

// Showdown counts turns in a byte here.
int overflowedTurnCount(const Battle& b) { return (b.row.turn - 1) & 0xFF; }

bool heals(const MoveData& move) { return move.has(Flag::heal); }
bool isStatus(const MoveData& move) { return move.category == Category::Status; }

Value disableWhere(Battle& b, Pokemon* p, bool (*disabled)(const MoveData&)) {
    for (int n = 0; n < p->moveCount; n++)
        if (disabled(moveData(p->moveSlots[n].id))) b.disableMove(p, p->moveSlots[n].id);
    return UNDEFINED;
}

// Healing Wish and Lunar Dance heal who comes to their slot as soon as it needs it.
Value swapOnSwitchIn(Battle& b, Event& e) {
    b.singleEvent(Ev::Swap, e.effect, e.state, e.target);
    return UNDEFINED;
}

Value healWholly(Battle& b, Event& e, bool alsoPP) {
    Pokemon* p = e.target;
    bool needs = p->hp < p->maxhp || p->status;
    for (int n = 0; alsoPP && n < p->moveCount; n++) needs = needs || p->moveSlots[n].pp < p->moveSlots[n].maxpp;
    if (p->fainted || !needs) return UNDEFINED;
    b.healHp(p, p->maxhp);
    b.clearStatus(p);
    for (int n = 0; alsoPP && n < p->moveCount; n++) p->moveSlots[n].pp = p->moveSlots[n].maxpp;
    b.removeSlotCondition(p, e.effect);
    return UNDEFINED;
}

// A substitute takes the damage in place of its owner.
Value hitSubstitute(Battle& b, Event& e) {
    Value damage = b.getDamage(e.source, e.target, e.move());
    if (!truthyOrZero(damage)) return NUL;
    EffectState* substitute = b.volatileOf(e.target, condition::substitute);
    if (damage > substitute->counter) damage = substitute->counter;
    substitute->counter -= damage;
    if (substitute->counter <= 0) b.removeVolatile(e.target, condition::substitute);
    if (damage) b.applyRecoilDamage(damage, *e.move(), e.source);
    const int32_t* drain = e.move()->drain;
    if (damage && drain[0]) b.heal((damage * drain[0] + drain[1] - 1) / drain[1], e.source, e.target, int(condition::drain));
    b.singleEvent(Ev::AfterSubDamage, e.move()->id, nullptr, e.target, e.source, e.cause, damage);
    b.runEvent(Ev::AfterSubDamage, e.target, e.source, e.cause, damage);
    return 0;  // Showdown's HIT_SUBSTITUTE
}

constexpr Handler HANDLERS_HERE[] = {
    {condition::chillyreception, onBeforeMove, {.priority = 100}, nothing},
    {condition::auroraveil, durationCallback, {}, screenDuration},
    {condition::auroraveil, onAnyModifyDamage, {}, [](Battle& b, Event& e) -> Value {
        int other = e.move()->category == Category::Physical ? condition::reflect : condition::lightscreen;
        return b.sideCondition(e.source->side, other) ? UNDEFINED : weaken(b, e);
    }},
    {condition::curse, onResidual, {.order = 12}, [](Battle& b, Event& e) -> Value {
        b.damage(e.target->maxhp / 4);
        return UNDEFINED;
    }},
    {condition::destinybond, onFaint, {}, [](Battle& b, Event& e) -> Value {
        bool byFoe = e.source && !Battle::isAlly(e.target, e.source);
        if (byFoe && e.cause.type() == EffectType::Move && !moveData(e.cause.id).has(Flag::futuremove)) b.faint(e.source);
        return UNDEFINED;
    }},
    {condition::destinybond, onBeforeMove, {.priority = -1}, [](Battle& b, Event& e) -> Value {
        if (e.move()->id != move::destinybond) b.removeVolatile(e.target, condition::destinybond);
        return UNDEFINED;
    }},
    {condition::destinybond, onMoveAborted, {}, [](Battle& b, Event& e) -> Value {
        b.removeVolatile(e.target, condition::destinybond);
        return UNDEFINED;
    }},
    {condition::disable, onStart, {}, [](Battle& b, Event& e) -> Value {
        bool moves = e.target == b.activePokemon && b.activeMove && !b.activeMove->isExternal;
        if (b.willMove(e.target) || moves) e.state->duration--;
        int last = b.out(e.target).lastMove;
        if (!last) return FALSE;
        const MoveSlot* slot = b.getMoveData(e.target, last);
        if (slot && !slot->pp) return FALSE;
        e.state->move = last;
        return UNDEFINED;
    }},
    {condition::disable, onBeforeMove, {.priority = 7}, [](Battle&, Event& e) -> Value {
        return e.move()->id == e.state->move ? FALSE : UNDEFINED;
    }},
    {condition::disable, onDisableMove, {}, [](Battle& b, Event& e) -> Value {
        b.disableMove(e.target, e.state->move);
        return UNDEFINED;
    }},
    {condition::encore, onStart, {}, [](Battle& b, Event& e) -> Value {
        int last = b.out(e.target).lastMove;
        const MoveSlot* slot = last ? b.getMoveData(e.target, last) : nullptr;
        if (!slot || slot->pp <= 0 || moveData(last).has(Flag::failencore)) return FALSE;
        e.state->move = last;
        if (!b.willMove(e.target)) e.state->duration++;
        return UNDEFINED;
    }},
    {condition::encore, onOverrideAction, {}, [](Battle&, Event& e) -> Value {
        return e.move()->id == e.state->move ? Value(UNDEFINED) : e.state->move;
    }},
    {condition::encore, onResidual, {.order = 16}, [](Battle& b, Event& e) -> Value {
        const MoveSlot* slot = b.getMoveData(e.target, e.state->move);
        if (!slot || slot->pp <= 0) b.removeVolatile(e.target, condition::encore);
        return UNDEFINED;
    }},
    {condition::encore, onDisableMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasMove(e.target, e.state->move)) b.disableMoves(e.target, e.state->move);
        return UNDEFINED;
    }},
    {condition::endure, onDamage, {.priority = -10}, [](Battle&, Event& e) -> Value {
        return e.cause.type() == EffectType::Move && e.relay >= e.target->hp ? e.target->hp - 1 : Value(UNDEFINED);
    }},
    {condition::healblock, durationCallback, {}, [](Battle&, Event& e) -> Value { return e.cause.id == move::psychicnoise ? 2 : 5; }},
    {condition::healblock, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.out(e.source).moveThisTurnResult = TRUE;
        return UNDEFINED;
    }},
    {condition::healblock, onDisableMove, {}, [](Battle& b, Event& e) -> Value { return disableWhere(b, e.target, heals); }},
    {condition::healblock, onBeforeMove, {.priority = 6}, [](Battle&, Event& e) -> Value { return heals(*e.move()) ? FALSE : UNDEFINED; }},
    {condition::healblock, onModifyMove, {}, [](Battle&, Event& e) -> Value { return heals(*e.move()) ? FALSE : UNDEFINED; }},
    {condition::healblock, onTryHeal, {}, [](Battle&, Event&) -> Value { return FALSE; }},
    {condition::healblock, onRestart, {}, [](Battle&, Event&) -> Value { return UNDEFINED; }},
    {condition::healingwish, onSwitchIn, {}, swapOnSwitchIn},
    {condition::healingwish, onSwap, {}, [](Battle& b, Event& e) -> Value { return healWholly(b, e, false); }},
    {condition::lightscreen, durationCallback, {}, screenDuration},
    {condition::lightscreen, onAnyModifyDamage, {}, [](Battle& b, Event& e) -> Value { return weakenCategory(b, e, Category::Special); }},
    {condition::lunardance, onSwitchIn, {}, swapOnSwitchIn},
    {condition::lunardance, onSwap, {}, [](Battle& b, Event& e) -> Value { return healWholly(b, e, true); }},
    // counter: the damage that it gives back; extra: the slot of who gave it.
    {condition::mirrorcoat, onRedirectTarget, {.priority = -1}, [](Battle& b, Event& e) -> Value {
        if (e.move()->id != move::mirrorcoat || e.source != e.holder || !e.state->extra) return UNDEFINED;
        return Battle::nameOf(b.getAtSlot(e.state->extra));
    }},
    {condition::mirrorcoat, onDamagingHit, {}, [](Battle&, Event& e) -> Value {
        if (Battle::isAlly(e.target, e.source) || e.move()->category != Category::Special) return UNDEFINED;
        e.state->extra = Battle::slotOf(e.source);
        e.state->counter = 2 * e.relay;
        return UNDEFINED;
    }},
    {condition::phantomforce, onInvulnerability, {}, [](Battle&, Event&) -> Value { return FALSE; }},
    {condition::protect, onTryHit, {.priority = 3}, [](Battle& b, Event& e) -> Value {
        if (b.checkMoveBypassesProtect(e.move(), e.source, e.target)) return UNDEFINED;
        e.move()->smartTarget = false;
        const EffectState* locked = b.volatileOf(e.source, condition::lockedmove);
        if (locked && locked->duration == 2) b.deleteVolatile(e.source, condition::lockedmove);
        return NOT_FAIL;
    }},
    {condition::reflect, durationCallback, {}, screenDuration},
    {condition::reflect, onAnyModifyDamage, {}, [](Battle& b, Event& e) -> Value { return weakenCategory(b, e, Category::Physical); }},
    {condition::roost, onStart, {}, [](Battle&, Event& e) -> Value { return e.target->terastallized ? FALSE : UNDEFINED; }},
    {condition::roost, onType, {.priority = -1}, [](Battle&, Event& e) -> Value {
        e.types->remove(Type::Flying);
        return UNDEFINED;
    }},
    {condition::saltcure, onResidual, {.order = 13}, [](Battle& b, Event& e) -> Value {
        bool weak = b.hasType(e.target, Type::Water) || b.hasType(e.target, Type::Steel);
        b.damage(e.target->maxhp / (weak ? 4 : 8));
        return UNDEFINED;
    }},
    // counter: its HP.
    {condition::substitute, onStart, {}, [](Battle& b, Event& e) -> Value {
        e.state->counter = e.target->maxhp / 4;
        b.deleteVolatile(e.target, condition::partiallytrapped);
        return UNDEFINED;
    }},
    {condition::substitute, onTryPrimaryHit, {.priority = -1}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.source || e.move()->has(Flag::bypasssub) || e.move()->infiltrates) return UNDEFINED;
        return hitSubstitute(b, e);
    }},
    {condition::taunt, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (b.out(e.target).activeTurns && !b.willMove(e.target)) e.state->duration++;
        return UNDEFINED;
    }},
    {condition::taunt, onDisableMove, {}, [](Battle& b, Event& e) -> Value { return disableWhere(b, e.target, isStatus); }},
    {condition::taunt, onBeforeMove, {.priority = 5}, [](Battle&, Event& e) -> Value { return isStatus(*e.move()) ? FALSE : UNDEFINED; }},
    {condition::trickroom, onFieldRestart, {}, [](Battle& b, Event&) -> Value {
        b.removePseudoWeather(condition::trickroom);
        return UNDEFINED;
    }},
    // counter: what it heals; extra: the turn in which it was made, as Showdown counts them there.
    {condition::wish, onStart, {}, [](Battle& b, Event& e) -> Value {
        e.state->counter = e.source->maxhp / 2;
        e.state->extra = overflowedTurnCount(b);
        return UNDEFINED;
    }},
    {condition::wish, onResidual, {.order = 4}, [](Battle& b, Event& e) -> Value {
        if (overflowedTurnCount(b) > e.state->extra) b.removeSlotCondition(b.getAtSlot(e.state->sourceSlot), condition::wish);
        return UNDEFINED;
    }},
    {condition::wish, onEnd, {}, [](Battle& b, Event& e) -> Value {
        if (e.target && !e.target->fainted) b.heal(e.state->counter, e.target, e.target);
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList MOVE_CONDITIONS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
