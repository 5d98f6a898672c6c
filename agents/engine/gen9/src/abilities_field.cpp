// Handlers of abilities (data/abilities.ts) that act when their holder comes or goes, at the end of a turn, with weather and
// terrain, or on its speed.

#include "battle.h"

namespace {

template <int WEATHER>
Value bringWeather(Battle& b, Event&) {
    b.setWeather(WEATHER);
    return UNDEFINED;
}

template <int TERRAIN>
Value bringTerrain(Battle& b, Event&) {
    b.setTerrain(TERRAIN);
    return UNDEFINED;
}

template <int WEATHER>
Value fastIn(Battle& b, Event& e) {
    return b.effectiveWeather(e.target) == WEATHER ? e.chainModify(2, 1) : UNDEFINED;
}

// Ogerpon's mask: raises a stat when it terastallizes, and when it comes in as such.
template <int FORME, int STAT>
Value embody(Battle& b, Event& e) {
    if (e.target->baseSpecies != FORME || !e.target->terastallized || e.state->counter) return UNDEFINED;
    e.state->counter = 1;
    b.boost(STAT, 1, e.target);
    return UNDEFINED;
}

// Of onStart: shows its holder's ability.
Value show(Battle& b, Event& e) {
    b.add(Message::ability, e.target, named(e.effect));
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {ability::baddreams, onResidual, {.order = 28, .subOrder = 2}, [](Battle& b, Event& e) -> Value {
        if (!e.target->hp) return UNDEFINED;
        Targets enemies = b.foes(e.target);
        for (int n = 0; n < enemies.size; n++)
            if (enemies.list[n]->status == condition::slp) b.damage(enemies.list[n]->maxhp / 8, enemies.list[n], e.target);
        return UNDEFINED;
    }},
    {ability::chlorophyll, onModifySpe, {}, fastIn<condition::sunnyday>},
    {ability::dauntlessshield, onStart, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->shieldBoost) return UNDEFINED;
        e.target->shieldBoost = true;
        b.boost(Stat::def, 1, e.target);
        return UNDEFINED;
    }},
    {ability::download, onStart, {}, [](Battle& b, Event& e) -> Value {
        Targets enemies = b.foes(e.target);
        int def = 0, spd = 0;
        for (int n = 0; n < enemies.size; n++) {
            def += b.getStat(enemies.list[n], Stat::def, false, true);
            spd += b.getStat(enemies.list[n], Stat::spd, false, true);
        }
        if (def || spd) b.boost(def >= spd ? Stat::spa : Stat::atk, 1);
        return UNDEFINED;
    }},
    {ability::drizzle, onStart, {}, bringWeather<condition::raindance>},
    {ability::drought, onStart, {}, bringWeather<condition::sunnyday>},
    {ability::electricsurge, onStart, {}, bringTerrain<condition::electricterrain>},
    {ability::embodyaspectcornerstone, onStart, {}, embody<species::ogerponcornerstonetera, Stat::def>},
    {ability::embodyaspectteal, onStart, {}, embody<species::ogerpontealtera, Stat::spe>},
    {ability::embodyaspectwellspring, onStart, {}, embody<species::ogerponwellspringtera, Stat::spd>},
    {ability::frisk, onStart, {}, [](Battle& b, Event& e) -> Value {
        Targets enemies = b.foes(e.target);
        for (int n = 0; n < enemies.size; n++)
            if (int item = enemies.list[n]->item) b.add(Message::item, enemies.list[n], named(item), from(ability::frisk), of(e.target));
        return UNDEFINED;
    }},
    {ability::grassysurge, onStart, {}, bringTerrain<condition::grassyterrain>},
    {ability::healer, onResidual, {.order = 5, .subOrder = 3}, [](Battle& b, Event& e) -> Value {
        Targets friends = b.adjacentAllies(e.target);
        for (int n = 0; n < friends.size; n++)
            if (friends.list[n]->status && b.prng.randomChance(3, 10)) {
                b.add(Message::activate, e.target, "ability: Healer");
                b.cureStatus(friends.list[n]);
            }
        return UNDEFINED;
    }},
    {ability::hydration, onResidual, {.order = 5, .subOrder = 3}, [](Battle& b, Event& e) -> Value {
        if (!e.target->status || b.effectiveWeather(e.target) != condition::raindance) return UNDEFINED;
        b.add(Message::activate, e.target, "ability: Hydration");
        b.cureStatus(e.target);
        return UNDEFINED;
    }},
    {ability::icebody, onWeather, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id == condition::snowscape) b.heal(e.target->maxhp / 16);
        return UNDEFINED;
    }},
    {ability::icebody, onImmunity, {}, nothing},  // hail
    {ability::imposter, onSwitchIn, {}, [](Battle& b, Event& e) -> Value {
        Pokemon* target = b.at(1 - e.target->side, b.row.activePerSide - 1 - e.target->position);
        if (target) b.transformInto(e.target, target, ability::imposter);
        return UNDEFINED;
    }},
    {ability::intimidate, onStart, {}, [](Battle& b, Event& e) -> Value {
        Targets enemies = b.adjacentFoes(e.target);
        if (enemies.size) b.add(Message::ability, e.target, "Intimidate", "boost");
        for (int n = 0; n < enemies.size; n++) {
            if (b.volatileOf(enemies.list[n], condition::substitute))
                b.add(Message::immune, enemies.list[n]);
            else
                b.boost(Stat::atk, -1, enemies.list[n], e.target, {}, true);
        }
        return UNDEFINED;
    }},
    {ability::magnetpull, onFoeTrapPokemon, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasType(e.target, Type::Steel) && b.isAdjacent(e.target, e.holder)) b.tryTrap(e.target, true);
        return UNDEFINED;
    }},
    {ability::magnetpull, onFoeMaybeTrapPokemon, {}, [](Battle& b, Event& e) -> Value {
        const Pokemon* source = e.source ? e.source : e.holder;
        if (!source || !b.isAdjacent(e.target, source)) return UNDEFINED;
        if (b.out(e.target).unknownType || b.hasType(e.target, Type::Steel)) e.target->maybeTrapped = true;
        return UNDEFINED;
    }},
    {ability::mistysurge, onStart, {}, bringTerrain<condition::mistyterrain>},
    {ability::naturalcure, onSwitchOut, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->status) b.add(Message::curestatus, e.target, idOf(e.target->status), from(ability::naturalcure), "[silent]");
        b.clearStatus(e.target);
        return UNDEFINED;
    }},
    // counter: Showdown's `ending`
    {ability::neutralizinggas, onSwitchIn, {.priority = 2}, [](Battle& b, Event& e) -> Value {
        show(b, e);
        e.target->abilityState.counter = 0;
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++)
            if (b.hasItem(actives.list[n], item::abilityshield)) b.add(Message::block, actives.list[n], full(item::abilityshield));
        return UNDEFINED;
    }},
    {ability::neutralizinggas, onEnd, {}, [](Battle& b, Event& e) -> Value {
        Pokemon* source = e.target;
        if (b.out(source).transformed) return UNDEFINED;
        Targets actives = b.getAllActive();
        for (int n = 0; n < actives.size; n++)
            if (actives.list[n] != source && b.hasAbility(actives.list[n], ability::neutralizinggas)) return UNDEFINED;
        b.add(Message::end, source, "ability: Neutralizing Gas");
        if (source->abilityState.counter) return UNDEFINED;
        source->abilityState.counter = 1;
        b.speedSort(actives.list, actives.size, [](const Pokemon* x, const Pokemon* y) { return int64_t(y->speed) - x->speed; });
        for (int n = 0; n < actives.size; n++) {
            Pokemon* p = actives.list[n];
            if (p == source || EFFECTS[p->ability].is(Is::cantsuppress) || b.hasItem(p, item::abilityshield)) continue;
            b.singleEvent(Ev::Start, p->ability, &p->abilityState, p);
        }
        return UNDEFINED;
    }},
    {ability::moldbreaker, onStart, {}, show},
    {ability::pressure, onStart, {}, show},
    {ability::pressure, onDeductPP, {}, [](Battle& b, Event& e) -> Value {
        return b.isAlly(e.target, e.source) ? Value(UNDEFINED) : 1;
    }},
    {ability::psychicsurge, onStart, {}, bringTerrain<condition::psychicterrain>},
    {ability::quickfeet, onModifySpe, {}, [](Battle&, Event& e) -> Value {
        return e.target->status ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::raindish, onWeather, {}, [](Battle& b, Event& e) -> Value {
        if (b.effectiveWeather(e.target) == e.cause.id && e.cause.id == condition::raindance) b.heal(e.target->maxhp / 16);
        return UNDEFINED;
    }},
    {ability::regenerator, onSwitchOut, {}, [](Battle& b, Event& e) -> Value {
        b.healHp(e.target, e.target->maxhp / 3);
        return UNDEFINED;
    }},
    {ability::sandrush, onModifySpe, {}, [](Battle& b, Event& e) -> Value {
        return b.isWeather(condition::sandstorm) ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {ability::sandrush, onImmunity, {}, [](Battle&, Event& e) -> Value {
        return e.adding == condition::sandstorm ? Value(FALSE) : Value(UNDEFINED);
    }},
    {ability::sandstream, onStart, {}, bringWeather<condition::sandstorm>},
    {ability::shedskin, onResidual, {.order = 5, .subOrder = 3}, [](Battle& b, Event& e) -> Value {
        if (!e.target->hp || !e.target->status || !b.prng.randomChance(33, 100)) return UNDEFINED;
        b.add(Message::activate, e.target, full(e.effect));
        b.cureStatus(e.target);
        return UNDEFINED;
    }},
    {ability::slushrush, onModifySpe, {}, [](Battle& b, Event& e) -> Value {
        return b.isWeather(condition::snowscape) ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {ability::snowwarning, onStart, {}, bringWeather<condition::snowscape>},
    {ability::solarpower, onModifySpA, {.priority = 5}, [](Battle& b, Event& e) -> Value {
        return b.effectiveWeather(e.target) == condition::sunnyday ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {ability::solarpower, onWeather, {}, [](Battle& b, Event& e) -> Value {
        bool sun = b.effectiveWeather(e.target) == e.cause.id && e.cause.id == condition::sunnyday;
        if (sun) b.damage(e.target->maxhp / 8, e.target, e.target);
        return UNDEFINED;
    }},
    {ability::speedboost, onResidual, {.order = 28, .subOrder = 2}, [](Battle& b, Event& e) -> Value {
        if (b.out(e.target).activeTurns) b.boost(Stat::spe, 1);
        return UNDEFINED;
    }},
    {ability::stall, onFractionalPriority, {}, [](Battle&, Event&) -> Value { return -1; }},  // in tenths
    {ability::steadfast, onFlinch, {}, [](Battle& b, Event&) -> Value {
        b.boost(Stat::spe, 1);
        return UNDEFINED;
    }},
    {ability::surgesurfer, onModifySpe, {}, [](Battle& b, Event& e) -> Value {
        return b.isTerrain(condition::electricterrain) ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {ability::swiftswim, onModifySpe, {}, fastIn<condition::raindance>},
    {ability::tabletsofruin, onStart, {}, [](Battle& b, Event& e) -> Value { return b.suppressingAbility(e.target) ? UNDEFINED : show(b, e); }},
    // counter: Showdown's seek
    {ability::trace, onStart, {}, [](Battle& b, Event& e) -> Value {
        e.state->counter = 1;
        if (b.hasItem(e.target, item::abilityshield)) {
            b.add(Message::block, e.target, full(item::abilityshield));
            e.state->counter = 0;
        }
        if (e.state->counter) b.singleEvent(Ev::Update, e.effect, e.state, e.target);
        return UNDEFINED;
    }},
    {ability::trace, onUpdate, {}, [](Battle& b, Event& e) -> Value {
        if (!e.state->counter) return UNDEFINED;
        Targets enemies = b.adjacentFoes(e.target), possible;
        for (int n = 0; n < enemies.size; n++)
            if (!EFFECTS[enemies.list[n]->ability].is(Is::notrace)) possible.add(enemies.list[n]);
        if (!possible.size) return UNDEFINED;
        Pokemon* traced = possible.list[b.prng.random(possible.size)];
        b.setAbility(e.target, traced->ability, traced);
        return UNDEFINED;
    }},
    {ability::unburden, onAfterUseItem, {}, [](Battle& b, Event& e) -> Value {
        if (e.target == e.holder) b.addVolatile(e.target, condition::unburden);
        return UNDEFINED;
    }},
    {ability::unburden, onTakeItem, {}, [](Battle& b, Event& e) -> Value {
        b.addVolatile(e.target, condition::unburden);
        return UNDEFINED;
    }},
    {ability::unburden, onEnd, {}, [](Battle& b, Event& e) -> Value {
        b.removeVolatile(e.target, condition::unburden);
        return UNDEFINED;
    }},
    {ability::unnerve, onStart, {.priority = 1}, [](Battle& b, Event& e) -> Value {
        if (e.state->counter) return UNDEFINED;
        show(b, e);
        e.state->counter = 1;
        return UNDEFINED;
    }},
    {ability::unnerve, onEnd, {}, [](Battle&, Event& e) -> Value {
        e.state->counter = 0;
        return UNDEFINED;
    }},
    {ability::unnerve, onFoeTryEatItem, {}, [](Battle&, Event& e) -> Value { return e.state->counter ? FALSE : TRUE; }},

    {ability::vesselofruin, onStart, {}, [](Battle& b, Event& e) -> Value { return b.suppressingAbility(e.target) ? UNDEFINED : show(b, e); }},

    {condition::unburden, onModifySpe, {}, [](Battle& b, Event& e) -> Value {
        return !e.target->item && !b.ignoringAbility(e.target) ? e.chainModify(2, 1) : UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList ABILITIES_OF_FIELD = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
