// Switching, and using a move up to its hits: sim/battle-actions.ts. What a hit does is in hits.cpp.

#include "battle.h"

bool Battle::switchIn(Pokemon* incoming, int position, int sourceEffect, bool isDrag) {
    if (!incoming || incoming->isActive) return false;
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
        if (!old->hp) return true;  // Showdown's "pursuitfaint"
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
    if (ogerpon && p->teraType != Type::Fire && p->teraType != Type::Grass && p->teraType != Type::Rock && p->teraType != Type::Water) return;
    p->terastallized = p->teraType + 1;
    for (Pokemon& ally : row.sides[p->side].pokemon) ally.canTerastallize = 0;
    out(p).addedType = Type::none;
    out(p).unknownType = false;
    if (ogerpon) {
        int forme = p->species == species::ogerponwellspring ? int(species::ogerponwellspringtera)
            : p->species == species::ogerponcornerstone      ? int(species::ogerponcornerstonetera)
                                                             : int(species::ogerpontealtera);
        formeChange(p, forme, {}, true);
    }
    runEvent(Ev::AfterTerastallization, p);
}

Pokemon* Battle::getTarget(Pokemon* user, const MoveData& move, int targetLoc, Pokemon* originalTarget) {
    if (move.tracksTarget && originalTarget && originalTarget->isActive) return originalTarget;
    if (move.smartTarget) {
        Pokemon* target = targetLoc ? getAtLoc(user, targetLoc) : nullptr;
        return target && !target->fainted ? target : getRandomTarget(user, move);
    }
    int selfLoc = getLocOf(user, user);
    bool chosen = move.target == Target::adjacentAlly || move.target == Target::any || move.target == Target::normal;
    if (chosen && targetLoc == selfLoc && !volatileOf(user, condition::twoturnmove)) return move.has(Flag::futuremove) ? user : nullptr;
    bool valid = false;
    switch (move.target) {  // Showdown's validTargetLoc, with two active Pokémon a side at most
        case Target::normal:
        case Target::scripted: valid = targetLoc != selfLoc; break;
        case Target::any: valid = targetLoc != selfLoc; break;
        case Target::adjacentAlly: valid = targetLoc < 0 && targetLoc != selfLoc; break;
        case Target::adjacentAllyOrSelf: valid = targetLoc < 0; break;
        case Target::adjacentFoe: valid = targetLoc > 0; break;
    }
    if (valid && targetLoc) {
        Pokemon* target = getAtLoc(user, targetLoc);
        if (target && target->fainted && target->side == user->side) return move.target == Target::adjacentAllyOrSelf ? user : target;
        if (target && !target->fainted) return target;
    }
    return getRandomTarget(user, move);
}

Pokemon* Battle::getRandomTarget(Pokemon* user, const MoveData& move) {
    switch (move.target) {
        case Target::self:
        case Target::all:
        case Target::allySide:
        case Target::allyTeam:
        case Target::adjacentAllyOrSelf: return user;
        case Target::adjacentAlly: {
            if (row.activePerSide == 1) return nullptr;
            Targets near = adjacentAllies(user);
            return near.size ? near.list[prng.random(near.size)] : nullptr;
        }
    }
    if (row.activePerSide == 1) return at(1 - user->side, 0);
    Targets enemies = foes(user);
    return enemies.size ? enemies.list[prng.random(enemies.size)] : at(1 - user->side, 0);
}

ActiveMove& Battle::getActiveMove(const ActiveMove& move) {
    constexpr int POOL = sizeof(movePool) / sizeof(movePool[0]);
    ActiveMove& kept = *new (&movePool[moveCount++ % POOL]) ActiveMove(move);
    return kept;
}

void Battle::setActiveMove(ActiveMove* move, Pokemon* user, Pokemon* target) {
    activeMove = move;
    activePokemon = user;
    activeTarget = target ? target : user;
}

void Battle::clearActiveMove(bool failed) {
    if (!activeMove) return;
    if (!failed) row.lastMove = activeMove->id;
    setActiveMove(nullptr, nullptr, nullptr);
}

void Battle::runMove(const ActiveMove& base, Pokemon* user, RunMove options) {
    Active& active = out(user);
    active.activeMoveActions++;
    Pokemon* target = getTarget(user, base, options.targetLoc, options.originalTarget);
    ActiveMove* move = &getActiveMove(base);
    if (move->id != move::struggle && !options.externalMove) {
        Value changed = runEvent(Ev::OverrideAction, user, target, move);
        if (truthy(changed) && changed != TRUE) {
            int priority = move->priority;
            bool pranksterBoosted = move->pranksterBoosted;
            move = &getActiveMove(ActiveMove{moveData(changed)});
            move->priority = priority;
            move->pranksterBoosted = pranksterBoosted;
            target = getRandomTarget(user, *move);
        }
    }
    move->isExternal = options.externalMove;
    setActiveMove(move, user, target);
    Value willTryMove = runEvent(Ev::BeforeMove, user, target, move);
    if (!truthy(willTryMove)) {
        runEvent(Ev::MoveAborted, user, target, move);
        clearActiveMove(true);
        active.moveThisTurnResult = willTryMove;
        return;
    }
    int twice = move->has(Flag::cantusetwice) ? move->condition : 0;
    if (twice && active.lastMove == move->id) addVolatile(user, twice);
    int sourceEffect = options.sourceEffect;
    if (!options.externalMove) {
        if (!getLockedMove(user)) {
            if (!deductPP(user, move->id) && move->id != move::struggle) {
                clearActiveMove(true);
                active.moveThisTurnResult = FALSE;
                return;
            }
        } else {
            sourceEffect = condition::lockedmove;
        }
        active.lastMove = active.moveThisTurn = move->id;
        user->lastMoveTargetLoc = options.targetLoc;
    }
    Value moveDidSomething = useMove(*move, user, {.target = target, .sourceEffect = sourceEffect});
    row.lastSuccessfulMoveThisTurn = truthy(moveDidSomething) && activeMove ? activeMove->id : 0;
    if (activeMove) move = activeMove;
    singleEvent(Ev::AfterMove, move->id, nullptr, user, target, move);
    runEvent(Ev::AfterMove, user, target, move);
    if (twice) removeVolatile(user, twice);
    faintMessages();
    checkWin();
}

Value Battle::useMove(const ActiveMove& move, Pokemon* user, UseMove options) {
    out(user).moveThisTurnResult = UNDEFINED;
    Value result = useMoveInner(getActiveMove(move), user, options);
    if (out(user).moveThisTurnResult == UNDEFINED) out(user).moveThisTurnResult = result;
    return result;
}

Value Battle::useMove(int move, Pokemon* user, UseMove options) { return useMove(ActiveMove{moveData(move)}, user, options); }

Value Battle::useMoveInner(ActiveMove& move, Pokemon* user, UseMove options) {
    countUse(move.id);
    Pokemon* target = options.target;
    int sourceEffect = options.sourceEffect;
    if (!sourceEffect && event) sourceEffect = event->effect;
    if (sourceEffect == item::custapberry) sourceEffect = 0;
    out(user).lastMoveUsed = move.id;
    if (activeMove) {
        move.priority = activeMove->priority;
        if (!move.hasBounced) move.pranksterBoosted = activeMove->pranksterBoosted;
    }
    int baseTarget = move.target;
    if (!target && !options.noTarget) target = getRandomTarget(user, move);
    if (move.target == Target::self || move.target == Target::allies) target = user;
    if (sourceEffect) {
        move.sourceEffect = sourceEffect;
        move.ignoreAbility = sourceEffect >= FIRST_MOVE && moveData(sourceEffect).ignoreAbility;
    }
    setActiveMove(&move, user, target);
    singleEvent(Ev::ModifyType, move.id, nullptr, user, target, &move);
    singleEvent(Ev::ModifyMove, move.id, nullptr, user, target, &move);
    if (baseTarget != move.target) target = getRandomTarget(user, move);
    runEvent(Ev::ModifyType, user, target, &move);
    runEvent(Ev::ModifyMove, user, target, &move);
    if (baseTarget != move.target) target = getRandomTarget(user, move);
    if (user->fainted || !target) return FALSE;
    Targets pressureTargets, targets = getMoveTargets(user, move, target, pressureTargets);
    if (targets.size) target = targets.list[targets.size - 1];
    int callerMoveForPressure = sourceEffect >= FIRST_MOVE ? sourceEffect : 0;
    if (!sourceEffect || callerMoveForPressure) {
        int extraPP = 0;
        for (int n = 0; n < pressureTargets.size; n++) {
            Value drop = runEvent(Ev::DeductPP, pressureTargets.list[n], user, &move);
            if (drop != TRUE && truthy(drop)) extraPP += drop;
        }
        if (extraPP > 0) deductPP(user, callerMoveForPressure ? callerMoveForPressure : move.id, extraPP);
    }
    Value tried = singleEvent(Ev::TryMove, move.id, nullptr, user, target, &move);
    if (truthy(tried)) tried = runEvent(Ev::TryMove, user, target, &move);
    if (!truthy(tried)) return tried;
    singleEvent(Ev::UseMoveMessage, move.id, nullptr, user, target, &move);
    if (move.hit.selfdestruct == Selfdestruct::always) faint(user, user, &move);
    bool result = false;
    if (move.target == Target::all || move.target == Target::foeSide || move.target == Target::allySide || move.target == Target::allyTeam) {
        Value hit = tryMoveHit(targets, user, move);
        if (hit == NOT_FAIL) out(user).moveThisTurnResult = NUL;
        result = truthyOrZero(hit) || hit == UNDEFINED;
    } else {
        if (!targets.size) return FALSE;
        result = trySpreadMoveHit(targets, user, move);
    }
    if (move.selfBoost && result) moveHit(user, user, move, *move.selfBoost, false, true);
    if (!user->hp) faint(user, user, &move);
    int before = user->hp;
    if (!result) {
        singleEvent(Ev::MoveFail, move.id, nullptr, target, user, &move);
        if (user != target && move.category != Category::Status) emergencyExit(user, before, user);
        return FALSE;
    }
    if (!move.hasSheerForce && !move.has(Flag::futuremove)) {
        singleEvent(Ev::AfterMoveSecondarySelf, move.id, nullptr, user, target, &move);
        runEvent(Ev::AfterMoveSecondarySelf, user, target, &move);
        if (user != target && move.category != Category::Status) emergencyExit(user, before, user);
    }
    return TRUE;
}

Targets Battle::getMoveTargets(Pokemon* user, ActiveMove& move, Pokemon* target, Targets& pressureTargets) {
    Targets targets;
    auto addAll = [&](Targets more) {
        for (int n = 0; n < more.size; n++) targets.add(more.list[n]);
    };
    switch (move.target) {
        case Target::all:
        case Target::foeSide:
        case Target::allySide:
        case Target::allyTeam:
            if (move.target != Target::foeSide) addAll(allies(user->side));
            if (move.target == Target::all || move.target == Target::foeSide) addAll(foes(user, true));
            break;
        case Target::allAdjacent: addAll(adjacentAllies(user)); [[fallthrough]];
        case Target::allAdjacentFoes: addAll(adjacentFoes(user)); break;
        case Target::allies: addAll(allies(user->side)); break;
        default:
            if (!target || (target->fainted && target->side != user->side)) target = getRandomTarget(user, move);
            if (target && row.activePerSide > 1 && !move.tracksTarget) {
                Value redirected = priorityEvent(Ev::RedirectTarget, user, user, &move, nameOf(target));
                if (isNumber(redirected) && redirected) target = &pokemon(redirected);
            }
            pressureTargets.size = 0;
            if (!target) return targets;
            if (move.smartTarget) {
                Targets near = adjacentAllies(target);
                Pokemon* other = near.size ? near.list[0] : nullptr;
                bool both = other && other != user && other->hp && target->hp;
                move.smartTarget = both;
                if (other && other != user && other->hp && !target->hp) target = other;
                targets.add(target);
                if (both) targets.add(other);
            } else {
                targets.add(target);
            }
            if (target->fainted && !move.has(Flag::futuremove)) {
                targets.size = 0;
                return targets;
            }
    }
    pressureTargets = targets;
    if (move.target == Target::foeSide) pressureTargets.size = 0;
    if (move.has(Flag::mustpressure)) pressureTargets = foes(user);
    return targets;
}

void Battle::emergencyExit(Pokemon* p, int before, Pokemon* source) {
    if (p->hp && 2 * p->hp <= p->maxhp && 2 * before > p->maxhp) runEvent(Ev::EmergencyExit, p, source);
}

namespace {

// Keeps the targets whose result is true or 0; notes whether any failed.
void keep(Targets& targets, const Value* results, bool& anyFailure) {
    int kept = 0;
    for (int n = 0; n < targets.size; n++) {
        anyFailure = anyFailure || results[n] == FALSE;
        if (truthyOrZero(results[n])) targets.list[kept++] = targets.list[n];
    }
    targets.size = kept;
}

}  // namespace

bool Battle::trySpreadMoveHit(Targets targets, Pokemon* user, ActiveMove& move, bool notActive) {
    if (targets.size > 1 && !move.smartTarget) move.spreadHit = true;
    if (notActive) setActiveMove(&move, user, targets.list[0]);
    // What hits later is a move of Showdown's without functions.
    Value tried = notActive ? Value(TRUE) : singleEvent(Ev::Try, move.id, nullptr, user, targets.list[0], &move);
    if (truthy(tried) && !notActive) tried = singleEvent(Ev::PrepareHit, move.id, nullptr, targets.list[0], user, &move);
    if (truthy(tried)) tried = runEvent(Ev::PrepareHit, user, targets.list[0], &move);
    if (!truthy(tried)) return tried == NOT_FAIL;
    Value results[SLOTS];
    bool anyFailure = false;
    // Showdown's moveSteps. Each writes the results of the targets that are left.
    auto step = [&](auto act) {
        if (!targets.size) return;
        act();
        keep(targets, results, anyFailure);
        if (anyFailure) move.smartTarget = false;
    };
    auto each = [&](auto of) {
        step([&] {
            for (int n = 0; n < targets.size; n++) results[n] = of(targets.list[n]);
        });
    };
    each([&](Pokemon* target) -> Value {
        bool sure = move.id == move::toxic && hasType(user, Type::Poison);
        return sure ? Value(TRUE) : runEvent(Ev::Invulnerability, target, user, &move);
    });
    step([&] {
        for (int n = 0; n < targets.size; n++) results[n] = TRUE;
        runEvent(Ev::TryHit, targets, user, &move, results);
        for (int n = 0; n < targets.size; n++)
            if (results[n] != NOT_FAIL && !truthy(results[n])) results[n] = FALSE;
    });
    each([&](Pokemon* target) -> Value { return runImmunity(target, &move) ? TRUE : FALSE; });
    each([&](Pokemon* target) -> Value { return hitStepTryImmunity(target, user, move) ? TRUE : FALSE; });
    each([&](Pokemon* target) -> Value { return hitStepAccuracy(target, user, move) ? TRUE : FALSE; });
    if (move.breaksProtect) hitStepBreakProtect(targets);
    if (move.stealsBoosts && targets.size) hitStepStealBoosts(targets.list[0], user);
    step([&] { hitStepMoveHitLoop(targets, user, move, results); });
    for (int n = 0; n < targets.size; n++) move.hitTargets[n] = targets.list[n];
    move.hitTargetCount = targets.size;
    if (!targets.size && !anyFailure) out(user).moveThisTurnResult = NUL;
    return targets.size > 0;
}

bool Battle::hitStepTryImmunity(Pokemon* target, Pokemon* user, ActiveMove& move) {
    auto immuneByType = [&](int types) {
        Types own = getTypes(target);
        for (int n = 0; n < own.count; n++)
            if (types >> own.list[n] & 1) return true;
        return false;
    };
    if (move.has(Flag::powder) && target != user && immuneByType(Immune::powder)) return false;
    if (!truthy(singleEvent(Ev::TryImmunity, move.id, nullptr, target, user, &move))) return false;
    return !(move.pranksterBoosted && hasAbility(user, ability::prankster) && !isAlly(target, user) && immuneByType(Immune::prankster));
}

bool Battle::hitStepAccuracy(Pokemon* target, Pokemon* user, ActiveMove& move) {
    activeTarget = target;
    Value accuracy = runEvent(Ev::ModifyAccuracy, target, user, &move, move.accuracy);
    if (accuracy != TRUE) {
        int boost = 0, boosts[Stat::COUNT];
        if (!move.ignoreAccuracy) {
            for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = out(user).boosts[stat];
            runEvent(Ev::ModifyBoost, user, nullptr, {}, UNDEFINED, 0, boosts);
            boost = clamp(boosts[Stat::accuracy], -6, 6);
        }
        if (!move.ignoreEvasion) {
            for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = out(target).boosts[stat];
            runEvent(Ev::ModifyBoost, target, nullptr, {}, UNDEFINED, 0, boosts);
            boost = clamp(boost - boosts[Stat::evasion], -6, 6);
        }
        if (boost > 0) accuracy = accuracy * (3 + boost) / 3;
        if (boost < 0) accuracy = accuracy * 3 / (3 - boost);
    }
    bool sure = move.alwaysHit || (move.id == move::toxic && hasType(user, Type::Poison)) ||
        (move.target == Target::self && move.category == Category::Status && !isSemiInvulnerable(target));
    accuracy = sure ? Value(TRUE) : runEvent(Ev::Accuracy, target, user, &move, accuracy);
    return accuracy == TRUE || prng.randomChance(accuracy, 100);
}

void Battle::hitStepBreakProtect(Targets& targets) {
    for (int n = 0; n < targets.size; n++)
        if (removeVolatile(targets.list[n], condition::protect)) deleteVolatile(targets.list[n], condition::stall);
}

void Battle::hitStepStealBoosts(Pokemon* target, Pokemon* user) {
    int stolen[Stat::COUNT] = {};
    bool any = false;
    for (int stat = 0; stat < Stat::COUNT; stat++) {
        if (out(target).boosts[stat] <= 0) continue;
        stolen[stat] = out(target).boosts[stat];
        any = true;
    }
    if (!any) return;
    boost(stolen, user, user);
    for (int stat = 0; stat < Stat::COUNT; stat++)
        if (stolen[stat]) out(target).boosts[stat] = 0;
}

// Showdown's tryMoveHit: moves at a side or at the field.
Value Battle::tryMoveHit(Targets& targets, Pokemon* user, ActiveMove& move) {
    Pokemon* target = targets.size ? targets.list[0] : nullptr;
    setActiveMove(&move, user, target);
    if (!truthy(singleEvent(Ev::Try, move.id, nullptr, user, target, &move)) ||
        !truthy(singleEvent(Ev::PrepareHit, move.id, nullptr, target, user, &move)) ||
        !truthy(runEvent(Ev::PrepareHit, user, target, &move)))
        return FALSE;
    Value hit = runEvent(move.target == Target::all ? Ev::TryHitField : Ev::TryHitSide, target, user, &move);
    if (!truthy(hit)) return FALSE;
    return moveHit(target, user, move, move.hit, false, false);
}
