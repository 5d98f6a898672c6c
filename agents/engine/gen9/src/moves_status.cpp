// Status moves: data/moves.ts. Of onHit, target is who is hit and source the user; of moves that are used on oneself both.

#include "battle.h"

namespace {

constexpr int HAZARDS[] = {condition::spikes, condition::toxicspikes, condition::stealthrock, condition::stickyweb};
constexpr int SCREENS[] = {condition::reflect, condition::lightscreen, condition::auroraveil};

// Morning Sun, Moonlight and Synthesis: more in sun, less in other weather.
Value healByWeather(Battle& b, Event& e) {
    int modifier = 2048;
    switch (b.effectiveWeather(e.target)) {
        case condition::sunnyday: modifier = 2732; break;
        case condition::raindance:
        case condition::sandstorm:
        case condition::snowscape: modifier = 1024; break;
    }
    if (truthy(b.heal(modify(e.target->maxhp, modifier), e.target, e.source, e.cause))) return TRUE;
    b.add(Message::fail, e.target, "heal");
    return NOT_FAIL;
}

// Healing Wish and Lunar Dance fail where nobody can take the user's place.
Value ifReplaced(Battle& b, Event& e) {
    if (b.canSwitch(e.target->side)) return UNDEFINED;
    b.stillLastMove();
    b.add(Message::fail, e.target);
    return NOT_FAIL;
}

// Protect and its like: the more often in a row, the rarer.
Value ifStalls(Battle& b, Event& e) { return b.willAct() && truthy(b.runEvent(Ev::StallMove, e.target)) ? TRUE : FALSE; }

Value stall(Battle& b, Event& e) {
    b.addVolatile(e.target, condition::stall);
    return UNDEFINED;
}

// The moves that Sleep Talk can call.
int callable(const Pokemon* p, int moves[MOVES_EACH]) {
    int count = 0;
    for (int n = 0; n < p->moveCount; n++) {
        int id = p->moveSlots[n].id;
        if (!(moveData(id).flags & (Flag::nosleeptalk | Flag::charge))) moves[count++] = id;
    }
    return count;
}

// Exchanges the items of two Pokémon, where both can be taken and given.
bool trick(Battle& b, Event& e) {
    Pokemon *target = e.target, *source = e.source;
    bool targetHad = target->item, sourceHad = source->item;
    int yours = b.takeItem(target, source), mine = b.takeItem(source, source);
    auto given = [&](int item, Pokemon* from, Pokemon* to) {
        return !item || truthy(b.singleEvent(Ev::TakeItem, item, &from->itemState, to, from, e.cause, UNDEFINED, nullptr, item));
    };
    bool taken = targetHad == bool(yours) && sourceHad == bool(mine) && (yours || mine);
    if (!taken || !given(mine, source, target) || !given(yours, target, source)) {
        if (yours) target->item = yours;
        if (mine) source->item = mine;
        return false;
    }
    b.add(Message::activate, source, "move: Trick", of(target));  // also of Switcheroo
    auto give = [&](int item, Pokemon* to, int lost) {
        if (item) {
            b.setItem(to, item);
            b.add(Message::item, to, named(item), from(e.effect));
        } else {
            b.add(Message::enditem, to, named(lost), "[silent]", from(e.effect));
        }
    };
    give(mine, target, yours);
    give(yours, source, mine);
    return true;
}

// What Curse does to a user that is no Ghost.
constexpr HitEffect CURSED = {.boosts = {1, 1, 0, 0, -1}};

// Of onTryImmunity of Trick and Switcheroo.
Value ifNotHeldFast(Battle& b, Event& e) { return b.hasAbility(e.target, ability::stickyhold) ? FALSE : TRUE; }

// Clangorous Soul and Fillet Away raise stats before they cost HP, or fail.
Value boostFirst(Battle& b, Event& e) {
    if (!truthy(b.boost(e.move()->hit.boosts, e.target, e.source, e.cause))) return NUL;
    for (int& by : e.move()->hit.boosts) by = 0;
    return UNDEFINED;
}

// Mean Look and Block: who is hit cannot leave while the user stays.
Value trap(Battle& b, Event& e) { return b.addVolatile(e.target, condition::trapped, e.source, e.cause, condition::trapper); }

constexpr Handler HANDLERS_HERE[] = {
    {move::auroraveil, onTry, {}, [](Battle& b, Event&) -> Value { return b.effectiveWeather() == condition::snowscape ? TRUE : FALSE; }},
    {move::banefulbunker, onPrepareHit, {}, ifStalls},
    {move::banefulbunker, onHit, {}, stall},
    {move::bellydrum, onHit, {}, [](Battle& b, Event& e) -> Value {
        if (2 * e.target->hp <= e.target->maxhp || b.out(e.target).boosts[Stat::atk] >= 6 || e.target->maxhp == 1) return FALSE;
        b.directDamage(e.target->maxhp / 2);
        b.boost(Stat::atk, 12, e.target);
        return UNDEFINED;
    }},
    {move::block, onHit, {}, trap},
    {move::burningbulwark, onPrepareHit, {}, ifStalls},
    {move::burningbulwark, onHit, {}, stall},
    {move::chillyreception, priorityChargeCallback, {}, [](Battle& b, Event& e) -> Value {
        b.addVolatile(e.target, condition::chillyreception);
        return UNDEFINED;
    }},
    {move::clangoroussoul, onTry, {}, [](Battle&, Event& e) -> Value {
        return 100 * e.target->hp <= 33 * e.target->maxhp || e.target->maxhp == 1 ? FALSE : UNDEFINED;
    }},
    {move::clangoroussoul, onTryHit, {}, boostFirst},
    {move::clangoroussoul, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.directDamage(33 * e.target->maxhp / 100, e.target);
        return UNDEFINED;
    }},
    {move::courtchange, onHitField, {}, [](Battle& b, Event& e) -> Value {
        Side &first = b.row.sides[0], &second = b.row.sides[1];
        bool success = false;
        for (int n = 0; n < MAX_CONDITIONS; n++) {
            success = success || first.conditions[n].id || second.conditions[n].id;
            EffectState kept = first.conditions[n];
            first.conditions[n] = second.conditions[n];
            second.conditions[n] = kept;
        }
        int count = first.conditionCount;
        first.conditionCount = second.conditionCount;
        second.conditionCount = count;
        if (!success) return FALSE;
        b.add(Message::swapsideconditions);
        b.add(Message::activate, e.source, "move: Court Change");
        return UNDEFINED;
    }},
    {move::curse, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (!b.hasType(e.target, Type::Ghost))
            e.move()->target = e.move()->nonGhostTarget - 1;
        else if (e.source && e.source->side == e.target->side)
            e.move()->target = Target::randomNormal;
        return UNDEFINED;
    }},
    {move::curse, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (!b.hasType(e.source, Type::Ghost)) {
            e.move()->hit.volatileStatus = 0;
            e.move()->hit.onHit = false;
            e.move()->hit.self = &CURSED;
        } else if (e.move()->hit.volatileStatus && b.volatileOf(e.target, condition::curse)) {
            return FALSE;
        }
        return UNDEFINED;
    }},
    {move::curse, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.directDamage(e.source->maxhp / 2, e.source, e.source);
        return UNDEFINED;
    }},
    {move::defog, onHit, {}, [](Battle& b, Event& e) -> Value {
        bool success = false;
        if (!b.volatileOf(e.target, condition::substitute) || e.move()->infiltrates)
            success = truthy(b.boost(Stat::evasion, -1, e.target, e.source, e.cause));
        for (int screen : SCREENS) b.removeSideCondition(e.target->side, screen);
        for (int side : {e.target->side, e.source->side}) {
            for (int hazard : HAZARDS) {
                if (!b.removeSideCondition(side, hazard)) continue;
                b.add(Message::sideend, sideName(side), named(hazard), from(move::defog), of(e.source));
                success = true;
            }
        }
        b.clearTerrain();
        return success ? TRUE : FALSE;
    }},
    {move::destinybond, onPrepareHit, {}, [](Battle& b, Event& e) -> Value {
        return b.removeVolatile(e.target, condition::destinybond) ? FALSE : TRUE;
    }},
    {move::detect, onPrepareHit, {}, ifStalls},
    {move::detect, onHit, {}, stall},
    {move::disable, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        int last = b.out(e.target).lastMove;
        return !last || last == move::struggle ? FALSE : UNDEFINED;
    }},
    {move::endure, onPrepareHit, {}, ifStalls},
    {move::endure, onHit, {}, stall},
    {move::entrainment, onTryHit, {}, [](Battle&, Event& e) -> Value {
        if (e.target == e.source || e.target->ability == e.source->ability) return FALSE;
        const EffectData &theirs = EFFECTS[e.target->ability], &own = EFFECTS[e.source->ability];
        return theirs.is(Is::cantsuppress) || e.target->ability == ability::truant || own.is(Is::noentrain) ? FALSE : UNDEFINED;
    }},
    {move::entrainment, onHit, {}, [](Battle& b, Event& e) -> Value {
        Value old = b.setAbility(e.target, e.source->ability, e.source);
        if (!truthy(old)) return old;
        if (!Battle::isAlly(e.target, e.source)) e.target->volatileStaleness = 2;
        return UNDEFINED;
    }},
    {move::filletaway, onTry, {}, [](Battle&, Event& e) -> Value {
        return 2 * e.target->hp <= e.target->maxhp || e.target->maxhp == 1 ? FALSE : UNDEFINED;
    }},
    {move::filletaway, onTryHit, {}, boostFirst},
    {move::filletaway, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.directDamage(e.target->maxhp / 2, e.target);
        return UNDEFINED;
    }},
    {move::futuresight, onTry, {}, [](Battle& b, Event& e) -> Value {
        if (!e.move()->ignoreImmunity) return UNDEFINED;  // it strikes now
        if (!truthy(b.addSlotCondition(e.source, condition::futuremove, e.target, e.cause))) return FALSE;
        b.slotCondition(e.source, condition::futuremove)->move = move::futuresight;
        b.add(Message::start, e.target, "move: Future Sight");
        return NOT_FAIL;
    }},
    {move::growth, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.effectiveWeather(e.target) == condition::sunnyday) e.move()->hit.boosts[Stat::atk] = e.move()->hit.boosts[Stat::spa] = 2;
        return UNDEFINED;
    }},
    {move::haze, onHitField, {}, [](Battle& b, Event&) -> Value {
        b.add(Message::clearallboost);
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++) b.clearBoosts(actives.list[n]);
        return UNDEFINED;
    }},
    {move::healbell, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::activate, e.source, "move: Heal Bell");
        const Side& side = b.sideOf(e.target);
        bool success = false;
        for (int position = 0; position < side.size; position++) success = b.cureStatus(&b.pokemon(side.order[position])) || success;
        return success ? TRUE : FALSE;
    }},
    {move::healingwish, onTryHit, {}, ifReplaced},
    {move::junglehealing, onHit, {}, [](Battle& b, Event& e) -> Value {
        bool healed = truthy(b.heal(modify(e.target->maxhp, 1024), e.target, e.source, e.cause));
        return b.cureStatus(e.target) || healed ? TRUE : FALSE;
    }},
    {move::leechseed, onTryImmunity, {}, [](Battle& b, Event& e) -> Value { return b.hasType(e.target, Type::Grass) ? FALSE : TRUE; }},
    {move::lunardance, onTryHit, {}, ifReplaced},
    {move::magnetrise, onTry, {}, nothing},  // Smack Down, Ingrain, Gravity
    {move::meanlook, onHit, {}, trap},
    {move::moonlight, onHit, {}, healByWeather},
    {move::morningsun, onHit, {}, healByWeather},
    {move::painsplit, onHit, {}, [](Battle& b, Event& e) -> Value {
        int average = atLeastOne((e.target->hp + e.source->hp) / 2);
        b.sethp(e.target, average);
        b.add(Message::sethp, e.target, health(e.target), "[from] move: Pain Split", "[silent]");
        b.sethp(e.source, average);
        b.add(Message::sethp, e.source, health(e.source), "[from] move: Pain Split");
        return UNDEFINED;
    }},
    {move::partingshot, onHit, {}, [](Battle& b, Event& e) -> Value {
        constexpr int LOWERED[Stat::COUNT] = {-1, 0, -1};
        bool success = truthy(b.boost(LOWERED, e.target, e.source, e.cause));
        if (!success && !b.hasAbility(e.target, ability::mirrorarmor)) e.move()->hit.selfSwitch = SelfSwitch::no;
        return UNDEFINED;
    }},
    {move::perishsong, onHitField, {}, [](Battle& b, Event& e) -> Value {
        bool result = false, message = false;
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++) {
            Pokemon* p = actives.list[n];
            if (b.runEvent(Ev::Invulnerability, p, e.source, e.cause) == FALSE) {
                b.add(Message::miss, e.source, p);
                result = true;
            } else if (b.runEvent(Ev::TryHit, p, e.source, e.cause) == NUL) {
                result = true;
            } else if (!b.volatileOf(p, condition::perishsong)) {
                b.addVolatile(p, condition::perishsong);
                b.add(Message::start, p, "perish3", "[silent]");
                result = message = true;
            }
        }
        if (!result) return FALSE;
        if (message) b.add(Message::fieldactivate, "move: Perish Song");
        return UNDEFINED;
    }},
    {move::protect, onPrepareHit, {}, ifStalls},
    {move::protect, onHit, {}, stall},
    {move::rest, onTry, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status == condition::slp) return FALSE;
        if (e.target->hp == e.target->maxhp) {
            b.add(Message::fail, e.target, "heal");
            return NUL;
        }
        for (int ability : {ability::insomnia, ability::vitalspirit}) {
            if (!b.hasAbility(e.target, ability)) continue;
            b.add(Message::fail, e.target, from(ability), of(e.target));
            return NUL;
        }
        return UNDEFINED;
    }},
    {move::rest, onHit, {}, [](Battle& b, Event& e) -> Value {
        Value result = b.setStatus(e.target, condition::slp, e.source, e.cause);
        if (!truthy(result)) return result;
        e.target->statusState.counter = e.target->statusState.extra = 3;  // time, startTime
        b.heal(e.target->maxhp, e.target, e.source, e.cause);
        return UNDEFINED;
    }},
    {move::shoreup, onHit, {}, [](Battle& b, Event& e) -> Value {
        int modifier = b.isWeather(condition::sandstorm) ? 2732 : 2048;
        if (truthy(b.heal(modify(e.target->maxhp, modifier), e.target, e.source, e.cause))) return TRUE;
        b.add(Message::fail, e.target, "heal");
        return NOT_FAIL;
    }},
    {move::silktrap, onPrepareHit, {}, ifStalls},
    {move::silktrap, onHit, {}, stall},
    {move::skillswap, onHit, {}, [](Battle& b, Event& e) -> Value { return b.skillSwap(e.source, e.target); }},
    {move::sleeptalk, onTry, {}, [](Battle&, Event& e) -> Value { return e.target->status == condition::slp ? TRUE : FALSE; }},
    {move::sleeptalk, onHit, {}, [](Battle& b, Event& e) -> Value {
        int moves[MOVES_EACH], count = callable(e.target, moves);
        if (!count) return FALSE;
        b.useMove(moves[b.prng.random(count)], e.target, {.sourceEffect = move::sleeptalk});
        return UNDEFINED;
    }},
    {move::soak, onHit, {}, [](Battle& b, Event& e) -> Value {
        Types types = b.getTypes(e.target);
        if ((types.count == 1 && types.has(Type::Water)) || !b.setType(e.target, Type::Water)) {
            b.add(Message::fail, e.target);
            return NUL;
        }
        b.add(Message::start, e.target, "typechange", typeName(Type::Water));
        return UNDEFINED;
    }},
    {move::spikyshield, onPrepareHit, {}, ifStalls},
    {move::spikyshield, onHit, {}, stall},
    {move::strengthsap, onHit, {}, [](Battle& b, Event& e) -> Value {
        if (b.out(e.target).boosts[Stat::atk] == -6) return FALSE;
        int attack = b.getStat(e.target, Stat::atk, false, true);
        Value success = b.boost(Stat::atk, -1, e.target, e.source, e.cause, false, true);
        Value healed = b.heal(attack, e.source, e.target, e.cause);
        return truthy(healed) || truthy(success) ? TRUE : FALSE;
    }},
    {move::substitute, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (b.volatileOf(e.source, condition::substitute)) {
            b.add(Message::fail, e.source, "move: Substitute");
            return NOT_FAIL;
        }
        if (4 * e.source->hp > e.source->maxhp && e.source->maxhp != 1) return UNDEFINED;
        b.add(Message::fail, e.source, "move: Substitute", "[weak]");
        return NOT_FAIL;
    }},
    {move::substitute, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.directDamage(e.target->maxhp / 4, e.target);
        return UNDEFINED;
    }},
    {move::switcheroo, onTryImmunity, {}, ifNotHeldFast},
    {move::switcheroo, onHit, {}, [](Battle& b, Event& e) -> Value { return trick(b, e) ? UNDEFINED : FALSE; }},
    {move::synthesis, onHit, {}, healByWeather},
    {move::takeheart, onHit, {}, [](Battle& b, Event& e) -> Value {
        constexpr int RAISED[Stat::COUNT] = {0, 0, 1, 1};
        bool success = truthy(b.boost(RAISED, e.target, e.source, e.cause));
        return b.cureStatus(e.target) || success ? TRUE : FALSE;
    }},
    {move::teleport, onTry, {}, [](Battle& b, Event& e) -> Value { return b.canSwitch(e.target->side) ? TRUE : FALSE; }},
    {move::tidyup, onHit, {}, [](Battle& b, Event& e) -> Value {
        bool success = false;
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++) success = b.removeVolatile(actives.list[n], condition::substitute) || success;
        for (int side : {e.target->side, 1 - e.target->side}) {
            for (int hazard : HAZARDS) {
                if (!b.removeSideCondition(side, hazard)) continue;
                b.add(Message::sideend, sideName(side), named(hazard));
                success = true;
            }
        }
        if (success) b.add(Message::activate, e.target, "move: Tidy Up");
        constexpr int RAISED[Stat::COUNT] = {1, 0, 0, 0, 1};
        bool boosted = truthy(b.boost(RAISED, e.target, e.target, {}, false, true));
        return boosted || success ? TRUE : FALSE;
    }},
    {move::transform, onHit, {}, [](Battle& b, Event& e) -> Value { return b.transformInto(e.source, e.target) ? TRUE : FALSE; }},
    {move::trick, onHit, {}, [](Battle& b, Event& e) -> Value { return trick(b, e) ? UNDEFINED : FALSE; }},
    {move::trick, onTryImmunity, {}, ifNotHeldFast},
};

}  // namespace

extern const HandlerList MOVES_STATUS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
