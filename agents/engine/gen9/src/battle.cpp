// The turn: sim/battle.ts's start, commitChoices, turnLoop, runAction, endTurn, and what can be chosen.

#include "battle.h"

// What a seat chooses for a slot: 0 to 3 a move, 4 to 7 the same after terastallizing, 8 to 12 a switch to position 1 to 5.
enum : int { TERASTALLIZING = 4, SWITCHING = 8 };

void Battle::start() {
    for (Side& side : row.sides)
        for (int place = 0; place < side.size; place++)
            if (side.pokemon[place].gender < 0) side.pokemon[place].gender = 1 + prng.random(2);
    // The order of both teams at the preview: Showdown's queue draws where the Pokémon of a place are equally fast.
    Side &first = row.sides[0], &second = row.sides[1];
    for (int place = 0; place < TEAM && place < first.size && place < second.size; place++)
        if (first.pokemon[place].baseStoredStats[Stat::spe] == second.pokemon[place].baseStoredStats[Stat::spe]) prng.random(2);
    row.midTurn = true;
    row.winner = UNDECIDED;
    for (Side& side : row.sides) side.pokemonLeft = side.size;
    for (Side& side : row.sides)
        for (int slot = 0; slot < row.activePerSide; slot++) switchIn(&side.pokemon[slot], slot);
    turnLoop();
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
}

void Battle::addMoves(int side, int slot, int choice) {
    Pokemon* p = at(side, slot);
    if (choice >= SWITCHING) {
        addChoice({.choice = CHOICE_SWITCH, .order = row.sides[side].request == REQUEST_SWITCH ? 3 : 103, .pokemon = nameOf(p),
                   .target = row.sides[side].order[choice - SWITCHING + row.activePerSide]});
        return;
    }
    int id = p->moveSlots[choice % TERASTALLIZING].id;
    bool usable = false;
    for (int n = 0; n < p->moveCount; n++) usable = usable || (p->moveSlots[n].pp && !p->moveSlots[n].disabled);
    // .target of a move: whether its user terastallizes (resolveAction)
    addChoice({.choice = CHOICE_MOVE, .order = 200, .pokemon = nameOf(p), .move = usable ? id : move::struggle, .target = choice >= TERASTALLIZING});
}

int Battle::canSwitch(int side) const {
    const Side& whole = row.sides[side];
    int count = 0;
    for (int position = row.activePerSide; position < whole.size; position++)
        if (!whole.pokemon[(whole.order[position] - 1) % TEAM].fainted) count++;
    return whole.pokemonLeft ? count : 0;
}

int Battle::legal(int side, int slot) {
    Side& whole = row.sides[side];
    if (ended() || !whole.request) return 0;
    Pokemon* p = at(side, slot);
    int bits = 0;
    if (whole.request == REQUEST_MOVE) {
        for (int n = 0; n < p->moveCount; n++)
            if (p->moveSlots[n].pp && !p->moveSlots[n].disabled) bits |= 1 << n;
        if (!bits)
            bits = 1;  // Struggle, alone and without terastallizing
        else if (p->canTerastallize)
            bits |= bits << TERASTALLIZING;
        if (out(p).trapped) return bits;
    }
    for (int position = row.activePerSide; position < whole.size; position++)
        if (!at(side, position)->fainted) bits |= 1 << (SWITCHING + position - row.activePerSide);
    return bits;
}

void Battle::turnLoop() {
    if (!row.midTurn) {
        insertChoice({.choice = CHOICE_BEFORE_TURN, .order = 4});
        addChoice({.choice = CHOICE_RESIDUAL, .order = 300});
        row.midTurn = true;
    }
    while (row.queueLength) {
        Action action = row.queue[0];
        for (int n = 1; n < row.queueLength; n++) row.queue[n - 1] = row.queue[n];
        row.queue[--row.queueLength] = {};
        runAction(action);
        if (row.requestState || ended()) return;
    }
    endTurn();
    row.midTurn = false;
    row.queueLength = 0;
}

bool Battle::runAction(Action& action) {
    Pokemon* p = action.pokemon ? &pokemon(action.pokemon) : nullptr;
    int hpBefore = p ? p->hp : 0;
    Targets residual;
    int residualHp[2 * ACTIVE];
    switch (action.choice) {
        case CHOICE_MOVE:
            if (!p->isActive || p->fainted) return false;
            runMove(action.move, p, action.targetLoc);
            break;
        case CHOICE_TERASTALLIZE: terastallize(p); break;
        case CHOICE_SWITCH: switchIn(&pokemon(action.target), p->position); break;
        case CHOICE_RUN_SWITCH: runSwitch(p); break;
        case CHOICE_BEFORE_TURN: eachEvent(Ev::BeforeTurn); break;
        case CHOICE_RESIDUAL:
            activeMove = nullptr;
            updateSpeed();
            residual = getAllActive();
            for (int n = 0; n < residual.size; n++) residualHp[n] = residual.list[n]->hp;
            fieldEvent(Ev::Residual);
            break;
    }
    activeMove = nullptr, activePokemon = nullptr, activeTarget = nullptr;
    faintMessages();
    if (ended()) return true;
    if (!row.queueLength) {
        for (Side& side : row.sides) {
            for (int slot = 0; slot < row.activePerSide; slot++) {
                Pokemon& out = pokemon(side.order[slot]);
                if (out.fainted) out.switchFlag = 1;
            }
        }
    } else if (row.queue[0].choice == CHOICE_SWITCH && row.queue[0].order == 3) {
        return false;
    }
    eachEvent(Ev::Update);
    for (int n = 0; n < residual.size; n++)
        if (residual.list[n]->hp) emergencyExit(residual.list[n], residualHp[n]);
    if (action.choice == CHOICE_RUN_SWITCH && p->hp) emergencyExit(p, hpBefore);

    bool request = false;
    for (int side = 0; side < SIDES; side++) {
        bool switches = false;
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon* out = at(side, slot);
            if (out->switchFlag && !canSwitch(side)) out->switchFlag = 0;
            if (out->switchFlag && out->hp && !out->skipBeforeSwitchOutEventFlag) {
                runEvent(Ev::BeforeSwitchOut, out);
                out->skipBeforeSwitchOutEventFlag = true;
                faintMessages();
                if (ended()) return true;
            }
            switches = switches || out->switchFlag;
        }
        request = request || switches;
    }
    if (request) {
        makeRequest(REQUEST_SWITCH);
        return true;
    }
    if (row.queueLength && row.queue[0].choice == CHOICE_MOVE) {
        updateSpeed();
        for (int n = 0; n < row.queueLength; n++)
            if (row.queue[n].pokemon) updateActionSpeed(row.queue[n]);
        speedSort(row.queue, row.queueLength, comparePriority<Action>);
    }
    return false;
}

void Battle::makeRequest(int type) {
    row.requestState = type;
    for (Side& side : row.sides) {
        side.request = side.pokemonLeft && type == REQUEST_MOVE ? REQUEST_MOVE : REQUEST_NONE;
        for (int slot = 0; slot < row.activePerSide; slot++)
            if (type == REQUEST_SWITCH && side.pokemonLeft && pokemon(side.order[slot]).switchFlag) side.request = REQUEST_SWITCH;
    }
}

void Battle::endTurn() {
    row.turn++;
    for (int side = 0; side < SIDES; side++) {
        for (int slot = 0; slot < row.activePerSide; slot++) {
            Pokemon* p = at(side, slot);
            Active& active = out(p);
            active.moveThisTurn = active.newlySwitched = 0;
            if (row.turn != 1) active.hurtThisTurn = 0;
            for (int n = 0; n < p->moveCount; n++) p->moveSlots[n].disabled = false;
            runEvent(Ev::DisableMove, p);
            for (int n = 0; n < p->moveCount; n++) singleEvent(Ev::DisableMove, p->moveSlots[n].id, nullptr, p);
            active.trapped = false;
            runEvent(Ev::TrapPokemon, p);
            runEvent(Ev::MaybeTrapPokemon, p);
            if (!p->fainted) active.activeTurns++;
        }
    }
    if (row.turn > 1000) {
        win(TIE);
        return;
    }
    makeRequest(REQUEST_MOVE);
}

bool Battle::faintMessages(bool checkWinAlways) {
    if (ended() || !faintCount) return false;
    int length = faintCount;
    Fainting fainting;
    while (faintCount) {
        int left = faintCount;
        fainting = faintQueue[0];
        for (int n = 1; n < faintCount; n++) faintQueue[n - 1] = faintQueue[n];
        faintCount--;
        Pokemon* p = fainting.target;
        if (!p->fainted && truthy(runEvent(Ev::BeforeFaint, p, fainting.source, fainting.cause))) {
            Side& side = row.sides[p->side];
            if (side.pokemonLeft) side.pokemonLeft--;
            runEvent(Ev::Faint, p, fainting.source, fainting.cause);
            singleEvent(Ev::End, p->ability, &p->abilityState, p);
            singleEvent(Ev::End, p->item, &p->itemState, p);
            clearVolatile(p, false);
            p->fainted = true;
            p->isActive = p->isStarted = false;
            p->terastallized = 0;
            if (faintCount >= left) checkWinAlways = true;
        }
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
