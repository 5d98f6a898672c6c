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
    if (!runStatusImmunity(p, id)) {
        if (cause.setsStatus()) add(Message::immune, p);
        return FALSE;
    }
    Value result = runEvent(Ev::TryAddVolatile, p, source, cause, UNDEFINED, id);
    if (!truthy(result)) return result;
    Active& active = out(p);
    if (active.volatileCount == MAX_VOLATILES) noRoom("volatiles");
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
    if (p->status == status) {
        if (cause.setsStatus() == status && status)
            add(Message::fail, p, idOf(status));
        else if (cause.setsStatus())
            addFail(source);
        return FALSE;
    }
    bool poison = status == condition::psn || status == condition::tox;
    bool natural = !ignoreImmunities && status && !(poison && hasAbility(source, ability::corrosion));
    if (natural && !runStatusImmunity(p, poison ? int(condition::psn) : status)) {
        if (cause.setsStatus()) add(Message::immune, p);
        return FALSE;
    }
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

bool Battle::cureStatus(Pokemon* p, bool silent) {
    if (!p->hp || !p->status) return false;
    add(Message::curestatus, p, idOf(p->status), silent ? "[silent]" : "[msg]");
    setStatus(p, 0);
    return true;
}

// Without a message.
bool Battle::clearStatus(Pokemon* p) {
    if (!p->hp || !p->status) return false;
    setStatus(p, 0);
    return true;
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

namespace {

struct BoostOrder {
    int stats[Stat::COUNT];
    const int* begin() const { return stats; }
    const int* end() const { return stats + Stat::COUNT; }
};

// In which order Showdown's data names the stats that an effect changes.
BoostOrder orderOfBoosts(const Cause& cause) {
    using namespace Stat;
    switch (cause.id) {
        case move::shellsmash: return {{def, spd, atk, spa, spe, accuracy, evasion}};
        case move::shiftgear: return {{spe, atk, def, spa, spd, accuracy, evasion}};
        case move::curse: return {{spe, atk, def, spa, spd, accuracy, evasion}};
        default: return {{atk, def, spa, spd, spe, accuracy, evasion}};
    }
}

}  // namespace

Value Battle::boost(int stat, int by, Pokemon* target, Pokemon* source, Cause cause, bool isSecondary, bool isSelf) {
    int boosts[Stat::COUNT] = {};
    boosts[stat] = by;
    return boost(boosts, target, source, cause, isSecondary, isSelf);
}

Value Battle::boost(const int by[Stat::COUNT], Pokemon* target, Pokemon* source, Cause cause, bool isSecondary, bool isSelf) {
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
    bool asked[Stat::COUNT];
    for (int stat = 0; stat < Stat::COUNT; stat++) {
        asked[stat] = boosts[stat];
        boosts[stat] = cap(stat);
    }
    int before[Stat::COUNT];
    for (int stat = 0; stat < Stat::COUNT; stat++) before[stat] = boosts[stat];
    runEvent(Ev::TryBoost, target, source, cause, UNDEFINED, 0, boosts);
    Value success = NUL;
    bool isAbility = cause.type() == EffectType::Ability, announced = isSecondary;
    for (int stat : orderOfBoosts(cause)) {
        // What a handler set to 0 is no boost any more (Showdown deletes it); what could not be changed is one by 0.
        if (!asked[stat] || (before[stat] && !boosts[stat])) continue;
        int change = cap(stat);
        active.boosts[stat] += change;
        bool down = boosts[stat] < 0 || active.boosts[stat] == -6;
        Message message = down ? Message::unboost : Message::boost;
        int by = down ? -change : change;
        if (!change) {
            if (isAbility == (isSecondary || isSelf)) add(message, target, statName(stat), by);
            continue;
        }
        success = TRUE;
        if (cause.id == move::bellydrum) {
            add(Message::setboost, target, statName(stat), active.boosts[Stat::atk], from(cause.id));
        } else if (cause.type() == EffectType::Item) {
            add(message, target, statName(stat), by, from(cause.id));
        } else {
            if (isAbility && !announced) add(Message::ability, target, named(cause.id), "boost");
            announced = announced || isAbility;
            add(message, target, statName(stat), by);
        }
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
    addDamage(target, source, cause);
    if (dealt && cause.move && cause.move->drain[0] && source)
        heal(roundedQuotient(int64_t(dealt) * cause.move->drain[0], cause.move->drain[1]), source, target, int(condition::drain));
    return dealt;
}

Value Battle::damage(int amount, Pokemon* target, Pokemon* source, Cause cause) {
    return spreadDamage(atLeastOne(amount), orTarget(target), orSource(source), orEffect(cause));
}

// Says what caused damage.
void Battle::addDamage(Pokemon* target, Pokemon* source, const Cause& cause) {
    if (!log) return;
    Argument name = from(cause.id == condition::tox ? int(condition::psn) : cause.id);
    if (cause.id == condition::mindblownrecoil) name = idOf(activeMove ? activeMove->id : 0).after("[from] ");
    if (cause.id == ability::disguise) name = speciesName(target->species).after("[from] pokemon: ");
    if (cause.id == condition::partiallytrapped)
        add(Message::damage, target, health(target), from(volatileOf(target, cause.id)->sourceEffect), "[partiallytrapped]");
    else if (cause.id == move::confused)
        add(Message::damage, target, health(target), "[from] confusion");
    else if (!cause.id || cause.type() == EffectType::Move)
        add(Message::damage, target, health(target));
    else if (source && (source != target || (cause.type() == EffectType::Ability && cause.id != ability::disguise)))
        add(Message::damage, target, health(target), name, of(source));
    else
        add(Message::damage, target, health(target), name);
}

void Battle::addHeal(Pokemon* target, Pokemon* source, const Cause& cause) {
    if (cause.id == move::rest || cause.id == condition::leechseed)
        add(Message::heal, target, health(target), "[silent]");
    else if (cause.id == condition::drain)
        add(Message::heal, target, health(target), "[from] drain", of(source));
    else if (cause.id == condition::wish || !cause.id)
        return;
    else if (cause.type() == EffectType::Move)
        add(Message::heal, target, health(target));
    else if (source && source != target)
        add(Message::heal, target, health(target), from(cause.id), of(source));
    else
        add(Message::heal, target, health(target), from(cause.id));
}

// Damage that no event changes.
int Battle::directDamage(int amount, Pokemon* target, Pokemon* source, Cause cause) {
    target = orTarget(target);
    if (!target || !target->hp || !amount) return 0;
    int dealt = amount < target->hp ? amount : target->hp;
    target->hp -= dealt;
    cause = orEffect(cause);
    if (!target->hp) faint(target, orSource(source), cause);
    if (cause.id == condition::strugglerecoil)
        add(Message::damage, target, health(target), "[from] recoil");
    else if (cause.id == condition::confusion)
        add(Message::damage, target, health(target), "[from] confusion");
    else
        add(Message::damage, target, health(target));
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
    addHeal(target, source, cause);
    runEvent(Ev::Heal, target, source, cause, healed);
    return healed;
}
