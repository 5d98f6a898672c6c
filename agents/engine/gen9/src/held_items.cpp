// Taking, giving, eating and using items: sim/pokemon.ts.

#include "battle.h"

// Returns the item that was taken, or 0.
int Battle::takeItem(Pokemon* p, Pokemon* source) {
    int item = p->item;
    if (!item || !truthy(runEvent(Ev::TakeItem, p, source ? source : p, {}, UNDEFINED, item))) return 0;
    p->item = 0;
    clearEffectState(p->itemState);
    p->pendingStaleness = 0;
    singleEvent(Ev::End, item, &p->itemState, p);
    runEvent(Ev::AfterTakeItem, p, nullptr, {}, UNDEFINED, item);
    return item;
}

bool Battle::setItem(Pokemon* p, int item, Pokemon* source, Cause cause) {
    if (!p->hp || !p->isActive) return false;
    bool external = event && (event->effect == move::trick || event->effect == move::switcheroo) && source && !isAlly(source, p);
    p->pendingStaleness = external ? 2 : 1;
    int oldItem = p->item;
    EffectState oldItemState = p->itemState;
    p->item = item;
    initEffectState(p->itemState, item, p);
    listen(item);
    if (oldItem) singleEvent(Ev::End, oldItem, &oldItemState, p);
    if (item) singleEvent(Ev::Start, item, &p->itemState, p, source, cause);
    return true;
}

// Showdown's RESTORATIVE_BERRIES, as far as they are played.
bool Battle::isRestorative(int item) {
    switch (item) {
        case item::aguavberry:
        case item::figyberry:
        case item::iapapaberry:
        case item::leppaberry:
        case item::magoberry:
        case item::oranberry:
        case item::sitrusberry:
        case item::wikiberry: return true;
        default: return false;
    }
}

bool Battle::eatItem(Pokemon* p, bool force, Pokemon* source, Cause cause) {
    if (!p->item || !p->hp || !p->isActive) return false;
    cause = orEffect(cause);
    if (!source && event) source = event->target;
    int item = p->item;
    if (cause.type() == EffectType::Item && item != cause.id && source == p) return false;
    if (!truthy(runEvent(Ev::UseItem, p, nullptr, {}, UNDEFINED, item))) return false;
    if (!force && !truthy(runEvent(Ev::TryEatItem, p, nullptr, {}, UNDEFINED, item))) return false;
    add(Message::enditem, p, named(item), "[eat]");
    singleEvent(Ev::Eat, item, &p->itemState, p, source, cause);
    runEvent(Ev::EatItem, p, source, cause, UNDEFINED, item);
    if (isRestorative(item)) {
        if (p->pendingStaleness == 2 || (p->pendingStaleness == 1 && p->staleness != 2)) p->staleness = p->pendingStaleness;
        p->pendingStaleness = 0;
    }
    p->lastItem = p->item;
    p->item = 0;
    clearEffectState(p->itemState);
    p->usedItemThisTurn = p->ateBerry = true;
    runEvent(Ev::AfterUseItem, p, nullptr, {}, UNDEFINED, item);
    return true;
}

bool Battle::useItem(Pokemon* p, Pokemon* source, Cause cause) {
    int item = p->item;
    if ((!p->hp && !EFFECTS[item].is(Is::isGem)) || !p->isActive || !item) return false;
    cause = orEffect(cause);
    if (!source && event) source = event->target;
    if (cause.type() == EffectType::Item && item != cause.id && source == p) return false;
    if (!truthy(runEvent(Ev::UseItem, p, nullptr, {}, UNDEFINED, item))) return false;
    if (item == item::redcard)
        add(Message::enditem, p, named(item), of(source));
    else
        add(Message::enditem, p, named(item));
    bool boosts = false;
    for (int by : EFFECTS[item].boosts) boosts = boosts || by;
    if (boosts) boost(EFFECTS[item].boosts, p, source, item);
    singleEvent(Ev::Use, item, &p->itemState, p, source, cause);
    p->lastItem = p->item;
    p->item = 0;
    clearEffectState(p->itemState);
    p->usedItemThisTurn = true;
    runEvent(Ev::AfterUseItem, p, nullptr, {}, UNDEFINED, item);
    return true;
}
