// What is still to be done in a turn: sim/battle-queue.ts.

#include "battle.h"

bool Battle::willAct() const {
    for (int n = 0; n < row.queueLength; n++)
        if (row.queue[n].choice == CHOICE_MOVE || row.queue[n].choice == CHOICE_SWITCH) return true;
    return false;
}

void Battle::cancelAction(const Pokemon* p) {
    int kept = 0;
    for (int n = 0; n < row.queueLength; n++)
        if (row.queue[n].pokemon != nameOf(p)) row.queue[kept++] = row.queue[n];
    for (int n = kept; n < row.queueLength; n++) row.queue[n] = {};
    row.queueLength = kept;
}

void Battle::updateActionSpeed(Action& action) {
    if (action.choice == CHOICE_MOVE) {
        const MoveData& move = moveData(action.move);
        Pokemon& user = pokemon(action.pokemon);
        Pokemon* target = getTarget(&user, move, action.targetLoc);
        ActiveMove active{move};
        Value priority = singleEvent(Ev::ModifyPriority, move.id, nullptr, &user, target, {}, move.priority);
        priority = runEvent(Ev::ModifyPriority, &user, target, &active, priority);
        action.priority = 10 * priority + action.fractionalPriority;
    }
    action.speed = action.pokemon ? getActionSpeed(&pokemon(action.pokemon)) : 1;
}

// Writes the one or two actions of a choice; returns how many.
int Battle::resolveAction(Action action, Action out[2]) {
    int count = 0;
    if (action.choice == CHOICE_MOVE) {
        Pokemon& user = pokemon(action.pokemon);
        if (action.target) {  // it terastallizes first
            Action terastallizing{.choice = CHOICE_TERASTALLIZE, .order = 106, .pokemon = action.pokemon};
            updateActionSpeed(terastallizing);
            out[count++] = terastallizing;
            action.target = 0;
        }
        ActiveMove active{moveData(action.move)};
        action.fractionalPriority = runEvent(Ev::FractionalPriority, &user, nullptr, &active, 0);
        if (!action.targetLoc) {
            Pokemon* target = getRandomTarget(&user, active);
            if (target) action.targetLoc = target->side == user.side ? -target->position - 1 : target->position + 1;
        }
    } else if (action.choice == CHOICE_SWITCH) {
        pokemon(action.pokemon).switchFlag = 0;
    }
    updateActionSpeed(action);
    out[count++] = action;
    return count;
}

void Battle::addChoice(Action action) {
    Action resolved[2];
    int count = resolveAction(action, resolved);
    for (int n = 0; n < count; n++) row.queue[row.queueLength++] = resolved[n];
}

// Puts an action where it belongs in the queue, among equal ones at random.
void Battle::insertChoice(Action action) {
    if (action.pokemon) pokemon(action.pokemon).speed = getActionSpeed(&pokemon(action.pokemon));
    Action resolved[2];
    resolveAction(action, resolved);
    int first = -1, last = -1;
    for (int n = 0; n < row.queueLength; n++) {
        int64_t compared = comparePriority(resolved[0], row.queue[n]);
        if (compared <= 0 && first < 0) first = n;
        if (compared < 0) {
            last = n;
            break;
        }
    }
    int place = row.queueLength;
    if (first >= 0) {
        if (last < 0) last = row.queueLength;
        place = first == last ? first : prng.random(first, last + 1);
    }
    for (int n = row.queueLength++; n > place; n--) row.queue[n] = row.queue[n - 1];
    row.queue[place] = resolved[0];
}
