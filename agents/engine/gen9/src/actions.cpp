// Using a move up to its hits: sim/battle-actions.ts. At whom: targets.cpp. What a hit does: hits.cpp.

#include "battle.h"

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
                add(Message::cant, user, "nopp", named(move->id));
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
    bool noLock = options.externalMove && !volatileOf(user, condition::lockedmove);
    Value moveDidSomething = useMove(*move, user, {.target = target, .sourceEffect = sourceEffect, .noTarget = !target});
    row.lastSuccessfulMoveThisTurn = truthy(moveDidSomething) && activeMove ? activeMove->id : 0;
    if (activeMove) move = activeMove;
    singleEvent(Ev::AfterMove, move->id, nullptr, user, target, move);
    runEvent(Ev::AfterMove, user, target, move);
    if (twice && removeVolatile(user, twice)) hint("Some effects can force a Pokemon to use % again in a row.", move->id);
    if (move->has(Flag::dance) && truthy(moveDidSomething) && !move->isExternal) dance(user, *move);
    if (noLock) deleteVolatile(user, condition::lockedmove);
    faintMessages();
    checkWin();
}

// Dancer: who has it uses the move at its user. Of the tables' battles only the foe can.
void Battle::dance(Pokemon* user, const ActiveMove& move) {
    Targets dancers = foes(user);
    for (int n = 0; n < dancers.size; n++) {
        Pokemon* dancer = dancers.list[n];
        if (!hasAbility(dancer, ability::dancer) || isSemiInvulnerable(dancer) || faintMessages() || dancer->fainted) continue;
        add(Message::activate, dancer, "ability: Dancer");
        runMove(ActiveMove{moveData(move.id)}, dancer, {.targetLoc = getLocOf(dancer, user), .sourceEffect = ability::dancer, .externalMove = true});
    }
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
        move.ignoreAbility = sourceEffect >= FIRST_MOVE && activeMove && activeMove->ignoreAbility;  // as the move that calls it
    }
    setActiveMove(&move, user, target);
    singleEvent(Ev::ModifyType, move.id, nullptr, user, target, &move);
    singleEvent(Ev::ModifyMove, move.id, nullptr, user, target, &move);
    if (baseTarget != move.target) target = getRandomTarget(user, move);
    runEvent(Ev::ModifyType, user, target, &move);
    bool kept = truthy(runEvent(Ev::ModifyMove, user, target, &move));
    if (!kept || baseTarget != move.target) target = getRandomTarget(user, kept ? move : MoveData{});
    if (!kept || user->fainted) return FALSE;
    Argument used = target ? Argument(target) : Argument("null");
    if (sourceEffect)
        addMove(Message::move, user, named(move.id), used, from(sourceEffect));
    else
        addMove(Message::move, user, named(move.id), used);
    if (!target) {
        attrLastMove("[notarget]");
        add(Message::fail, user);
        return FALSE;
    }
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
        if (!targets.size) {
            attrLastMove("[notarget]");
            add(Message::fail, user);
            return FALSE;
        }
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
    if (!sheerForces(move, user) && !move.has(Flag::futuremove)) {
        singleEvent(Ev::AfterMoveSecondarySelf, move.id, nullptr, user, target, &move);
        runEvent(Ev::AfterMoveSecondarySelf, user, target, &move);
        if (user != target && move.category != Category::Status) emergencyExit(user, before, user);
    }
    return TRUE;
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
    if (!truthy(tried)) {
        if (tried == FALSE) addFail(user);
        return tried == NOT_FAIL;
    }
    Value results[SLOTS];
    bool anyFailure = false;
    auto missed = [&](Pokemon* target) {
        if (move.smartTarget) {
            move.smartTarget = false;
            return;
        }
        if (!move.spreadHit) attrLastMove("[miss]");
        add(Message::miss, user, target);
    };
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
        Value invulnerable = sure ? Value(TRUE) : runEvent(Ev::Invulnerability, target, user, &move);
        if (invulnerable == FALSE) missed(target);
        return invulnerable;
    });
    step([&] {
        for (int n = 0; n < targets.size; n++) results[n] = TRUE;
        runEvent(Ev::TryHit, targets, user, &move, results);
        bool hit = false, failed = false;
        for (int n = 0; n < targets.size; n++) {
            hit = hit || results[n] == TRUE;
            failed = failed || results[n] == FALSE;
        }
        if (!hit && failed) addFail(user);
        for (int n = 0; n < targets.size; n++)
            if (results[n] != NOT_FAIL && !truthy(results[n])) results[n] = FALSE;
    });
    each([&](Pokemon* target) -> Value { return runImmunity(target, &move, !move.smartTarget) ? TRUE : FALSE; });
    each([&](Pokemon* target) -> Value { return hitStepTryImmunity(target, user, move) ? TRUE : FALSE; });
    each([&](Pokemon* target) -> Value {
        bool hits = hitStepAccuracy(target, user, move);
        if (!hits) missed(target);
        if (!hits && !move.ohko && hasItem(user, item::blunderpolicy) && useItem(user)) boost(Stat::spe, 2, user);
        return hits ? TRUE : FALSE;
    });
    if (move.breaksProtect) hitStepBreakProtect(targets, move);
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
    bool affected = !(move.has(Flag::powder) && target != user && immuneByType(Immune::powder)) &&
        truthy(singleEvent(Ev::TryImmunity, move.id, nullptr, target, user, &move));
    if (affected && move.pranksterBoosted && hasAbility(user, ability::prankster) && !isAlly(target, user) && immuneByType(Immune::prankster)) {
        if (!move.hit.status || !immuneByType(immuneTypes(move.hit.status))) hint("Since gen 7, Dark is immune to Prankster moves.");
        affected = false;
    }
    if (!affected) add(Message::immune, target);
    return affected;
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

void Battle::hitStepBreakProtect(Targets& targets, const ActiveMove& move) {
    constexpr int PROTECTIONS[] = {condition::banefulbunker, condition::burningbulwark, condition::protect, condition::silktrap, condition::spikyshield};
    for (int n = 0; n < targets.size; n++) {
        bool broke = false;
        for (int id : PROTECTIONS) broke = removeVolatile(targets.list[n], id) || broke;
        if (!broke) continue;
        if (move.id == move::feint)
            add(Message::activate, targets.list[n], "move: Feint");
        else
            add(Message::activate, targets.list[n], full(move.id), "[broken]");
        deleteVolatile(targets.list[n], condition::stall);
    }
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
    stillLastMove();
    add(Message::clearpositiveboost, target, user, full(activeMove->id));
    boost(stolen, user, user);
    for (int stat = 0; stat < Stat::COUNT; stat++)
        if (stolen[stat]) out(target).boosts[stat] = 0;
    addMove(Message::anim, user, named(activeMove->id), target);
}

// Showdown's tryMoveHit: moves at a side or at the field.
Value Battle::tryMoveHit(Targets& targets, Pokemon* user, ActiveMove& move) {
    Pokemon* target = targets.size ? targets.list[0] : nullptr;
    setActiveMove(&move, user, target);
    Value hit = singleEvent(Ev::Try, move.id, nullptr, user, target, &move);
    if (truthy(hit)) hit = singleEvent(Ev::PrepareHit, move.id, nullptr, target, user, &move);
    if (truthy(hit)) hit = runEvent(Ev::PrepareHit, user, target, &move);
    if (truthy(hit)) hit = runEvent(move.target == Target::all ? Ev::TryHitField : Ev::TryHitSide, target, user, &move);
    if (!truthy(hit)) {
        if (hit == FALSE) addFail(user);
        return FALSE;
    }
    return moveHit(target, user, move, move.hit, false, false);
}
