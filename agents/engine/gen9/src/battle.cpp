// The turn: sim/battle.ts's start, commitChoices, turnLoop, runAction, endTurn and faintMessages. What can be chosen: requests.cpp.

#include "battle.h"

// What Showdown draws when it makes the Pokémon, before the preview.
void Battle::prepare() {
    for (Side& side : row.sides)
        for (int place = 0; place < side.size; place++)
            if (side.pokemon[place].gender < 0) side.pokemon[place].gender = 1 + prng.random(2);
}

void Battle::start() {
    prepare();
    // The order of both teams, as chosen at the preview: Showdown's queue draws where the Pokémon of a place are equally fast.
    for (int place = 0; place < TEAM && place < row.sides[0].size && place < row.sides[1].size; place++)
        if (at(0, place)->baseStoredStats[Stat::spe] == at(1, place)->baseStoredStats[Stat::spe]) prng.random(2);
    row.midTurn = true;
    row.winner = UNDECIDED;
    for (Side& side : row.sides) side.pokemonLeft = side.size;
    add(Message::empty);
    for (int side = 0; side < SIDES; side++) add(Message::teamsize, Argument(Argument::PlayerId, side), row.sides[side].size);
    add(Message::begin);
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
    add(Message::empty);
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

}  // namespace

void Battle::tidy() {
    for (Side& side : row.sides) {
        for (Active& active : side.active) active.volatileCount = close(active.volatiles, active.volatileCount);
        for (SlotConditions& slot : side.slotConditions) slot.count = close(slot.list, slot.count);
        side.conditionCount = close(side.conditions, side.conditionCount);
    }
    row.pseudoWeatherCount = close(row.pseudoWeather, row.pseudoWeatherCount);
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
            add(Message::empty);
            clearActiveMove(true);
            updateSpeed();
            residual = getAllActive();
            for (int n = 0; n < residual.size; n++) residualHp[n] = residual.list[n]->hp;
            fieldEvent(Ev::Residual);
            if (!ended()) add(Message::upkeep);
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

// What the types of a Pokémon are now, where that was not shown.
void Battle::showChangedTypes(Pokemon* p) {
    Active& active = out(p);
    Types types = getTypes(p, true);
    int shown[2] = {1 + types.list[0], types.count > 1 ? 1 + types.list[1] : 0};
    if (shown[0] == active.apparentTypes[0] && shown[1] == active.apparentTypes[1]) return;
    for (int n = 0; n < 2; n++) active.apparentTypes[n] = shown[n];
    add(Message::start, p, "typechange", Argument(Argument::Types, shown[0], shown[1]), "[silent]");
    if (active.addedType != Type::none) add(Message::start, p, "typeadd", typeName(active.addedType), "[silent]");
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
    forgetAttacks(active);
    if (!p->terastallized) showChangedTypes(p);
    p->trapped = p->maybeTrapped = 0;
    runEvent(Ev::TrapPokemon, p);
    if (active.unknownType || !hasType(p, Type::Ghost)) {
        runEvent(Ev::MaybeTrapPokemon, p);
        // A foe of this species may have an ability that traps: of those that the format allows Magnet Pull.
        Targets enemies = foes(p);
        for (int n = 0; n < enemies.size; n++)
            if (speciesOf(enemies.list[n]).magnetic)
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
    add(Message::turn, row.turn);
    makeRequest(REQUEST_MOVE);
}

// That the battle is to end by its number of turns.
void Battle::warnOfTie() {
    int turns = 1000 - row.turn;
    const char* text = turns == 1 ? "You will auto-tie if the battle doesn't end in # turn (on turn 1000)."
                                  : "You will auto-tie if the battle doesn't end in # turns (on turn 1000).";
    add(Message::bigerror, Argument(Argument::Text, 0, turns).after(text));
}

bool Battle::maybeTriggerEndlessBattleClause(const bool* trapped, const int* staleness) {
    if (row.turn <= 100) return false;
    if (row.turn > 1000) {
        add(Message::message, "It is turn 1000. You have hit the turn limit!");
        win(TIE);
        return true;
    }
    if ((row.turn >= 500 && row.turn % 100 == 0) || (row.turn >= 900 && row.turn % 10 == 0) || row.turn >= 990) warnOfTie();
    if (!staleness[0] || !staleness[1] || (staleness[0] != 2 && staleness[1] != 2)) return false;
    bool fresh[SIDES] = {};
    for (int side = 0; side < SIDES && !trapped[side]; side++)
        for (int place = 0; place < row.sides[side].size; place++) {
            const Pokemon& p = row.sides[side].pokemon[place];
            fresh[side] = fresh[side] || (!p.fainted && !p.volatileStaleness && !p.staleness);
        }
    if (fresh[0] && fresh[1]) return false;
    win(TIE);  // no team that is played can bring back its berries (Harvest, Pickup, Recycle), which would lose
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
        add(Message::faint, p);
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
            add(Message::detailschange, p, details(p), "[silent]");
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

// side: or TIE.
void Battle::win(int side) {
    row.winner = side;
    add(Message::empty);
    if (side == TIE)
        add(Message::tie);
    else
        add(Message::win, Argument(Argument::Player, side));
}

bool Battle::checkWin(const Fainting* last) {
    if (ended()) return true;
    bool first = row.sides[0].pokemonLeft, second = row.sides[1].pokemonLeft;
    if (first && second) return false;
    win(first ? 0 : second ? 1 : last ? last->target->side : int(TIE));
    return true;
}
