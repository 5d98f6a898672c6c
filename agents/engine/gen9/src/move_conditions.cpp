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
    b.add(Message::heal, p, health(p), named(e.effect).after("[from] move: "));
    b.removeSlotCondition(p, e.effect);
    return UNDEFINED;
}

// A substitute takes the damage in place of its owner.
Value hitSubstitute(Battle& b, Event& e) {
    Value damage = b.getDamage(e.source, e.target, e.move());
    if (!truthyOrZero(damage)) {
        b.addFail(e.source);
        return NUL;
    }
    EffectState* substitute = b.volatileOf(e.target, condition::substitute);
    if (damage > substitute->counter) damage = substitute->counter;
    substitute->counter -= damage;
    if (substitute->counter <= 0) {
        if (e.move()->ohko) b.add(Message::ohko);
        b.removeVolatile(e.target, condition::substitute);
    } else {
        b.add(Message::activate, e.target, "move: Substitute", "[damage]");
    }
    if (damage) b.applyRecoilDamage(damage, *e.move(), e.source);
    const int32_t* drain = e.move()->drain;
    if (damage && drain[0]) b.heal((damage * drain[0] + drain[1] - 1) / drain[1], e.source, e.target, int(condition::drain));
    b.singleEvent(Ev::AfterSubDamage, e.move()->id, nullptr, e.target, e.source, e.cause, damage);
    b.runEvent(Ev::AfterSubDamage, e.target, e.source, e.cause, damage);
    return 0;  // Showdown's HIT_SUBSTITUTE
}

// Of onStart and onEnd: "-start" or "-end" with the condition's name, "move: " before it where Showdown has it.
Value addStart(Battle& b, Event& e) {
    b.add(Message::start, e.target, named(e.effect));
    return UNDEFINED;
}
Value addEnd(Battle& b, Event& e) {
    b.add(Message::end, e.target, named(e.effect));
    return UNDEFINED;
}
Value addEndOfMove(Battle& b, Event& e) {
    b.add(Message::end, e.target, named(e.effect).after("move: "));
    return UNDEFINED;
}

// Of onSideStart and onSideEnd of screens, of which Reflect has no "move: ".
Argument screenName(const Event& e) {
    return e.effect == condition::reflect ? named(e.effect) : named(e.effect).after("move: ");
}
Value startScreen(Battle& b, Event& e) {
    b.add(Message::sidestart, sideName(b.number(*e.side)), screenName(e));
    return UNDEFINED;
}
Value endScreen(Battle& b, Event& e) {
    b.add(Message::sideend, sideName(b.number(*e.side)), screenName(e));
    return UNDEFINED;
}

Value cannotHeal(Battle& b, Event& e) {
    if (!heals(*e.move())) return UNDEFINED;
    b.add(Message::cant, e.target, "move: Heal Block", named(e.move()->id));
    return FALSE;
}

bool isSound(const MoveData& move) { return move.has(Flag::sound); }

Value cannotSound(Battle& b, Event& e) {
    if (!isSound(*e.move())) return UNDEFINED;
    b.add(Message::cant, e.target, "move: Throat Chop");
    return FALSE;
}

// Of onTryHit of Protect and its like: whether the move does not come through.
bool protects(Battle& b, Event& e, bool blocksStatus) {
    if (b.checkMoveBypassesProtect(e.move(), e.source, e.target, blocksStatus)) return false;
    if (!e.move()->smartTarget) b.add(Message::activate, e.target, "move: Protect");
    e.move()->smartTarget = false;
    const EffectState* locked = b.volatileOf(e.source, condition::lockedmove);
    if (locked && locked->duration == 2) b.deleteVolatile(e.source, condition::lockedmove);
    return true;
}

Value startProtection(Battle& b, Event& e) {
    b.add(Message::singleturn, e.target, "move: Protect");
    return UNDEFINED;
}

template <int STATUS, bool BLOCKS_STATUS>
Value giveStatusIfTouched(Battle& b, Event& e) {
    if (!protects(b, e, BLOCKS_STATUS)) return UNDEFINED;
    if (b.checkMoveMakesContact(e.move(), e.source, e.target)) b.trySetStatus(e.source, STATUS, e.target);
    return NOT_FAIL;
}
constexpr auto poisonIfTouched = giveStatusIfTouched<condition::psn, true>;
constexpr auto burnIfTouched = giveStatusIfTouched<condition::brn, false>;

Value startCharge(Battle& b, Event& e) {
    if (e.cause.id == ability::electromorphosis)
        b.add(Message::start, e.target, "Charge", named(b.activeMove->id), from(e.cause.id));
    else
        b.add(Message::start, e.target, "Charge");
    return UNDEFINED;
}

Value useCharge(Battle& b, Event& e) {
    if (e.move()->type == Type::Electric && e.move()->id != move::charge) b.removeVolatile(e.target, condition::charge);
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {condition::banefulbunker, onStart, {}, startProtection},
    {condition::banefulbunker, onTryHit, {.priority = 3}, poisonIfTouched},
    {condition::banefulbunker, onHit, {}, nothing},  // of Max Moves
    {condition::burningbulwark, onStart, {}, startProtection},
    {condition::burningbulwark, onTryHit, {.priority = 3}, burnIfTouched},
    {condition::burningbulwark, onHit, {}, nothing},  // of Max Moves
    {condition::charge, onStart, {}, startCharge},
    {condition::charge, onRestart, {}, startCharge},
    {condition::charge, onBasePower, {.priority = 9}, [](Battle&, Event& e) -> Value {
        return e.move()->type == Type::Electric ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {condition::charge, onMoveAborted, {}, useCharge},
    {condition::charge, onAfterMove, {}, useCharge},
    {condition::charge, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::end, e.target, "Charge", "[silent]");
        return UNDEFINED;
    }},
    {condition::chillyreception, onBeforeMove, {.priority = 100}, [](Battle& b, Event& e) -> Value {
        if (e.move()->id == move::chillyreception) b.add(Message::prepare, e.target, "Chilly Reception", "[premajor]");
        return UNDEFINED;
    }},
    {condition::auroraveil, onSideStart, {}, startScreen},
    {condition::auroraveil, onSideEnd, {}, endScreen},
    {condition::auroraveil, durationCallback, {}, screenDuration},
    {condition::auroraveil, onAnyModifyDamage, {}, [](Battle& b, Event& e) -> Value {
        int other = e.move()->category == Category::Physical ? condition::reflect : condition::lightscreen;
        return b.sideCondition(e.source->side, other) ? UNDEFINED : weaken(b, e);
    }},
    {condition::curse, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, "Curse", of(e.source));
        return UNDEFINED;
    }},
    {condition::curse, onResidual, {.order = 12}, [](Battle& b, Event& e) -> Value {
        b.damage(e.target->maxhp / 4);
        return UNDEFINED;
    }},
    {condition::destinybond, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::singlemove, e.target, "Destiny Bond");
        return UNDEFINED;
    }},
    {condition::destinybond, onFaint, {}, [](Battle& b, Event& e) -> Value {
        bool byFoe = e.source && !Battle::isAlly(e.target, e.source);
        if (!byFoe || e.cause.type() != EffectType::Move || moveData(e.cause.id).has(Flag::futuremove)) return UNDEFINED;
        b.add(Message::activate, e.target, "move: Destiny Bond");
        b.faint(e.source);
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
        if (e.cause.type() == EffectType::Ability)
            b.add(Message::start, e.target, "Disable", named(last), from(e.cause.id), of(e.source));
        else
            b.add(Message::start, e.target, "Disable", named(last));
        e.state->move = last;
        return UNDEFINED;
    }},
    {condition::disable, onEnd, {}, addEnd},
    {condition::disable, onBeforeMove, {.priority = 7}, [](Battle& b, Event& e) -> Value {
        if (e.move()->id != e.state->move) return UNDEFINED;
        b.add(Message::cant, e.target, "Disable", named(e.move()->id));
        return FALSE;
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
        b.add(Message::start, e.target, "Encore");
        if (!b.willMove(e.target)) e.state->duration++;
        return UNDEFINED;
    }},
    {condition::encore, onEnd, {}, addEnd},
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
    {condition::endure, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::singleturn, e.target, "move: Endure");
        return UNDEFINED;
    }},
    {condition::endure, onDamage, {.priority = -10}, [](Battle& b, Event& e) -> Value {
        if (e.cause.type() != EffectType::Move || e.relay < e.target->hp) return UNDEFINED;
        b.add(Message::activate, e.target, "move: Endure");
        return e.target->hp - 1;
    }},
    {condition::focusenergy, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id == ability::imposter || e.cause.id == move::transform)
            b.add(Message::start, e.target, "move: Focus Energy", "[silent]");
        else
            b.add(Message::start, e.target, "move: Focus Energy");
        return UNDEFINED;
    }},
    {condition::focusenergy, onModifyCritRatio, {}, [](Battle&, Event& e) -> Value { return e.relay + 2; }},
    {condition::healblock, durationCallback, {}, [](Battle&, Event& e) -> Value { return e.cause.id == move::psychicnoise ? 2 : 5; }},
    {condition::healblock, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, "move: Heal Block");
        b.out(e.source).moveThisTurnResult = TRUE;
        return UNDEFINED;
    }},
    {condition::healblock, onEnd, {}, addEndOfMove},
    {condition::healblock, onDisableMove, {}, [](Battle& b, Event& e) -> Value { return disableWhere(b, e.target, heals); }},
    {condition::healblock, onBeforeMove, {.priority = 6}, cannotHeal},
    {condition::healblock, onModifyMove, {}, cannotHeal},
    {condition::healblock, onTryHeal, {}, [](Battle&, Event&) -> Value { return FALSE; }},
    {condition::healblock, onRestart, {}, [](Battle&, Event&) -> Value { return UNDEFINED; }},
    {condition::healingwish, onSwitchIn, {}, swapOnSwitchIn},
    {condition::healingwish, onSwap, {}, [](Battle& b, Event& e) -> Value { return healWholly(b, e, false); }},
    {condition::leechseed, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, "move: Leech Seed");
        return UNDEFINED;
    }},
    {condition::leechseed, onResidual, {.order = 8}, [](Battle& b, Event& e) -> Value {
        Pokemon* target = b.getAtSlot(e.state->sourceSlot);
        if (!target || target->fainted || target->hp <= 0) return UNDEFINED;
        Value damage = b.damage(e.target->maxhp / 8, e.target, target);
        if (truthy(damage)) b.heal(damage, target, e.target);
        return UNDEFINED;
    }},
    {condition::lightscreen, onSideStart, {}, startScreen},
    {condition::lightscreen, onSideEnd, {}, endScreen},
    {condition::lightscreen, durationCallback, {}, screenDuration},
    {condition::lightscreen, onAnyModifyDamage, {}, [](Battle& b, Event& e) -> Value { return weakenCategory(b, e, Category::Special); }},
    {condition::lunardance, onSwitchIn, {}, swapOnSwitchIn},
    {condition::lunardance, onSwap, {}, [](Battle& b, Event& e) -> Value { return healWholly(b, e, true); }},
    {condition::magnetrise, onStart, {}, addStart},
    {condition::magnetrise, onImmunity, {}, nothing},  // isGrounded asks for it
    {condition::magnetrise, onEnd, {}, addEnd},
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
    {condition::perishsong, onResidual, {.order = 24}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, Argument(e.state->duration).after("perish"));
        return UNDEFINED;
    }},
    {condition::perishsong, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, "perish0");
        b.faint(e.target);
        return UNDEFINED;
    }},
    {condition::phantomforce, onInvulnerability, {}, [](Battle&, Event&) -> Value { return FALSE; }},
    {condition::protect, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::singleturn, e.target, "Protect");
        return UNDEFINED;
    }},
    {condition::protect, onTryHit, {.priority = 3}, [](Battle& b, Event& e) -> Value {
        return protects(b, e, true) ? NOT_FAIL : UNDEFINED;
    }},
    {condition::reflect, onSideStart, {}, startScreen},
    {condition::reflect, onSideEnd, {}, endScreen},
    {condition::reflect, durationCallback, {}, screenDuration},
    {condition::reflect, onAnyModifyDamage, {}, [](Battle& b, Event& e) -> Value { return weakenCategory(b, e, Category::Physical); }},
    {condition::roost, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (!e.target->terastallized) {
            b.add(Message::singleturn, e.target, "move: Roost");
            return UNDEFINED;
        }
        if (b.hasType(e.target, Type::Flying)) b.hint("If a Terastallized Pokemon uses Roost, it remains Flying-type.");
        return FALSE;
    }},
    {condition::roost, onType, {.priority = -1}, [](Battle&, Event& e) -> Value {
        e.types->remove(Type::Flying);
        return UNDEFINED;
    }},
    {condition::saltcure, onStart, {}, addStart},
    {condition::saltcure, onEnd, {}, addEnd},
    {condition::saltcure, onResidual, {.order = 13}, [](Battle& b, Event& e) -> Value {
        bool weak = b.hasType(e.target, Type::Water) || b.hasType(e.target, Type::Steel);
        b.damage(e.target->maxhp / (weak ? 4 : 8));
        return UNDEFINED;
    }},
    {condition::silktrap, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::singleturn, e.target, "Protect");
        return UNDEFINED;
    }},
    {condition::silktrap, onTryHit, {.priority = 3}, [](Battle& b, Event& e) -> Value {
        if (!protects(b, e, false)) return UNDEFINED;
        if (b.checkMoveMakesContact(e.move(), e.source, e.target)) b.boost(Stat::spe, -1, e.source, e.target, int(move::silktrap));
        return NOT_FAIL;
    }},
    {condition::silktrap, onHit, {}, nothing},  // of Max Moves
    {condition::spikyshield, onStart, {}, startProtection},
    {condition::spikyshield, onTryHit, {.priority = 3}, [](Battle& b, Event& e) -> Value {
        if (!protects(b, e, true)) return UNDEFINED;
        if (b.checkMoveMakesContact(e.move(), e.source, e.target)) b.damage(e.source->maxhp / 8, e.source, e.target);
        return NOT_FAIL;
    }},
    {condition::spikyshield, onHit, {}, nothing},  // of Max Moves
    // counter: its HP.
    {condition::substitute, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, "Substitute");
        e.state->counter = e.target->maxhp / 4;
        if (const EffectState* binds = b.volatileOf(e.target, condition::partiallytrapped)) {
            b.add(Message::end, e.target, named(binds->sourceEffect), "[partiallytrapped]", "[silent]");
            b.deleteVolatile(e.target, condition::partiallytrapped);
        }
        return UNDEFINED;
    }},
    {condition::substitute, onEnd, {}, addEnd},
    {condition::substitute, onTryPrimaryHit, {.priority = -1}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.source || e.move()->has(Flag::bypasssub) || e.move()->infiltrates) return UNDEFINED;
        return hitSubstitute(b, e);
    }},
    {condition::taunt, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (b.out(e.target).activeTurns && !b.willMove(e.target)) e.state->duration++;
        b.add(Message::start, e.target, "move: Taunt");
        return UNDEFINED;
    }},
    {condition::taunt, onEnd, {}, addEndOfMove},
    {condition::taunt, onDisableMove, {}, [](Battle& b, Event& e) -> Value { return disableWhere(b, e.target, isStatus); }},
    {condition::taunt, onBeforeMove, {.priority = 5}, [](Battle& b, Event& e) -> Value {
        if (!isStatus(*e.move())) return UNDEFINED;
        b.add(Message::cant, e.target, "move: Taunt", named(e.move()->id));
        return FALSE;
    }},
    {condition::throatchop, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, "Throat Chop", "[silent]");
        return UNDEFINED;
    }},
    {condition::throatchop, onDisableMove, {}, [](Battle& b, Event& e) -> Value { return disableWhere(b, e.target, isSound); }},
    {condition::throatchop, onBeforeMove, {.priority = 6}, cannotSound},
    {condition::throatchop, onModifyMove, {}, cannotSound},
    {condition::throatchop, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::end, e.target, "Throat Chop", "[silent]");
        return UNDEFINED;
    }},
    {condition::trickroom, onFieldStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::fieldstart, "move: Trick Room", of(e.source));
        return UNDEFINED;
    }},
    {condition::trickroom, onFieldEnd, {}, [](Battle& b, Event&) -> Value {
        b.add(Message::fieldend, "move: Trick Room");
        return UNDEFINED;
    }},
    {condition::trickroom, onFieldRestart, {}, [](Battle& b, Event&) -> Value {
        b.removePseudoWeather(condition::trickroom);
        return UNDEFINED;
    }},
    // counter: what it heals; extra: the turn in which it was made, as Showdown counts them there.
    {condition::wish, onStart, {}, [](Battle& b, Event& e) -> Value {
        e.state->counter = e.source->maxhp / 2;
        e.state->extra = overflowedTurnCount(b);
        if (e.state->extra == 255) b.hint("In Gen 8+, Wish will never resolve when used on the #th turn.", 0, b.row.turn);
        return UNDEFINED;
    }},
    {condition::wish, onResidual, {.order = 4}, [](Battle& b, Event& e) -> Value {
        if (overflowedTurnCount(b) > e.state->extra) b.removeSlotCondition(b.getAtSlot(e.state->sourceSlot), condition::wish);
        return UNDEFINED;
    }},
    {condition::wish, onEnd, {}, [](Battle& b, Event& e) -> Value {
        if (!e.target || e.target->fainted || !truthy(b.heal(e.state->counter, e.target, e.target))) return UNDEFINED;
        b.add(Message::heal, e.target, health(e.target), "[from] move: Wish", Argument(Argument::Nickname, e.state->source - 1).after("[wisher] "));
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList MOVE_CONDITIONS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
