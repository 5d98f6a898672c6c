// At whom a move is used: getTarget and getRandomTarget of sim/battle.ts, getMoveTargets of sim/pokemon.ts.

#include "battle.h"

Pokemon* Battle::getTarget(Pokemon* user, const MoveData& move, int targetLoc, Pokemon* originalTarget) {
    bool tracksTarget = move.tracksTarget || hasAbility(user, ability::propellertail);
    if (tracksTarget && originalTarget && originalTarget->isActive) return originalTarget;
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

Targets Battle::getMoveTargets(Pokemon* user, ActiveMove& move, Pokemon* target, Targets& pressureTargets) {
    Targets targets;
    auto addAll = [&](Targets more) {
        for (int n = 0; n < more.size; n++) targets.add(more.list[n]);
    };
    auto retarget = [&] {
        if (targets.size && !targets.has(target)) retargetLastMove(targets.list[targets.size - 1]);
    };
    Pokemon* selected = nullptr;
    switch (move.target) {
        case Target::all:
        case Target::foeSide:
        case Target::allySide:
        case Target::allyTeam:
            if (move.target != Target::foeSide) addAll(allies(user->side));
            if (move.target == Target::all || move.target == Target::foeSide) addAll(foes(user, true));
            retarget();
            break;
        case Target::allAdjacent: addAll(adjacentAllies(user)); [[fallthrough]];
        case Target::allAdjacentFoes:
            addAll(adjacentFoes(user));
            retarget();
            break;
        case Target::allies: addAll(allies(user->side)); break;
        default:
            selected = target;
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
            if (selected != target) retargetLastMove(target);
    }
    pressureTargets = targets;
    if (move.target == Target::foeSide) pressureTargets.size = 0;
    if (move.has(Flag::mustpressure)) pressureTargets = foes(user);
    return targets;
}
