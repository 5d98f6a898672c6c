// What the hits of a move do: the second half of sim/battle-actions.ts.

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

bool atSideOrField(int target) {
    return target == Target::all || target == Target::foeSide || target == Target::allySide || target == Target::allyTeam;
}

}  // namespace

Value Battle::moveHit(Pokemon* target, Pokemon* user, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf) {
    Targets targets;
    targets.add(target);
    Value damage[SLOTS];
    spreadMoveHit(targets, user, move, data, isSecondary, isSelf, damage);
    return damage[0] == TRUE ? Value(UNDEFINED) : damage[0];
}

// How often a move hits.
int Battle::hitsOf(Pokemon* user, const ActiveMove& move) {
    int from = move.multihit[0], to = move.multihit[1];
    int hits = !from ? 1 : from;
    bool loadedDice = from && hasItem(user, item::loadeddice);
    if (from == 2 && to == 5) {
        constexpr int HITS[] = {2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5};
        hits = HITS[prng.random(20)];
        if (hits < 4 && loadedDice) hits = 5 - prng.random(2);
    } else if (from != to) {
        hits = prng.random(from, to + 1);
    }
    if (hits == 10 && loadedDice) hits -= prng.random(7);
    return hits;
}

// Whether a later hit of a move that may miss with each (Triple Axel) does hit.
bool Battle::multiaccuracyHits(Pokemon* target, Pokemon* user, ActiveMove& move) {
    // Showdown multiplies as floating-point numbers and hands them on: thousandths of a whole are not lost before the roll.
    double accuracy = move.accuracy;
    bool sure = move.accuracy == TRUE;
    constexpr double TABLE[] = {1, 4.0 / 3, 5.0 / 3, 2, 7.0 / 3, 8.0 / 3, 3};
    if (!sure) {
        int boosts[Stat::COUNT];
        if (!move.ignoreAccuracy) {
            for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = out(user).boosts[stat];
            runEvent(Ev::ModifyBoost, user, nullptr, {}, UNDEFINED, 0, boosts);
            int boost = clamp(boosts[Stat::accuracy], -6, 6);
            if (boost > 0) accuracy *= TABLE[boost];
            else accuracy /= TABLE[-boost];
        }
        if (!move.ignoreEvasion) {
            for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = out(target).boosts[stat];
            runEvent(Ev::ModifyBoost, target, nullptr, {}, UNDEFINED, 0, boosts);
            int boost = clamp(boosts[Stat::evasion], -6, 6);
            if (boost > 0) accuracy /= TABLE[boost];
            if (boost < 0) accuracy *= TABLE[-boost];
        }
    }
    // A roll of 0 to 99 is below 66.67 where it is below 67; Showdown's modifiers leave alone what is not whole.
    int whole = int(accuracy);
    Event modifying;
    modifying.id = Ev::ModifyAccuracy, modifying.target = target, modifying.source = user, modifying.cause = &move;
    modifying.isFraction = !sure && whole < accuracy;
    modifying.relay = sure ? Value(TRUE) : whole + modifying.isFraction;
    Value rounded = runEvent(modifying);
    if (move.alwaysHit) return true;
    rounded = runEvent(Ev::Accuracy, target, user, &move, rounded);
    return rounded == TRUE || prng.randomChance(rounded, 100);
}

void Battle::hitStepMoveHitLoop(Targets& targets, Pokemon* user, ActiveMove& move, Value* damage) {
    for (int n = 0; n < targets.size; n++) damage[n] = 0;
    move.totalDamage = 0;
    int targetHits = hitsOf(user, move), hit = 1;
    bool nullDamage = true, sleepUsable = move.sleepUsable || (move.sourceEffect >= FIRST_MOVE && moveData(move.sourceEffect).sleepUsable);
    bool smart = move.smartTarget && targets.size > 1;
    Targets copy = targets;
    Value moveDamage[SLOTS] = {UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED};
    for (; hit <= targetHits; hit++) {
        bool failed = false, alive = false;
        for (int n = 0; n < targets.size; n++) {
            failed = failed || damage[n] == FALSE;
            alive = alive || targets.list[n]->hp;
        }
        if (failed || (hit > 1 && user->status == condition::slp && !sleepUsable) || !alive) break;
        move.hitNumber = hit;
        move.lastHit = hit == targetHits;
        copy = targets;
        if (smart) {
            copy.size = 1;
            copy.list[0] = targets.list[hit - 1];
        }
        if (copy.list[0] && moveData(move.id).smartTarget) {
            if (hit > 1)
                addMove(Message::anim, user, named(move.id), copy.list[0]);
            else
                retargetLastMove(copy.list[0]);
        }
        if (copy.list[0] && move.multiaccuracy && hit > 1 && !multiaccuracyHits(copy.list[0], user, move)) break;
        Value dealt[SLOTS];
        spreadMoveHit(copy, user, move, move.hit, false, false, dealt);
        int first = smart ? hit - 1 : 0;
        for (int n = 0; n < copy.size; n++) moveDamage[first + n] = dealt[n];
        bool any = false;
        for (int n = 0; n < (smart ? hit : targets.size); n++) any = any || moveDamage[n] != FALSE;
        if (!any) break;
        nullDamage = false;
        for (int n = first; n < (smart ? hit : targets.size); n++) {
            damage[n] = moveDamage[n] == TRUE || !truthy(moveDamage[n]) ? 0 : moveDamage[n];
            move.totalDamage += damage[n];
        }
        eachEvent(Ev::Update);
        if (!user->hp && targets.size == 1) {
            hit++;
            break;
        }
    }
    if (hit == 1 || nullDamage)
        for (int n = 0; n < targets.size; n++) damage[n] = FALSE;
    if (hit == 1) return;
    faintMessages(false, false, !user->hp);
    if (move.multihit[0] && !moveData(move.id).smartTarget) add(Message::hitcount, targets.list[0], hit - 1);
    if (move.totalDamage) applyRecoilDamage(move.totalDamage, move, user);
    if (smart) copy = targets;
    for (int n = 0; n < copy.size; n++) {
        Pokemon* target = copy.list[n];
        if (!target || target == user) continue;
        gotAttacked(target, move, moveDamage[n], user);
        if (isNumber(moveDamage[n])) target->timesAttacked += smart ? 1 : hit - 1;
    }
    if (move.ohko && !targets.list[0]->hp) add(Message::ohko);
    bool any = false;
    for (int n = 0; n < targets.size; n++) any = any || truthyOrZero(damage[n]);
    if (!any) return;
    eachEvent(Ev::Update);
    if (sheerForces(move, user)) return;
    Targets left;
    for (int n = 0; n < copy.size; n++)
        if (copy.list[n]) left.add(copy.list[n]);
    singleEvent(Ev::AfterMoveSecondary, move.id, nullptr, left.size ? left.list[0] : nullptr, user, &move);
    Value results[SLOTS] = {TRUE, TRUE, TRUE, TRUE};
    runEvent(Ev::AfterMoveSecondary, left, user, &move, results);
    for (int n = 0; n < targets.size; n++) {
        Pokemon* target = targets.list[n];
        Value dealt = targets.size == 1 ? move.totalDamage : damage[n];
        if (isNumber(dealt) && target->hp) emergencyExit(target, out(target).hurtThisTurn + dealt, user);
    }
}

// targets: those that are hit no more become null: `failed` where the move failed (Showdown's false), else behind a substitute.
void Battle::spreadMoveHit(Targets& targets, Pokemon* user, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf,
                           Value* damage) {
    bool primary = !isSecondary && !isSelf;
    bool failed[SLOTS] = {};
    auto fail = [&](int n) {
        targets.list[n] = nullptr;
        failed[n] = true;
    };
    for (int n = 0; n < targets.size; n++) damage[n] = TRUE;
    if (primary && (targets.list[0] || atSideOrField(move.target))) {
        int event = move.target == Target::all ? Ev::TryHitField : atSideOrField(move.target) ? Ev::TryHitSide : Ev::TryHit;
        Value tried = singleEvent(event, move.id, nullptr, targets.list[0], user, &move);
        if (!truthy(tried)) {
            if (tried == FALSE) addFail(user);
            damage[0] = FALSE;
            return;
        }
    }
    if (primary && !atSideOrField(move.target)) {
        for (int n = 0; n < targets.size; n++)
            if (targets.list[n]) damage[n] = runEvent(Ev::TryPrimaryHit, targets.list[n], user, &move);
    }
    for (int n = 0; n < targets.size; n++) {
        if (damage[n] == 0) {  // Showdown's HIT_SUBSTITUTE
            damage[n] = TRUE;
            targets.list[n] = nullptr;
        }
        if (!truthy(damage[n])) fail(n);
    }
    for (int n = 0; n < targets.size; n++) {
        Pokemon* target = targets.list[n];
        if (!target) continue;
        activeTarget = target;
        Value dealt = primary ? getDamage(user, target, &move) : Value(UNDEFINED);
        damage[n] = dealt == NUL ? Value(FALSE) : dealt;
        if (damage[n] == FALSE) fail(n);
    }
    for (int n = 0; n < targets.size; n++) {
        damage[n] = spreadDamage(damage[n], targets.list[n], user, &move);
        if (damage[n] == FALSE) fail(n);
    }
    runMoveEffects(damage, targets, failed, user, move, data, isSecondary, isSelf);
    auto failWithoutDamage = [&] {
        for (int n = 0; n < targets.size; n++)
            if (!truthyOrZero(damage[n])) fail(n);
    };
    failWithoutDamage();
    Pokemon* kept = activeTarget;
    if (data.self && !move.selfDropped) selfDrops(targets, failed, user, move, data, isSecondary);
    if (primary && move.secondaryCount) secondaries(targets, failed, user, move, isSelf);
    activeTarget = kept;
    if (data.forceSwitch) forceSwitch(damage, targets, user, move);
    failWithoutDamage();
    if (!primary) return;
    Targets damaged;
    Value dealt[SLOTS];
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
    emergencyExit(user, before);
}

void Battle::runMoveEffects(Value* damage, Targets& targets, const bool* failed, Pokemon* user, ActiveMove& move, const HitEffect& data,
                            bool isSecondary, bool isSelf) {
    Value any = damage[0];
    for (int n = 1; n < targets.size; n++) any = combineResults(any, damage[n]);
    for (int n = 0; n < targets.size; n++) {
        if (failed[n]) continue;
        Value did = UNDEFINED;
        if (targets.list[n]) {
            did = runEffectsOn(targets.list[n], user, move, data, isSecondary, isSelf);
            if (did == STOPPED) {
                damage[n] = combineResults(damage[n], FALSE);
                any = combineResults(any, NUL);
                continue;
            }
        }
        if (data.selfdestruct == Selfdestruct::ifHit && damage[n] != FALSE) faint(user, user, &move);
        if (data.selfSwitch) did = canSwitch(user->side) ? Value(TRUE) : combineResults(did, FALSE);
        if (did == UNDEFINED) did = TRUE;
        damage[n] = combineResults(damage[n], did == NUL ? Value(FALSE) : did);
        any = combineResults(any, did);
    }
    bool nothing = !truthyOrZero(any) && !data.self && !data.selfdestruct;
    if (nothing && any == FALSE && !isSelf && !isSecondary) addFail(user);
    if (!nothing && move.hit.selfSwitch && user->hp) user->switchFlag = move.id;
}

// What a move's data does to one target; STOPPED: no more is to be done.
Value Battle::runEffectsOn(Pokemon* target, Pokemon* user, ActiveMove& move, const HitEffect& data, bool isSecondary, bool isSelf) {
    Value did = UNDEFINED;
    auto note = [&](Value result) { did = combineResults(did, result); };
    if (data.hasBoosts() && !target->fainted) note(boost(data.boosts, target, user, &move, isSecondary, isSelf));
    if (data.heal[0] && !target->fainted) {
        if (target->hp >= target->maxhp) {
            add(Message::fail, target, "heal");
            stillLastMove();
            return STOPPED;
        }
        Value healed = heal(roundedQuotient(int64_t(target->maxhp) * data.heal[0], data.heal[1]), target, user, &move);
        if (!truthyOrZero(healed)) {
            if (healed != NUL) addFail(user);
            return STOPPED;
        }
        did = TRUE;
    }
    if (data.status) {
        Value result = trySetStatus(target, data.status, user, &move);
        if (!truthy(result) && move.hit.status) return STOPPED;
        note(result);
    }
    if (data.volatileStatus) note(addVolatile(target, data.volatileStatus, user, &move));
    if (data.sideCondition) note(addSideCondition(target->side, data.sideCondition, user, &move));
    if (data.slotCondition) note(addSlotCondition(target, data.slotCondition, user, &move));
    if (data.weather) note(setWeather(data.weather, user, &move));
    if (data.terrain) note(setTerrain(data.terrain, user, &move));
    if (data.pseudoWeather) note(addPseudoWeather(data.pseudoWeather, user, &move));
    if (data.forceSwitch) note(canSwitch(target->side) ? TRUE : FALSE);
    if (move.target == Target::all && !isSelf) {
        if (HANDLERS.find(move.id, onHitField)) note(singleEvent(Ev::HitField, move.id, nullptr, target, user, &move));
    } else if ((move.target == Target::foeSide || move.target == Target::allySide) && !isSelf) {
        if (HANDLERS.find(move.id, onHitSide)) note(singleEvent(Ev::HitSide, move.id, nullptr, target, user, &move, UNDEFINED, &sideOf(target)));
    } else {
        if (data.onHit) note(singleEvent(isSecondary ? Ev::SecondaryHit : isSelf ? Ev::SelfHit : Ev::Hit, move.id, nullptr, target, user, &move));
        if (!isSelf && !isSecondary) runEvent(Ev::Hit, target, user, &move);
    }
    return did;
}

void Battle::selfDrops(Targets& targets, const bool* failed, Pokemon* user, ActiveMove& move, const HitEffect& data, bool isSecondary) {
    for (int n = 0; n < targets.size; n++) {
        if (failed[n] || move.selfDropped || !data.self) continue;
        if (isSecondary || !data.self->hasBoosts()) {
            moveHit(user, user, move, *data.self, isSecondary, true);
            continue;
        }
        int roll = prng.random(100);
        if (!data.self->chance || roll < data.self->chance * move.selfChances) moveHit(user, user, move, *data.self, isSecondary, true);
        if (!move.multihit[0]) move.selfDropped = true;
    }
}

void Battle::secondaries(Targets& targets, const bool* failed, Pokemon* user, ActiveMove& move, bool isSelf) {
    for (int n = 0; n < targets.size; n++) {
        if (failed[n]) continue;
        Secondaries left;
        for (int k = 0; k < move.secondaryCount; k++) left.list[left.count++] = &move.secondaries[k];
        Event asking;
        asking.id = Ev::ModifySecondaries, asking.target = targets.list[n], asking.source = user, asking.cause = &move, asking.secondaries = &left;
        runEvent(asking);
        for (int k = 0; k < left.count; k++) {
            int roll = prng.random(100);
            if (!left.list[k]->chance || roll < left.list[k]->chance) moveHit(targets.list[n], user, move, *left.list[k], true, isSelf);
        }
    }
}

void Battle::forceSwitch(Value* damage, Targets& targets, Pokemon* user, ActiveMove& move) {
    for (int n = 0; n < targets.size; n++) {
        Pokemon* target = targets.list[n];
        if (!target || !target->hp || !user->hp || !canSwitch(target->side)) continue;
        Value hit = runEvent(Ev::DragOut, target, user, &move);
        if (truthy(hit)) {
            target->forceSwitchFlag = true;
        } else if (hit == FALSE && move.category == Category::Status) {
            addFail(user);
            damage[n] = FALSE;
        }
    }
}

void Battle::applyRecoilDamage(int dealt, ActiveMove& move, Pokemon* user) {
    int before = user->hp;
    if (move.struggleRecoil)
        directDamage(atLeastOne(roundedQuotient(user->maxhp, 4)), user, user, int(condition::strugglerecoil));
    else if (move.mindBlownRecoil || move.chloroblastRecoil)
        damage(roundedQuotient(user->maxhp, 2), user, user, move.mindBlownRecoil ? int(condition::mindblownrecoil) : int(condition::recoil));
    else if (move.recoil[0])
        damage(atLeastOne(roundedQuotient(int64_t(dealt) * move.recoil[0], move.recoil[1])), user, user, int(condition::recoil));
    else
        return;
    emergencyExit(user, before, user);
}
