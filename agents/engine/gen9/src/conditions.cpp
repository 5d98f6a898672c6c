// Handlers of statuses and of volatiles and slot conditions that are in data/conditions.ts. Weather, terrain and what lies on a
// side: field_conditions.cpp.

#include "battle.h"

namespace {

// Of onStart: says what gave the status.
Value startStatus(Battle& b, Event& e) {
    bool orb = e.cause.id == item::flameorb || e.cause.id == item::toxicorb;
    if (e.cause.type() == EffectType::Ability)
        b.add(Message::status, e.target, idOf(e.effect), from(e.cause.id), of(e.source));
    else if (orb || (e.effect == condition::slp && e.cause.type() == EffectType::Move))
        b.add(Message::status, e.target, idOf(e.effect), from(e.cause.id));
    else
        b.add(Message::status, e.target, idOf(e.effect));
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {condition::brn, onStart, {}, startStatus},
    {condition::brn, onResidual, {.order = 10}, [](Battle& b, Event& e) -> Value {
        b.damage(e.target->maxhp / 16);
        return UNDEFINED;
    }},
    {condition::par, onStart, {}, startStatus},
    {condition::par, onModifySpe, {.priority = -101}, [](Battle& b, Event& e) -> Value {
        int speed = e.finalModify(e.relay);
        return b.hasAbility(e.target, ability::quickfeet) ? speed : speed * 50 / 100;
    }},
    {condition::par, onBeforeMove, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        if (!b.prng.randomChance(1, 4)) return UNDEFINED;
        b.add(Message::cant, e.target, "par");
        return FALSE;
    }},
    {condition::slp, onStart, {}, [](Battle& b, Event& e) -> Value {
        startStatus(b, e);
        e.state->counter = e.state->extra = b.prng.random(2, 5);  // time, startTime
        return UNDEFINED;
    }},
    {condition::slp, onBeforeMove, {.priority = 10}, [](Battle& b, Event& e) -> Value {
        int& time = e.target->statusState.counter;
        if (b.hasAbility(e.target, ability::earlybird)) time--;
        if (--time <= 0) {
            b.cureStatus(e.target);
            return UNDEFINED;
        }
        b.add(Message::cant, e.target, "slp");
        return e.move()->sleepUsable ? UNDEFINED : FALSE;
    }},
    {condition::frz, onStart, {}, startStatus},
    {condition::frz, onBeforeMove, {.priority = 10}, [](Battle& b, Event& e) -> Value {
        if (e.move()->has(Flag::defrost)) return UNDEFINED;
        if (b.prng.randomChance(1, 5)) {
            b.cureStatus(e.target);
            return UNDEFINED;
        }
        b.add(Message::cant, e.target, "frz");
        return FALSE;
    }},
    {condition::frz, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (!e.move()->has(Flag::defrost)) return UNDEFINED;
        b.add(Message::curestatus, e.target, "frz", from(e.move()->id));
        b.clearStatus(e.target);
        return UNDEFINED;
    }},
    {condition::frz, onAfterMoveSecondary, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->thawsTarget) b.cureStatus(e.target);
        return UNDEFINED;
    }},
    {condition::frz, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->type == Type::Fire && e.move()->category != Category::Status) b.cureStatus(e.target);
        return UNDEFINED;
    }},
    {condition::psn, onStart, {}, startStatus},
    {condition::psn, onResidual, {.order = 9}, [](Battle& b, Event& e) -> Value {
        b.damage(e.target->maxhp / 8);
        return UNDEFINED;
    }},
    {condition::tox, onStart, {}, startStatus},
    {condition::tox, onSwitchIn, {}, [](Battle&, Event& e) -> Value {
        e.state->counter = 0;  // stage
        return UNDEFINED;
    }},
    {condition::tox, onResidual, {.order = 9}, [](Battle& b, Event& e) -> Value {
        int& stage = e.state->counter;
        if (stage < 15) stage++;
        b.damage(atLeastOne(e.target->maxhp / 16) * stage);
        return UNDEFINED;
    }},
    {condition::confusion, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id == condition::lockedmove)
            b.add(Message::start, e.target, "confusion", "[fatigue]");
        else if (e.cause.type() == EffectType::Ability)
            b.add(Message::start, e.target, "confusion", from(e.cause.id), of(e.source));
        else
            b.add(Message::start, e.target, "confusion");
        e.state->counter = b.prng.random(2, 6);  // time
        return UNDEFINED;
    }},
    {condition::confusion, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::end, e.target, "confusion");
        return UNDEFINED;
    }},
    {condition::confusion, onBeforeMove, {.priority = 3}, [](Battle& b, Event& e) -> Value {
        if (!--e.state->counter) {
            b.removeVolatile(e.target, condition::confusion);
            return UNDEFINED;
        }
        b.add(Message::activate, e.target, "confusion");
        if (!b.prng.randomChance(33, 100)) return UNDEFINED;
        b.activeTarget = e.target;
        b.damage(b.getConfusionDamage(e.target, 40), e.target, e.target, int(move::confused));
        return FALSE;
    }},
    {condition::flinch, onBeforeMove, {.priority = 8}, [](Battle& b, Event& e) -> Value {
        b.add(Message::cant, e.target, "flinch");
        b.runEvent(Ev::Flinch, e.target);
        return FALSE;
    }},
    {condition::trapped, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::activate, e.target, "trapped");
        return UNDEFINED;
    }},
    {condition::trapped, onTrapPokemon, {}, [](Battle& b, Event& e) -> Value {
        b.tryTrap(e.target);
        return UNDEFINED;
    }},
    {condition::partiallytrapped, durationCallback, {}, [](Battle& b, Event& e) -> Value {
        return e.source && b.hasItem(e.source, item::gripclaw) ? 8 : b.prng.random(5, 7);
    }},
    {condition::partiallytrapped, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::activate, e.target, full(e.state->sourceEffect), of(e.source));
        e.state->counter = b.hasItem(e.source, item::bindingband) ? 6 : 8;  // boundDivisor
        return UNDEFINED;
    }},
    {condition::partiallytrapped, onResidual, {.order = 13}, [](Battle& b, Event& e) -> Value {
        Pokemon* source = b.sourceOf(*e.state);
        if (source && (!source->isActive || source->hp <= 0 || !b.out(source).activeTurns)) {
            b.add(Message::end, e.target, named(e.state->sourceEffect), "[partiallytrapped]", "[silent]");
            b.deleteVolatile(e.target, condition::partiallytrapped);
        } else {
            b.damage(e.target->maxhp / e.state->counter);
        }
        return UNDEFINED;
    }},
    {condition::partiallytrapped, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::end, e.target, named(e.state->sourceEffect), "[partiallytrapped]");
        return UNDEFINED;
    }},
    {condition::partiallytrapped, onTrapPokemon, {}, [](Battle& b, Event& e) -> Value {
        Pokemon* source = b.sourceOf(*e.state);
        if (source && source->isActive) b.tryTrap(e.target);
        return UNDEFINED;
    }},
    {condition::lockedmove, onResidual, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status == condition::slp)
            b.deleteVolatile(e.target, condition::lockedmove);
        else
            e.state->counter--;
        return UNDEFINED;
    }},
    {condition::lockedmove, onStart, {}, [](Battle& b, Event& e) -> Value {
        e.state->counter = b.prng.random(2, 4);  // trueDuration
        e.state->move = e.cause.id;
        return UNDEFINED;
    }},
    {condition::lockedmove, onRestart, {}, [](Battle&, Event& e) -> Value {
        if (e.state->counter >= 2) e.state->duration = 2;
        return UNDEFINED;
    }},
    {condition::lockedmove, onAfterMove, {}, [](Battle& b, Event& e) -> Value {
        if (e.state->duration == 1) b.removeVolatile(e.target, condition::lockedmove);
        return UNDEFINED;
    }},
    {condition::lockedmove, onEnd, {}, [](Battle& b, Event& e) -> Value {
        if (e.state->counter <= 1) b.addVolatile(e.target, condition::confusion);
        return UNDEFINED;
    }},
    {condition::lockedmove, onLockMove, {}, [](Battle&, Event& e) -> Value { return e.state->move; }},
    {condition::twoturnmove, onStart, {}, [](Battle& b, Event& e) -> Value {
        Pokemon *attacker = e.target, *defender = e.source;
        e.state->move = e.cause.id;
        b.addVolatile(attacker, e.move()->condition);
        int moveTargetLoc = attacker->lastMoveTargetLoc;
        if (e.move()->sourceEffect && moveData(e.cause.id).target != Target::self) {
            if (defender->fainted) {
                Targets foes = b.foes(attacker, true);
                defender = foes.list[b.prng.random(foes.size)];
            }
            moveTargetLoc = Battle::getLocOf(attacker, defender);
        }
        if (EffectState* charging = b.volatileOf(attacker, e.move()->condition)) charging->counter = moveTargetLoc;  // targetLoc
        b.stillLastMove();
        b.runEvent(Ev::PrepareHit, attacker, defender, e.cause);
        return UNDEFINED;
    }},
    {condition::twoturnmove, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.removeVolatile(e.target, moveData(e.state->move).condition);
        return UNDEFINED;
    }},
    {condition::twoturnmove, onLockMove, {}, [](Battle&, Event& e) -> Value { return e.state->move; }},
    {condition::twoturnmove, onMoveAborted, {}, [](Battle& b, Event& e) -> Value {
        b.removeVolatile(e.target, condition::twoturnmove);
        return UNDEFINED;
    }},
    {condition::choicelock, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (b.activeMove->hasBounced) return FALSE;
        e.state->move = b.activeMove->id;
        return UNDEFINED;
    }},
    {condition::choicelock, onBeforeMove, {}, [](Battle& b, Event& e) -> Value {
        if (!EFFECTS[e.target->item].is(Is::isChoice)) {
            b.removeVolatile(e.target, condition::choicelock);
            return UNDEFINED;
        }
        bool other = e.move()->id != e.state->move && e.move()->id != move::struggle;
        if (b.ignoringItem(e.target) || !other) return UNDEFINED;
        b.addMove(Message::move, e.target, named(e.move()->id));
        b.stillLastMove();
        b.add(Message::fail, e.target);
        return FALSE;
    }},
    {condition::choicelock, onDisableMove, {}, [](Battle& b, Event& e) -> Value {
        if (!EFFECTS[e.target->item].is(Is::isChoice) || !b.hasMove(e.target, e.state->move))
            b.removeVolatile(e.target, condition::choicelock);
        else if (!b.ignoringItem(e.target))
            b.disableMoves(e.target, e.state->move);
        return UNDEFINED;
    }},
    {condition::mustrecharge, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::mustrecharge, e.target);
        return UNDEFINED;
    }},
    {condition::mustrecharge, onBeforeMove, {.priority = 11}, [](Battle& b, Event& e) -> Value {
        b.add(Message::cant, e.target, "recharge");
        b.removeVolatile(e.target, condition::mustrecharge);
        return NUL;
    }},
    {condition::mustrecharge, onLockMove, {}, [](Battle&, Event&) -> Value { return move::recharge; }},
    {condition::futuremove, onStart, {}, [](Battle& b, Event& e) -> Value {
        e.state->extra = Battle::slotOf(e.target);  // targetSlot
        e.state->counter = b.row.turn - 1 + 2;      // endingTurn
        if (e.state->counter >= 254) b.hint("In Gen 8+, Future attacks will never resolve when used on the 255th turn or later.");
        return UNDEFINED;
    }},
    {condition::futuremove, onResidual, {.order = 3}, [](Battle& b, Event& e) -> Value {
        if (((b.row.turn - 1) & 0xFF) < e.state->counter) return UNDEFINED;
        b.removeSlotCondition(b.getAtSlot(e.state->extra), condition::futuremove);
        return UNDEFINED;
    }},
    {condition::futuremove, onEnd, {}, [](Battle& b, Event& e) -> Value {
        Pokemon *target = e.target, *source = b.sourceOf(*e.state);
        if (target->fainted || target == source) {
            b.hint(target->fainted ? "% did not hit because the target is fainted." : "% did not hit because the target is the user.", e.state->move);
            return UNDEFINED;
        }
        b.add(Message::end, target, full(e.state->move));
        b.removeVolatile(target, condition::protect);
        b.removeVolatile(target, condition::endure);
        ActiveMove move{moveData(e.state->move)};
        move.ignoreImmunity = 0;
        if (b.hasAbility(source, ability::infiltrator)) move.infiltrates = true;
        Targets targets;
        targets.add(target);
        b.trySpreadMoveHit(targets, source, move, true);
        if (source->isActive && b.hasItem(source, item::lifeorb))
            b.singleEvent(Ev::AfterMoveSecondarySelf, item::lifeorb, &source->itemState, source, target, &move);
        b.setActiveMove(nullptr, b.activePokemon, b.activeTarget);
        b.checkWin();
        return UNDEFINED;
    }},
    {condition::stall, onStart, {}, [](Battle&, Event& e) -> Value {
        e.state->counter = 3;
        return UNDEFINED;
    }},
    {condition::stall, onStallMove, {}, [](Battle& b, Event& e) -> Value {
        bool success = b.prng.randomChance(1, e.state->counter ? e.state->counter : 1);
        if (!success) b.deleteVolatile(e.target, condition::stall);
        return success ? TRUE : FALSE;
    }},
    {condition::stall, onRestart, {}, [](Battle&, Event& e) -> Value {
        if (e.state->counter < 729) e.state->counter *= 3;
        e.state->duration = 2;
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList CONDITIONS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
