// The damage of a move, with Showdown's order of roundings: sim/battle-actions.ts's getDamage and modifyDamage.

#include "battle.h"

// Not a number: no damage is dealt: FALSE and NUL fail, UNDEFINED does not.
Value Battle::getDamage(Pokemon* source, Pokemon* target, ActiveMove* move) {
    if (!runImmunity(target, move, true)) return FALSE;
    if (move->ohko) return target->maxhp;
    auto ask = [&](int callback, Value otherwise) {
        const Handler* handler = HANDLERS.find(move->id, callback);
        if (!handler) return otherwise;
        Event asking;
        asking.id = callback / PREFIXES, asking.target = source, asking.source = target, asking.cause = move, asking.effect = move->id;
        return handler->run(*this, asking);
    };
    if (HANDLERS.find(move->id, damageCallback)) return ask(damageCallback, 0);
    if (move->damage) return move->damage == DAMAGE_IS_LEVEL ? source->level : move->damage;
    Value basePower = ask(basePowerCallback, move->basePower);
    if (!truthy(basePower)) return basePower == 0 ? Value(UNDEFINED) : basePower;
    basePower = atLeastOne(basePower);

    constexpr int CRIT_DENOMINATORS[] = {0, 24, 8, 2, 1};
    int critRatio = clamp(runEvent(Ev::ModifyCritRatio, source, target, move, move->critRatio), 0, 4);
    bool& crit = move->crit[slotIndex(target)];
    crit = move->willCrit == UNDEFINED ? critRatio && prng.randomChance(1, CRIT_DENOMINATORS[critRatio]) : move->willCrit == TRUE;
    if (crit) crit = truthy(runEvent(Ev::CriticalHit, target, nullptr, move));

    basePower = runEvent(Ev::BasePower, source, target, move, basePower);
    if (!truthy(basePower)) return 0;
    basePower = atLeastOne(basePower);
    const MoveData& dexMove = moveData(move->id);
    bool variablePower = (move->basePower == 0 || move->basePower == 150) && HANDLERS.find(move->id, basePowerCallback);
    if (source->terastallized && basePower < 60 && dexMove.priority <= 0 && !dexMove.multihit[0] && !variablePower) {
        bool stellar = source->terastallized - 1 == Type::Stellar;
        if (stellar ? !(source->stellarBoostedTypes >> move->type & 1) : hasType(source, move->type)) basePower = 60;
    }

    bool physical = move->category == Category::Physical;
    Pokemon* attacker = move->overrideOffensivePokemon ? target : source;
    Pokemon* defender = move->overrideDefensivePokemon ? source : target;
    int attackStat = move->overrideOffensiveStat ? move->overrideOffensiveStat - 1 : physical ? int(Stat::atk) : int(Stat::spa);
    int defenseStat = move->overrideDefensiveStat ? move->overrideDefensiveStat - 1 : physical ? int(Stat::def) : int(Stat::spd);
    int attackBoost = out(attacker).boosts[attackStat], defenseBoost = out(defender).boosts[defenseStat];
    if (move->ignoreOffensive || ((move->ignoreNegativeOffensive || crit) && attackBoost < 0)) attackBoost = 0;
    if (move->ignoreDefensive || ((move->ignorePositiveDefensive || crit) && defenseBoost > 0)) defenseBoost = 0;
    int attack = calculateStat(attacker, attackStat, attackBoost, source);
    int defense = calculateStat(defender, defenseStat, defenseBoost, target);
    attack = runEvent(physical ? Ev::ModifyAtk : Ev::ModifySpA, source, target, move, attack);
    defense = runEvent(defenseStat == Stat::def ? Ev::ModifyDef : Ev::ModifySpD, target, source, move, defense);
    int64_t damage = int64_t(2 * source->level / 5 + 2) * basePower * attack / defense / 50;
    return modifyDamage(damage, source, target, move);
}

Value Battle::modifyDamage(int64_t damage, Pokemon* source, Pokemon* target, ActiveMove* move) {
    int type = move->type;
    damage += 2;
    if (move->spreadHit) damage = modify(damage, 3072);
    damage = priorityEvent(Ev::WeatherModifyDamage, source, target, move, int(damage));
    bool crit = move->crit[slotIndex(target)];
    if (crit) damage = damage * 3 / 2;
    damage = damage * (100 - prng.random(16)) / 100;
    if (type != Type::unknown) {
        bool native = getTypes(source, false, true).has(type);
        bool isSTAB = move->forceSTAB || hasType(source, type) || native;
        int stab = isSTAB ? 6144 : 4096;
        if (source->terastallized - 1 == Type::Stellar) {
            if (!(source->stellarBoostedTypes >> type & 1) || move->stellarBoosted) {
                stab = isSTAB ? 8192 : 4915;
                move->stellarBoosted = true;
                source->stellarBoostedTypes |= 1 << type;
            }
        } else {
            if (source->terastallized - 1 == type && native) stab = 8192;
            stab = runEvent(Ev::ModifySTAB, source, target, move, stab);
        }
        damage = modify(damage, stab);
    }
    int typeMod = clamp(runEffectiveness(target, move), -6, 6);
    move->typeMod[slotIndex(target)] = typeMod;
    if (typeMod > 0) add(Message::supereffective, target);
    if (typeMod < 0) add(Message::resisted, target);
    if (crit) add(Message::crit, target);
    for (int n = 0; n < typeMod; n++) damage *= 2;
    for (int n = 0; n > typeMod; n--) damage /= 2;
    if (source->status == condition::brn && move->category == Category::Physical && !hasAbility(source, ability::guts) && move->id != move::facade)
        damage = modify(damage, 2048);
    damage = runEvent(Ev::ModifyDamage, source, target, move, int(damage));
    return damage ? Value(damage & 0xFFFF) : 1;
}

int Battle::getConfusionDamage(Pokemon* p, int basePower) {
    int attack = calculateStat(p, Stat::atk, out(p).boosts[Stat::atk]), defense = calculateStat(p, Stat::def, out(p).boosts[Stat::def]);
    int64_t damage = int64_t(2 * p->level / 5 + 2) * basePower * attack / defense / 50 + 2;
    damage = (damage & 0xFFFF) * (100 - prng.random(16)) / 100;
    return atLeastOne(int(damage));
}
