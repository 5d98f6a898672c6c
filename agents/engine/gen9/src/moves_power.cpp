// Moves whose power, type, accuracy or damage depends on something: data/moves.ts. What a move's data says is in data.h.
// Of these events: target is the user, source whom it is used on.

#include "battle.h"

namespace {

int powerOfWeight(int hectograms) {
    if (hectograms >= 2000) return 120;
    if (hectograms >= 1000) return 100;
    if (hectograms >= 500) return 80;
    if (hectograms >= 250) return 60;
    return hectograms >= 100 ? 40 : 20;
}

Value byTargetsWeight(Battle& b, Event& e) { return powerOfWeight(b.getWeight(e.source)); }

Value byBothWeights(Battle& b, Event& e) {
    int ratio = b.getWeight(e.target) / b.getWeight(e.source);
    return ratio >= 5 ? 120 : ratio >= 2 ? 20 * (ratio + 1) : 40;
}

// Weather Ball's type in some weather, or Type::none.
int typeOfWeather(int weather) {
    switch (weather) {
        case condition::sunnyday: return Type::Fire;
        case condition::raindance: return Type::Water;
        case condition::sandstorm: return Type::Rock;
        case condition::snowscape: return Type::Ice;
        default: return Type::none;
    }
}

// What a Stellar Tera Blast costs its user.
constexpr HitEffect STELLAR = {.boosts = {-1, 0, -1}};

// Eruption and its like
Value byOwnHp(Battle&, Event& e) { return atLeastOne(e.move()->basePower * e.target->hp / e.target->maxhp); }

Value byOwnBoosts(Battle& b, Event& e) { return e.move()->basePower + 20 * b.positiveBoosts(e.target); }

Value ifFailedBefore(Battle& b, Event& e) {
    return b.out(e.target).moveLastTurnResult == FALSE ? 2 * e.move()->basePower : e.move()->basePower;
}

Value ifPoisoned(Battle&, Event& e) {
    return e.source->status == condition::psn || e.source->status == condition::tox ? e.chainModify(2, 1) : UNDEFINED;
}

// Of onTryHit: target is who is hit.
Value breakScreens(Battle& b, Event& e) {
    for (int screen : {condition::reflect, condition::lightscreen, condition::auroraveil}) b.removeSideCondition(e.target->side, screen);
    return UNDEFINED;
}

// Shell Side Arm, of onHit: source is the user.
Value sayCategory(Battle& b, Event& e) {
    if (!Battle::isAlly(e.source, e.target)) b.hint(e.move()->category == Category::Physical ? "Physical Shell Side Arm" : "Special Shell Side Arm");
    return UNDEFINED;
}

// Hard Press and Crush Grip
template <int MOST>
Value byTargetsHp(Battle&, Event& e) {
    int64_t share = 100 * (int64_t(e.source->hp) * 4096 / e.source->maxhp);
    return atLeastOne(int((MOST * share + 2047) / 4096 / 100));
}

// Flail and Reversal
Value byLostHp(Battle&, Event& e) {
    int ratio = atLeastOne(e.target->hp * 48 / e.target->maxhp);
    return ratio < 2 ? 200 : ratio < 5 ? 150 : ratio < 10 ? 100 : ratio < 17 ? 80 : ratio < 33 ? 40 : 20;
}

constexpr Handler HANDLERS_HERE[] = {
    {move::acrobatics, basePowerCallback, {}, [](Battle&, Event& e) -> Value {
        return e.target->item ? e.move()->basePower : 2 * e.move()->basePower;
    }},
    {move::avalanche, basePowerCallback, {}, [](Battle& b, Event& e) -> Value {
        return b.damagedThisTurnBy(e.target, e.source) ? 2 * e.move()->basePower : e.move()->basePower;
    }},
    {move::barbbarrage, onBasePower, {}, ifPoisoned},
    // Who of the team strikes: the user, and all that are neither fainted nor have a status.
    {move::beatup, basePowerCallback, {}, [](Battle& b, Event& e) -> Value {
        const ActiveMove& move = *e.move();
        return 5 + SPECIES[b.pokemon(move.allies[move.hitNumber - 1]).setSpecies].baseStats[1] / 10;
    }},
    {move::beatup, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        ActiveMove& move = *e.move();
        const Side& side = b.sideOf(e.target);
        for (int position = 0; position < side.size; position++) {
            const Pokemon& ally = b.pokemon(side.order[position]);
            if (&ally == e.target || (!ally.fainted && !ally.status)) move.allies[move.allyCount++] = side.order[position];
        }
        move.multihit[0] = move.multihit[1] = move.allyCount;
        return UNDEFINED;
    }},
    {move::bleakwindstorm, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (e.source && b.effectiveWeather(e.source) == condition::raindance) e.move()->accuracy = TRUE;
        return UNDEFINED;
    }},
    {move::blizzard, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.isWeather(condition::snowscape)) e.move()->accuracy = TRUE;
        return UNDEFINED;
    }},
    {move::brickbreak, onTryHit, {}, breakScreens},
    {move::brine, onBasePower, {}, [](Battle&, Event& e) -> Value {
        return 2 * e.source->hp <= e.source->maxhp ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {move::crushgrip, basePowerCallback, {}, byTargetsHp<120>},
    {move::dragonenergy, basePowerCallback, {}, byOwnHp},
    {move::electroball, basePowerCallback, {}, [](Battle& b, Event& e) -> Value {
        constexpr int POWERS[] = {40, 60, 80, 120, 150};
        int own = b.getStat(e.target, Stat::spe), theirs = b.getStat(e.source, Stat::spe);
        int ratio = theirs ? own / theirs : 0;
        return POWERS[ratio > 4 ? 4 : ratio];
    }},
    {move::endeavor, onTryImmunity, {}, [](Battle&, Event& e) -> Value { return e.source->hp < e.target->hp ? TRUE : FALSE; }},
    {move::endeavor, damageCallback, {}, [](Battle&, Event& e) -> Value { return e.source->hp - e.target->hp; }},
    {move::eruption, basePowerCallback, {}, byOwnHp},
    {move::expandingforce, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.isTerrain(condition::psychicterrain) && truthy(b.isGrounded(e.target))) e.move()->target = Target::allAdjacentFoes;
        return UNDEFINED;
    }},
    {move::expandingforce, onBasePower, {}, [](Battle& b, Event& e) -> Value {
        return b.isTerrain(condition::psychicterrain) && truthy(b.isGrounded(e.target)) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {move::facade, onBasePower, {}, [](Battle&, Event& e) -> Value {
        return e.target->status && e.target->status != condition::slp ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {move::ficklebeam, onBasePower, {}, [](Battle& b, Event& e) -> Value {
        if (!b.prng.randomChance(3, 10)) return UNDEFINED;
        b.attrLastMove("[anim] Fickle Beam All Out");
        b.add(Message::activate, e.target, "move: Fickle Beam");
        return e.chainModify(2, 1);
    }},
    {move::flail, basePowerCallback, {}, byLostHp},
    {move::freezedry, onEffectiveness, {}, [](Battle&, Event& e) -> Value { return e.adding == Type::Water ? 1 : UNDEFINED; }},
    {move::grassknot, basePowerCallback, {}, byTargetsWeight},
    {move::grassyglide, onModifyPriority, {}, [](Battle& b, Event& e) -> Value {
        return b.isTerrain(condition::grassyterrain) && truthy(b.isGrounded(e.target)) ? e.relay + 1 : UNDEFINED;
    }},
    {move::gyroball, basePowerCallback, {}, [](Battle& b, Event& e) -> Value {
        int own = b.getStat(e.target, Stat::spe), theirs = b.getStat(e.source, Stat::spe);
        int power = own ? 25 * theirs / own + 1 : 1;
        return power > 150 ? 150 : power;
    }},
    {move::hardpress, basePowerCallback, {}, byTargetsHp<100>},
    {move::heatcrash, basePowerCallback, {}, byBothWeights},
    {move::heavyslam, basePowerCallback, {}, byBothWeights},
    {move::hex, basePowerCallback, {}, [](Battle&, Event& e) -> Value {
        return e.source->status ? 2 * e.move()->basePower : e.move()->basePower;
    }},
    {move::hurricane, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        int weather = e.source ? b.effectiveWeather(e.source) : 0;
        if (weather == condition::raindance) e.move()->accuracy = TRUE;
        if (weather == condition::sunnyday) e.move()->accuracy = 50;
        return UNDEFINED;
    }},
    {move::infernalparade, basePowerCallback, {}, [](Battle&, Event& e) -> Value {
        return e.source->status ? 2 * e.move()->basePower : e.move()->basePower;
    }},
    {move::ivycudgel, onModifyType, {}, [](Battle&, Event& e) -> Value {
        switch (e.target->species) {
            case species::ogerponwellspring:
            case species::ogerponwellspringtera: e.move()->type = Type::Water; break;
            case species::ogerponcornerstone:
            case species::ogerponcornerstonetera: e.move()->type = Type::Rock; break;
        }
        return UNDEFINED;
    }},
    {move::ivycudgel, onPrepareHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->type != Type::Grass) b.attrLastMove(typeName(e.move()->type).after("[anim] Ivy Cudgel "));
        return UNDEFINED;
    }},
    {move::lashout, onBasePower, {}, [](Battle&, Event& e) -> Value {
        return e.target->statsLoweredThisTurn ? e.chainModify(2, 1) : UNDEFINED;
    }},
    {move::lowkick, basePowerCallback, {}, byTargetsWeight},
    {move::mirrorcoat, beforeTurnCallback, {}, [](Battle& b, Event& e) -> Value {
        b.addVolatile(e.target, condition::mirrorcoat);
        return UNDEFINED;
    }},
    {move::mirrorcoat, onTry, {}, [](Battle& b, Event& e) -> Value {
        const EffectState* hit = b.volatileOf(e.target, condition::mirrorcoat);
        return hit && hit->extra ? UNDEFINED : FALSE;
    }},
    {move::mirrorcoat, damageCallback, {}, [](Battle& b, Event& e) -> Value {
        const EffectState* hit = b.volatileOf(e.target, condition::mirrorcoat);
        return hit ? atLeastOne(hit->counter) : 0;
    }},
    {move::mistyexplosion, onBasePower, {}, [](Battle& b, Event& e) -> Value {
        return b.isTerrain(condition::mistyterrain) && truthy(b.isGrounded(e.target)) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {move::payback, basePowerCallback, {}, [](Battle& b, Event& e) -> Value {
        bool first = b.out(e.source).newlySwitched || b.willMove(e.source);
        return first ? e.move()->basePower : 2 * e.move()->basePower;
    }},
    {move::photongeyser, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.getStat(e.target, Stat::atk, false, true) > b.getStat(e.target, Stat::spa, false, true)) e.move()->category = Category::Physical;
        return UNDEFINED;
    }},
    {move::powertrip, basePowerCallback, {}, byOwnBoosts},
    {move::psyblade, onBasePower, {}, [](Battle& b, Event& e) -> Value {
        return b.isTerrain(condition::electricterrain) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {move::psychicfangs, onTryHit, {}, breakScreens},
    {move::ragingbull, onTryHit, {}, breakScreens},
    {move::ragingbull, onModifyType, {}, [](Battle&, Event& e) -> Value {
        switch (e.target->species) {
            case species::taurospaldeacombat: e.move()->type = Type::Fighting; break;
            case species::taurospaldeablaze: e.move()->type = Type::Fire; break;
            case species::taurospaldeaaqua: e.move()->type = Type::Water; break;
        }
        return UNDEFINED;
    }},
    {move::revelationdance, onModifyType, {}, [](Battle& b, Event& e) -> Value {
        Types types = b.getTypes(e.target);
        e.move()->type = types.list[0] == Type::unknown && types.count > 1 ? types.list[1] : types.list[0];
        return UNDEFINED;
    }},
    {move::reversal, basePowerCallback, {}, byLostHp},
    {move::risingvoltage, basePowerCallback, {}, [](Battle& b, Event& e) -> Value {
        if (!b.isTerrain(condition::electricterrain) || !truthy(b.isGrounded(e.source))) return e.move()->basePower;
        if (!Battle::isAlly(e.target, e.source)) b.hint("%'s BP doubled on grounded target.", e.move()->id);
        return 2 * e.move()->basePower;
    }},
    {move::ruination, damageCallback, {}, [](Battle&, Event& e) -> Value { return atLeastOne(e.source->hp / 2); }},
    // Physical where that would do more, or as much and by chance.
    {move::shellsidearm, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (!e.source) return UNDEFINED;
        auto dealt = [&](int attack, int defense) {
            int64_t by = (2 * e.target->level / 5 + 2) * 90 * int64_t(b.getStat(e.target, attack, false, true));
            return by / b.getStat(e.source, defense, false, true) / 50;
        };
        int64_t physical = dealt(Stat::atk, Stat::def), special = dealt(Stat::spa, Stat::spd);
        if (physical > special || (physical == special && b.prng.randomChance(1, 2))) {
            e.move()->category = Category::Physical;
            e.move()->flags |= Flag::contact;
        }
        return UNDEFINED;
    }},
    {move::shellsidearm, onPrepareHit, {}, [](Battle& b, Event& e) -> Value {
        if (!Battle::isAlly(e.source, e.target)) b.attrLastMove(e.move()->category == Category::Physical ? "[anim] Shell Side Arm Physical" : "[anim] Shell Side Arm Special");
        return UNDEFINED;
    }},
    {move::shellsidearm, onHit, {}, sayCategory},
    {move::shellsidearm, onAfterSubDamage, {}, sayCategory},
    {move::stompingtantrum, basePowerCallback, {}, ifFailedBefore},
    {move::storedpower, basePowerCallback, {}, byOwnBoosts},
    {move::struggle, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        e.move()->type = Type::unknown;
        b.add(Message::activate, e.target, "move: Struggle");
        return UNDEFINED;
    }},
    {move::superfang, damageCallback, {}, [](Battle&, Event& e) -> Value { return atLeastOne(e.source->hp / 2); }},
    {move::temperflare, basePowerCallback, {}, ifFailedBefore},
    {move::terablast, basePowerCallback, {}, [](Battle&, Event& e) -> Value {
        return e.target->terastallized - 1 == Type::Stellar ? 100 : e.move()->basePower;
    }},
    // Of onPrepareHit source is the user.
    {move::terablast, onPrepareHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.source->terastallized) b.attrLastMove(typeName(e.source->teraType).after("[anim] Tera Blast "));
        return UNDEFINED;
    }},
    {move::terablast, onModifyType, {}, [](Battle&, Event& e) -> Value {
        if (e.target->terastallized) e.move()->type = e.target->teraType;
        return UNDEFINED;
    }},
    {move::terablast, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (!e.target->terastallized) return UNDEFINED;
        if (b.getStat(e.target, Stat::atk, false, true) > b.getStat(e.target, Stat::spa, false, true)) e.move()->category = Category::Physical;
        if (e.target->terastallized - 1 == Type::Stellar) e.move()->hit.self = &STELLAR;
        return UNDEFINED;
    }},
    {move::thunder, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        int weather = e.source ? b.effectiveWeather(e.source) : 0;
        if (weather == condition::raindance) e.move()->accuracy = TRUE;
        if (weather == condition::sunnyday) e.move()->accuracy = 50;
        return UNDEFINED;
    }},
    {move::tripleaxel, basePowerCallback, {}, [](Battle&, Event& e) -> Value { return 20 * e.move()->hitNumber; }},
    {move::venoshock, onBasePower, {}, ifPoisoned},
    {move::waterspout, basePowerCallback, {}, byOwnHp},
    {move::weatherball, onModifyType, {}, [](Battle& b, Event& e) -> Value {
        int type = typeOfWeather(b.effectiveWeather(e.target));
        if (type != Type::none) e.move()->type = type;
        return UNDEFINED;
    }},
    {move::weatherball, onModifyMove, {}, [](Battle& b, Event& e) -> Value {
        if (typeOfWeather(b.effectiveWeather(e.target)) != Type::none) e.move()->basePower *= 2;
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList MOVES_POWER = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
