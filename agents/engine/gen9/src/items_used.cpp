// Handlers of items (data/items.ts) that are used up: berries, seeds, herbs, policies, buttons and cards.

#include "battle.h"

namespace {

// Of onSourceModifyDamage: a berry that halves a super effective move of a type.
template <int TYPE>
Value weaken(Battle& b, Event& e) {
    ActiveMove& move = *e.move();
    if (move.type != TYPE || move.typeMod[slotIndex(e.source)] <= 0) return UNDEFINED;
    if (b.volatileOf(e.source, condition::substitute) && !move.has(Flag::bypasssub) && !move.infiltrates) return UNDEFINED;
    if (!b.eatItem(e.source)) return UNDEFINED;
    b.add(Message::enditem, e.source, named(e.effect), "[weaken]");
    return e.chainModify(1, 2);
}

Value popBalloon(Battle& b, Event& e) {
    b.add(Message::enditem, e.target, "Air Balloon");
    e.target->item = 0;
    b.clearEffectState(e.target->itemState);
    b.runEvent(Ev::AfterUseItem, e.target, nullptr, {}, UNDEFINED, item::airballoon);
    return UNDEFINED;
}

// Of seeds
template <int TERRAIN>
Value useOnTerrain(Battle& b, Event& e) {
    if (b.isTerrain(TERRAIN, e.target)) b.useItem(e.target);
    return UNDEFINED;
}

template <int ABILITY, int CONDITION>
void useEnergy(Battle& b, Event& e, bool byItself) {
    if (b.hasAbility(e.target, ABILITY) && !byItself && b.useItem(e.target)) b.addVolatile(e.target, CONDITION);
}

Value useEnergies(Battle& b, Event& e) {
    if (!e.state->counter || b.out(e.target).transformed) return UNDEFINED;
    useEnergy<ability::protosynthesis, condition::protosynthesis>(b, e, b.isWeather(condition::sunnyday));
    useEnergy<ability::quarkdrive, condition::quarkdrive>(b, e, b.isTerrain(condition::electricterrain));
    return UNDEFINED;
}

// Of Eject Pack: its holder's stats were lowered.
Value eject(Battle& b, Event& e) {
    if (e.state->counter) b.useItem(e.holder);
    return UNDEFINED;
}

Value restoreBoosts(Battle& b, Event& e) {
    for (int boost : b.out(e.holder).boosts) {
        if (boost >= 0) continue;
        b.useItem(e.holder);
        break;
    }
    return UNDEFINED;
}

// Kee and Maranga Berry
template <Category CATEGORY>
Value eatAfter(Battle& b, Event& e) {
    if (e.move()->category == CATEGORY) b.eatItem(e.target);
    return UNDEFINED;
}

MoveSlot* emptied(Pokemon* p) {
    for (int n = 0; n < p->moveCount; n++)
        if (!p->moveSlots[n].pp) return &p->moveSlots[n];
    return nullptr;
}

Value eatAtHalf(Battle& b, Event& e) {
    if (2 * e.target->hp <= e.target->maxhp) b.eatItem(e.target);
    return UNDEFINED;
}

Value eatInPinch(Battle& b, Event& e) {
    if (4 * e.target->hp <= e.target->maxhp) b.eatItem(e.target);
    return UNDEFINED;
}

template <int STAT>
Value raiseStat(Battle& b, Event&) {
    b.boost(STAT, 1);
    return UNDEFINED;
}

// Of onTryEatItem: whether it can heal this part of the HP.
template <int PART>
Value ifHealing(Battle& b, Event& e) {
    return truthy(b.runEvent(Ev::TryHeal, e.target, nullptr, e.effect, e.target->maxhp / PART)) ? Value(UNDEFINED) : FALSE;
}

// Berries that confuse who does not like them.
template <int DISLIKED>
Value healAThird(Battle& b, Event& e) {
    b.heal(e.target->maxhp / 3);
    if (e.target->minus == DISLIKED) b.addVolatile(e.target, condition::confusion);
    return UNDEFINED;
}

template <int STATUS>
Value eatAgainst(Battle& b, Event& e) {
    if (e.target->status == STATUS) b.eatItem(e.target);
    return UNDEFINED;
}

template <int STATUS>
Value cureOf(Battle& b, Event& e) {
    if (e.target->status == STATUS) b.cureStatus(e.target);
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {item::aguavberry, onUpdate, {}, eatInPinch},
    {item::aguavberry, onTryEatItem, {}, ifHealing<3>},
    {item::aguavberry, onEat, {}, healAThird<Stat::spd>},
    {item::airballoon, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (!b.ignoringItem(e.target)) b.add(Message::item, e.target, "Air Balloon");
        return UNDEFINED;
    }},
    {item::airballoon, onDamagingHit, {}, popBalloon},
    {item::airballoon, onAfterSubDamage, {}, [](Battle& b, Event& e) -> Value {
        return e.cause.type() == EffectType::Move ? popBalloon(b, e) : Value(UNDEFINED);
    }},
    {item::apicotberry, onUpdate, {}, eatInPinch},
    {item::apicotberry, onEat, {}, raiseStat<Stat::spd>},
    {item::aspearberry, onUpdate, {}, eatAgainst<condition::frz>},
    {item::aspearberry, onEat, {}, cureOf<condition::frz>},
    {item::babiriberry, onSourceModifyDamage, {}, weaken<Type::Steel>},
    // counter: Showdown's started
    {item::boosterenergy, onStart, {.priority = -2}, [](Battle& b, Event& e) -> Value {
        e.state->counter = 1;
        return useEnergies(b, e);
    }},
    {item::boosterenergy, onUpdate, {}, useEnergies},
    {item::boosterenergy, onTakeItem, {}, [](Battle&, Event& e) -> Value {
        return SPECIES[e.target->baseSpecies].paradox ? FALSE : TRUE;
    }},
    {item::chartiberry, onSourceModifyDamage, {}, weaken<Type::Rock>},
    {item::cheriberry, onUpdate, {}, eatAgainst<condition::par>},
    {item::cheriberry, onEat, {}, cureOf<condition::par>},
    {item::chestoberry, onUpdate, {}, eatAgainst<condition::slp>},
    {item::chestoberry, onEat, {}, cureOf<condition::slp>},
    {item::chopleberry, onSourceModifyDamage, {}, weaken<Type::Fighting>},
    {item::cobaberry, onSourceModifyDamage, {}, weaken<Type::Flying>},
    {item::colburberry, onSourceModifyDamage, {}, weaken<Type::Dark>},
    {item::custapberry, onFractionalPriority, {.priority = -2}, [](Battle& b, Event& e) -> Value {
        if (e.move()->category == Category::Status && b.hasAbility(e.target, ability::myceliummight)) return UNDEFINED;
        if (e.relay > 0 || 4 * e.target->hp > e.target->maxhp || !b.eatItem(e.target)) return UNDEFINED;
        b.add(Message::activate, e.target, "item: Custap Berry", "[consumed]");
        return 1;  // in tenths
    }},
    {item::ejectbutton, onAfterMoveSecondary, {.priority = 2}, [](Battle& b, Event& e) -> Value {
        Pokemon* holder = e.target;
        if (!e.source || e.source == holder || !holder->hp || e.move()->category == Category::Status) return UNDEFINED;
        if (e.move()->has(Flag::futuremove) || !b.canSwitch(holder->side) || holder->forceSwitchFlag || holder->beingCalledBack) return UNDEFINED;
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++)
            if (actives.list[n]->switchFlag == 1) return UNDEFINED;
        holder->switchFlag = 1;
        if (b.useItem(holder))
            e.source->switchFlag = 0;
        else
            holder->switchFlag = 0;
        return UNDEFINED;
    }},
    // counter: Showdown's eject
    {item::ejectpack, onAfterBoost, {}, [](Battle& b, Event& e) -> Value {
        if (b.activeMove && b.activeMove->id == move::partingshot) return UNDEFINED;
        for (int stat = 0; stat < Stat::COUNT; stat++)
            if (e.boosts[stat] < 0) e.state->counter = 1;
        return UNDEFINED;
    }},
    {item::ejectpack, onAnySwitchIn, {.priority = -4}, eject},
    {item::ejectpack, onAnyAfterMove, {}, eject},
    {item::ejectpack, onResidual, {.order = 29}, eject},
    {item::ejectpack, onUseItem, {}, [](Battle& b, Event& e) -> Value {
        if (!b.canSwitch(e.target->side)) return FALSE;
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++)
            if (actives.list[n]->switchFlag == 1) return FALSE;
        return TRUE;
    }},
    {item::ejectpack, onUse, {}, [](Battle&, Event& e) -> Value {
        e.target->switchFlag = 1;
        return UNDEFINED;
    }},
    {item::ejectpack, onEnd, {}, [](Battle&, Event& e) -> Value {
        e.state->counter = 0;
        return UNDEFINED;
    }},
    {item::electricseed, onStart, {.priority = -1}, useOnTerrain<condition::electricterrain>},
    {item::electricseed, onTerrainChange, {}, useOnTerrain<condition::electricterrain>},
    {item::figyberry, onUpdate, {}, eatInPinch},
    {item::figyberry, onTryEatItem, {}, ifHealing<3>},
    {item::figyberry, onEat, {}, healAThird<Stat::atk>},
    {item::focussash, onDamage, {.priority = -40}, [](Battle& b, Event& e) -> Value {
        Pokemon* holder = e.target;
        if (holder->hp != holder->maxhp || e.relay < holder->hp || e.cause.type() != EffectType::Move) return UNDEFINED;
        return b.useItem(holder) ? holder->hp - 1 : Value(UNDEFINED);
    }},
    {item::ganlonberry, onUpdate, {}, eatInPinch},
    {item::ganlonberry, onEat, {}, raiseStat<Stat::def>},
    {item::grassyseed, onStart, {.priority = -1}, useOnTerrain<condition::grassyterrain>},
    {item::grassyseed, onTerrainChange, {}, useOnTerrain<condition::grassyterrain>},
    {item::habanberry, onSourceModifyDamage, {}, weaken<Type::Dragon>},
    {item::iapapaberry, onUpdate, {}, eatInPinch},
    {item::iapapaberry, onTryEatItem, {}, ifHealing<3>},
    {item::iapapaberry, onEat, {}, healAThird<Stat::def>},
    {item::kasibberry, onSourceModifyDamage, {}, weaken<Type::Ghost>},
    {item::kebiaberry, onSourceModifyDamage, {}, weaken<Type::Poison>},
    {item::keeberry, onAfterMoveSecondary, {}, eatAfter<Category::Physical>},
    {item::keeberry, onEat, {}, raiseStat<Stat::def>},
    {item::leppaberry, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->hp && emptied(e.target)) b.eatItem(e.target);
        return UNDEFINED;
    }},
    {item::leppaberry, onEat, {}, [](Battle& b, Event& e) -> Value {
        Pokemon* p = e.target;
        MoveSlot* slot = emptied(p);
        for (int n = 0; !slot && n < p->moveCount; n++)
            if (p->moveSlots[n].pp < p->moveSlots[n].maxpp) slot = &p->moveSlots[n];
        if (!slot) return UNDEFINED;
        slot->pp = slot->pp + 10 < slot->maxpp ? slot->pp + 10 : slot->maxpp;
        b.add(Message::activate, p, full(item::leppaberry), named(slot->id), "[consumed]");
        return UNDEFINED;
    }},
    {item::liechiberry, onUpdate, {}, eatInPinch},
    {item::liechiberry, onEat, {}, raiseStat<Stat::atk>},
    {item::lumberry, onAfterSetStatus, {.priority = -1}, [](Battle& b, Event& e) -> Value {
        b.eatItem(e.target);
        return UNDEFINED;
    }},
    {item::lumberry, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status || b.volatileOf(e.target, condition::confusion)) b.eatItem(e.target);
        return UNDEFINED;
    }},
    {item::lumberry, onEat, {}, [](Battle& b, Event& e) -> Value {
        b.cureStatus(e.target);
        b.removeVolatile(e.target, condition::confusion);
        return UNDEFINED;
    }},
    {item::magoberry, onUpdate, {}, eatInPinch},
    {item::magoberry, onTryEatItem, {}, ifHealing<3>},
    {item::magoberry, onEat, {}, healAThird<Stat::spe>},
    {item::marangaberry, onAfterMoveSecondary, {}, eatAfter<Category::Special>},
    {item::marangaberry, onEat, {}, raiseStat<Stat::spd>},
    {item::mentalherb, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        constexpr int CURED[] = {condition::taunt, condition::encore, condition::disable, condition::healblock};
        bool needed = false;
        for (int id : CURED) needed = needed || b.volatileOf(e.target, id);
        if (!needed || !b.useItem(e.target)) return UNDEFINED;
        for (int id : CURED) b.removeVolatile(e.target, id);
        return UNDEFINED;
    }},
    {item::mistyseed, onStart, {.priority = -1}, useOnTerrain<condition::mistyterrain>},
    {item::mistyseed, onTerrainChange, {}, useOnTerrain<condition::mistyterrain>},
    {item::occaberry, onSourceModifyDamage, {}, weaken<Type::Fire>},
    {item::oranberry, onUpdate, {}, eatAtHalf},
    {item::oranberry, onTryEatItem, {}, [](Battle& b, Event& e) -> Value {
        return truthy(b.runEvent(Ev::TryHeal, e.target, nullptr, e.effect, 10)) ? Value(UNDEFINED) : FALSE;
    }},
    {item::oranberry, onEat, {}, [](Battle& b, Event&) -> Value {
        b.heal(10);
        return UNDEFINED;
    }},
    {item::passhoberry, onSourceModifyDamage, {}, weaken<Type::Water>},
    {item::payapaberry, onSourceModifyDamage, {}, weaken<Type::Psychic>},
    {item::pechaberry, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status == condition::psn || e.target->status == condition::tox) b.eatItem(e.target);
        return UNDEFINED;
    }},
    {item::pechaberry, onEat, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status == condition::psn || e.target->status == condition::tox) b.cureStatus(e.target);
        return UNDEFINED;
    }},
    {item::persimberry, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (b.volatileOf(e.target, condition::confusion)) b.eatItem(e.target);
        return UNDEFINED;
    }},
    {item::persimberry, onEat, {}, [](Battle& b, Event& e) -> Value {
        b.removeVolatile(e.target, condition::confusion);
        return UNDEFINED;
    }},
    {item::petayaberry, onUpdate, {}, eatInPinch},
    {item::petayaberry, onEat, {}, raiseStat<Stat::spa>},
    {item::powerherb, onChargeMove, {}, [](Battle& b, Event& e) -> Value {
        if (!b.useItem(e.target)) return UNDEFINED;
        b.stillLastMove();
        b.addMove(Message::anim, e.target, named(e.move()->id), e.source);
        return FALSE;
    }},
    {item::psychicseed, onStart, {.priority = -1}, useOnTerrain<condition::psychicterrain>},
    {item::psychicseed, onTerrainChange, {}, useOnTerrain<condition::psychicterrain>},
    {item::rawstberry, onUpdate, {}, eatAgainst<condition::brn>},
    {item::rawstberry, onEat, {}, cureOf<condition::brn>},
    {item::redcard, onAfterMoveSecondary, {}, [](Battle& b, Event& e) -> Value {
        Pokemon *holder = e.target, *source = e.source;
        if (!source || source == holder || !source->hp || !holder->hp || e.move()->category == Category::Status) return UNDEFINED;
        if (!source->isActive || !b.canSwitch(source->side) || source->forceSwitchFlag || holder->forceSwitchFlag) return UNDEFINED;
        if (b.useItem(holder, source) && truthy(b.runEvent(Ev::DragOut, source, holder, e.move()))) source->forceSwitchFlag = true;
        return UNDEFINED;
    }},
    {item::rindoberry, onSourceModifyDamage, {}, weaken<Type::Grass>},
    {item::roseliberry, onSourceModifyDamage, {}, weaken<Type::Fairy>},
    {item::salacberry, onUpdate, {}, eatInPinch},
    {item::salacberry, onEat, {}, raiseStat<Stat::spe>},
    {item::shucaberry, onSourceModifyDamage, {}, weaken<Type::Ground>},
    {item::sitrusberry, onUpdate, {}, eatAtHalf},
    {item::sitrusberry, onTryEatItem, {}, ifHealing<4>},
    {item::sitrusberry, onEat, {}, [](Battle& b, Event& e) -> Value {
        b.heal(e.target->maxhp / 4);
        return UNDEFINED;
    }},
    {item::tangaberry, onSourceModifyDamage, {}, weaken<Type::Bug>},
    {item::throatspray, onAfterMoveSecondarySelf, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->has(Flag::sound)) b.useItem(e.target);
        return UNDEFINED;
    }},
    {item::wacanberry, onSourceModifyDamage, {}, weaken<Type::Electric>},
    {item::weaknesspolicy, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        const ActiveMove& move = *e.move();
        if (!move.damage && !HANDLERS.find(move.id, damageCallback) && move.typeMod[slotIndex(e.target)] > 0) b.useItem(e.target);
        return UNDEFINED;
    }},
    {item::whiteherb, onStart, {}, restoreBoosts},
    {item::whiteherb, onAnySwitchIn, {.priority = -2}, restoreBoosts},
    {item::whiteherb, onAnyAfterMove, {}, restoreBoosts},
    {item::whiteherb, onResidual, {.order = 29}, restoreBoosts},
    {item::whiteherb, onUse, {}, [](Battle& b, Event& e) -> Value {
        for (int32_t& boost : b.out(e.target).boosts)
            if (boost < 0) boost = 0;
        b.add(Message::clearnegativeboost, e.target, "[silent]");
        return UNDEFINED;
    }},
    {item::wikiberry, onUpdate, {}, eatInPinch},
    {item::wikiberry, onTryEatItem, {}, ifHealing<3>},
    {item::wikiberry, onEat, {}, healAThird<Stat::spa>},
    {item::yacheberry, onSourceModifyDamage, {}, weaken<Type::Ice>},
};

}  // namespace

extern const HandlerList ITEMS_USED = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
