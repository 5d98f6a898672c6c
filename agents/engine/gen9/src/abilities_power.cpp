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

constexpr Handler HANDLERS_HERE[] = {
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
    {ability::galewings, onModifyPriority, {}, [](Battle&, Event& e) -> Value {
        return e.move()->type == Type::Flying && e.target->hp == e.target->maxhp ? e.relay + 1 : Value(UNDEFINED);
    }},
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
    {ability::libero, onPrepareHit, {}, changeType},
    {ability::liquidvoice, onModifyType, {.priority = -1}, [](Battle&, Event& e) -> Value {
        if (e.move()->has(Flag::sound)) e.move()->type = Type::Water;
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
    {ability::moldbreaker, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        e.move()->ignoreAbility = true;
        return UNDEFINED;
    }},
    {ability::moxie, onSourceAfterFaint, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.type() == EffectType::Move) b.boost(Stat::atk, e.relay, e.source);
        return UNDEFINED;
    }},
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
    {ability::rockhead, onDamage, {}, [](Battle& b, Event& e) -> Value {
        return e.cause.id == condition::recoil && b.activeMove->id != move::struggle ? Value(NUL) : Value(UNDEFINED);
    }},
    {ability::sandforce, onBasePower, {.priority = 21}, [](Battle& b, Event& e) -> Value {
        int type = e.move()->type;
        bool boosted = type == Type::Rock || type == Type::Ground || type == Type::Steel;
        return boosted && b.isWeather(condition::sandstorm) ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {ability::sandforce, onImmunity, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::sandstorm ? Value(FALSE) : Value(UNDEFINED);
    }},
    {ability::serenegrace, onModifyMove, {.priority = -2}, [](Battle&, Event& e) -> Value {
        for (int n = 0; n < e.move()->secondaryCount; n++) e.move()->secondaries[n].chance *= 2;
        return UNDEFINED;
    }},
    {ability::sharpness, onBasePower, {.priority = 19}, [](Battle&, Event& e) -> Value {
        return e.move()->has(Flag::slicing) ? e.chainModify(3, 2) : UNDEFINED;
    }},
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
    {ability::technician, onBasePower, {.priority = 30}, [](Battle&, Event& e) -> Value {
        return modify(e.relay, e.modifier) <= 60 ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::tintedlens, onModifyDamage, {}, [](Battle&, Event& e) -> Value {
        return e.move()->typeMod[slotIndex(e.source)] < 0 ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {ability::torrent, onModifyAtk, {.priority = 5}, pinch<Type::Water>},
    {ability::torrent, onModifySpA, {.priority = 5}, pinch<Type::Water>},
    {ability::toxicchain, onSourceDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasAbility(e.target, ability::shielddust) || b.hasItem(e.target, item::covertcloak)) return UNDEFINED;
        if (b.prng.randomChance(3, 10)) b.trySetStatus(e.target, condition::tox, e.source);
        return UNDEFINED;
    }},
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
