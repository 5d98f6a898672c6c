// Switching and terastallizing: sim/battle-actions.ts.

#include "battle.h"

bool Battle::switchIn(Pokemon* incoming, int position, int sourceEffect, bool isDrag) {
    if (!incoming || incoming->isActive) {
        hint("A switch failed because the Pokémon trying to switch in is already in.");
        return false;
    }
    Side& side = row.sides[incoming->side];
    Pokemon* old = at(incoming->side, position);
    if (old && old->hp && old->isActive) {
        old->beingCalledBack = true;
        int switchCopyFlag = sourceEffect >= FIRST_MOVE ? moveData(sourceEffect).hit.selfSwitch : int(SelfSwitch::no);
        if (!old->skipBeforeSwitchOutEventFlag && !isDrag) {
            runEvent(Ev::BeforeSwitchOut, old);
            eachEvent(Ev::Update);
        }
        old->skipBeforeSwitchOutEventFlag = false;
        if (!truthy(runEvent(Ev::SwitchOut, old))) return false;
        if (!old->hp) {  // Showdown's "pursuitfaint"
            if (!isDrag) hint("A Pokemon can't switch between when it runs out of HP and when it faints");
            return true;
        }
        singleEvent(Ev::End, old->ability, &old->abilityState, old);
        singleEvent(Ev::End, old->item, &old->itemState, old);
        cancelAction(old);
        (void)switchCopyFlag;  // Baton Pass and Shed Tail are not played
        clearVolatile(old);
    }
    if (old) {
        old->isActive = old->isStarted = false;
        old->usedItemThisTurn = old->statsRaisedThisTurn = old->statsLoweredThisTurn = false;
        if (old->fainted) old->status = 0;
        old->position = incoming->position;
    }
    side.order[incoming->position] = nameOf(old);
    incoming->position = position;
    side.order[position] = nameOf(incoming);
    incoming->isActive = true;
    side.active[position] = {};
    clearVolatile(incoming, false);
    for (int n = 0; n < incoming->moveCount; n++) incoming->moveSlots[n].used = false;
    initEffectState(incoming->abilityState, incoming->ability, incoming);
    initEffectState(incoming->itemState, incoming->item, incoming);
    findListening();
    runEvent(Ev::BeforeSwitchIn, incoming);
    Message message = isDrag ? Message::drag : Message::switch_;
    if (sourceEffect)
        add(message, incoming, details(incoming), health(incoming), named(sourceEffect).after("[from] "));
    else
        add(message, incoming, details(incoming), health(incoming));
    incoming->previouslySwitchedIn++;
    if (isDrag)
        runSwitch(incoming);
    else
        insertChoice({.choice = CHOICE_RUN_SWITCH, .pokemon = nameOf(incoming)});
    return true;
}

bool Battle::dragIn(int side, int position) {
    Pokemon* incoming = getRandomSwitchable(side);
    if (!incoming || incoming->isActive) return false;
    Pokemon* old = at(side, position);
    if (!old->hp || !truthy(runEvent(Ev::DragOut, old))) return false;
    return switchIn(incoming, position, 0, true);
}

void Battle::runSwitch(Pokemon* first) {
    Targets switchers;
    switchers.add(first);
    while (row.queueLength && row.queue[0].choice == CHOICE_RUN_SWITCH) {
        switchers.add(&pokemon(row.queue[0].pokemon));
        removeAction(0);
    }
    Targets actives = getAllActive(true);
    speedSort(actives.list, actives.size, [](const Pokemon* a, const Pokemon* b) { return int64_t(b->speed) - a->speed; });
    speedOrderSize = actives.size;
    for (int n = 0; n < actives.size; n++) speedOrder[n] = actives.list[n]->side + SIDES * actives.list[n]->position;
    fieldEvent(Ev::SwitchIn, &switchers);
    for (int n = 0; n < switchers.size; n++)
        if (switchers.list[n]->hp) switchers.list[n]->isStarted = true;
}

void Battle::terastallize(Pokemon* p) {
    bool ogerpon = speciesOf(p).baseSpecies == species::ogerpon;
    if (ogerpon && p->teraType != Type::Fire && p->teraType != Type::Grass && p->teraType != Type::Rock && p->teraType != Type::Water) {
        hint("If Ogerpon Terastallizes into a type other than Fire, Grass, Rock, or Water, the game crashes.", 0, 0, 1 + p->side);
        return;
    }
    add(Message::terastallize, p, typeName(p->teraType));
    p->terastallized = p->teraType + 1;
    for (Pokemon& ally : row.sides[p->side].pokemon) ally.canTerastallize = 0;
    out(p).addedType = Type::none;
    out(p).unknownType = false;
    showTeraType(p);
    if (ogerpon) {
        int forme = p->species == species::ogerponwellspring ? int(species::ogerponwellspringtera)
            : p->species == species::ogerponcornerstone      ? int(species::ogerponcornerstonetera)
                                                             : int(species::ogerpontealtera);
        formeChange(p, forme, {}, true);
    }
    runEvent(Ev::AfterTerastallization, p);
}
