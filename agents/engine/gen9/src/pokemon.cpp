// Who is where, and what a Pokémon is: the part of sim/pokemon.ts that only asks, and what a turn notes about it.

#include "battle.h"

Targets Battle::getAllActive(bool includeFainted) {
    Targets found;
    for (int side = 0; side < SIDES; side++)
        for (int slot = 0; slot < row.activePerSide; slot++)
            if (Pokemon* p = at(side, slot); p && (includeFainted || !p->fainted)) found.add(p);
    return found;
}

Targets Battle::allies(int side, bool all) {
    Targets found;
    for (int slot = 0; slot < row.activePerSide; slot++)
        if (Pokemon* p = at(side, slot); p && (all || p->hp)) found.add(p);
    return found;
}

Targets Battle::adjacentAllies(const Pokemon* p) {
    Targets found, near = allies(p->side);
    for (int n = 0; n < near.size; n++)
        if (near.list[n] != p && isAdjacent(p, near.list[n])) found.add(near.list[n]);
    return found;
}

Active& Battle::benched(const Pokemon* p) {
    Active& active = bench[p->side];
    active = {};
    active.pokemon = nameOf(p);
    for (int stat = 0; stat < 5; stat++) active.storedStats[stat] = p->baseStoredStats[stat];
    for (int n = 0; n < 2; n++) active.types[n] = SPECIES[p->species].types[n];
    active.addedType = Type::none;
    active.moveThisTurnResult = active.moveLastTurnResult = UNDEFINED;
    return active;
}

bool Battle::ignoringAbility(const Pokemon* p) {
    if (!p->isActive) return true;
    const EffectData& ability = EFFECTS[p->ability];
    if (ability.is(Is::notransform) && out(p).transformed) return true;
    if (ability.is(Is::cantsuppress)) return false;
    if (hasItem(p, item::abilityshield) || p->ability == ability::neutralizinggas) return false;
    for (int side = 0; side < SIDES; side++) {
        for (int slot = 0; slot < row.activePerSide; slot++) {
            const Pokemon* other = at(side, slot);
            // abilityState.counter: Showdown's `ending`
            if (other && !other->fainted && other->ability == ability::neutralizinggas && !out(other).transformed && !other->abilityState.counter) return true;
        }
    }
    return false;
}

bool Battle::ignoringItem(const Pokemon* p) { return !p->isActive; }

bool Battle::suppressingAbility(const Pokemon* target) {
    bool ignored = activePokemon && activePokemon->isActive && activePokemon != target && activeMove && activeMove->ignoreAbility;
    return ignored && !(target && hasItem(target, item::abilityshield));
}

namespace {

int boosted(int stat, int boost) {
    boost = clamp(boost, -6, 6);
    return boost >= 0 ? stat * (2 + boost) / 2 : stat * 2 / (2 - boost);
}

constexpr int MODIFY_EVENTS[] = {Ev::ModifyAtk, Ev::ModifyDef, Ev::ModifySpA, Ev::ModifySpD, Ev::ModifySpe};

}  // namespace

// statUser: whose handlers may change the boost; null: its own.
int Battle::calculateStat(Pokemon* p, int stat, int boost, Pokemon* statUser) {
    int boosts[Stat::COUNT] = {};
    boosts[stat] = boost;
    runEvent(Ev::ModifyBoost, statUser ? statUser : p, nullptr, {}, UNDEFINED, 0, boosts);
    return boosted(out(p).storedStats[stat], boosts[stat]);
}

// The stat with its boosts and all that modifies it.
int Battle::getStat(Pokemon* p, int stat, bool unboosted, bool unmodified) {
    const Active& active = out(p);
    int value = active.storedStats[stat];
    if (!unboosted) {
        int boosts[Stat::COUNT];
        for (int k = 0; k < Stat::COUNT; k++) boosts[k] = active.boosts[k];
        if (!unmodified) runEvent(Ev::ModifyBoost, p, nullptr, {}, UNDEFINED, 0, boosts);
        value = boosted(value, boosts[stat]);
    }
    if (!unmodified) value = runEvent(MODIFY_EVENTS[stat], p, nullptr, {}, value);
    return stat == Stat::spe && value > 10000 ? 10000 : value;
}

int Battle::getBestStat(Pokemon* p, bool unboosted, bool unmodified) {
    int best = Stat::atk, most = 0;
    for (int stat = Stat::atk; stat <= Stat::spe; stat++) {
        if (getStat(p, stat, unboosted, unmodified) <= most) continue;
        best = stat;
        most = getStat(p, stat, unboosted, unmodified);
    }
    return best;
}

int Battle::getActionSpeed(Pokemon* p) {
    int speed = getStat(p, Stat::spe);
    if (pseudoWeather(condition::trickroom)) speed = 10000 - speed;
    return speed & 0x1FFF;
}

void Battle::updateSpeed() {
    Targets actives = getAllActive();
    for (int n = 0; n < actives.size; n++) actives.list[n]->speed = getActionSpeed(actives.list[n]);
}

int Battle::getWeight(Pokemon* p) { return atLeastOne(runEvent(Ev::ModifyWeight, p, nullptr, {}, speciesOf(p).weighthg)); }

int Battle::positiveBoosts(const Pokemon* p) {
    int sum = 0;
    for (int boost : out(p).boosts)
        if (boost > 0) sum += boost;
    return sum;
}

Types Battle::getTypes(Pokemon* p, bool excludeAdded, bool preterastallized) {
    Types types;
    if (!preterastallized && p->terastallized && p->terastallized - 1 != Type::Stellar) {
        types.add(p->terastallized - 1);
        return types;
    }
    const Active& active = out(p);
    for (int type : active.types)
        if (type != Type::none) types.add(type);
    if (listening.has(Ev::Type)) {
        Event asking;
        asking.id = Ev::Type, asking.target = p, asking.types = &types;
        runEvent(asking);
    }
    if (!types.count) types.add(Type::Normal);
    if (!excludeAdded && active.addedType != Type::none) types.add(active.addedType);
    return types;
}

bool Battle::setType(Pokemon* p, int type, int second) {
    if (type == Type::Stellar || second == Type::Stellar || p->terastallized) return false;
    Active& active = out(p);
    active.types[0] = type;
    active.types[1] = second;
    active.addedType = Type::none;
    active.apparentTypes[0] = 1 + type;
    active.apparentTypes[1] = 1 + second;
    active.unknownType = false;
    return true;
}

// NUL: it levitates by its ability.
Value Battle::isGrounded(Pokemon* p, bool negateImmunity) {
    if (!negateImmunity && hasType(p, Type::Flying)) return FALSE;
    if (hasAbility(p, ability::levitate) && !suppressingAbility(p)) return NUL;
    if (volatileOf(p, condition::magnetrise)) return FALSE;
    return hasItem(p, item::airballoon) ? FALSE : TRUE;
}

bool Battle::isSemiInvulnerable(const Pokemon* p) { return volatileOf(p, condition::phantomforce); }

int Battle::runEffectiveness(Pokemon* p, ActiveMove* move) {
    if (p->terastallized && move->type == Type::Stellar) return 1;
    int total = 0;
    Types types = getTypes(p);
    for (int n = 0; n < types.count; n++) {
        int type = types.list[n];
        bool none = move->type == Type::unknown || type == Type::unknown || CHART[move->type][type] == 2;
        Value mod = none ? 0 : CHART[move->type][type];
        mod = singleEvent(Ev::Effectiveness, move->id, nullptr, p, nullptr, move, mod, nullptr, type);
        total += runEvent(Ev::Effectiveness, p, nullptr, move, mod, type);
    }
    return total;
}

bool Battle::runImmunity(Pokemon* p, int type, bool message) {
    if (type == Type::unknown) return true;
    bool negateImmunity = !truthy(runEvent(Ev::NegateImmunity, p, nullptr, {}, UNDEFINED, type));
    Value notImmune = TRUE;
    if (type == Type::Ground) {
        notImmune = isGrounded(p, negateImmunity);
    } else if (!negateImmunity) {
        Types types = getTypes(p);
        for (int n = 0; n < types.count; n++)
            if (types.list[n] != Type::unknown && CHART[type][types.list[n]] == 2) notImmune = FALSE;
    }
    if (truthy(notImmune)) return true;
    if (message && notImmune == NUL)
        add(Message::immune, p, from(ability::levitate));
    else if (message)
        add(Message::immune, p);
    return false;
}

bool Battle::runImmunity(Pokemon* p, const ActiveMove* move, bool message) {
    if (move->ignoreImmunity == ALL_TYPES || (move->type != Type::unknown && move->ignoreImmunity >> move->type & 1)) return true;
    return runImmunity(p, move->type, message);
}

// The types that a condition or weather cannot affect, as bits.
int Battle::immuneTypes(int effect) {
    switch (effect) {
        case condition::brn: return Immune::brn;
        case condition::frz: return Immune::frz;
        case condition::par: return Immune::par;
        case condition::psn:
        case condition::tox: return Immune::psn;
        case condition::sandstorm: return Immune::sandstorm;
        case condition::trapped: return Immune::trapped;
        case POWDER: return Immune::powder;
        default: return 0;
    }
}

bool Battle::runStatusImmunity(Pokemon* p, int effect, bool message) {
    if (p->fainted) return false;
    if (int immune = immuneTypes(effect)) {
        Types types = getTypes(p);
        for (int n = 0; n < types.count; n++)
            if (immune >> types.list[n] & 1) {
                if (message) add(Message::immune, p);
                return false;
            }
    }
    Value immunity = runEvent(Ev::Immunity, p, nullptr, {}, UNDEFINED, effect);
    if (message && !truthy(immunity) && immunity != NUL) add(Message::immune, p);
    return truthy(immunity);
}

int Battle::effectiveWeather(const Pokemon*) { return effectiveWeather(); }

MoveSlot* Battle::getMoveData(Pokemon* p, int move) {
    for (int n = 0; n < p->moveCount; n++)
        if (p->moveSlots[n].id == move) return &p->moveSlots[n];
    return nullptr;
}

bool Battle::hasMove(const Pokemon* p, int move) {
    for (int n = 0; n < p->moveCount; n++)
        if (p->moveSlots[n].id == move) return true;
    return false;
}

// Returns by how much the PP went down.
int Battle::deductPP(Pokemon* p, int move, int amount) {
    MoveSlot* slot = getMoveData(p, move);
    if (!slot) return 0;
    slot->used = true;
    if (amount > slot->pp) amount = slot->pp;
    slot->pp -= amount;
    return amount;
}

// The move that leaves no choice (Outrage's second turn), or 0.
int Battle::getLockedMove(Pokemon* p) {
    Value locked = priorityEvent(Ev::LockMove, p);
    return truthy(locked) && locked != TRUE ? locked : 0;
}

void Battle::disableMove(Pokemon* p, int move, bool isHidden) {
    for (int n = 0; n < p->moveCount; n++)
        if (p->moveSlots[n].id == move && p->moveSlots[n].disabled != 1) p->moveSlots[n].disabled = isHidden ? 2 : 1;
}

// Disables all moves but one.
void Battle::disableMoves(Pokemon* p, int except) {
    for (int slot = 0; slot < p->moveCount; slot++)
        if (p->moveSlots[slot].id != except) p->moveSlots[slot].disabled = 1;
}

bool Battle::tryTrap(Pokemon* p, bool isHidden) {
    if (!runStatusImmunity(p, condition::trapped)) return false;
    int& trapped = p->trapped;
    if (!trapped || !isHidden) trapped = isHidden ? 2 : 1;
    return true;
}

// Whether `source` has attacked once more after the attack `n`.
static bool attackedAgain(const Active& active, int n, int source) {
    for (int later = n + 1; later < active.attackedByCount; later++)
        if (active.attackedBy[later].source == source) return true;
    return false;
}

void Battle::gotAttacked(Pokemon* p, const ActiveMove& move, Value damage, Pokemon* source) {
    Active& active = out(p);
    if (active.attackedByCount == MAX_ATTACKS) {
        int dropped = 0;  // the first that is not its attacker's latest
        for (int n = MAX_ATTACKS - 1; n >= 0; n--) {
            int attacker = active.attackedBy[n].source;
            if (attacker == nameOf(source) || attackedAgain(active, n, attacker)) dropped = n;
        }
        for (int n = dropped + 1; n < MAX_ATTACKS; n++) active.attackedBy[n - 1] = active.attackedBy[n];
        active.attackedByCount--;
    }
    active.attackedBy[active.attackedByCount++] = {nameOf(source), isNumber(damage) ? damage : 0, move.id, true, slotOf(source), damage};
}

// At the end of a turn Showdown keeps all attacks of those that are still out. It asks for those of the same turn, and whether
// there are any: so each attacker's latest is kept.
void Battle::forgetAttacks(Active& active) {
    int kept = 0;
    for (int n = 0; n < active.attackedByCount; n++) {
        int attacker = active.attackedBy[n].source;
        if (!pokemon(attacker).isActive || attackedAgain(active, n, attacker)) continue;
        active.attackedBy[kept] = active.attackedBy[n];
        active.attackedBy[kept++].thisTurn = false;
    }
    for (int n = kept; n < active.attackedByCount; n++) active.attackedBy[n] = {};
    active.attackedByCount = kept;
}

Attack* Battle::getLastAttackedBy(Pokemon* p) {
    Active& active = out(p);
    return active.attackedByCount ? &active.attackedBy[active.attackedByCount - 1] : nullptr;
}

bool Battle::damagedThisTurnBy(Pokemon* p, const Pokemon* source) {
    const Active& active = out(p);
    for (int n = 0; n < active.attackedByCount; n++) {
        const Attack& attack = active.attackedBy[n];
        if (attack.source == nameOf(source) && attack.damage > 0 && attack.thisTurn) return true;
    }
    return false;
}
