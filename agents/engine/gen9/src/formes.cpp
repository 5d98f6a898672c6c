// Abilities, formes and transforming: what sim/pokemon.ts changes about what a Pokémon is.

#include "battle.h"

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
    if (cause.id && !isFromFormeChange && !isTransform) {
        if (source)
            add(Message::ability, p, named(ability), named(oldAbility), from(cause.id), of(source));
        else
            add(Message::ability, p, named(ability), named(oldAbility), from(cause.id));
    }
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
    add(Message::activate, source, "Skill Swap", named(targetAbility), named(sourceAbility), of(target));
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
    for (int n = 0; n < 2; n++) {
        active.types[n] = SPECIES[species].types[n];
        active.apparentTypes[n] = 1 + active.types[n];
    }
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
    if (p->hp) add(Message::heal, p, health(p), "[silent]");
}

// The other side sees to which type it is terastallized, if so.
void Battle::showTeraType(Pokemon* p) {
    if (!p->terastallized) return;
    out(p).apparentTypes[0] = p->terastallized;
    out(p).apparentTypes[1] = 0;
}

// source: 0: none, as for a forme that a Pokémon takes by terastallizing.
bool Battle::formeChange(Pokemon* p, int species, Cause source, bool isPermanent) {
    setSpecies(p, species);
    if (!isPermanent) {
        if (source.type() == EffectType::Ability)
            add(Message::formechange, p, speciesName(species), "", from(source.id));
        else
            add(Message::formechange, p, speciesName(species), "");
        showTeraType(p);
        return true;
    }
    p->baseSpecies = species;
    add(Message::detailschange, p, details(p));
    showTeraType(p);
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

bool Battle::transformInto(Pokemon* p, Pokemon* target, int effect) {
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
    for (int n = 0; n < 2; n++) active.apparentTypes[n] = other.apparentTypes[n];
    removeVolatile(p, condition::focusenergy);
    if (volatileOf(target, condition::focusenergy)) addVolatile(p, condition::focusenergy);
    if (effect)
        add(Message::transform, p, target, from(effect));
    else
        add(Message::transform, p, target);
    showTeraType(p);
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
