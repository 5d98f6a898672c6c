// Handlers of weather (data/conditions.ts), and of terrain and entry hazards (in data/moves.ts).

#include "battle.h"

namespace {

// 8 turns where the Pokémon that sets it holds the item for it, else 5.
Value lasting(Battle& b, Event& e, int item) { return e.source && b.hasItem(e.source, item) ? 8 : 5; }

Value eachWeather(Battle& b, Event& e) {
    b.add(Message::weather, named(e.effect), "[upkeep]");
    bool stilled = e.effect != condition::raindance && e.effect != condition::sunnyday && !b.isWeather(e.effect);
    if (!stilled) b.eachEvent(Ev::Weather);
    return UNDEFINED;
}

// Of onFieldStart: "-weather", or "-fieldstart" of a terrain, with the ability that caused it.
Value startWeather(Battle& b, Event& e) {
    if (e.cause.type() == EffectType::Ability)
        b.add(Message::weather, named(e.effect), from(e.cause.id), of(e.source));
    else
        b.add(Message::weather, named(e.effect));
    return UNDEFINED;
}

Value startTerrain(Battle& b, Event& e) {
    if (e.cause.type() == EffectType::Ability)
        b.add(Message::fieldstart, named(e.effect).after("move: "), from(e.cause.id), of(e.source));
    else
        b.add(Message::fieldstart, named(e.effect).after("move: "));
    return UNDEFINED;
}

Value endWeather(Battle& b, Event&) {
    b.add(Message::weather, "none");
    return UNDEFINED;
}

Value endTerrain(Battle& b, Event& e) {
    b.add(Message::fieldend, e.effect == condition::mistyterrain ? named(e.effect) : named(e.effect).after("move: "));
    return UNDEFINED;
}

Value startOnSide(Battle& b, Event& e) {
    b.add(Message::sidestart, sideName(b.number(*e.side)), named(e.effect).after("move: "));
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {condition::electricterrain, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::terrainextender); }},
    {condition::electricterrain, onFieldStart, {}, startTerrain},
    {condition::electricterrain, onFieldEnd, {}, endTerrain},
    {condition::electricterrain, onSetStatus, {}, [](Battle& b, Event& e) -> Value {
        if (e.adding != condition::slp || !truthy(b.isGrounded(e.target)) || b.isSemiInvulnerable(e.target)) return UNDEFINED;
        bool secondary = e.move() && e.move()->secondaryCount;
        if (e.cause.type() == EffectType::Move && !secondary) b.add(Message::activate, e.target, "move: Electric Terrain");
        return FALSE;
    }},
    {condition::electricterrain, onTryAddVolatile, {}, nothing},  // Yawn
    {condition::electricterrain, onBasePower, {.priority = 6}, [](Battle& b, Event& e) -> Value {
        bool stronger = e.move()->type == Type::Electric && truthy(b.isGrounded(e.target)) && !b.isSemiInvulnerable(e.target);
        return stronger ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {condition::mistyterrain, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::terrainextender); }},
    {condition::mistyterrain, onFieldStart, {}, startTerrain},
    {condition::mistyterrain, onFieldEnd, {}, endTerrain},
    {condition::mistyterrain, onSetStatus, {}, [](Battle& b, Event& e) -> Value {
        if (!truthy(b.isGrounded(e.target)) || b.isSemiInvulnerable(e.target)) return UNDEFINED;
        if (e.cause.setsStatus()) b.add(Message::activate, e.target, "move: Misty Terrain");
        return FALSE;
    }},
    {condition::mistyterrain, onTryAddVolatile, {}, [](Battle& b, Event& e) -> Value {
        if (!truthy(b.isGrounded(e.target)) || b.isSemiInvulnerable(e.target) || e.adding != condition::confusion) return UNDEFINED;
        bool secondary = e.move() && e.move()->secondaryCount;
        if (e.cause.type() == EffectType::Move && !secondary) b.add(Message::activate, e.target, "move: Misty Terrain");
        return NUL;
    }},
    {condition::mistyterrain, onBasePower, {.priority = 6}, [](Battle& b, Event& e) -> Value {
        bool weaker = e.move()->type == Type::Dragon && truthy(b.isGrounded(e.source)) && !b.isSemiInvulnerable(e.source);
        return weaker ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {condition::raindance, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::damprock); }},
    {condition::raindance, onWeatherModifyDamage, {}, [](Battle& b, Event& e) -> Value {
        if (b.effectiveWeather(e.source) != condition::raindance) return UNDEFINED;
        if (e.move()->type == Type::Water) return e.chainModify(3, 2);
        return e.move()->type == Type::Fire ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {condition::raindance, onFieldStart, {}, startWeather},
    {condition::raindance, onFieldResidual, {.order = 1}, eachWeather},
    {condition::raindance, onFieldEnd, {}, endWeather},
    {condition::sunnyday, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::heatrock); }},
    {condition::sunnyday, onWeatherModifyDamage, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->id == move::hydrosteam && b.effectiveWeather(e.target) == condition::sunnyday) return e.chainModify(3, 2);
        if (b.effectiveWeather(e.source) != condition::sunnyday) return UNDEFINED;
        if (e.move()->type == Type::Fire) return e.chainModify(3, 2);
        return e.move()->type == Type::Water ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {condition::sunnyday, onImmunity, {}, [](Battle& b, Event& e) -> Value {
        return b.effectiveWeather(e.target) == condition::sunnyday && e.adding == condition::frz ? FALSE : UNDEFINED;
    }},
    {condition::sunnyday, onFieldStart, {}, startWeather},
    {condition::sunnyday, onFieldResidual, {.order = 1}, eachWeather},
    {condition::sunnyday, onFieldEnd, {}, endWeather},
    {condition::sandstorm, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::smoothrock); }},
    {condition::sandstorm, onModifySpD, {.priority = 10}, [](Battle& b, Event& e) -> Value {
        bool holds = b.hasType(e.target, Type::Rock) && b.effectiveWeather(e.target) == condition::sandstorm;
        return holds ? modify(e.relay, 3, 2) : UNDEFINED;
    }},
    {condition::sandstorm, onFieldStart, {}, startWeather},
    {condition::sandstorm, onFieldResidual, {.order = 1}, eachWeather},
    {condition::sandstorm, onFieldEnd, {}, endWeather},
    {condition::sandstorm, onWeather, {}, [](Battle& b, Event& e) -> Value {
        b.damage(e.target->maxhp / 16);
        return UNDEFINED;
    }},
    {condition::snowscape, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::icyrock); }},
    {condition::snowscape, onModifyDef, {.priority = 10}, [](Battle& b, Event& e) -> Value {
        bool holds = b.hasType(e.target, Type::Ice) && b.effectiveWeather(e.target) == condition::snowscape;
        return holds ? modify(e.relay, 3, 2) : UNDEFINED;
    }},
    {condition::snowscape, onFieldStart, {}, startWeather},
    {condition::snowscape, onFieldResidual, {.order = 1}, eachWeather},
    {condition::snowscape, onFieldEnd, {}, endWeather},

    {condition::grassyterrain, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::terrainextender); }},
    {condition::grassyterrain, onFieldStart, {}, startTerrain},
    {condition::grassyterrain, onFieldEnd, {}, endTerrain},
    {condition::grassyterrain, onBasePower, {.priority = 6}, [](Battle& b, Event& e) -> Value {
        bool shakes = e.move()->id == move::earthquake || e.move()->id == move::bulldoze;
        if (shakes && truthy(b.isGrounded(e.source)) && !b.isSemiInvulnerable(e.source)) return e.chainModify(1, 2);
        return e.move()->type == Type::Grass && truthy(b.isGrounded(e.target)) ? e.chainModify(5325, 4096) : UNDEFINED;
    }},
    {condition::grassyterrain, onResidual, {.order = 5, .subOrder = 2}, [](Battle& b, Event& e) -> Value {
        if (truthy(b.isGrounded(e.target)) && !b.isSemiInvulnerable(e.target)) b.heal(e.target->maxhp / 16, e.target, e.target);
        return UNDEFINED;
    }},
    {condition::psychicterrain, durationCallback, {}, [](Battle& b, Event& e) { return lasting(b, e, item::terrainextender); }},
    {condition::psychicterrain, onTryHit, {.priority = 4}, [](Battle& b, Event& e) -> Value {
        if (e.move()->priority <= 0 || e.move()->target == Target::self) return UNDEFINED;
        if (b.isSemiInvulnerable(e.target) || Battle::isAlly(e.target, e.source)) return UNDEFINED;
        if (!truthy(b.isGrounded(e.target))) {
            if (moveData(e.move()->id).priority > 0) b.hint("Psychic Terrain doesn't affect airborne Pokémon.");
            return UNDEFINED;
        }
        b.add(Message::activate, e.target, "move: Psychic Terrain");
        return NUL;
    }},
    {condition::psychicterrain, onFieldStart, {}, startTerrain},
    {condition::psychicterrain, onFieldEnd, {}, endTerrain},
    {condition::psychicterrain, onBasePower, {.priority = 6}, [](Battle& b, Event& e) -> Value {
        bool boosted = e.move()->type == Type::Psychic && truthy(b.isGrounded(e.target)) && !b.isSemiInvulnerable(e.target);
        return boosted ? e.chainModify(5325, 4096) : UNDEFINED;
    }},

    {condition::stealthrock, onSideStart, {}, startOnSide},
    {condition::stealthrock, onSwitchIn, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasItem(e.target, item::heavydutyboots)) return UNDEFINED;
        ActiveMove rocks{moveData(move::stealthrock)};
        int typeMod = clamp(b.runEffectiveness(e.target, &rocks), -6, 6);
        b.damage(typeMod >= 0 ? (e.target->maxhp << typeMod) / 8 : e.target->maxhp / (8 << -typeMod));
        return UNDEFINED;
    }},
    {condition::spikes, onSideStart, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::sidestart, sideName(b.number(*e.side)), "Spikes");
        e.state->counter = 1;  // layers
        return UNDEFINED;
    }},
    {condition::spikes, onSideRestart, {}, [](Battle& b, Event& e) -> Value {
        if (e.state->counter >= 3) return FALSE;
        b.add(Message::sidestart, sideName(b.number(*e.side)), "Spikes");
        e.state->counter++;
        return UNDEFINED;
    }},
    {condition::spikes, onSwitchIn, {}, [](Battle& b, Event& e) -> Value {
        if (!truthy(b.isGrounded(e.target)) || b.hasItem(e.target, item::heavydutyboots)) return UNDEFINED;
        constexpr int DAMAGE_AMOUNTS[] = {0, 3, 4, 6};
        b.damage(DAMAGE_AMOUNTS[e.state->counter] * e.target->maxhp / 24);
        return UNDEFINED;
    }},
    {condition::tailwind, durationCallback, {}, [](Battle&, Event&) -> Value { return 4; }},
    {condition::tailwind, onSideStart, {}, startOnSide},
    {condition::tailwind, onModifySpe, {}, [](Battle&, Event& e) -> Value { return e.chainModify(2, 1); }},
    {condition::tailwind, onSideEnd, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::sideend, sideName(b.number(*e.side)), "move: Tailwind");
        return UNDEFINED;
    }},
    {condition::toxicspikes, onSideStart, {}, [](Battle& b, Event& e) -> Value {
        startOnSide(b, e);
        e.state->counter = 1;  // layers
        return UNDEFINED;
    }},
    {condition::toxicspikes, onSideRestart, {}, [](Battle& b, Event& e) -> Value {
        if (e.state->counter >= 2) return FALSE;
        startOnSide(b, e);
        e.state->counter++;
        return UNDEFINED;
    }},
    {condition::toxicspikes, onSwitchIn, {}, [](Battle& b, Event& e) -> Value {
        if (!truthy(b.isGrounded(e.target))) return UNDEFINED;
        if (b.hasType(e.target, Type::Poison)) {
            b.add(Message::sideend, sideName(e.target->side), "move: Toxic Spikes", of(e.target));
            b.removeSideCondition(e.target->side, condition::toxicspikes);
        } else if (!b.hasType(e.target, Type::Steel) && !b.hasItem(e.target, item::heavydutyboots)) {
            b.trySetStatus(e.target, e.state->counter >= 2 ? condition::tox : condition::psn, b.at(1 - e.target->side, 0));
        }
        return UNDEFINED;
    }},
    {condition::stickyweb, onSideStart, {}, startOnSide},
    {condition::stickyweb, onSwitchIn, {}, [](Battle& b, Event& e) -> Value {
        if (!truthy(b.isGrounded(e.target)) || b.hasItem(e.target, item::heavydutyboots)) return UNDEFINED;
        b.add(Message::activate, e.target, "move: Sticky Web");
        b.boost(Stat::spe, -1, e.target, b.at(1 - e.target->side, 0), int(move::stickyweb));
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList FIELD_CONDITIONS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
