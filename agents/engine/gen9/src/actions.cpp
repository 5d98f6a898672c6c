// Switching, and using a move: sim/battle-actions.ts.

#include "battle.h"

namespace {

// Showdown's combineResults.
int rank(Value value) {
    switch (value) {
        case UNDEFINED: return 0;
        case NOT_FAIL: return 1;
        case NUL: return 2;
        case FALSE:
        case TRUE: return 3;
        default: return 4;
    }
}

Value combineResults(Value left, Value right) {
    if (rank(left) > rank(right)) return left;
    if (truthy(left) && !truthyOrZero(right)) return left;
    if (isNumber(left) && isNumber(right)) return left + right;
    return right;
}

void keep(Targets& targets, Value* results) {
    int kept = 0;
    for (int n = 0; n < targets.size; n++) {
        if (!truthyOrZero(results[n])) continue;
        results[kept] = results[n];
        targets.list[kept++] = targets.list[n];
    }
    targets.size = kept;
}

}  // namespace

bool Battle::switchIn(Pokemon* incoming, int position) {
    if (!incoming || incoming->isActive) return false;
    Side& side = row.sides[incoming->side];
    Pokemon* old = at(incoming->side, position);
    if (old && old->isActive) {
        if (old->hp) {
            if (!old->skipBeforeSwitchOutEventFlag) {
                runEvent(Ev::BeforeSwitchOut, old);
                eachEvent(Ev::Update);
            }
            old->skipBeforeSwitchOutEventFlag = false;
            if (!truthy(runEvent(Ev::SwitchOut, old))) return false;
            if (!old->hp) return true;
            singleEvent(Ev::End, old->ability, &old->abilityState, old);
            singleEvent(Ev::End, old->item, &old->itemState, old);
            cancelAction(old);
            clearVolatile(old);
        }
        old->isActive = old->isStarted = false;
    }
    if (old && old->fainted) old->status = 0;
    if (old) old->position = incoming->position;
    side.order[incoming->position] = nameOf(old);
    incoming->position = position;
    side.order[position] = nameOf(incoming);
    incoming->isActive = true;
    clearVolatile(incoming, false);
    initEffectState(incoming->abilityState, incoming->ability, incoming);
    initEffectState(incoming->itemState, incoming->item, incoming);
    findListening();
    runEvent(Ev::BeforeSwitchIn, incoming);
    insertChoice({.choice = CHOICE_RUN_SWITCH, .order = 101, .pokemon = nameOf(incoming)});
    return true;
}

void Battle::runSwitch(Pokemon* first) {
    Targets switchers;
    switchers.add(first);
    while (row.queueLength && row.queue[0].choice == CHOICE_RUN_SWITCH) {
        switchers.add(&pokemon(row.queue[0].pokemon));
        for (int n = 1; n < row.queueLength; n++) row.queue[n - 1] = row.queue[n];
        row.queue[--row.queueLength] = {};
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
    p->terastallized = p->teraType + 1;
    for (Pokemon& ally : row.sides[p->side].pokemon) ally.canTerastallize = false;
    runEvent(Ev::AfterTerastallization, p);
}

Pokemon* Battle::getTarget(Pokemon* user, const MoveData& move, int targetLoc) {
    if (move.target != Target::randomNormal && targetLoc) {
        Pokemon* target = at(targetLoc < 0 ? user->side : 1 - user->side, (targetLoc < 0 ? -targetLoc : targetLoc) - 1);
        if (target && (!target->fainted || target->side == user->side)) return target;
    }
    return getRandomTarget(user, move);
}

Pokemon* Battle::getRandomTarget(Pokemon* user, const MoveData& move) {
    if (move.target == Target::self || move.target == Target::all) return user;
    if (row.activePerSide == 1) return at(1 - user->side, 0);
    Targets enemies = foes(user);
    return enemies.size ? enemies.list[prng.random(enemies.size)] : at(1 - user->side, 0);
}

void Battle::runMove(int id, Pokemon* user, int targetLoc) {
    out(user).activeMoveActions++;
    ActiveMove move{moveData(id)};
    Pokemon* target = getTarget(user, move, targetLoc);
    if (id != move::struggle) runEvent(Ev::OverrideAction, user, target, &move);
    activeMove = &move, activePokemon = user, activeTarget = target ? target : user;
    if (!truthy(runEvent(Ev::BeforeMove, user, target, &move))) {
        runEvent(Ev::MoveAborted, user, target, &move);
        activeMove = nullptr;
        return;
    }
    out(user).lastDamage = 0;
    if (id != move::struggle) {
        MoveSlot* slot = nullptr;
        for (int n = 0; n < user->moveCount && !slot; n++)
            if (user->moveSlots[n].id == id) slot = &user->moveSlots[n];
        if (!slot || !slot->pp) {
            activeMove = nullptr;
            return;
        }
        slot->pp--;
    }
    out(user).lastMove = out(user).moveThisTurn = id;
    useMoveInner(move, user, target);
    singleEvent(Ev::AfterMove, id, nullptr, user, target, &move);
    runEvent(Ev::AfterMove, user, target, &move);
    faintMessages();
    checkWin();
    activeMove = nullptr;
}

bool Battle::useMoveInner(ActiveMove& move, Pokemon* user, Pokemon* target) {
    runEvent(Ev::ModifyTarget, user, target, &move, UNDEFINED, 0, nullptr);
    if (move.target == Target::self) target = user;
    activeMove = &move, activePokemon = user, activeTarget = target ? target : user;
    singleEvent(Ev::ModifyType, move.id, nullptr, user, target, &move);
    singleEvent(Ev::ModifyMove, move.id, nullptr, user, target, &move);
    runEvent(Ev::ModifyType, user, target, &move);
    runEvent(Ev::ModifyMove, user, target, &move);
    if (user->fainted || !target) return false;
    Targets targets;
    switch (move.target) {
        case Target::all:
        case Target::foeSide:
            if (move.target == Target::all) targets = allies(user->side);
            for (int n = 0, size = foes(user, true).size; n < size; n++) targets.add(foes(user, true).list[n]);
            break;
        case Target::allAdjacent: {
            Targets near = allies(user->side), far = foes(user);
            for (int n = 0; n < near.size; n++)
                if (near.list[n] != user) targets.add(near.list[n]);
            for (int n = 0; n < far.size; n++) targets.add(far.list[n]);
            break;
        }
        default:
            if (target->fainted && target->side != user->side) target = getRandomTarget(user, move);
            if (row.activePerSide > 1) runEvent(Ev::RedirectTarget, user, user, &move, UNDEFINED, 0, nullptr, true);
            if (target && !target->fainted) targets.add(target);
    }
    if (targets.size) target = targets.list[targets.size - 1];
    for (int n = 0; n < targets.size; n++) runEvent(Ev::DeductPP, targets.list[n], user, &move);
    Value tried = singleEvent(Ev::TryMove, move.id, nullptr, user, target, &move);
    if (truthy(tried)) tried = runEvent(Ev::TryMove, user, target, &move);
    if (!truthy(tried)) return false;
    singleEvent(Ev::UseMoveMessage, move.id, nullptr, user, target, &move);
    move.ignoreImmunity = move.category == Category::Status;
    bool result = false;
    if (move.target == Target::all || move.target == Target::foeSide) {
        Value hit = tryMoveHit(targets, user, move);
        result = truthyOrZero(hit) || hit == UNDEFINED;
    } else {
        if (!targets.size) return false;
        result = trySpreadMoveHit(targets, user, move);
    }
    if (!user->hp) faint(user, user, &move);
    if (!result) {
        singleEvent(Ev::MoveFail, move.id, nullptr, target, user, &move);
        return false;
    }
    int before = user->hp;
    singleEvent(Ev::AfterMoveSecondarySelf, move.id, nullptr, user, target, &move);
    runEvent(Ev::AfterMoveSecondarySelf, user, target, &move);
    if (user != target && move.category != Category::Status) emergencyExit(user, before);
    return true;
}

void Battle::emergencyExit(Pokemon* p, int before) {
    if (2 * p->hp <= p->maxhp && 2 * before > p->maxhp) runEvent(Ev::EmergencyExit, p);
}

bool Battle::trySpreadMoveHit(Targets& targets, Pokemon* user, ActiveMove& move) {
    move.spreadHit = targets.size > 1;
    if (!truthy(singleEvent(Ev::Try, move.id, nullptr, user, targets.list[0], &move)) ||
        !truthy(singleEvent(Ev::PrepareHit, move.id, nullptr, targets.list[0], user, &move)) ||
        !truthy(runEvent(Ev::PrepareHit, user, targets.list[0], &move)))
        return false;
    Value results[2 * ACTIVE];
    for (int n = 0; n < targets.size; n++) results[n] = runEvent(Ev::Invulnerability, targets.list[n], user, &move);
    keep(targets, results);
    if (!targets.size) return false;
    for (int n = 0; n < targets.size; n++) results[n] = TRUE;
    runEvent(Ev::TryHit, targets, user, &move, results);
    keep(targets, results);
    if (!targets.size) return false;
    for (int n = 0; n < targets.size; n++) results[n] = move.ignoreImmunity || runImmunity(targets.list[n], move.type) ? TRUE : FALSE;
    keep(targets, results);
    if (!targets.size) return false;
    for (int n = 0; n < targets.size; n++) results[n] = singleEvent(Ev::TryImmunity, move.id, nullptr, targets.list[n], user, &move);
    keep(targets, results);
    if (!targets.size) return false;
    for (int n = 0; n < targets.size; n++) results[n] = hitStepAccuracy(targets.list[n], user, move) ? TRUE : FALSE;
    keep(targets, results);
    if (!targets.size) return false;
    hitStepMoveHitLoop(targets, user, move, results);
    keep(targets, results);
    return targets.size > 0;
}

bool Battle::hitStepAccuracy(Pokemon* target, Pokemon* user, ActiveMove& move) {
    activeTarget = target;
    Value accuracy = runEvent(Ev::ModifyAccuracy, target, user, &move, move.accuracy);
    if (accuracy != TRUE) {
        int boosts[Stat::COUNT];
        for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = out(user).boosts[stat];
        runEvent(Ev::ModifyBoost, user, nullptr, {}, UNDEFINED, 0, boosts);
        int boost = clamp(boosts[Stat::accuracy], -6, 6);
        for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = out(target).boosts[stat];
        runEvent(Ev::ModifyBoost, target, nullptr, {}, UNDEFINED, 0, boosts);
        boost = clamp(boost - boosts[Stat::evasion], -6, 6);
        if (boost > 0) accuracy = accuracy * (3 + boost) / 3;
        if (boost < 0) accuracy = accuracy * 3 / (3 - boost);
    }
    if (move.target == Target::self && move.category == Category::Status)
        accuracy = TRUE;
    else
        accuracy = runEvent(Ev::Accuracy, target, user, &move, accuracy);
    return accuracy == TRUE || prng.randomChance(accuracy, 100);
}

// Showdown's tryMoveHit: moves at a side or at the field.
Value Battle::tryMoveHit(Targets& targets, Pokemon* user, ActiveMove& move) {
    Pokemon* target = targets.size ? targets.list[0] : nullptr;
    activeMove = &move, activePokemon = user, activeTarget = target;
    if (!truthy(singleEvent(Ev::Try, move.id, nullptr, user, target, &move)) ||
        !truthy(singleEvent(Ev::PrepareHit, move.id, nullptr, target, user, &move)) ||
        !truthy(runEvent(Ev::PrepareHit, user, target, &move)))
        return FALSE;
    Value hit = runEvent(move.target == Target::all ? Ev::TryHitField : Ev::TryHitSide, target, user, &move);
    if (!truthy(hit)) return FALSE;
    return moveHit(target, user, move, move.hit, false, false);
}

Value Battle::moveHit(Pokemon* target, Pokemon* user, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf) {
    Targets targets;
    targets.add(target);
    Value damage[2 * ACTIVE];
    spreadMoveHit(targets, user, move, data, isSecondary, isSelf, damage);
    return damage[0] == TRUE ? Value(UNDEFINED) : damage[0];
}

void Battle::hitStepMoveHitLoop(Targets& targets, Pokemon* user, ActiveMove& move, Value* results) {
    for (int n = 0; n < targets.size; n++) results[n] = 0;
    out(user).lastDamage = 0;
    Targets hit = targets;
    Value damage[2 * ACTIVE];
    spreadMoveHit(hit, user, move, move.hit, false, false, damage);
    bool any = false;
    for (int n = 0; n < targets.size; n++) any = any || damage[n] != FALSE;
    for (int n = 0; n < targets.size; n++) {
        results[n] = !any ? Value(FALSE) : damage[n] == TRUE || !truthy(damage[n]) ? 0 : damage[n];
        if (any) move.totalDamage += results[n];
    }
    if (!any) return;
    eachEvent(Ev::Update);
    faintMessages(!user->hp);
    if (move.totalDamage) applyRecoilDamage(move.totalDamage, move, user);
    eachEvent(Ev::Update);
    Targets left;
    for (int n = 0; n < hit.size; n++)
        if (hit.list[n]) left.add(hit.list[n]);
    singleEvent(Ev::AfterMoveSecondary, move.id, nullptr, left.size ? left.list[0] : nullptr, user, &move);
    Value ignored[2 * ACTIVE] = {TRUE, TRUE, TRUE, TRUE};
    runEvent(Ev::AfterMoveSecondary, left, user, &move, ignored);
    for (int n = 0; n < targets.size; n++) {
        Pokemon* target = targets.list[n];
        int dealt = targets.size == 1 ? move.totalDamage : results[n];
        if (target->hp) emergencyExit(target, out(target).hurtThisTurn + dealt);
    }
}

void Battle::spreadMoveHit(Targets& targets, Pokemon* user, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf,
                           Value* damage) {
    bool primary = !isSecondary && !isSelf, atField = move.target == Target::all || move.target == Target::foeSide;
    Pokemon* first = targets.list[0];
    for (int n = 0; n < targets.size; n++) damage[n] = TRUE;
    if (primary) {
        int event = move.target == Target::all ? Ev::TryHitField : move.target == Target::foeSide ? Ev::TryHitSide : Ev::TryHit;
        if (!truthy(singleEvent(event, move.id, nullptr, first, user, &move))) {
            damage[0] = FALSE;
            return;
        }
        if (!atField) {
            for (int n = 0; n < targets.size; n++) {
                damage[n] = runEvent(Ev::TryPrimaryHit, targets.list[n], user, &move);
                if (!truthy(damage[n])) targets.list[n] = nullptr;
            }
        }
    }
    for (int n = 0; n < targets.size; n++) {
        Pokemon* target = targets.list[n];
        if (!target) continue;
        activeTarget = target;
        damage[n] = primary ? getDamage(user, target, &move) : Value(UNDEFINED);
        if (damage[n] == FALSE) targets.list[n] = nullptr;
    }
    for (int n = 0; n < targets.size; n++) {
        damage[n] = spreadDamage(damage[n], targets.list[n], user, &move);
        if (damage[n] == FALSE) targets.list[n] = nullptr;
    }
    runMoveEffects(damage, targets, user, move, data, isSecondary, isSelf);
    for (int n = 0; n < targets.size; n++)
        if (!truthyOrZero(damage[n])) targets.list[n] = nullptr;
    Pokemon* kept = activeTarget;
    if (primary && move.secondary.chance) {
        for (int n = 0; n < targets.size; n++) {
            if (!targets.list[n]) continue;
            if (!truthy(runEvent(Ev::ModifySecondaries, targets.list[n], user, &move))) continue;
            if (prng.random(100) < move.secondary.chance) moveHit(targets.list[n], user, move, move.secondary, true, isSelf);
        }
    }
    activeTarget = kept;
    if (!primary) return;
    Targets damaged;
    Value dealt[2 * ACTIVE];
    for (int n = 0; n < targets.size; n++) {
        if (!targets.list[n] || !isNumber(damage[n])) continue;
        dealt[damaged.size] = damage[n];
        damaged.add(targets.list[n]);
    }
    if (!damaged.size) return;
    int before = user->hp;
    runEvent(Ev::DamagingHit, damaged, user, &move, dealt);
    if (HANDLERS.find(move.id, onAfterHit) && user->hp)
        for (int n = 0; n < damaged.size; n++) singleEvent(Ev::AfterHit, move.id, nullptr, damaged.list[n], user, &move);
    if (user->hp) emergencyExit(user, before);
}

void Battle::runMoveEffects(Value* damage, Targets& targets, Pokemon* user, ActiveMove& move, const HitEffect& data, bool isSecondary,
                            bool isSelf) {
    Value any = damage[0];
    for (int n = 1; n < targets.size; n++) any = combineResults(any, damage[n]);
    for (int n = 0; n < targets.size; n++) {
        Pokemon* target = targets.list[n];
        if (!target) continue;
        Value did = UNDEFINED;
        if (data.hasBoosts() && !target->fainted) did = combineResults(did, boost(data.boosts, target, user, &move));
        if (data.heal[0] && !target->fainted) {
            Value healed = target->hp >= target->maxhp
                ? Value(FALSE)
                : heal((2 * target->maxhp * data.heal[0] + data.heal[1]) / (2 * data.heal[1]), target, user, &move);
            if (!truthyOrZero(healed)) {
                damage[n] = combineResults(damage[n], FALSE);
                any = combineResults(any, NUL);
                continue;
            }
            did = TRUE;
        }
        if (data.status) {
            Value result = trySetStatus(target, data.status, user, &move);
            if (!truthy(result) && move.hit.status) {
                damage[n] = combineResults(damage[n], FALSE);
                any = combineResults(any, NUL);
                continue;
            }
            did = combineResults(did, result);
        }
        if (data.volatileStatus) did = combineResults(did, addVolatile(target, data.volatileStatus, user, &move));
        if (data.sideCondition) did = combineResults(did, addSideCondition(target->side, data.sideCondition, user, &move));
        if (data.weather) did = combineResults(did, setWeather(data.weather, user, &move));
        if (!isSecondary && !isSelf && move.target != Target::all && move.target != Target::foeSide) {
            if (HANDLERS.find(move.id, onHit)) did = combineResults(did, singleEvent(Ev::Hit, move.id, nullptr, target, user, &move));
            runEvent(Ev::Hit, target, user, &move);
        }
        if (data.selfSwitch) did = canSwitch(user->side) ? Value(TRUE) : combineResults(did, FALSE);
        if (did == UNDEFINED) did = TRUE;
        damage[n] = combineResults(damage[n], did == NUL ? Value(FALSE) : did);
        any = combineResults(any, did);
    }
    if (truthyOrZero(any) && move.hit.selfSwitch && user->hp) user->switchFlag = move.id;
}

void Battle::applyRecoilDamage(int dealt, ActiveMove& move, Pokemon* user) {
    int before = user->hp;
    if (move.struggleRecoil)
        directDamage(atLeastOne((2 * user->maxhp + 4) / 8), user);
    else if (move.recoil[0])
        damage((2 * dealt * move.recoil[0] + move.recoil[1]) / (2 * move.recoil[1]), user, user, {});
    else
        return;
    emergencyExit(user, before);
}
