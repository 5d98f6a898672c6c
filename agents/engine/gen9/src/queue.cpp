// What is still to be done in a turn: sim/battle-queue.ts.

#include "battle.h"

namespace {

bool isSwitch(const Action& action) { return action.choice == CHOICE_SWITCH || action.choice == CHOICE_INSTASWITCH; }

int orderOf(int choice) {
    switch (choice) {
        case CHOICE_INSTASWITCH: return 3;
        case CHOICE_BEFORE_TURN: return 4;
        case CHOICE_BEFORE_TURN_MOVE: return 5;
        case CHOICE_REVIVAL_BLESSING: return 6;
        case CHOICE_RUN_SWITCH: return 101;
        case CHOICE_SWITCH: return 103;
        case CHOICE_TERASTALLIZE: return 106;
        case CHOICE_PRIORITY_CHARGE_MOVE: return 107;
        case CHOICE_RESIDUAL: return 300;
        default: return 200;
    }
}

}  // namespace

bool Battle::willAct() const {
    for (int n = 0; n < row.queueLength; n++)
        if (row.queue[n].choice == CHOICE_MOVE || isSwitch(row.queue[n])) return true;
    return false;
}

Action* Battle::willMove(const Pokemon* p) {
    if (p->fainted) return nullptr;
    for (int n = 0; n < row.queueLength; n++)
        if (row.queue[n].choice == CHOICE_MOVE && row.queue[n].pokemon == nameOf(p)) return &row.queue[n];
    return nullptr;
}

void Battle::removeAction(int index) {
    row.queueLength--;
    for (int n = index; n < row.queueLength; n++) row.queue[n] = row.queue[n + 1];
    row.queue[row.queueLength] = {};
}

bool Battle::cancelAction(const Pokemon* p) {
    int before = row.queueLength;
    for (int n = row.queueLength - 1; n >= 0; n--)
        if (row.queue[n].pokemon == nameOf(p)) removeAction(n);
    return row.queueLength != before;
}

void Battle::updateActionSpeed(Action& action) {
    if (action.choice == CHOICE_MOVE) {
        ActiveMove move{moveData(action.move)};
        Pokemon& user = pokemon(action.pokemon);
        Pokemon* target = getTarget(&user, move, action.targetLoc);
        move.pranksterBoosted = action.pranksterBoosted;
        Value priority = singleEvent(Ev::ModifyPriority, move.id, nullptr, &user, target, {}, move.priority);
        priority = runEvent(Ev::ModifyPriority, &user, target, &move, priority);
        action.priority = 10 * priority + action.fractionalPriority;
        action.movePriority = priority;
        action.pranksterBoosted = move.pranksterBoosted;
    }
    action.speed = action.pokemon ? getActionSpeed(&pokemon(action.pokemon)) : 1;
}

// Writes the actions of a choice, those that come first first; returns how many.
int Battle::resolveAction(Action action, Action out[4], bool midTurn) {
    int count = 0;
    action.order = orderOf(action.choice);
    if (!midTurn && action.choice == CHOICE_MOVE) {
        Pokemon& user = pokemon(action.pokemon);
        auto before = [&](int choice) {
            Action extra{.choice = choice, .pokemon = action.pokemon};
            if (choice != CHOICE_TERASTALLIZE) extra.move = action.move, extra.targetLoc = action.targetLoc;
            Action resolved[4];
            resolveAction(extra, resolved);
            out[count++] = resolved[0];
        };
        if (HANDLERS.find(action.move, priorityChargeCallback)) before(CHOICE_PRIORITY_CHARGE_MOVE);
        if (action.target && !user.terastallized) before(CHOICE_TERASTALLIZE);
        if (HANDLERS.find(action.move, beforeTurnCallback)) before(CHOICE_BEFORE_TURN_MOVE);
        action.target = 0;
        ActiveMove move{moveData(action.move)};
        action.fractionalPriority = runEvent(Ev::FractionalPriority, &user, nullptr, &move, 0);
    } else if (!midTurn && isSwitch(action)) {
        Pokemon& leaving = pokemon(action.pokemon);
        if (leaving.switchFlag > 1) action.sourceEffect = leaving.switchFlag;
        leaving.switchFlag = 0;
    }
    if (action.move) {
        Pokemon& user = pokemon(action.pokemon);
        if (!action.targetLoc) {
            if (Pokemon* target = getRandomTarget(&user, moveData(action.move))) action.targetLoc = getLocOf(&user, target);
        }
        action.originalTarget = action.targetLoc ? nameOf(getAtLoc(&user, action.targetLoc)) : 0;
    }
    updateActionSpeed(action);
    out[count++] = action;
    return count;
}

void Battle::addChoice(Action action) {
    Action resolved[4];
    int count = resolveAction(action, resolved);
    for (int n = 0; n < count; n++) row.queue[row.queueLength++] = resolved[n];
}

// Puts an action where it belongs in the queue, among equal ones at random.
void Battle::insertChoice(Action action, bool midTurn) {
    if (action.pokemon) pokemon(action.pokemon).speed = getActionSpeed(&pokemon(action.pokemon));
    Action resolved[4];
    int count = resolveAction(action, resolved, midTurn), first = -1, last = -1;
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
    for (int n = row.queueLength - 1; n >= place; n--) row.queue[n + count] = row.queue[n];
    for (int n = 0; n < count; n++) row.queue[place + n] = resolved[n];
    row.queueLength += count;
}
