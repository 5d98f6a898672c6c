// What happens to a Pokémon: the part of sim/pokemon.ts that changes it, and of sim/battle.ts boost, damage and heal.

#include "battle.h"

EffectState* Battle::volatileOf(const Pokemon* p, int id) {
    Active& active = out(p);
    for (int n = 0; n < active.volatileCount; n++)
        if (active.volatiles[n].id == id) return &active.volatiles[n];
    return nullptr;
}

// What Showdown's durationCallback says, or the duration of the table.
int Battle::durationOf(int id, Pokemon* target, Pokemon* source, Cause cause) {
    const Handler* handler = HANDLERS.find(id, durationCallback);
    if (!handler) return EFFECTS[id].duration;
    Event asking;
    asking.id = Ev::DurationCallback, asking.target = target, asking.source = source, asking.cause = cause, asking.effect = id;
    return handler->run(*this, asking);
}

Value Battle::addVolatile(Pokemon* p, int id, Pokemon* source, Cause cause, int linkedStatus) {
    if (!p->hp && !EFFECTS[id].is(Is::affectsFainted)) return FALSE;
    if (linkedStatus && source && !source->hp) return FALSE;
    source = orSource(source);
    cause = orEffect(cause);
    if (!source) source = p;
    if (EffectState* state = volatileOf(p, id)) {
        if (!HANDLERS.find(id, onRestart)) return FALSE;
        return singleEvent(Ev::Restart, id, state, p, source, cause);
    }
    if (!runStatusImmunity(p, id)) return FALSE;
    Value result = runEvent(Ev::TryAddVolatile, p, source, cause, UNDEFINED, id);
    if (!truthy(result)) return result;
    Active& active = out(p);
    if (active.volatileCount == MAX_VOLATILES) return FALSE;  // never seen
    // A place is used once in a step (tidy): handlers may still hold the state of a volatile that has ended.
    EffectState& state = active.volatiles[active.volatileCount++];
    initEffectState(state, id, p);
    state.source = nameOf(source);
    state.sourceSlot = slotOf(source);
    state.sourceEffect = cause.id;
    listen(id);
    state.duration = durationOf(id, p, source, cause);
    result = singleEvent(Ev::Start, id, &state, p, source, cause);
    if (!truthy(result)) {
        deleteVolatile(p, id);
        return result;
    }
    if (linkedStatus) {
        if (!volatileOf(source, linkedStatus)) {
            addVolatile(source, linkedStatus, p, cause);
            if (EffectState* linked = volatileOf(source, linkedStatus)) linked->linkedStatus = id;
        }
        if (EffectState* linked = volatileOf(source, linkedStatus)) linked->linkedPokemon |= 1 << p->number;
        state.linkedPokemon = 1 << source->number;
        state.linkedStatus = linkedStatus;
    }
    return TRUE;
}

// Showdown's `delete pokemon.volatiles[id]`: without its End event.
void Battle::deleteVolatile(Pokemon* p, int id) {
    if (EffectState* state = volatileOf(p, id)) *state = {};
}

bool Battle::removeVolatile(Pokemon* p, int id) {
    EffectState* state = p->hp ? volatileOf(p, id) : nullptr;
    if (!state) return false;
    int linkedPokemon = state->linkedPokemon, linkedStatus = state->linkedStatus;
    singleEvent(Ev::End, id, state, p);
    deleteVolatile(p, id);
    if (linkedPokemon) unlinkVolatiles(p, linkedStatus, linkedPokemon);
    return true;
}

// Showdown's removeLinkedVolatiles.
void Battle::unlinkVolatiles(Pokemon* p, int linkedStatus, int linkedPokemon) {
    for (int number = 0; number < SIDES * TEAM; number++) {
        if (!(linkedPokemon >> number & 1)) continue;
        Pokemon& linked = pokemon(1 + number);
        EffectState* state = volatileOf(&linked, linkedStatus);
        if (!state) continue;
        state->linkedPokemon &= ~(1 << p->number);
        if (!state->linkedPokemon) removeVolatile(&linked, linkedStatus);
    }
}

Value Battle::trySetStatus(Pokemon* p, int status, Pokemon* source, Cause cause) {
    return setStatus(p, p->status ? p->status : status, source, cause);
}

// status: 0: cures it.
Value Battle::setStatus(Pokemon* p, int status, Pokemon* source, Cause cause, bool ignoreImmunities) {
    if (!p->hp) return FALSE;
    source = orSource(source);
    cause = orEffect(cause);
    if (!source) source = p;
    if (p->status == status) return FALSE;
    if (!ignoreImmunities && status && !runStatusImmunity(p, status == condition::tox ? int(condition::psn) : status)) return FALSE;
    int prevStatus = p->status;
    EffectState prevStatusState = p->statusState;
    if (status) {
        Value result = runEvent(Ev::SetStatus, p, source, cause, UNDEFINED, status);
        if (!truthy(result)) return result;
    }
    p->status = status;
    initEffectState(p->statusState, status, p);
    p->statusState.source = nameOf(source);
    if (!status) return TRUE;
    listen(status);
    p->statusState.duration = durationOf(status, p, source, cause);
    if (!truthy(singleEvent(Ev::Start, status, &p->statusState, p, source, cause))) {
        p->status = prevStatus;
        p->statusState = prevStatusState;
        return FALSE;
    }
    return truthy(runEvent(Ev::AfterSetStatus, p, source, cause, UNDEFINED, status)) ? TRUE : FALSE;
}

bool Battle::cureStatus(Pokemon* p) {
    if (!p->hp || !p->status) return false;
    setStatus(p, 0);
    return true;
}

// Returns the item that was taken, or 0.
int Battle::takeItem(Pokemon* p, Pokemon* source) {
    int item = p->item;
    if (!item || !truthy(runEvent(Ev::TakeItem, p, source ? source : p, {}, UNDEFINED, item))) return 0;
    p->item = 0;
    clearEffectState(p->itemState);
    p->pendingStaleness = 0;
    singleEvent(Ev::End, item, &p->itemState, p);
    runEvent(Ev::AfterTakeItem, p, nullptr, {}, UNDEFINED, item);
    return item;
}

bool Battle::setItem(Pokemon* p, int item, Pokemon* source, Cause cause) {
    if (!p->hp || !p->isActive) return false;
    bool external = event && event->effect == move::trick && source && !isAlly(source, p);
    p->pendingStaleness = external ? 2 : 1;
    int oldItem = p->item;
    EffectState oldItemState = p->itemState;
    p->item = item;
    initEffectState(p->itemState, item, p);
    listen(item);
    if (oldItem) singleEvent(Ev::End, oldItem, &oldItemState, p);
    if (item) singleEvent(Ev::Start, item, &p->itemState, p, source, cause);
    return true;
}

namespace {

// Showdown's RESTORATIVE_BERRIES, as far as they are in the tables.
bool isRestorative(int item) { return item == item::sitrusberry; }

}  // namespace

bool Battle::eatItem(Pokemon* p, bool force, Pokemon* source, Cause cause) {
    if (!p->item || !p->hp || !p->isActive) return false;
    cause = orEffect(cause);
    if (!source && event) source = event->target;
    int item = p->item;
    if (cause.type() == EffectType::Item && item != cause.id && source == p) return false;
    if (!truthy(runEvent(Ev::UseItem, p, nullptr, {}, UNDEFINED, item))) return false;
    if (!force && !truthy(runEvent(Ev::TryEatItem, p, nullptr, {}, UNDEFINED, item))) return false;
    singleEvent(Ev::Eat, item, &p->itemState, p, source, cause);
    runEvent(Ev::EatItem, p, source, cause, UNDEFINED, item);
    if (isRestorative(item)) {
        if (p->pendingStaleness == 2 || (p->pendingStaleness == 1 && p->staleness != 2)) p->staleness = p->pendingStaleness;
        p->pendingStaleness = 0;
    }
    p->lastItem = p->item;
    p->item = 0;
    clearEffectState(p->itemState);
    p->usedItemThisTurn = p->ateBerry = true;
    runEvent(Ev::AfterUseItem, p, nullptr, {}, UNDEFINED, item);
    return true;
}

bool Battle::useItem(Pokemon* p, Pokemon* source, Cause cause) {
    int item = p->item;
    if ((!p->hp && !EFFECTS[item].is(Is::isGem)) || !p->isActive || !item) return false;
    cause = orEffect(cause);
    if (!source && event) source = event->target;
    if (cause.type() == EffectType::Item && item != cause.id && source == p) return false;
    if (!truthy(runEvent(Ev::UseItem, p, nullptr, {}, UNDEFINED, item))) return false;
    bool boosts = false;
    for (int by : EFFECTS[item].boosts) boosts = boosts || by;
    if (boosts) boost(EFFECTS[item].boosts, p, source, item);
    singleEvent(Ev::Use, item, &p->itemState, p, source, cause);
    p->lastItem = p->item;
    p->item = 0;
    clearEffectState(p->itemState);
    p->usedItemThisTurn = true;
    runEvent(Ev::AfterUseItem, p, nullptr, {}, UNDEFINED, item);
    return true;
}

Value Battle::setAbility(Pokemon* p, int ability, Pokemon* source, Cause cause, bool isFromFormeChange, bool isTransform) {
    if (!p->hp) return FALSE;
    cause = orEffect(cause);
    int oldAbility = p->ability;
    if (!isFromFormeChange && (EFFECTS[ability].is(Is::cantsuppress) || EFFECTS[oldAbility].is(Is::cantsuppress))) return FALSE;
    if (!isFromFormeChange && !isTransform) {
        Value result = runEvent(Ev::SetAbility, p, source, cause, UNDEFINED, ability);
        if (!truthy(result)) return result;
    }
    singleEvent(Ev::End, oldAbility, &p->abilityState, p, source);
    p->ability = ability;
    initEffectState(p->abilityState, ability, p);
    listen(ability);
    if (ability && (!isTransform || oldAbility != ability)) singleEvent(Ev::Start, ability, &p->abilityState, p, source);
    return oldAbility;
}

Value Battle::skillSwap(Pokemon* source, Pokemon* target) {
    if (source->fainted || target->fainted) return FALSE;
    int sourceAbility = source->ability, targetAbility = target->ability;
    if (EFFECTS[sourceAbility].is(Is::failskillswap) || EFFECTS[targetAbility].is(Is::failskillswap)) return FALSE;
    Value canBeSet = runEvent(Ev::SetAbility, target, source, int(move::skillswap), UNDEFINED, sourceAbility);
    if (!truthy(canBeSet)) return canBeSet;
    canBeSet = runEvent(Ev::SetAbility, source, source, int(move::skillswap), UNDEFINED, targetAbility);
    if (!truthy(canBeSet)) return canBeSet;
    singleEvent(Ev::End, sourceAbility, &source->abilityState, source);
    singleEvent(Ev::End, targetAbility, &target->abilityState, target);
    source->ability = targetAbility;
    target->ability = sourceAbility;
    initEffectState(source->abilityState, source->ability, source);
    initEffectState(target->abilityState, target->ability, target);
    source->volatileStaleness = 0;
    if (!isAlly(source, target)) target->volatileStaleness = 2;
    singleEvent(Ev::Start, sourceAbility, &target->abilityState, target);
    singleEvent(Ev::Start, targetAbility, &source->abilityState, source);
    return UNDEFINED;
}

namespace {

int statOf(const Pokemon& p, int species, int stat) {  // stat: 0 HP, then as in Stat
    int value = (2 * SPECIES[species].baseStats[stat] + p.points[stat]) * p.level / 100;
    if (!stat) return value + p.level + 10;
    value += 5;
    if (p.plus == stat - 1) value = value * 110 / 100;
    if (p.minus == stat - 1) value = value * 90 / 100;
    return value;
}

}  // namespace

// Stats and types; formeChange changes the ability as well.
bool Battle::setSpecies(Pokemon* p, int species, bool isTransform) {
    p->species = species;
    Active& active = out(p);
    for (int n = 0; n < 2; n++) active.types[n] = SPECIES[species].types[n];
    active.addedType = Type::none;
    for (int stat = 0; stat < 5; stat++) {
        active.storedStats[stat] = statOf(*p, species, stat + 1);
        if (!isTransform) p->baseStoredStats[stat] = active.storedStats[stat];
    }
    p->speed = active.storedStats[Stat::spe];
    return true;
}

void Battle::updateMaxHp(Pokemon* p) {
    int newMaxHp = statOf(*p, p->species, 0);
    if (newMaxHp == p->maxhp) return;
    p->hp = p->hp <= 0 ? 0 : atLeastOne(newMaxHp - (p->maxhp - p->hp));
    p->maxhp = newMaxHp;
}

// source: 0: none, as for a forme that a Pokémon takes by terastallizing.
bool Battle::formeChange(Pokemon* p, int species, Cause source, bool isPermanent) {
    setSpecies(p, species);
    if (!isPermanent) return true;
    p->baseSpecies = species;
    updateMaxHp(p);
    if (!source.id) p->formeRegression = true;
    if (source.id && source.type() == EffectType::Item) {
        p->canTerastallize = 0;
        p->formeRegression = true;
    }
    if (source.id == ability::disguise) return true;
    int ability = SPECIES[species].ability;
    if (source.id || !EFFECTS[p->ability].is(Is::cantsuppress)) setAbility(p, ability, nullptr, {}, true);
    p->baseAbility = ability;
    return true;
}

bool Battle::transformInto(Pokemon* p, Pokemon* target) {
    int base = SPECIES[target->species].baseSpecies;
    if (target->fainted || volatileOf(target, condition::substitute) || out(target).transformed || out(p).transformed) return false;
    if (base == species::ogerpon && (p->terastallized || target->terastallized)) return false;
    if (p->terastallized - 1 == Type::Stellar) return false;
    setSpecies(p, target->species, true);
    Active &active = out(p), &other = out(target);
    active.transformed = true;
    active.unknownType = !p->terastallized && (!isAlly(p, target) || other.unknownType);
    Types types = getTypes(target, true, true);
    // roost: the types that it had before it lost one
    const EffectState* roost = volatileOf(target, condition::roost);
    for (int n = 0; n < 2; n++) active.types[n] = roost ? other.types[n] : n < types.count ? types.list[n] : int(Type::none);
    active.addedType = other.addedType;
    for (int stat = 0; stat < 5; stat++) active.storedStats[stat] = other.storedStats[stat];
    for (int n = 0; n < MOVES_EACH; n++) p->baseMoveSlots[n] = p->moveSlots[n];
    p->baseMoveCount = p->moveCount;
    p->timesAttacked = target->timesAttacked;
    p->moveCount = target->moveCount;
    for (int n = 0; n < MOVES_EACH; n++) {
        p->moveSlots[n] = {};
        if (n >= target->moveCount) continue;
        int id = target->moveSlots[n].id, pp = moveData(id).basePP < 5 ? moveData(id).basePP : 5;
        p->moveSlots[n] = {id, pp, pp, 0, 0};
    }
    for (int stat = 0; stat < Stat::COUNT; stat++) active.boosts[stat] = other.boosts[stat];
    setAbility(p, target->ability, p, {}, true, true);
    if (base == species::ogerpon && p->canTerastallize) p->canTerastallize = -1;
    return true;
}

void Battle::clearVolatile(Pokemon* p, bool includeSwitchFlags) {
    Active& active = out(p);
    if (active.transformed) {
        for (int n = 0; n < MOVES_EACH; n++) p->moveSlots[n] = p->baseMoveSlots[n];
        p->moveCount = p->baseMoveCount;
    }
    struct Link {
        int status, pokemon;
    } links[MAX_VOLATILES];
    int linkCount = 0;
    for (int n = 0; n < active.volatileCount; n++)
        if (active.volatiles[n].linkedStatus) links[linkCount++] = {active.volatiles[n].linkedStatus, active.volatiles[n].linkedPokemon};
    for (int n = 0; n < linkCount; n++) unlinkVolatiles(p, links[n].status, links[n].pokemon);
    active = {};
    active.pokemon = nameOf(p);
    active.newlySwitched = true;
    active.moveThisTurnResult = active.moveLastTurnResult = UNDEFINED;
    p->ability = p->baseAbility;
    if (p->canTerastallize < 0) p->canTerastallize = 1;
    if (includeSwitchFlags) p->switchFlag = p->forceSwitchFlag = 0;
    p->beingCalledBack = false;
    p->volatileStaleness = 0;
    setSpecies(p, p->baseSpecies);
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

void Battle::clearBoosts(Pokemon* p) {
    for (int& boost : out(p).boosts) boost = 0;
}

Value Battle::boost(int stat, int by, Pokemon* target, Pokemon* source, Cause cause) {
    int boosts[Stat::COUNT] = {};
    boosts[stat] = by;
    return boost(boosts, target, source, cause);
}

Value Battle::boost(const int by[Stat::COUNT], Pokemon* target, Pokemon* source, Cause cause) {
    target = orTarget(target);
    source = orSource(source);
    cause = orEffect(cause);
    if (!target || !target->hp) return 0;
    if (!target->isActive) return FALSE;
    if (!foeSideOf(target).pokemonLeft) return FALSE;
    int boosts[Stat::COUNT];
    for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = by[stat];
    runEvent(Ev::ChangeBoost, target, source, cause, UNDEFINED, 0, boosts);
    Active& active = out(target);
    auto cap = [&](int stat) { return clamp(active.boosts[stat] + boosts[stat], -6, 6) - active.boosts[stat]; };
    for (int stat = 0; stat < Stat::COUNT; stat++) boosts[stat] = cap(stat);
    runEvent(Ev::TryBoost, target, source, cause, UNDEFINED, 0, boosts);
    Value success = NUL;
    for (int stat = 0; stat < Stat::COUNT; stat++) {
        int change = cap(stat);
        if (!change) continue;
        active.boosts[stat] += change;
        success = TRUE;
        int single[Stat::COUNT] = {};
        single[stat] = boosts[stat];
        runEvent(Ev::AfterEachBoost, target, source, cause, UNDEFINED, 0, single);
    }
    runEvent(Ev::AfterBoost, target, source, cause, UNDEFINED, 0, boosts);
    if (success != TRUE) return success;
    for (int change : boosts) {
        if (change > 0) target->statsRaisedThisTurn = true;
        if (change < 0) target->statsLoweredThisTurn = true;
    }
    return success;
}

// Showdown's spreadDamage for one target. amount: not a number: no damage is dealt.
Value Battle::spreadDamage(Value amount, Pokemon* target, Pokemon* source, Cause cause) {
    Value given = amount;
    if (!truthyOrZero(amount)) return amount;
    if (!target || !target->hp) return 0;
    if (!target->isActive) return FALSE;
    if (amount != 0) amount = amount == TRUE ? 1 : atLeastOne(amount);
    if (cause.type() == EffectType::Weather && !runStatusImmunity(target, cause.id)) return 0;
    amount = runEvent(Ev::Damage, target, source, cause, amount);
    if (!truthyOrZero(amount)) return given == TRUE ? Value(UNDEFINED) : amount;
    if (amount != 0) amount = atLeastOne(amount);
    int dealt = 0;
    if (amount) {
        dealt = amount < target->hp ? amount : target->hp;
        target->hp -= dealt;
        if (!target->hp) faint(target, source, cause);
    }
    if (dealt) out(target).hurtThisTurn = target->hp;
    if (dealt && cause.move && cause.move->drain[0] && source)
        heal(roundedQuotient(int64_t(dealt) * cause.move->drain[0], cause.move->drain[1]), source, target, int(condition::drain));
    return dealt;
}

Value Battle::damage(int amount, Pokemon* target, Pokemon* source, Cause cause) {
    return spreadDamage(atLeastOne(amount), orTarget(target), orSource(source), orEffect(cause));
}

// Damage that no event changes.
int Battle::directDamage(int amount, Pokemon* target, Pokemon* source, Cause cause) {
    target = orTarget(target);
    if (!target || !target->hp || !amount) return 0;
    int dealt = amount < target->hp ? amount : target->hp;
    target->hp -= dealt;
    if (!target->hp) faint(target, orSource(source), orEffect(cause));
    return dealt;
}

Value Battle::healHp(Pokemon* p, int amount) {
    if (!p->hp || amount <= 0 || p->hp >= p->maxhp) return FALSE;
    int healed = amount < p->maxhp - p->hp ? amount : p->maxhp - p->hp;
    p->hp += healed;
    return healed;
}

// Returns by how much its HP changed.
int Battle::sethp(Pokemon* p, int hp) {
    if (!p->hp) return 0;
    int before = p->hp;
    p->hp = clamp(hp, 1, p->maxhp);
    return p->hp - before;
}

Value Battle::heal(int amount, Pokemon* target, Pokemon* source, Cause cause) {
    target = orTarget(target);
    source = orSource(source);
    cause = orEffect(cause);
    Value healed = runEvent(Ev::TryHeal, target, source, cause, atLeastOne(amount));
    if (!truthy(healed)) return healed;
    if (!target || !target->hp || !target->isActive || target->hp >= target->maxhp) return FALSE;
    healed = healHp(target, healed);
    runEvent(Ev::Heal, target, source, cause, healed);
    return healed;
}
