// Handlers of abilities (data/abilities.ts) that answer a hit.

#include "battle.h"

namespace {

// Of onDamagingHit: 3 in 10 to give the attacker a status.
template <int STATUS>
Value inflict(Battle& b, Event& e) {
    if (b.checkMoveMakesContact(e.move(), e.source, e.target) && b.prng.randomChance(3, 10))
        b.trySetStatus(e.source, STATUS, e.target);
    return UNDEFINED;
}

// Gooey and Tangling Hair: the attacker slows down.
Value slow(Battle& b, Event& e) {
    if (!b.checkMoveMakesContact(e.move(), e.source, e.target, true)) return UNDEFINED;
    b.add(Message::ability, e.target, named(e.effect));
    b.boost(Stat::spe, -1, e.source, e.target, {}, true);
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {ability::aftermath, onDamagingHit, {.order = 1}, [](Battle& b, Event& e) -> Value {
        if (!e.target->hp && b.checkMoveMakesContact(e.move(), e.source, e.target, true)) b.damage(e.source->maxhp / 4, e.source, e.target);
        return UNDEFINED;
    }},
    // counter: Showdown's checkedBerserk: 1 true, -1 false
    {ability::berserk, onDamage, {}, [](Battle& b, Event& e) -> Value {
        bool later = e.move() && (e.move()->multihit[0] || b.sheerForces(*e.move(), e.source));
        e.state->counter = e.cause.type() == EffectType::Move && !later ? -1 : 1;
        return UNDEFINED;
    }},
    {ability::berserk, onTryEatItem, {}, [](Battle&, Event& e) -> Value {
        if (!Battle::isRestorative(e.adding) || e.adding == item::leppaberry) return TRUE;
        return e.state->counter ? e.state->counter > 0 ? TRUE : FALSE : UNDEFINED;
    }},
    {ability::berserk, onAfterMoveSecondary, {}, [](Battle& b, Event& e) -> Value {
        e.state->counter = 1;
        ActiveMove& move = *e.move();
        Pokemon* holder = e.target;
        if (!e.source || e.source == holder || !holder->hp || !move.totalDamage) return UNDEFINED;
        const Attack* attack = b.getLastAttackedBy(holder);
        if (!attack) return UNDEFINED;
        int dealt = move.multihit[0] && !move.smartTarget ? move.totalDamage : attack->damage;
        if (2 * holder->hp <= holder->maxhp && 2 * (holder->hp + dealt) > holder->maxhp) b.boost(Stat::spa, 1, holder, holder);
        return UNDEFINED;
    }},
    {ability::cursedbody, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (b.volatileOf(e.source, condition::disable)) return UNDEFINED;
        if (e.move()->has(Flag::futuremove) || e.move()->id == move::struggle) return UNDEFINED;
        if (b.prng.randomChance(3, 10)) b.addVolatile(e.source, condition::disable, e.holder);
        return UNDEFINED;
    }},
    {ability::effectspore, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (!b.checkMoveMakesContact(e.move(), e.source, e.target) || !b.runStatusImmunity(e.source, POWDER)) return UNDEFINED;
        int roll = b.prng.random(100);
        if (roll < 11)
            b.trySetStatus(e.source, condition::slp, e.target);
        else if (roll < 21)
            b.trySetStatus(e.source, condition::par, e.target);
        else if (roll < 30)
            b.trySetStatus(e.source, condition::psn, e.target);
        return UNDEFINED;
    }},
    {ability::electromorphosis, onDamagingHit, {.order = 1}, [](Battle& b, Event& e) -> Value {
        b.addVolatile(e.target, condition::charge);
        return UNDEFINED;
    }},
    {ability::flamebody, onDamagingHit, {}, inflict<condition::brn>},
    {ability::gooey, onDamagingHit, {}, slow},
    {ability::justified, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->type == Type::Dark) b.boost(Stat::atk, 1);
        return UNDEFINED;
    }},
    {ability::pickpocket, onAfterMoveSecondary, {}, [](Battle& b, Event& e) -> Value {
        if (!e.source || e.source == e.target || !e.move()->has(Flag::contact)) return UNDEFINED;
        if (e.target->item || e.target->switchFlag || e.target->forceSwitchFlag || e.source->switchFlag == 1) return UNDEFINED;
        int item = b.takeItem(e.source, e.target);
        if (!item) return UNDEFINED;
        if (!b.setItem(e.target, item)) {
            e.source->item = item;
            return UNDEFINED;
        }
        b.add(Message::enditem, e.source, named(item), "[silent]", from(ability::pickpocket), of(e.source));
        b.add(Message::item, e.target, named(item), from(ability::pickpocket), of(e.source));
        return UNDEFINED;
    }},
    {ability::poisonpoint, onDamagingHit, {}, inflict<condition::psn>},
    {ability::poisontouch, onSourceDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasAbility(e.target, ability::shielddust) || b.hasItem(e.target, item::covertcloak)) return UNDEFINED;
        // As Showdown asks, it is the Protective Pads of who is hit that count.
        if (!b.checkMoveMakesContact(e.move(), e.target, e.source)) return UNDEFINED;
        if (b.prng.randomChance(3, 10)) b.trySetStatus(e.target, condition::psn, e.source);
        return UNDEFINED;
    }},
    {ability::rattled, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        int type = e.move()->type;
        if (type == Type::Dark || type == Type::Bug || type == Type::Ghost) b.boost(Stat::spe, 1);
        return UNDEFINED;
    }},
    {ability::rattled, onAfterBoost, {}, [](Battle& b, Event& e) -> Value {
        if (e.cause.id == ability::intimidate && e.boosts[Stat::atk]) b.boost(Stat::spe, 1);
        return UNDEFINED;
    }},
    {ability::roughskin, onDamagingHit, {.order = 1}, [](Battle& b, Event& e) -> Value {
        if (b.checkMoveMakesContact(e.move(), e.source, e.target, true)) b.damage(e.source->maxhp / 8, e.source, e.target);
        return UNDEFINED;
    }},
    {ability::sandspit, onDamagingHit, {}, [](Battle& b, Event&) -> Value {
        b.setWeather(condition::sandstorm);
        return UNDEFINED;
    }},
    {ability::seedsower, onDamagingHit, {}, [](Battle& b, Event&) -> Value {
        b.setTerrain(condition::grassyterrain);
        return UNDEFINED;
    }},
    {ability::stamina, onDamagingHit, {}, [](Battle& b, Event&) -> Value {
        b.boost(Stat::def, 1);
        return UNDEFINED;
    }},
    {ability::static_, onDamagingHit, {}, inflict<condition::par>},
    {ability::steamengine, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->type == Type::Water || e.move()->type == Type::Fire) b.boost(Stat::spe, 6);
        return UNDEFINED;
    }},
    {ability::tanglinghair, onDamagingHit, {}, slow},
    {ability::thermalexchange, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->type == Type::Fire) b.boost(Stat::atk, 1);
        return UNDEFINED;
    }},
    {ability::toxicdebris, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        int side = b.isAlly(e.source, e.target) ? 1 - e.source->side : e.source->side;
        const EffectState* spikes = b.sideCondition(side, condition::toxicspikes);
        if (e.move()->category != Category::Physical || (spikes && spikes->counter >= 2)) return UNDEFINED;
        b.add(Message::activate, e.target, "ability: Toxic Debris");
        b.addSideCondition(side, condition::toxicspikes, e.target);
        return UNDEFINED;
    }},
    {ability::watercompaction, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.move()->type == Type::Water) b.boost(Stat::def, 2);
        return UNDEFINED;
    }},
    {ability::weakarmor, onDamagingHit, {}, [](Battle& b, Event& e) -> Value {
        constexpr int CHANGED[Stat::COUNT] = {0, -1, 0, 0, 2};
        if (e.move()->category == Category::Physical) b.boost(CHANGED, e.target, e.target);
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList ABILITIES_OF_CONTACT = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
