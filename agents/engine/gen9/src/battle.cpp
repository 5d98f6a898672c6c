// The turn: sim/battle.ts's start, commitChoices, turnLoop, runAction, endTurn, and what can be chosen.

#include "battle.h"

// What a seat chooses for a slot: 0 to 3 a move, 4 to 7 the same after terastallizing, 8 to 12 a switch to position 1 to 5.
// A Pokémon that is locked into a move (Outrage, recharging) has the one choice 0.
enum : int { TERASTALLIZING = 4, SWITCHING = 8 };

void Battle::start() {
    for (Side& side : row.sides)
        for (int place = 0; place < side.size; place++)
            if (side.pokemon[place].gender < 0) side.pokemon[place].gender = 1 + prng.random(2);
    // The order of both teams, as chosen at the preview: Showdown's queue draws where the Pokémon of a place are equally fast.
    for (int place = 0; place < TEAM && place < row.sides[0].size && place < row.sides[1].size; place++)
        if (at(0, place)->baseStoredStats[Stat::spe] == at(1, place)->baseStoredStats[Stat::spe]) prng.random(2);
    row.midTurn = true;
    row.winner = UNDECIDED;
    for (Side& side : row.sides) side.pokemonLeft = side.size;
    for (Side& side : row.sides)
        for (int slot = 0; slot < row.activePerSide; slot++) switchIn(at(int(&side - row.sides), slot), slot);
    turnLoop();
    tidy();
}

void Battle::commitChoices(const int32_t* choices) {
    findListening();
    updateSpeed();
    Action old[MAX_ACTIONS];
    int oldLength = row.queueLength;
    for (int n = 0; n < oldLength; n++) old[n] = row.queue[n];
    row.queueLength = 0;
    for (Side& side : row.sides)
        for (int slot = 0; slot < row.activePerSide; slot++)
            if (side.request) addMoves(int(&side - row.sides), slot, choices[(&side - row.sides) * ACTIVE + slot]);
    speedSort(row.queue, row.queueLength, comparePriority<Action>);
    for (int n = 0; n < oldLength; n++) row.queue[row.queueLength++] = old[n];
    for (Side& side : row.sides) side.request = REQUEST_NONE;
    row.requestState = REQUEST_NONE;
    turnLoop();
    tidy();
}

namespace {

// Closes the gaps that ended effects left.
int close(EffectState* states, int count) {
    int kept = 0;
    for (int n = 0; n < count; n++)
        if (states[n].id) states[kept++] = states[n];
    for (int n = kept; n < count; n++) states[n] = {};
    return kept;
}

bool usable(const MoveSlot& slot) { return slot.pp && !slot.disabled; }

}  // namespace

void Battle::tidy() {
    for (Side& side : row.sides) {
        for (Active& active : side.active) active.volatileCount = close(active.volatiles, active.volatileCount);
        for (SlotConditions& slot : side.slotConditions) slot.count = close(slot.list, slot.count);
        side.conditionCount = close(side.conditions, side.conditionCount);
    }
    row.pseudoWeatherCount = close(row.pseudoWeather, row.pseudoWeatherCount);
}

void Battle::addMoves(int side, int slot, int choice) {
    Pokemon* p = at(side, slot);
    if (choice >= SWITCHING) {
        addChoice({.choice = row.sides[side].request == REQUEST_SWITCH ? CHOICE_INSTASWITCH : CHOICE_SWITCH, .pokemon = nameOf(p),
                   .target = row.sides[side].order[choice - SWITCHING + row.activePerSide]});
        return;
    }
    if (int locked = getLockedMove(p)) {
        const EffectState* charging = moveData(locked).condition ? volatileOf(p, moveData(locked).condition) : nullptr;
        int targetLoc = charging && charging->counter ? charging->counter : p->lastMoveTargetLoc;
        addChoice({.choice = CHOICE_MOVE, .pokemon = nameOf(p), .move = locked, .targetLoc = targetLoc});
        return;
    }
    bool any = false;
    for (int n = 0; n < p->moveCount; n++) any = any || usable(p->moveSlots[n]);
    int move = any ? p->moveSlots[choice % TERASTALLIZING].id : int(move::struggle);
    // .target of a move: whether its user terastallizes (resolveAction)
    addChoice({.choice = CHOICE_MOVE, .pokemon = nameOf(p), .move = move, .target = choice >= TERASTALLIZING});
}

int Battle::canSwitch(int side) const {
    const Side& whole = row.sides[side];
    int count = 0;
    for (int position = row.activePerSide; position < whole.size; position++)
        if (!whole.pokemon[(whole.order[position] - 1) % TEAM].fainted) count++;
    return whole.pokemonLeft ? count : 0;
}

Pokemon* Battle::getRandomSwitchable(int side) {
    int count = canSwitch(side);
    if (!count) return nullptr;
    int skip = prng.random(count);
    for (int position = row.activePerSide;; position++)
        if (!at(side, position)->fainted && !skip--) return at(side, position);
}

int Battle::legal(int side, int slot) {
    Side& whole = row.sides[side];
    if (ended() || !whole.request) return 0;
    Pokemon* p = at(side, slot);
    int bits = 0;
    if (whole.request == REQUEST_MOVE) {
        if (!listeningFound) findListening();
        if (getLockedMove(p)) return 1;
        for (int n = 0; n < p->moveCount; n++)
            if (usable(p->moveSlots[n])) bits |= 1 << n;
        if (!bits)
            bits = 1;  // Struggle, alone and without terastallizing
        else if (p->canTerastallize > 0)
            bits |= bits << TERASTALLIZING;
        if (p->trapped) return bits;
    }
    for (int position = row.activePerSide; position < whole.size; position++)
        if (!at(side, position)->fainted) bits |= 1 << (SWITCHING + position - row.activePerSide);
    return bits;
}

// The move that its Pokémon is locked into where the side is asked for moves, or 0.
int Battle::lockedMove(int side, int slot) {
    if (ended() || row.sides[side].request != REQUEST_MOVE) return 0;
    if (!listeningFound) findListening();
    return getLockedMove(at(side, slot));
}

void Battle::turnLoop() {
    if (!row.midTurn) {
        insertChoice({.choice = CHOICE_BEFORE_TURN});
        addChoice({.choice = CHOICE_RESIDUAL});
        row.midTurn = true;
    }
    while (row.queueLength) {
        Action action = row.queue[0];
        removeAction(0);
        runAction(action);
        if (row.requestState || ended()) return;
    }
    endTurn();
    row.midTurn = false;
    row.queueLength = 0;
}

void Battle::checkFainted() {
    for (Side& side : row.sides) {
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon& p = pokemon(side.order[slot]);
            if (p.fainted) p.switchFlag = 1;
        }
    }
}

bool Battle::runAction(Action& action) {
    Pokemon* p = action.pokemon ? &pokemon(action.pokemon) : nullptr;
    int hpBefore = p ? p->hp : 0;
    Targets residual;
    int residualHp[SLOTS];
    auto run = [&](int callback, Pokemon* target) {
        ActiveMove& move = getActiveMove(ActiveMove{moveData(action.move)});
        Event running;
        running.id = callback / PREFIXES, running.target = p, running.source = target, running.cause = &move, running.effect = move.id;
        HANDLERS.find(action.move, callback)->run(*this, running);
    };
    switch (action.choice) {
        case CHOICE_MOVE: {
            if (!p->isActive || p->fainted) return false;
            ActiveMove move{moveData(action.move)};
            move.priority = action.movePriority;
            move.pranksterBoosted = action.pranksterBoosted;
            Pokemon* originalTarget = action.originalTarget ? &pokemon(action.originalTarget) : nullptr;
            runMove(move, p, {.targetLoc = action.targetLoc, .sourceEffect = action.sourceEffect, .originalTarget = originalTarget});
            break;
        }
        case CHOICE_BEFORE_TURN_MOVE: {
            if (!p->isActive || p->fainted) return false;
            Pokemon* target = getTarget(p, moveData(action.move), action.targetLoc);
            if (!target) return false;
            run(beforeTurnCallback, target);
            break;
        }
        case CHOICE_PRIORITY_CHARGE_MOVE:
            if (!p->isActive || p->fainted) return false;
            run(priorityChargeCallback, nullptr);
            break;
        case CHOICE_TERASTALLIZE: terastallize(p); break;
        case CHOICE_INSTASWITCH:
        case CHOICE_SWITCH: switchIn(&pokemon(action.target), p->position, action.sourceEffect); break;
        case CHOICE_RUN_SWITCH: runSwitch(p); break;
        case CHOICE_BEFORE_TURN: eachEvent(Ev::BeforeTurn); break;
        case CHOICE_RESIDUAL:
            clearActiveMove(true);
            updateSpeed();
            residual = getAllActive();
            for (int n = 0; n < residual.size; n++) residualHp[n] = residual.list[n]->hp;
            fieldEvent(Ev::Residual);
            break;
    }
    for (int side = 0; side < SIDES; side++) {
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon* forced = at(side, slot);
            if (!forced->forceSwitchFlag) continue;
            if (forced->hp) dragIn(side, slot);
            forced->forceSwitchFlag = false;
        }
    }
    clearActiveMove();
    faintMessages();
    if (ended()) return true;
    if (!row.queueLength)
        checkFainted();
    else if (row.queue[0].choice == CHOICE_INSTASWITCH)
        return false;
    eachEvent(Ev::Update);
    for (int n = 0; n < residual.size; n++)
        if (residual.list[n]->hp) emergencyExit(residual.list[n], residualHp[n]);
    if (action.choice == CHOICE_RUN_SWITCH && p->hp) emergencyExit(p, hpBefore);
    if (requestSwitches() || ended()) return true;
    if (row.queueLength && row.queue[0].choice == CHOICE_MOVE) {
        updateSpeed();
        for (int n = 0; n < row.queueLength; n++)
            if (row.queue[n].pokemon) updateActionSpeed(row.queue[n]);
        speedSort(row.queue, row.queueLength, comparePriority<Action>);
    }
    return false;
}

// Asks for switches where a Pokémon has to or may leave now.
bool Battle::requestSwitches() {
    bool switches[SIDES] = {};
    auto anyFlag = [&](int side) {
        for (int slot = 0; slot < row.activePerSide; slot++)
            if (at(side, slot)->switchFlag) return true;
        return false;
    };
    for (int side = 0; side < SIDES; side++) switches[side] = anyFlag(side);
    for (int side = 0; side < SIDES; side++) {
        if (!switches[side]) continue;
        bool possible = canSwitch(side);
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon* p = at(side, slot);
            if (!possible) p->switchFlag = 0;
            if (!possible || !p->hp || !p->switchFlag || p->skipBeforeSwitchOutEventFlag) continue;
            runEvent(Ev::BeforeSwitchOut, p);
            p->skipBeforeSwitchOutEventFlag = true;
            faintMessages();
            if (ended()) return true;
            if (p->fainted) switches[side] = anyFlag(side);
        }
        if (!possible) switches[side] = false;
    }
    if (!switches[0] && !switches[1]) return false;
    makeRequest(REQUEST_SWITCH);
    return true;
}

void Battle::makeRequest(int type) {
    row.requestState = type;
    for (Side& side : row.sides) {
        side.request = side.pokemonLeft && type == REQUEST_MOVE ? REQUEST_MOVE : REQUEST_NONE;
        for (int slot = 0; slot < row.activePerSide; slot++)
            if (type == REQUEST_SWITCH && side.pokemonLeft && pokemon(side.order[slot]).switchFlag) side.request = REQUEST_SWITCH;
        for (int slot = 0; slot < row.activePerSide; slot++)
            if (side.request == REQUEST_MOVE) noteLocks(&pokemon(side.order[slot]));
    }
}

// What Showdown's getMoveRequestData notes about a Pokémon.
void Battle::noteLocks(Pokemon* p) {
    bool hardLocked = getLockedMove(p), isLastActive = p->isActive;
    for (int slot = p->position + 1; slot < row.activePerSide; slot++) isLastActive = isLastActive && at(p->side, slot)->fainted;
    if (hardLocked) p->trapped = 1;
    if (hardLocked || !isLastActive)
        p->maybeDisabled = p->maybeLocked = p->maybeTrapped = 0;
    else
        p->maybeLocked = p->maybeLocked || p->maybeDisabled;
}

// What Showdown's endTurn does for each Pokémon that is out.
void Battle::beginTurn(Pokemon* p) {
    Active& active = out(p);
    active.moveThisTurn = active.newlySwitched = 0;
    active.moveLastTurnResult = active.moveThisTurnResult;
    active.moveThisTurnResult = UNDEFINED;
    if (row.turn != 1) {
        p->usedItemThisTurn = p->statsRaisedThisTurn = p->statsLoweredThisTurn = false;
        active.hurtThisTurn = 0;
    }
    p->maybeDisabled = p->maybeLocked = 0;
    for (int n = 0; n < p->moveCount; n++) p->moveSlots[n].disabled = 0;
    runEvent(Ev::DisableMove, p);
    for (int n = 0; n < p->moveCount; n++) {
        int move = p->moveSlots[n].id;
        ActiveMove activeMove{moveData(move)};
        singleEvent(Ev::DisableMove, move, nullptr, p, nullptr, &activeMove);
        if (activeMove.has(Flag::cantusetwice) && active.lastMove == move) disableMove(p, move);
    }
    if (active.attackedByCount) active.unknownType = false;
    int kept = 0;
    for (int n = 0; n < active.attackedByCount; n++) {
        if (!pokemon(active.attackedBy[n].source).isActive) continue;
        active.attackedBy[kept] = active.attackedBy[n];
        active.attackedBy[kept++].thisTurn = false;
    }
    for (int n = kept; n < active.attackedByCount; n++) active.attackedBy[n] = {};
    active.attackedByCount = kept;
    p->trapped = p->maybeTrapped = 0;
    runEvent(Ev::TrapPokemon, p);
    if (active.unknownType || !hasType(p, Type::Ghost)) {
        runEvent(Ev::MaybeTrapPokemon, p);
        // A foe of this species may have an ability that traps: of the tables' only Magnezone, if its own is another.
        Targets enemies = foes(p);
        for (int n = 0; n < enemies.size; n++)
            if (speciesOf(enemies.list[n]).ability == ability::magnetpull && enemies.list[n]->ability != ability::magnetpull)
                singleEvent(Ev::MaybeTrapPokemon, ability::magnetpull, nullptr, p, enemies.list[n], {}, UNDEFINED, nullptr, 0, OnFoe);
    }
    if (!p->fainted) active.activeTurns++;
}

void Battle::endTurn() {
    row.turn++;
    row.lastSuccessfulMoveThisTurn = 0;
    bool trapped[SIDES];
    int staleness[SIDES] = {};
    for (int number = 0; number < SIDES; number++) {
        Side& side = row.sides[number];
        trapped[number] = true;
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon* p = at(number, slot);
            beginTurn(p);
            if (p->fainted) continue;
            trapped[number] = trapped[number] && p->trapped;
            int own = p->volatileStaleness ? p->volatileStaleness : p->staleness;
            if (own && staleness[number] != 2) staleness[number] = own;
        }
        side.faintedLastTurn = side.faintedThisTurn;
        side.faintedThisTurn = 0;
    }
    if (maybeTriggerEndlessBattleClause(trapped, staleness)) return;
    makeRequest(REQUEST_MOVE);
}

bool Battle::maybeTriggerEndlessBattleClause(const bool* trapped, const int* staleness) {
    if (row.turn <= 100) return false;
    if (row.turn > 1000) {
        win(TIE);
        return true;
    }
    if (!staleness[0] || !staleness[1] || (staleness[0] != 2 && staleness[1] != 2)) return false;
    bool fresh[SIDES] = {};
    for (int side = 0; side < SIDES && !trapped[side]; side++)
        for (int place = 0; place < row.sides[side].size; place++) {
            const Pokemon& p = row.sides[side].pokemon[place];
            fresh[side] = fresh[side] || (!p.fainted && !p.volatileStaleness && !p.staleness);
        }
    if (fresh[0] && fresh[1]) return false;
    win(TIE);  // no team of the tables can bring back its berries (Harvest, Pickup, Recycle), which would lose
    return true;
}

bool Battle::faintMessages(bool lastFirst, bool forceCheck, bool checkWinAlways) {
    if (ended()) return false;
    int length = faintCount;
    if (!length) return forceCheck && checkWin();
    if (lastFirst) {
        Fainting last = faintQueue[faintCount - 1];
        for (int n = faintCount - 1; n > 0; n--) faintQueue[n] = faintQueue[n - 1];
        faintQueue[0] = last;
    }
    Fainting fainting;
    while (faintCount) {
        int left = faintCount;
        fainting = faintQueue[0];
        for (int n = 1; n < faintCount; n++) faintQueue[n - 1] = faintQueue[n];
        faintCount--;
        Pokemon* p = fainting.target;
        if (p->fainted || !truthy(runEvent(Ev::BeforeFaint, p, fainting.source, fainting.cause))) continue;
        Side& side = row.sides[p->side];
        if (side.pokemonLeft) side.pokemonLeft--;
        if (side.totalFainted < 100) side.totalFainted++;
        runEvent(Ev::Faint, p, fainting.source, fainting.cause);
        singleEvent(Ev::End, p->ability, &p->abilityState, p);
        singleEvent(Ev::End, p->item, &p->itemState, p);
        if (p->formeRegression && !out(p).transformed) {
            p->baseSpecies = p->setSpecies;
            p->baseAbility = p->setAbility;
        }
        clearVolatile(p, false);
        p->fainted = true;
        p->isActive = p->isStarted = false;
        p->terastallized = 0;
        if (p->formeRegression) {
            updateMaxHp(p);
            p->formeRegression = false;
        }
        side.faintedThisTurn = nameOf(p);
        if (faintCount >= left) checkWinAlways = true;
    }
    if (checkWinAlways && checkWin(&fainting)) return true;
    runEvent(Ev::AfterFaint, fainting.target, fainting.source, fainting.cause, length);
    return false;
}

bool Battle::checkWin(const Fainting* last) {
    if (ended()) return true;
    bool first = row.sides[0].pokemonLeft, second = row.sides[1].pokemonLeft;
    if (first && second) return false;
    win(first ? 0 : second ? 1 : last ? last->target->side : int(TIE));
    return true;
}
