// Handlers of abilities (data/abilities.ts) that change what moves do to their holder: damage, immunity, status and boosts.
// Levitate has none: isGrounded asks for it.

#include "battle.h"

namespace {

// Of onSourceModifyAtk and onSourceModifySpA.
template <int TYPE, int OTHER = TYPE>
Value halved(Battle&, Event& e) {
    return e.move()->type == TYPE || e.move()->type == OTHER ? e.chainModify(1, 2) : UNDEFINED;
}

template <int TYPE>
Value absorb(Battle& b, Event& e) {
    if (e.target == e.source || e.move()->type != TYPE) return UNDEFINED;
    if (!truthy(b.heal(e.target->maxhp / 4))) b.add(Message::immune, e.target, from(e.effect));
    return NUL;
}

template <int64_t FLAG>
Value immuneTo(Battle& b, Event& e) {
    if (e.target == e.source || !e.move()->has(FLAG)) return UNDEFINED;
    b.add(Message::immune, e.target, from(e.effect));
    return NUL;
}

// Of onSetStatus: says that a move that gives a status is of no use.
void addImmunity(Battle& b, Event& e) {
    if (e.cause.setsStatus()) b.add(Message::immune, e.target, from(e.effect));
}

template <int STATUS>
Value cure(Battle& b, Event& e) {
    if (e.target->status != STATUS) return UNDEFINED;
    b.add(Message::activate, e.target, full(e.effect));
    b.cureStatus(e.target);
    return UNDEFINED;
}

template <int STATUS>
Value immuneToStatus(Battle& b, Event& e) {
    if (e.adding != STATUS) return UNDEFINED;
    addImmunity(b, e);
    return FALSE;
}

// Of onTryBoost.
Value ignoreIntimidate(Battle& b, Event& e) {
    if (e.cause.id != ability::intimidate || !e.boosts[Stat::atk]) return UNDEFINED;
    e.boosts[Stat::atk] = 0;
    b.add(Message::fail, e.target, "unboost", "Attack", from(e.effect), of(e.target));
    return UNDEFINED;
}

bool hitsSubstitute(Battle& b, const Pokemon* target, const ActiveMove& move) {
    return b.volatileOf(target, condition::substitute) && !move.has(Flag::bypasssub) && !move.infiltrates;
}

// Whether the move in e meets Disguise itself: not a substitute, and not one to which the target is immune.
bool meetsDisguise(Battle& b, Event& e) {
    ActiveMove& move = *e.move();
    if (e.target->species != species::mimikyu) return false;
    return !hitsSubstitute(b, e.target, move) && b.runImmunity(e.target, &move);
}

// Magic Bounce's holder uses the move against its user.
void bounce(Battle& b, const ActiveMove& move, Pokemon* holder, Pokemon* user) {
    ActiveMove bounced{moveData(move.id)};
    bounced.hasBounced = true;
    b.useMove(bounced, holder, {.target = user});
}

bool hasSecondaries(const Event& e) { return e.move() && e.move()->secondaryCount; }

// Of onTryBoost: takes the lowered stats out; returns whether there were any.
bool keepFromLowering(Event& e) {
    bool kept = false;
    for (int stat = 0; stat < Stat::COUNT; stat++) {
        if (e.boosts[stat] >= 0) continue;
        e.boosts[stat] = 0;
        kept = true;
    }
    return kept;
}

// Clear Body and White Smoke
Value keepStats(Battle& b, Event& e) {
    if (e.target != e.source && keepFromLowering(e) && !hasSecondaries(e)) b.add(Message::fail, e.target, "unboost", from(e.effect), of(e.target));
    return UNDEFINED;
}

// Big Pecks and Hyper Cutter
template <int STAT>
Value keepStat(Battle& b, Event& e) {
    if (e.target == e.source || e.boosts[STAT] >= 0) return UNDEFINED;
    e.boosts[STAT] = 0;
    if (!hasSecondaries(e)) b.add(Message::fail, e.target, "unboost", STAT == Stat::def ? "Defense" : "Attack", from(e.effect), of(e.target));
    return UNDEFINED;
}

// Defiant and Competitive
template <int STAT>
Value answerLowering(Battle& b, Event& e) {
    if (!e.source || b.isAlly(e.target, e.source)) return UNDEFINED;
    bool lowered = false;
    for (int stat = 0; stat < Stat::COUNT; stat++) lowered = lowered || e.boosts[stat] < 0;
    if (lowered) b.boost(STAT, 2, e.target, e.target, {}, false, true);
    return UNDEFINED;
}

// Of onTryHit: a type that raises a stat in place of hitting.
template <int TYPE, int STAT>
Value feedOn(Battle& b, Event& e) {
    if (e.target == e.source || e.move()->type != TYPE) return UNDEFINED;
    if (!truthy(b.boost(STAT, 1))) b.add(Message::immune, e.target, from(e.effect));
    return NUL;
}

Value weakenSuperEffective(Battle&, Event& e) {
    return e.move()->typeMod[slotIndex(e.source)] > 0 ? e.chainModify(3, 4) : UNDEFINED;
}

// Queenly Majesty and its like, of onFoeTryMove: target is the user, source whom it is used on.
Value keepPriorityOff(Battle& b, Event& e) {
    const ActiveMove& move = *e.move();
    if (move.target == Target::foeSide || (move.target == Target::all && move.id != move::perishsong)) return UNDEFINED;
    bool meant = move.target == Target::all || b.isAlly(e.source, e.holder);
    if (!meant || move.priority <= 0) return UNDEFINED;
    b.stillLastMove();
    b.add(Message::cant, e.holder, full(e.effect), named(move.id), of(e.target));
    return FALSE;
}

constexpr Handler HANDLERS_HERE[] = {
    {ability::armortail, onFoeTryMove, {}, keepPriorityOff},
    {ability::aromaveil, onAllyTryAddVolatile, {}, [](Battle& b, Event& e) -> Value {
        constexpr int KEPT[] = {condition::attract, condition::disable, condition::encore, condition::healblock, condition::taunt, condition::torment};
        for (int id : KEPT) {
            if (e.adding != id) continue;
            if (e.cause.type() == EffectType::Move) b.add(Message::block, e.target, full(e.effect), of(e.holder));
            return NUL;
        }
        return UNDEFINED;
    }},
    {ability::battlearmor, onCriticalHit, {}, [](Battle&, Event&) -> Value { return FALSE; }},
    {ability::bigpecks, onTryBoost, {}, keepStat<Stat::def>},
    {ability::bulletproof, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (!e.move()->has(Flag::bullet)) return UNDEFINED;
        b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::clearbody, onTryBoost, {}, keepStats},
    {ability::competitive, onAfterEachBoost, {}, answerLowering<Stat::spa>},
    {ability::contrary, onChangeBoost, {}, [](Battle&, Event& e) -> Value {
        for (int stat = 0; stat < Stat::COUNT; stat++) e.boosts[stat] *= -1;
        return UNDEFINED;
    }},
    {ability::dazzling, onFoeTryMove, {}, keepPriorityOff},
    {ability::defiant, onAfterEachBoost, {}, answerLowering<Stat::atk>},
    {ability::disguise, onDamage, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        if (e.cause.type() != EffectType::Move || e.target->species != species::mimikyu) return UNDEFINED;
        b.add(Message::activate, e.target, "ability: Disguise");
        e.state->counter = 1;
        return 0;
    }},
    {ability::disguise, onCriticalHit, {}, [](Battle& b, Event& e) -> Value {
        return meetsDisguise(b, e) ? Value(FALSE) : Value(UNDEFINED);
    }},
    {ability::disguise, onEffectiveness, {}, [](Battle& b, Event& e) -> Value {
        return e.move()->category != Category::Status && meetsDisguise(b, e) ? 0 : Value(UNDEFINED);
    }},
    {ability::disguise, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->species != species::mimikyu || !e.state->counter) return UNDEFINED;
        b.formeChange(e.target, species::mimikyubusted, e.effect, true);
        b.damage(e.target->maxhp / 8, e.target, e.target);
        return UNDEFINED;
    }},
    {ability::dryskin, onTryHit, {}, absorb<Type::Water>},
    {ability::dryskin, onSourceBasePower, {.priority = 17}, [](Battle&, Event& e) -> Value {
        return e.move()->type == Type::Fire ? e.chainModify(5, 4) : UNDEFINED;
    }},
    {ability::dryskin, onWeather, {}, [](Battle& b, Event& e) -> Value {
        if (b.effectiveWeather(e.target) != e.cause.id) return UNDEFINED;
        if (e.cause.id == condition::raindance) b.heal(e.target->maxhp / 8);
        if (e.cause.id == condition::sunnyday) b.damage(e.target->maxhp / 8, e.target, e.target);
        return UNDEFINED;
    }},
    {ability::eartheater, onTryHit, {}, absorb<Type::Ground>},
    {ability::filter, onSourceModifyDamage, {}, weakenSuperEffective},
    {ability::flashfire, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.source || e.move()->type != Type::Fire) return UNDEFINED;
        e.move()->accuracy = TRUE;
        if (!truthy(b.addVolatile(e.target, condition::flashfire))) b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::flashfire, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.removeVolatile(e.target, condition::flashfire);
        return UNDEFINED;
    }},
    {ability::flowerveil, onAllyTryBoost, {}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.source || !b.hasType(e.target, Type::Grass)) return UNDEFINED;
        if (keepFromLowering(e) && !hasSecondaries(e)) b.add(Message::block, e.target, full(e.effect), of(e.holder));
        return UNDEFINED;
    }},
    {ability::flowerveil, onAllySetStatus, {}, [](Battle& b, Event& e) -> Value {
        if (!b.hasType(e.target, Type::Grass) || !e.source || e.target == e.source) return UNDEFINED;
        if (e.cause.type() == EffectType::Move && !hasSecondaries(e)) b.add(Message::block, e.target, full(e.effect), of(e.holder));
        return NUL;
    }},
    {ability::flowerveil, onAllyTryAddVolatile, {}, nothing},  // Yawn
    {ability::fluffy, onSourceModifyDamage, {}, [](Battle&, Event& e) -> Value {
        bool fire = e.move()->type == Type::Fire, contact = e.move()->has(Flag::contact);
        return fire == contact ? UNDEFINED : fire ? e.chainModify(2, 1) : e.chainModify(1, 2);
    }},
    {ability::furcoat, onModifyDef, {.priority = 6}, [](Battle&, Event& e) -> Value { return e.chainModify(2, 1); }},
    {ability::goodasgold, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->category != Category::Status || e.target == e.source) return UNDEFINED;
        b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::grasspelt, onModifyDef, {.priority = 6}, [](Battle& b, Event& e) -> Value {
        return b.isTerrain(condition::grassyterrain) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::guarddog, onDragOut, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        b.add(Message::activate, e.target, "ability: Guard Dog");
        return NUL;
    }},
    {ability::guarddog, onTryBoost, {.priority = 2}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id != ability::intimidate || !e.boosts[Stat::atk]) return UNDEFINED;
        e.boosts[Stat::atk] = 0;
        b.boost(Stat::atk, 1, e.target, e.target, {}, false, true);
        return UNDEFINED;
    }},
    {ability::heatproof, onSourceModifyAtk, {.priority = 6}, halved<Type::Fire>},
    {ability::heatproof, onSourceModifySpA, {.priority = 5}, halved<Type::Fire>},
    {ability::heatproof, onDamage, {}, [](Battle&, Event& e) -> Value {
        return e.cause.id == condition::brn ? atLeastOne(e.relay / 2) : Value(UNDEFINED);
    }},
    {ability::heavymetal, onModifyWeight, {.priority = 1}, [](Battle&, Event& e) -> Value { return 2 * e.relay; }},
    {ability::hypercutter, onTryBoost, {}, keepStat<Stat::atk>},
    {ability::icescales, onSourceModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.move()->category == Category::Special ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {ability::immunity, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status == condition::tox) return cure<condition::tox>(b, e);
        return cure<condition::psn>(b, e);
    }},
    {ability::immunity, onSetStatus, {}, [](Battle& b, Event& e) -> Value {
        return e.adding == condition::tox ? immuneToStatus<condition::tox>(b, e) : immuneToStatus<condition::psn>(b, e);
    }},
    {ability::innerfocus, onTryAddVolatile, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::flinch ? Value(NUL) : Value(UNDEFINED);
    }},
    {ability::innerfocus, onTryBoost, {}, ignoreIntimidate},
    {ability::insomnia, onUpdate, {}, cure<condition::slp>},
    {ability::insomnia, onSetStatus, {}, immuneToStatus<condition::slp>},
    {ability::insomnia, onTryAddVolatile, {}, nothing},  // Yawn
    {ability::leafguard, onTryAddVolatile, {}, nothing},  // Yawn
    {ability::leafguard, onSetStatus, {}, [](Battle& b, Event& e) -> Value {
        if (b.effectiveWeather(e.target) != condition::sunnyday) return UNDEFINED;
        addImmunity(b, e);
        return FALSE;
    }},
    {ability::lightmetal, onModifyWeight, {}, [](Battle&, Event& e) -> Value { return e.relay / 2; }},
    {ability::lightningrod, onTryHit, {}, feedOn<Type::Electric, Stat::spa>},
    {ability::limber, onUpdate, {}, cure<condition::par>},
    {ability::limber, onSetStatus, {}, immuneToStatus<condition::par>},
    {ability::liquidooze, onSourceTryHeal, {}, [](Battle& b, Event& e) -> Value {
        int cause = e.cause.id;
        if (cause != condition::drain && cause != condition::leechseed && cause != move::strengthsap) return UNDEFINED;
        b.damage(e.relay);
        return 0;
    }},
    {ability::magicbounce, onTryHit, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        const ActiveMove& move = *e.move();
        if (e.target == e.source || move.hasBounced || !move.has(Flag::reflectable) || b.isSemiInvulnerable(e.target)) return UNDEFINED;
        bounce(b, move, e.target, e.source);
        return NUL;
    }},
    {ability::magicbounce, onAllyTryHitSide, {}, [](Battle& b, Event& e) -> Value {
        ActiveMove& move = *e.move();
        if (b.isAlly(e.target, e.source) || move.hasBounced || !move.has(Flag::reflectable) || b.isSemiInvulnerable(e.target))
            return UNDEFINED;
        bounce(b, move, e.holder, e.source);
        move.hasBounced = true;
        return NUL;
    }},
    {ability::magicguard, onDamage, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.type() == EffectType::Move) return UNDEFINED;
        if (e.cause.type() == EffectType::Ability) b.add(Message::activate, e.source, full(e.cause.id));
        return FALSE;
    }},
    {ability::magmaarmor, onUpdate, {}, cure<condition::frz>},
    {ability::magmaarmor, onImmunity, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::frz ? Value(FALSE) : Value(UNDEFINED);
    }},
    {ability::marvelscale, onModifyDef, {.priority = 6}, [](Battle&, Event& e) -> Value {
        return e.target->status ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::mirrorarmor, onTryBoost, {}, [](Battle& b, Event& e) -> Value {
        if (!e.source || e.target == e.source || e.cause.id == ability::mirrorarmor) return UNDEFINED;
        for (int stat = 0; stat < Stat::COUNT; stat++) {
            if (e.boosts[stat] >= 0 || b.out(e.target).boosts[stat] == -6) continue;
            int by = e.boosts[stat];
            e.boosts[stat] = 0;
            if (!e.source->hp) continue;
            b.add(Message::ability, e.target, "Mirror Armor");
            b.boost(stat, by, e.source, e.target, {}, true);
        }
        return UNDEFINED;
    }},
    {ability::motordrive, onTryHit, {}, feedOn<Type::Electric, Stat::spe>},
    {ability::multiscale, onSourceModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.source->hp >= e.source->maxhp ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {ability::oblivious, onImmunity, {}, nothing},  // Attract
    {ability::oblivious, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (!b.volatileOf(e.target, condition::taunt)) return UNDEFINED;
        b.add(Message::activate, e.target, "ability: Oblivious");
        b.removeVolatile(e.target, condition::taunt);
        return UNDEFINED;
    }},
    {ability::oblivious, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->id != move::taunt) return UNDEFINED;
        b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::oblivious, onTryBoost, {}, ignoreIntimidate},
    {ability::overcoat, onImmunity, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::sandstorm || e.adding == POWDER ? Value(FALSE) : Value(UNDEFINED);
    }},
    {ability::overcoat, onTryHit, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        bool affected = e.move()->has(Flag::powder) && e.target != e.source && !b.hasType(e.target, Type::Grass);
        if (!affected) return UNDEFINED;
        b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::owntempo, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (!b.volatileOf(e.target, condition::confusion)) return UNDEFINED;
        b.add(Message::activate, e.target, full(e.effect));
        b.removeVolatile(e.target, condition::confusion);
        return UNDEFINED;
    }},
    {ability::owntempo, onTryAddVolatile, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::confusion ? Value(NUL) : Value(UNDEFINED);
    }},
    {ability::owntempo, onHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move() && e.move()->hit.volatileStatus == condition::confusion) b.add(Message::immune, e.target, "confusion", from(e.effect));
        return UNDEFINED;
    }},
    {ability::owntempo, onTryBoost, {}, ignoreIntimidate},
    {ability::poisonheal, onDamage, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id != condition::psn && e.cause.id != condition::tox) return UNDEFINED;
        b.heal(e.target->maxhp / 8);
        return FALSE;
    }},
    {ability::prismarmor, onSourceModifyDamage, {}, weakenSuperEffective},
    {ability::punkrock, onBasePower, {.priority = 7}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::sound) ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {ability::punkrock, onSourceModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::sound) ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {ability::purifyingsalt, onTryAddVolatile, {}, nothing},  // Yawn
    {ability::purifyingsalt, onSetStatus, {}, [](Battle& b, Event& e) -> Value {
        addImmunity(b, e);
        return FALSE;
    }},
    {ability::purifyingsalt, onSourceModifyAtk, {.priority = 6}, halved<Type::Ghost>},
    {ability::purifyingsalt, onSourceModifySpA, {.priority = 5}, halved<Type::Ghost>},
    {ability::queenlymajesty, onFoeTryMove, {}, keepPriorityOff},
    {ability::sapsipper, onTryHit, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.source || e.move()->type != Type::Grass) return UNDEFINED;
        if (!truthy(b.boost(Stat::atk, 1))) b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::sapsipper, onAllyTryHitSide, {}, [](Battle& b, Event& e) -> Value {
        if (e.source == e.holder || !b.isAlly(e.target, e.source)) return UNDEFINED;
        if (e.move()->type == Type::Grass) b.boost(Stat::atk, 1, e.holder);
        return UNDEFINED;
    }},
    {ability::shellarmor, onCriticalHit, {}, [](Battle&, Event&) -> Value { return FALSE; }},
    {ability::shielddust, onModifySecondaries, {}, [](Battle&, Event& e) -> Value {
        e.secondaries->keepThoseWithSelf();
        return UNDEFINED;
    }},
    {ability::simple, onChangeBoost, {}, [](Battle&, Event& e) -> Value {
        for (int stat = 0; stat < Stat::COUNT; stat++) e.boosts[stat] *= 2;
        return UNDEFINED;
    }},
    {ability::solidrock, onSourceModifyDamage, {}, weakenSuperEffective},
    {ability::soundproof, onTryHit, {}, immuneTo<Flag::sound>},
    {ability::soundproof, onAllyTryHitSide, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->has(Flag::sound)) b.add(Message::immune, e.holder, from(e.effect));
        return UNDEFINED;
    }},
    {ability::stickyhold, onTakeItem, {}, [](Battle& b, Event& e) -> Value {
        if (!e.target->hp || e.target->item == item::stickybarb) return UNDEFINED;
        bool taken = (e.source && e.source != e.target) || b.activeMove->id == move::knockoff;
        if (!taken) return UNDEFINED;
        b.add(Message::activate, e.target, full(e.effect));
        return FALSE;
    }},
    {ability::stormdrain, onTryHit, {}, feedOn<Type::Water, Stat::spa>},
    {ability::sturdy, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (!e.move()->ohko) return UNDEFINED;
        b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::sturdy, onDamage, {.priority = -30}, [](Battle& b, Event& e) -> Value {
        bool survives = e.target->hp == e.target->maxhp && e.relay >= e.target->hp && e.cause.type() == EffectType::Move;
        if (!survives) return UNDEFINED;
        b.add(Message::ability, e.target, "Sturdy");
        return e.target->hp - 1;
    }},
    {ability::suctioncups, onDragOut, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        b.add(Message::activate, e.target, full(e.effect));
        return NUL;
    }},
    {ability::synchronize, onAfterSetStatus, {}, [](Battle& b, Event& e) -> Value {
        if (!e.source || e.source == e.target || e.cause.id == condition::toxicspikes) return UNDEFINED;
        if (e.adding == condition::slp || e.adding == condition::frz) return UNDEFINED;
        b.add(Message::activate, e.target, full(e.effect));
        b.trySetStatus(e.source, e.adding, e.target, Cause::ofStatus(ability::synchronize, e.adding));
        return UNDEFINED;
    }},
    {ability::tabletsofruin, onAnyModifyAtk, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasAbility(e.target, ability::tabletsofruin)) return UNDEFINED;
        Pokemon*& ruined = e.move()->ruinedAtk;
        if (!ruined) ruined = e.holder;
        return ruined == e.holder ? e.chainModify(3, 4) : UNDEFINED;
    }},
    {ability::thermalexchange, onUpdate, {}, cure<condition::brn>},
    {ability::thermalexchange, onSetStatus, {}, immuneToStatus<condition::brn>},
    {ability::thickfat, onSourceModifyAtk, {.priority = 6}, halved<Type::Ice, Type::Fire>},
    {ability::thickfat, onSourceModifySpA, {.priority = 5}, halved<Type::Ice, Type::Fire>},
    {ability::unaware, onAnyModifyBoost, {}, [](Battle& b, Event& e) -> Value {
        if (e.holder == e.target) return UNDEFINED;
        if (e.holder == b.activePokemon && e.target == b.activeTarget)
            for (int stat : {Stat::def, Stat::spd, Stat::evasion}) e.boosts[stat] = 0;
        if (e.target == b.activePokemon && e.holder == b.activeTarget)
            for (int stat : {Stat::atk, Stat::def, Stat::spa, Stat::accuracy}) e.boosts[stat] = 0;
        return UNDEFINED;
    }},
    {ability::vitalspirit, onUpdate, {}, cure<condition::slp>},
    {ability::vitalspirit, onSetStatus, {}, immuneToStatus<condition::slp>},
    {ability::vitalspirit, onTryAddVolatile, {}, nothing},  // Yawn
    {ability::voltabsorb, onTryHit, {}, absorb<Type::Electric>},
    {ability::waterabsorb, onTryHit, {}, absorb<Type::Water>},
    {ability::waterveil, onUpdate, {}, cure<condition::brn>},
    {ability::waterveil, onSetStatus, {}, immuneToStatus<condition::brn>},
    {ability::wellbakedbody, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.source || e.move()->type != Type::Fire) return UNDEFINED;
        if (!truthy(b.boost(Stat::def, 2))) b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::whitesmoke, onTryBoost, {}, keepStats},
    {ability::windrider, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (b.sideCondition(e.target->side, condition::tailwind)) b.boost(Stat::atk, 1, e.target, e.target);
        return UNDEFINED;
    }},
    {ability::windrider, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.source || !e.move()->has(Flag::wind)) return UNDEFINED;
        if (!truthy(b.boost(Stat::atk, 1, e.target, e.target))) b.add(Message::immune, e.target, from(e.effect));
        return NUL;
    }},
    {ability::windrider, onSideConditionStart, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id == condition::tailwind) b.boost(Stat::atk, 1, e.holder, e.holder);
        return UNDEFINED;
    }},

    {condition::flashfire, onStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::start, e.target, "ability: Flash Fire");
        return UNDEFINED;
    }},
    {condition::flashfire, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::end, e.target, "ability: Flash Fire", "[silent]");
        return UNDEFINED;
    }},
    {condition::flashfire, onModifyAtk, {.priority = 5}, [](Battle& b, Event& e) -> Value {
        return e.move()->type == Type::Fire && b.hasAbility(e.target, ability::flashfire) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {condition::flashfire, onModifySpA, {.priority = 5}, [](Battle& b, Event& e) -> Value {
        return e.move()->type == Type::Fire && b.hasAbility(e.target, ability::flashfire) ? e.chainModify(3, 2) : UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList ABILITIES_OF_DEFENSE = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
