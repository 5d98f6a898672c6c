// What can be chosen, and what is: sim/battle.ts's and sim/side.ts's requests and choices.

#include "battle.h"

// What a seat chooses for a slot: 0 to 3 a move, 4 to 7 the same after terastallizing, 8 to 12 a switch to position 1 to 5.
// A Pokémon that is locked into a move (Outrage, recharging) has the one choice 0.
enum : int { TERASTALLIZING = 4, SWITCHING = 8 };

namespace {

bool usable(const MoveSlot& slot) { return slot.pp && !slot.disabled; }

}  // namespace

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
