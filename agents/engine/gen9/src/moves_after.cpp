// What attacks do beside their damage: data/moves.ts. target is who was hit, source the user.

#include "battle.h"

namespace {

constexpr int HAZARDS[] = {condition::spikes, condition::toxicspikes, condition::stealthrock, condition::stickyweb};

template <int HAZARD>
Value layer(Battle& b, Event& e) {
    if (!e.move()->hasSheerForce && e.source->hp) b.addSideCondition(1 - e.source->side, HAZARD);
    return UNDEFINED;
}

Value endTerrain(Battle& b, Event& e) {
    if (e.source->hp) b.clearTerrain();
    return UNDEFINED;
}

// Frees the user from what lies on its side and from what binds it.
Value spin(Battle& b, Event& e) {
    if (e.move()->hasSheerForce || !e.source->hp) return UNDEFINED;
    if (b.removeVolatile(e.source, condition::leechseed))
        b.add(Message::end, e.source, "Leech Seed", from(e.effect), of(e.source));
    for (int hazard : HAZARDS)
        if (b.removeSideCondition(e.source->side, hazard))
            b.add(Message::sideend, sideName(e.source->side), named(hazard), from(e.effect), of(e.source));
    b.removeVolatile(e.source, condition::partiallytrapped);
    return UNDEFINED;
}

// Thief and Covet
Value steal(Battle& b, Event& e) {
    Pokemon *holder = e.target, *thief = e.source;
    int item = thief->item ? 0 : b.takeItem(holder, thief);
    if (!item) return UNDEFINED;
    if (!truthy(b.singleEvent(Ev::TakeItem, item, &holder->itemState, thief, holder, e.cause, UNDEFINED, nullptr, item)) || !b.setItem(thief, item)) {
        holder->item = item;
        return UNDEFINED;
    }
    if (e.effect == move::thief) b.add(Message::enditem, holder, named(item), "[silent]", from(e.effect), of(thief));
    b.add(Message::item, thief, named(item), from(e.effect), of(holder));
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {move::alluringvoice, onSecondaryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->statsRaisedThisTurn) b.addVolatile(e.target, condition::confusion, e.source, e.cause);
        return UNDEFINED;
    }},
    {move::ceaselessedge, onAfterHit, {}, layer<condition::spikes>},
    {move::ceaselessedge, onAfterSubDamage, {}, layer<condition::spikes>},
    {move::clearsmog, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.clearBoosts(e.target);
        b.add(Message::clearboost, e.target);
        return UNDEFINED;
    }},
    {move::covet, onAfterHit, {}, steal},
    // Its user is no longer of the type.
    {move::doubleshock, onSelfHit, {}, [](Battle& b, Event& e) -> Value {
        Types types = b.getTypes(e.target, true);
        auto without = [](int type) { return type == Type::Electric ? int(Type::unknown) : type; };
        b.setType(e.target, without(types.list[0]), types.count > 1 ? without(types.list[1]) : int(Type::none));
        types = b.getTypes(e.target);
        auto shown = [&](int n) { return types.count > n ? 1 + types.list[n] : 0; };
        b.add(Message::start, e.target, "typechange", Argument(Argument::Types, shown(0), shown(1), shown(2)), from(e.effect));
        return UNDEFINED;
    }},
    {move::icespinner, onAfterHit, {}, endTerrain},
    {move::icespinner, onAfterSubDamage, {}, endTerrain},
    // Of onBasePower target is the user.
    {move::knockoff, onBasePower, {}, [](Battle& b, Event& e) -> Value {
        int item = e.source->item;
        Value taken = b.singleEvent(Ev::TakeItem, item, &e.source->itemState, e.source, e.source, e.cause, UNDEFINED, nullptr, item);
        return item && truthy(taken) ? e.chainModify(3, 2) : UNDEFINED;
    }},
    {move::knockoff, onAfterHit, {}, [](Battle& b, Event& e) -> Value {
        int item = b.takeItem(e.target);
        if (item) b.add(Message::enditem, e.target, named(item), from(move::knockoff), of(e.source));
        return UNDEFINED;
    }},
    {move::mortalspin, onAfterHit, {}, spin},
    {move::mortalspin, onAfterSubDamage, {}, spin},
    {move::rapidspin, onAfterHit, {}, spin},
    {move::rapidspin, onAfterSubDamage, {}, spin},
    {move::spiritshackle, onSecondaryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.source->isActive) b.addVolatile(e.target, condition::trapped, e.source, e.cause, condition::trapper);
        return UNDEFINED;
    }},
    {move::stoneaxe, onAfterHit, {}, layer<condition::stealthrock>},
    {move::stoneaxe, onAfterSubDamage, {}, layer<condition::stealthrock>},
    {move::thief, onAfterHit, {}, steal},
    {move::throatchop, onSecondaryHit, {}, [](Battle& b, Event& e) -> Value {
        // Showdown's secondary is the cause, and no effect that has a name.
        bool begins = truthy(b.addVolatile(e.target, condition::throatchop));
        if (begins) b.volatileOf(e.target, condition::throatchop)->sourceEffect = 0;
        return UNDEFINED;
    }},
    {move::triattack, onSecondaryHit, {}, [](Battle& b, Event& e) -> Value {
        constexpr int STATUSES[] = {condition::brn, condition::par, condition::frz};
        b.trySetStatus(e.target, STATUSES[b.prng.random(3)], e.source);
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList MOVES_AFTER = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
