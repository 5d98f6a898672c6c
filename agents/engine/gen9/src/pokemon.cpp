// What a Pokémon is and what happens to it: sim/pokemon.ts, and of sim/battle.ts boost, damage and heal.

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

bool Battle::suppressingAbility(const Pokemon* target) const {
    return activePokemon && activePokemon->isActive && activePokemon != target && activeMove && activeMove->ignoreAbility;
}

namespace {

int boosted(int stat, int boost) {
    boost = clamp(boost, -6, 6);
    return boost >= 0 ? stat * (2 + boost) / 2 : stat * 2 / (2 - boost);
}

int modifyEvent(int stat) {
    constexpr int EVENTS_OF_STATS[] = {Ev::ModifyAtk, Ev::ModifyDef, Ev::ModifySpA, Ev::ModifySpD, Ev::ModifySpe};
    return EVENTS_OF_STATS[stat];
}

}  // namespace

int Battle::calculateStat(Pokemon* p, int stat, int boost) {
    int boosts[Stat::COUNT] = {};
    boosts[stat] = boost;
    runEvent(Ev::ModifyBoost, p, nullptr, {}, UNDEFINED, 0, boosts);
    return boosted(out(p).storedStats[stat], boosts[stat]);
}

// The stat with its boosts and all that modifies it.
int Battle::getStat(Pokemon* p, int stat) {
    if (!p->isActive) return p->baseStoredStats[stat];
    int boosts[Stat::COUNT];
    for (int k = 0; k < Stat::COUNT; k++) boosts[k] = out(p).boosts[k];
    runEvent(Ev::ModifyBoost, p, nullptr, {}, UNDEFINED, 0, boosts);
    int value = runEvent(modifyEvent(stat), p, nullptr, {}, boosted(out(p).storedStats[stat], boosts[stat]));
    return stat == Stat::spe && value > 10000 ? 10000 : value;
}

void Battle::updateSpeed() {
    Targets actives = getAllActive();
    for (int n = 0; n < actives.size; n++) actives.list[n]->speed = getActionSpeed(actives.list[n]);
}

int Battle::getTypes(Pokemon* p, int types[2], bool preterastallized) {
    if (!preterastallized && p->terastallized && p->terastallized - 1 != Type::Stellar) {
        types[0] = p->terastallized - 1;
        return 1;
    }
    types[0] = out(p).types[0], types[1] = out(p).types[1];
    return types[1] == Type::none ? 1 : 2;
}

bool Battle::hasType(Pokemon* p, int type) {
    int types[2], count = getTypes(p, types);
    return types[0] == type || (count > 1 && types[1] == type);
}

bool Battle::isGrounded(Pokemon* p) {
    if (hasType(p, Type::Flying)) return false;
    return !hasAbility(p, ability::levitate) || suppressingAbility(p);
}

int Battle::runEffectiveness(Pokemon* p, ActiveMove* move) {
    int types[2], count = getTypes(p, types), total = 0;
    for (int n = 0; n < count; n++) {
        int mod = move->type == Type::unknown || CHART[move->type][types[n]] == 2 ? 0 : CHART[move->type][types[n]];
        total += runEvent(Ev::Effectiveness, p, nullptr, move, mod, types[n]);
    }
    return total;
}

bool Battle::runImmunity(Pokemon* p, int type) {
    if (type == Type::unknown) return true;
    if (type == Type::Ground) return isGrounded(p);
    int types[2], count = getTypes(p, types);
    for (int n = 0; n < count; n++)
        if (CHART[type][types[n]] == 2) return false;
    return true;
}

bool Battle::runStatusImmunity(Pokemon* p, int effect) {
    if (p->fainted) return false;
    if (effect == condition::brn && hasType(p, Type::Fire)) return false;
    if (effect == condition::par && hasType(p, Type::Electric)) return false;
    return truthy(runEvent(Ev::Immunity, p, nullptr, {}, UNDEFINED, effect));
}

EffectState* Battle::volatileOf(Pokemon* p, int id) {
    Active& active = out(p);
    for (int n = 0; n < active.volatileCount; n++)
        if (active.volatiles[n].id == id) return &active.volatiles[n];
    return nullptr;
}

Value Battle::addVolatile(Pokemon* p, int id, Pokemon* source, Cause cause) {
    if (!p->hp) return FALSE;
    if (!source) source = p;
    if (EffectState* state = volatileOf(p, id)) {
        if (!HANDLERS.find(id, onRestart)) return FALSE;
        return singleEvent(Ev::Restart, id, state, p, source, cause);
    }
    if (!runStatusImmunity(p, id)) return FALSE;
    Value result = runEvent(Ev::TryAddVolatile, p, source, cause, UNDEFINED, id);
    if (!truthy(result)) return result;
    Active& active = out(p);
    EffectState& state = active.volatiles[active.volatileCount++];
    initEffectState(state, id, p);
    state.source = nameOf(source);
    state.sourceEffect = cause.id;
    state.duration = EFFECTS[id].duration;
    listen(id);
    result = singleEvent(Ev::Start, id, &state, p, source, cause);
    if (!truthy(result)) {
        deleteVolatile(p, id);
        return result;
    }
    return TRUE;
}

void Battle::deleteVolatile(Pokemon* p, int id) {
    Active& active = out(p);
    int kept = 0;
    for (int n = 0; n < active.volatileCount; n++)
        if (active.volatiles[n].id != id) active.volatiles[kept++] = active.volatiles[n];
    for (int n = kept; n < active.volatileCount; n++) active.volatiles[n] = {};
    active.volatileCount = kept;
}

bool Battle::removeVolatile(Pokemon* p, int id) {
    EffectState* state = p->hp ? volatileOf(p, id) : nullptr;
    if (!state) return false;
    singleEvent(Ev::End, id, state, p);
    deleteVolatile(p, id);
    return true;
}

Value Battle::trySetStatus(Pokemon* p, int status, Pokemon* source, Cause cause) { return setStatus(p, p->status ? p->status : status, source, cause); }

Value Battle::setStatus(Pokemon* p, int status, Pokemon* source, Cause cause) {
    if (!p->hp || p->status == status || !runStatusImmunity(p, status)) return FALSE;
    Value result = runEvent(Ev::SetStatus, p, source, cause, UNDEFINED, status);
    if (!truthy(result)) return result;
    p->status = status;
    initEffectState(p->statusState, status, p);
    listen(status);
    singleEvent(Ev::Start, status, &p->statusState, p, source, cause);
    return truthy(runEvent(Ev::AfterSetStatus, p, source, cause, UNDEFINED, status)) ? TRUE : FALSE;
}

// Returns the item that was taken, or 0.
int Battle::takeItem(Pokemon* p, Pokemon* source) {
    int item = p->item;
    if (!item || !truthy(runEvent(Ev::TakeItem, p, source, {}, UNDEFINED, item))) return 0;
    p->item = 0;
    EffectState old = p->itemState;
    p->itemState = {};
    singleEvent(Ev::End, item, &old, p);
    runEvent(Ev::AfterTakeItem, p, nullptr, {}, UNDEFINED, item);
    return item;
}

void Battle::clearVolatile(Pokemon* p, bool includeSwitchFlags) {
    Active& active = out(p);
    active = {};
    active.pokemon = nameOf(p);
    active.newlySwitched = true;
    if (includeSwitchFlags) p->switchFlag = p->forceSwitchFlag = 0;
    for (int stat = 0; stat < 5; stat++) active.storedStats[stat] = p->baseStoredStats[stat];
    for (int n = 0; n < 2; n++) active.types[n] = SPECIES[p->species].types[n];
    p->speed = active.storedStats[Stat::spe];
}

// Disables all moves but one.
void Battle::disableMoves(Pokemon* p, int except) {
    for (int slot = 0; slot < p->moveCount; slot++)
        if (p->moveSlots[slot].id != except) p->moveSlots[slot].disabled = true;
}

int Battle::faint(Pokemon* p, Pokemon* source, Cause cause) {
    if (p->fainted || p->faintQueued) return 0;
    int lost = p->hp;
    p->hp = 0;
    p->switchFlag = 0;
    p->faintQueued = true;
    faintQueue[faintCount++] = {p, source, cause};
    return lost;
}

Value Battle::boost(const int by[Stat::COUNT], Pokemon* target, Pokemon* source, Cause cause) {
    if (!target || !target->hp) return 0;
    if (!target->isActive) return FALSE;
    if (!row.sides[1 - target->side].pokemonLeft) return FALSE;
    int boosts[Stat::COUNT], given[Stat::COUNT];
    for (int stat = 0; stat < Stat::COUNT; stat++) given[stat] = boosts[stat] = by[stat];
    runEvent(Ev::ChangeBoost, target, source, cause, UNDEFINED, 0, boosts);
    Active& active = out(target);
    for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = clamp(active.boosts[stat] + boosts[stat], -6, 6) - active.boosts[stat];
    runEvent(Ev::TryBoost, target, source, cause, UNDEFINED, 0, boosts);
    Value success = NUL;
    for (int stat = 0; stat < Stat::COUNT; stat++) {
        if (!given[stat]) continue;
        int change = clamp(active.boosts[stat] + boosts[stat], -6, 6) - active.boosts[stat];
        active.boosts[stat] += change;
        if (!change) continue;
        success = TRUE;
        int single[Stat::COUNT] = {};
        single[stat] = boosts[stat];
        runEvent(Ev::AfterEachBoost, target, source, cause, UNDEFINED, 0, single);
    }
    runEvent(Ev::AfterBoost, target, source, cause, UNDEFINED, 0, boosts);
    return success;
}

// Showdown's spreadDamage for one target. amount: not a number: no damage is dealt, and it is returned.
Value Battle::spreadDamage(Value amount, Pokemon* target, Pokemon* source, Cause cause) {
    if (!truthyOrZero(amount)) return amount;
    if (!target || !target->hp) return 0;
    if (!target->isActive) return FALSE;
    if (amount != 0) amount = atLeastOne(amount);
    if (cause.type() == EffectType::Weather && !runStatusImmunity(target, cause.id)) return 0;
    amount = runEvent(Ev::Damage, target, source, cause, amount);
    if (!truthyOrZero(amount)) return amount;
    if (amount != 0) amount = atLeastOne(amount);
    int dealt = 0;
    if (amount > 0) {
        dealt = amount < target->hp ? amount : target->hp;
        target->hp -= dealt;
        if (!target->hp) faint(target, source, cause);
    }
    if (dealt) out(target).hurtThisTurn = target->hp;
    if (source && cause.type() == EffectType::Move) out(source).lastDamage = dealt;
    if (dealt && cause.move && cause.move->drain[0] && source) {
        int numerator = cause.move->drain[0], denominator = cause.move->drain[1];
        heal((2 * dealt * numerator + denominator) / (2 * denominator), source, target);
    }
    return dealt;
}

Value Battle::damage(int amount, Pokemon* target, Pokemon* source, Cause cause) {
    return spreadDamage(atLeastOne(amount), target, source, cause);
}

// Damage that no event changes.
int Battle::directDamage(int amount, Pokemon* target) {
    if (!target->hp) return 0;
    int dealt = amount < target->hp ? amount : target->hp;
    target->hp -= dealt;
    if (!target->hp) faint(target);
    return dealt;
}

Value Battle::healHp(Pokemon* p, int amount) {
    if (!p->hp || amount <= 0 || p->hp >= p->maxhp) return FALSE;
    int healed = amount < p->maxhp - p->hp ? amount : p->maxhp - p->hp;
    p->hp += healed;
    return healed;
}

Value Battle::heal(int amount, Pokemon* target, Pokemon* source, Cause cause) {
    Value healed = runEvent(Ev::TryHeal, target, source, cause, atLeastOne(amount));
    if (!truthy(healed)) return healed;
    if (!target->hp || !target->isActive || target->hp >= target->maxhp) return FALSE;
    healed = healHp(target, healed);
    runEvent(Ev::Heal, target, source, cause, healed);
    return healed;
}
