// Handlers of abilities (data/abilities.ts) that change what their holder's own moves do: power, attack, accuracy, type,
// priority, and what follows a hit or a knock-out.

#include "battle.h"

namespace {

template <int TYPE>
Value pinch(Battle&, Event& e) {
    return e.move()->type == TYPE && 3 * e.target->hp <= e.target->maxhp ? e.chainModify(3, 2) : UNDEFINED;
}

template <int TYPE>
Value doubled(Battle&, Event& e) {
    return e.move()->type == TYPE ? e.chainModify(2, 1) : UNDEFINED;
}

Value halvedFire(Battle&, Event& e) { return e.move()->type == Type::Fire ? e.chainModify(1, 2) : UNDEFINED; }

// Libero and Protean: the user takes its move's type, once between two switches.
Value changeType(Battle& b, Event& e) {
    const ActiveMove& move = *e.move();
    if (e.state->counter || move.hasBounced || move.has(Flag::futuremove) || move.callsMove) return UNDEFINED;
    Types types = b.getTypes(e.target);
    if (move.type == Type::unknown || (types.count == 1 && types.has(move.type))) return UNDEFINED;
    if (!b.setType(e.target, move.type)) return UNDEFINED;
    e.state->counter = 1;
    b.add(Message::start, e.target, "typechange", typeName(move.type), from(e.effect));
    return UNDEFINED;
}

Value tracksTarget(Battle&, Event& e) {
    e.move()->tracksTarget = true;
    return UNDEFINED;
}

template <int TYPE>
Value half(Battle&, Event& e) {
    return e.move()->type == TYPE ? e.chainModify(3, 2) : UNDEFINED;
}

template <int TYPE>
Value strengthen(Battle&, Event& e) {
    return e.move()->type == TYPE ? e.chainModify(5325, 4096) : UNDEFINED;
}

// Moxie and Chilling Neigh
template <int STAT>
Value raiseForKnockouts(Battle& b, Event& e) {
    if (e.cause.type() == EffectType::Move) b.boost(STAT, e.relay, e.source);
    return UNDEFINED;
}

// Pixilate and Galvanize: Normal moves are of another type, and stronger.
template <int TYPE>
Value ofNormal(Battle&, Event& e) {
    ActiveMove& move = *e.move();
    switch (move.id) {
        case move::judgment:
        case move::revelationdance:
        case move::terrainpulse:
        case move::weatherball: return UNDEFINED;
    }
    if (move.type != Type::Normal || (move.id == move::terablast && e.target->terastallized)) return UNDEFINED;
    move.type = TYPE;
    move.typeChangerBoosted = e.effect;
    return UNDEFINED;
}

Value changedType(Battle&, Event& e) { return e.move()->typeChangerBoosted == e.effect ? e.chainModify(4915, 4096) : UNDEFINED; }

// Stakeout
Value ifJustIn(Battle& b, Event& e) { return b.out(e.source).activeTurns ? UNDEFINED : e.chainModify(2, 1); }

constexpr Handler HANDLERS_HERE[] = {
    // The stab of 8192 is that of a native type to which it is terastallized.
    {ability::adaptability, onModifySTAB, {}, [](Battle& b, Event& e) -> Value {
        if (!e.move()->forceSTAB && !b.hasType(e.target, e.move()->type)) return UNDEFINED;
        return e.relay == 8192 ? 9216 : 8192;
    }},
    {ability::analytic, onBasePower, {.priority = 21}, [](Battle& b, Event& e) -> Value {
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++)
            if (actives.list[n] != e.target && b.willMove(actives.list[n])) return UNDEFINED;
        return e.chainModify(5325, 4096);
    }},
    {ability::battlebond, onModifyMove, {.priority = -1}, nothing},  // Greninja-Ash
    {ability::battlebond, onSourceAfterFaint, {}, [](Battle& b, Event& e) -> Value {
        constexpr int RAISED[Stat::COUNT] = {1, 0, 1, 0, 1};
        Pokemon* holder = e.source;
        if (holder->bondTriggered || e.cause.type() != EffectType::Move || holder->species != species::greninjabond) return UNDEFINED;
        if (!holder->hp || b.out(holder).transformed || !b.foeSideOf(holder).pokemonLeft) return UNDEFINED;
        b.boost(RAISED, holder, holder);
        b.add(Message::activate, holder, "ability: Battle Bond");
        holder->bondTriggered = true;
        return UNDEFINED;
    }},
    {ability::blaze, onModifyAtk, {.priority = 5}, pinch<Type::Fire>},
    {ability::blaze, onModifySpA, {.priority = 5}, pinch<Type::Fire>},
    {ability::chillingneigh, onSourceAfterFaint, {}, raiseForKnockouts<Stat::atk>},
    {ability::compoundeyes, onSourceModifyAccuracy, {.priority = -1}, [](Battle&, Event& e) -> Value {
        return isNumber(e.relay) ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {ability::dragonsmaw, onModifyAtk, {.priority = 5}, half<Type::Dragon>},
    {ability::dragonsmaw, onModifySpA, {.priority = 5}, half<Type::Dragon>},
    {ability::flareboost, onBasePower, {.priority = 19}, [](Battle&, Event& e) -> Value {
        return e.target->status == condition::brn && e.move()->category == Category::Special ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::galewings, onModifyPriority, {}, [](Battle&, Event& e) -> Value {
        return e.move()->type == Type::Flying && e.target->hp == e.target->maxhp ? e.relay + 1 : Value(UNDEFINED);
    }},
    {ability::galvanize, onModifyType, {.priority = -1}, ofNormal<Type::Electric>},
    {ability::galvanize, onBasePower, {.priority = 23}, changedType},
    {ability::guts, onModifyAtk, {.priority = 5}, [](Battle&, Event& e) -> Value {
        return e.target->status ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::hugepower, onModifyAtk, {.priority = 5}, [](Battle&, Event& e) -> Value { return e.chainModify(2, 1); }},
    {ability::hustle, onModifyAtk, {.priority = 5}, [](Battle&, Event& e) -> Value { return modify(e.relay, 6144); }},
    {ability::hustle, onSourceModifyAccuracy, {.priority = -1}, [](Battle&, Event& e) -> Value {
        return e.move()->category == Category::Physical && isNumber(e.relay) ? e.chainModify(3277, 4096) : UNDEFINED;
    }},
    {ability::infiltrator, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        e.move()->infiltrates = true;
        return UNDEFINED;
    }},
    {ability::ironfist, onBasePower, {.priority = 23}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::punch) ? e.chainModify(4915, 4096) : UNDEFINED;
    }},
    {ability::libero, onPrepareHit, {}, changeType},
    {ability::liquidvoice, onModifyType, {.priority = -1}, [](Battle&, Event& e) -> Value {
        if (e.move()->has(Flag::sound)) e.move()->type = Type::Water;
        return UNDEFINED;
    }},
    {ability::longreach, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        e.move()->flags &= ~Flag::contact;
        return UNDEFINED;
    }},
    {ability::magician, onAfterMoveSecondarySelf, {}, [](Battle& b, Event& e) -> Value {
        Pokemon* holder = e.target;
        ActiveMove& move = *e.move();
        if (holder->switchFlag == 1 || !move.hitTargetCount || holder->item || move.category == Category::Status) return UNDEFINED;
        b.speedSort(move.hitTargets, move.hitTargetCount, [](const Pokemon* x, const Pokemon* y) { return int64_t(y->speed) - x->speed; });
        for (int n = 0; n < move.hitTargetCount; n++) {
            Pokemon* hit = move.hitTargets[n];
            int item = hit == holder ? 0 : b.takeItem(hit, holder);
            if (!item) continue;
            if (b.setItem(holder, item)) {
                b.add(Message::item, holder, named(item), from(ability::magician), of(hit));
                return UNDEFINED;
            }
            hit->item = item;
        }
        return UNDEFINED;
    }},
    {ability::megalauncher, onBasePower, {.priority = 19}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::pulse) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::merciless, onModifyCritRatio, {}, [](Battle&, Event& e) -> Value {
        bool poisoned = e.source && (e.source->status == condition::psn || e.source->status == condition::tox);
        return poisoned ? 5 : Value(UNDEFINED);
    }},
    {ability::moldbreaker, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        e.move()->ignoreAbility = true;
        return UNDEFINED;
    }},
    {ability::moxie, onSourceAfterFaint, {}, raiseForKnockouts<Stat::atk>},
    {ability::myceliummight, onFractionalPriority, {.priority = -1}, [](Battle&, Event& e) -> Value {
        return e.move()->category == Category::Status ? -1 : Value(UNDEFINED);  // in tenths
    }},
    {ability::myceliummight, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        if (e.move()->category == Category::Status) e.move()->ignoreAbility = true;
        return UNDEFINED;
    }},
    {ability::noguard, onAnyInvulnerability, {.priority = 1}, [](Battle&, Event& e) -> Value {
        return e.move() && (e.source == e.holder || e.target == e.holder) ? 0 : Value(UNDEFINED);
    }},
    {ability::noguard, onAnyAccuracy, {}, [](Battle&, Event& e) -> Value {
        return e.move() && (e.source == e.holder || e.target == e.holder) ? Value(TRUE) : e.relay;
    }},
    {ability::overgrow, onModifyAtk, {.priority = 5}, pinch<Type::Grass>},
    {ability::overgrow, onModifySpA, {.priority = 5}, pinch<Type::Grass>},
    {ability::pixilate, onModifyType, {.priority = -1}, ofNormal<Type::Fairy>},
    {ability::pixilate, onBasePower, {.priority = 23}, changedType},
    {ability::poisonpuppeteer, onAnyAfterSetStatus, {}, [](Battle& b, Event& e) -> Value {
        if (e.source != e.holder || e.target == e.source || e.source->baseSpecies != species::pecharunt) return UNDEFINED;
        if (e.cause.type() == EffectType::Move && (e.adding == condition::psn || e.adding == condition::tox))
            b.addVolatile(e.target, condition::confusion);
        return UNDEFINED;
    }},
    {ability::prankster, onModifyPriority, {}, [](Battle&, Event& e) -> Value {
        if (e.move()->category != Category::Status) return UNDEFINED;
        e.move()->pranksterBoosted = true;
        return e.relay + 1;
    }},
    {ability::propellertail, onModifyMove, {.priority = 1}, tracksTarget},
    {ability::protean, onPrepareHit, {}, changeType},
    {ability::purepower, onModifyAtk, {.priority = 5}, [](Battle&, Event& e) -> Value { return e.chainModify(2, 1); }},
    {ability::reckless, onBasePower, {.priority = 23}, [](Battle&, Event& e) -> Value {
        return e.move()->recoil[0] || e.move()->hasCrashDamage ? e.chainModify(4915, 4096) : UNDEFINED;
    }},
    {ability::rockhead, onDamage, {}, [](Battle& b, Event& e) -> Value {
        return e.cause.id == condition::recoil && b.activeMove->id != move::struggle ? Value(NUL) : Value(UNDEFINED);
    }},
    {ability::rockypayload, onModifyAtk, {.priority = 5}, half<Type::Rock>},
    {ability::rockypayload, onModifySpA, {.priority = 5}, half<Type::Rock>},
    {ability::sandforce, onBasePower, {.priority = 21}, [](Battle& b, Event& e) -> Value {
        int type = e.move()->type;
        bool boosted = type == Type::Rock || type == Type::Ground || type == Type::Steel;
        return boosted && b.isWeather(condition::sandstorm) ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {ability::sandforce, onImmunity, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::sandstorm ? Value(FALSE) : Value(UNDEFINED);
    }},
    {ability::scrappy, onModifyMove, {.priority = -5}, [](Battle&, Event& e) -> Value {
        if (e.move()->ignoreImmunity != ALL_TYPES) e.move()->ignoreImmunity |= 1 << Type::Fighting | 1 << Type::Normal;
        return UNDEFINED;
    }},
    {ability::scrappy, onTryBoost, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id != ability::intimidate || !e.boosts[Stat::atk]) return UNDEFINED;
        e.boosts[Stat::atk] = 0;
        b.add(Message::fail, e.target, "unboost", "Attack", from(e.effect), of(e.target));
        return UNDEFINED;
    }},
    {ability::serenegrace, onModifyMove, {.priority = -2}, [](Battle&, Event& e) -> Value {
        for (int n = 0; n < e.move()->secondaryCount; n++) e.move()->secondaries[n].chance *= 2;
        e.move()->selfChances = 2;
        return UNDEFINED;
    }},
    {ability::sharpness, onBasePower, {.priority = 19}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::slicing) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::sheerforce, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        ActiveMove& move = *e.move();
        if (!move.secondaryCount || move.hasSheerForceBoost) return UNDEFINED;
        move.secondaryCount = 0;
        move.hit.self = nullptr;
        move.hasSheerForce = true;
        return UNDEFINED;
    }},
    {ability::sheerforce, onBasePower, {.priority = 21}, [](Battle&, Event& e) -> Value {
        return e.move()->hasSheerForce || e.move()->hasSheerForceBoost ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {ability::skilllink, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        e.move()->multihit[0] = e.move()->multihit[1];
        e.move()->multiaccuracy = false;
        return UNDEFINED;
    }},
    {ability::sniper, onModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.move()->crit[slotIndex(e.source)] ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::stakeout, onModifyAtk, {.priority = 5}, ifJustIn},
    {ability::stakeout, onModifySpA, {.priority = 5}, ifJustIn},
    {ability::strongjaw, onBasePower, {.priority = 19}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::bite) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::superluck, onModifyCritRatio, {}, [](Battle&, Event& e) -> Value { return e.relay + 1; }},
    {ability::supremeoverlord, onStart, {}, [](Battle& b, Event& e) -> Value {
        int fainted = b.sideOf(e.target).totalFainted;
        if (!fainted) return UNDEFINED;
        b.add(Message::activate, e.target, "ability: Supreme Overlord");
        e.state->counter = fainted < 5 ? fainted : 5;
        b.add(Message::start, e.target, Argument(e.state->counter).after("fallen"), "[silent]");
        return UNDEFINED;
    }},
    {ability::supremeoverlord, onEnd, {}, [](Battle& b, Event& e) -> Value {
        Argument fallen = e.state->counter ? Argument(e.state->counter).after("fallen") : Argument("fallenundefined");
        b.add(Message::end, e.target, fallen, "[silent]");
        return UNDEFINED;
    }},
    {ability::supremeoverlord, onBasePower, {.priority = 21}, [](Battle&, Event& e) -> Value {
        constexpr int POWERS[] = {4096, 4506, 4915, 5325, 5734, 6144};
        return e.state->counter ? e.chainModify(POWERS[e.state->counter], 4096) : UNDEFINED;
    }},
    {ability::swarm, onModifyAtk, {.priority = 5}, pinch<Type::Bug>},
    {ability::swarm, onModifySpA, {.priority = 5}, pinch<Type::Bug>},
    {ability::technician, onBasePower, {.priority = 30}, [](Battle&, Event& e) -> Value {
        return modify(e.relay, e.modifier) <= 60 ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::tintedlens, onModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.move()->typeMod[slotIndex(e.source)] < 0 ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {ability::torrent, onModifyAtk, {.priority = 5}, pinch<Type::Water>},
    {ability::torrent, onModifySpA, {.priority = 5}, pinch<Type::Water>},
    {ability::toughclaws, onBasePower, {.priority = 21}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::contact) ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {ability::toxicboost, onBasePower, {.priority = 19}, [](Battle&, Event& e) -> Value {
        bool poisoned = e.target->status == condition::psn || e.target->status == condition::tox;
        return poisoned && e.move()->category == Category::Physical ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::toxicchain, onSourceDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasAbility(e.target, ability::shielddust) || b.hasItem(e.target, item::covertcloak)) return UNDEFINED;
        if (b.prng.randomChance(3, 10)) b.trySetStatus(e.target, condition::tox, e.source);
        return UNDEFINED;
    }},
    {ability::transistor, onModifyAtk, {.priority = 5}, strengthen<Type::Electric>},
    {ability::transistor, onModifySpA, {.priority = 5}, strengthen<Type::Electric>},
    {ability::triage, onModifyPriority, {}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::heal) ? e.relay + 3 : Value(UNDEFINED);
    }},
    {ability::vesselofruin, onAnyModifySpA, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasAbility(e.target, ability::vesselofruin)) return UNDEFINED;
        Pokemon*& ruined = e.move()->ruinedSpA;
        if (!ruined) ruined = e.holder;
        return ruined == e.holder ? e.chainModify(3, 4) : UNDEFINED;
    }},
    {ability::waterbubble, onModifyAtk, {}, doubled<Type::Water>},
    {ability::waterbubble, onModifySpA, {}, doubled<Type::Water>},
    {ability::waterbubble, onSourceModifyAtk, {.priority = 5}, halvedFire},
    {ability::waterbubble, onSourceModifySpA, {.priority = 5}, halvedFire},
    {ability::waterbubble, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status != condition::brn) return UNDEFINED;
        b.add(Message::activate, e.target, "ability: Water Bubble");
        b.cureStatus(e.target);
        return UNDEFINED;
    }},
    {ability::waterbubble, onSetStatus, {}, [](Battle& b, Event& e) -> Value {
        if (e.adding != condition::brn) return UNDEFINED;
        if (e.cause.setsStatus()) b.add(Message::immune, e.target, from(ability::waterbubble));
        return FALSE;
    }},
};

}  // namespace

extern const HandlerList ABILITIES_OF_POWER = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
