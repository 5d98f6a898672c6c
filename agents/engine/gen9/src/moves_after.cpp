// What attacks do beside their damage: data/moves.ts. target is who was hit, source the user.

#include "battle.h"

namespace {

constexpr int HAZARDS[] = {condition::spikes, condition::toxicspikes, condition::stealthrock, condition::stickyweb};

Value layer(Battle& b, Event& e) {
    if (!e.move()->hasSheerForce && e.source->hp) b.addSideCondition(1 - e.source->side, condition::spikes);
    return UNDEFINED;
}

Value endTerrain(Battle& b, Event& e) {
    if (e.source->hp) b.clearTerrain();
    return UNDEFINED;
}

// Frees the user from what lies on its side and from what binds it.
Value spin(Battle& b, Event& e) {
    if (e.move()->hasSheerForce || !e.source->hp) return UNDEFINED;
    for (int hazard : HAZARDS)
        if (b.removeSideCondition(e.source->side, hazard))
            b.add(Message::sideend, sideName(e.source->side), named(hazard), from(e.effect), of(e.source));
    b.removeVolatile(e.source, condition::partiallytrapped);
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {move::alluringvoice, onSecondaryHit, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->statsRaisedThisTurn) b.addVolatile(e.target, condition::confusion, e.source, e.cause);
        return UNDEFINED;
    }},
    {move::ceaselessedge, onAfterHit, {}, layer},
    {move::ceaselessedge, onAfterSubDamage, {}, layer},
    {move::clearsmog, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.clearBoosts(e.target);
        b.add(Message::clearboost, e.target);
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
};

}  // namespace

extern const HandlerList MOVES_AFTER = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
