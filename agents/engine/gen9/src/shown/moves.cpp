// What a used move costs and shows (agents/battle/moves_used.py), and Transform (volatiles.py).

#include "keeper.h"

// "move|POKEMON|MOVE|TARGET|[from] ..."
void Keeper::readMove(const Record& record, ShownPokemon& p) {
    const int move = record.arguments[1].value;
    const Argument* target = record.count > 2 && record.arguments[2].kind == Argument::Mon ? &record.arguments[2] : nullptr;
    const LineSource source = sourceOf(record, 2);
    const int counter = p.statusCounter, protections = p.protectCounter;
    const bool outOfTurn = source.effect == ability::magicbounce;
    const bool recharges = outOfTurn && p.mustRecharge;
    sideOf(p).lastMover = p.pokemon;
    if (target && moveData(move).has(Flag::contact)) p.contactTarget = 1 + target->value;
    if (!outOfTurn) endSingleMove(p);
    const bool pressure = pressureOn(p, move, target);
    if (source.type == EffectType::Ability) showAbility(p, source.effect);
    const bool dancing = p.marks & ShownMark::DANCING;
    p.marks &= ~ShownMark::DANCING;
    if ((!source.effect || source.type == EffectType::Item) && !dancing) {
        moved(p, move, true, true, pressure && !source.effect);
    } else {
        moved(p, move, false, source.effect == move::sleeptalk, false);
        for (int n = 0; n < p.moveCount && source.effect == condition::lockedmove; n++) p.moves[n].lastUsed = p.moves[n].id == move;
        ShownMove* caller = source.type == EffectType::Move ? findMove(p, source.effect) : nullptr;
        if (caller && pressure && source.effect != move && caller->pp) caller->pp--;
    }
    p.statusCounter = counter;
    p.mustRecharge = p.mustRecharge || recharges;
    p.protectCounter = protections;
    if (moveData(move).stallingMove) {  // it counts if it succeeds, which "-singleturn" says
        shown.protecting = p.pokemon;
        shown.protections = protections;
        if (!(p.marks & ShownMark::PROTECTED)) p.protectCounter = 0;
    }
}

// Pokemon.moved. use: it is paid for; reveal: it is a move of its own.
void Keeper::moved(ShownPokemon& p, int move, bool use, bool reveal, bool pressure) {
    p.mustRecharge = p.preparing = 0;
    ShownMove* known = reveal ? addMove(p, move) : nullptr;
    if (!use) return;
    if (known) known->pp = known->pp > 1 + pressure ? known->pp - 1 - pressure : 0;
    for (int n = 0; n < p.moveCount; n++) p.moves[n].lastUsed = &p.moves[n] == known;
    if (known && moveData(move).basePower && moveData(move).type == Type::Electric) endEffect(p, ShownEffect::CHARGE);
}

namespace {

// quick_battle.py _SEEN_BY_PRESSURE
bool isSeenByPressure(int target) {
    switch (target) {
        case Target::adjacentFoe:
        case Target::all:
        case Target::allAdjacent:
        case Target::allAdjacentFoes:
        case Target::any:
        case Target::normal:
        case Target::randomNormal:
        case Target::scripted: return true;
        default: return false;
    }
}

// Moves that cost more though they are not aimed at who has Pressure.
bool isAlwaysSeenByPressure(int move) {
    return move == move::spikes || move == move::stealthrock || move == move::terablast || move == move::toxicspikes;
}

}  // namespace

bool Keeper::pressureOn(const ShownPokemon& user, int move, const Argument* target) {
    if (move == move::recharge) return false;
    const int side = (user.pokemon - 1) / TEAM, kind = moveData(move).target;
    ShownSide& other = sideOf(1 - side);
    if (!other.pressing) return false;
    const ShownPokemon* aimedAt = activeOf(other);
    if (!isAlwaysSeenByPressure(move)) {
        const bool named = kind != Target::all && target;
        if (!isSeenByPressure(kind) || (named && target->value / TEAM == side)) return false;
        if (named) aimedAt = find(*target);
    }
    return aimedAt && abilityOf(*aimedAt) == ability::pressure && aimedAt->status != SHOWN_FAINTED && !hasField(ability::neutralizinggas);
}

// What lasts until its next move, as it moves or cannot.
void Keeper::endSingleMove(ShownPokemon& p) { endEffect(p, ShownEffect::DESTINY_BOND); }

// "-transform|POKEMON|INTO": it has the other's types, ability and moves as they are now.
void Keeper::readTransform(const Record& record, ShownPokemon& p) {
    ShownPokemon* into = find(record.arguments[1]);
    if (!into) return;
    if (sourceOf(record, 2).effect == ability::imposter) showAbility(p, ability::imposter);
    for (int n = 0; n < p.moveCount; n++)
        if (p.moves[n].lastUsed) p.lastBefore = p.moves[n].id;
    if (!p.transformed) {
        p.baseMoveCount = p.moveCount;
        for (int n = 0; n < SHOWN_MOVES; n++) p.baseMoves[n] = p.moves[n];
    }
    p.transformed = true;
    p.moveCount = 0;
    for (int n = 0; n < into->moveCount; n++) addMove(p, into->moves[n].id);
    for (int n = p.moveCount; n < SHOWN_MOVES; n++) p.moves[n] = {};
    keepLastMove(p);
    p.weightSpecies = into->weightSpecies;
    copyTypes(p, *into);
    for (int stat = 0; stat < Stat::COUNT; stat++) p.boosts[stat] = into->boosts[stat];
    endEffect(p, ShownEffect::FOCUS_ENERGY);
    if (hasEffect(*into, ShownEffect::FOCUS_ENERGY)) startEffect(p, ShownEffect::FOCUS_ENERGY);
    giveAbility(p, abilityOf(*into));
}

// The move by which it has transformed is its last one, if it has transformed into one that knows it.
void Keeper::keepLastMove(ShownPokemon& p) {
    if (!p.lastBefore || !p.transformed) return;
    for (int n = 0; n < p.moveCount; n++)
        if (p.moves[n].lastUsed) return;
    if (ShownMove* last = findMove(p, p.lastBefore)) last->lastUsed = true;
}
