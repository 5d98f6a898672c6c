// The damage of a move, with Showdown's order of roundings: sim/battle-actions.ts's getDamage and modifyDamage.

#include "battle.h"

Value Battle::getDamage(Pokemon* source, Pokemon* target, ActiveMove* move) {
    if (!move->ignoreImmunity && !runImmunity(target, move->type)) return FALSE;
    if (!move->basePower) return UNDEFINED;
    constexpr int CRIT_DENOMINATORS[] = {0, 24, 8, 2, 1};
    int critRatio = clamp(runEvent(Ev::ModifyCritRatio, source, target, move, move->critRatio), 0, 4);
    bool& crit = move->crit[target->side * ACTIVE + target->position];
    crit = critRatio && prng.randomChance(1, CRIT_DENOMINATORS[critRatio]);
    if (crit) crit = truthy(runEvent(Ev::CriticalHit, target, nullptr, move));

    int basePower = runEvent(Ev::BasePower, source, target, move, move->basePower);
    if (!basePower) return 0;
    basePower = atLeastOne(basePower);
    if (source->terastallized && hasType(source, move->type) && basePower < 60 && moveData(move->id).priority <= 0) basePower = 60;

    bool physical = move->category == Category::Physical;
    int attackStat = physical ? Stat::atk : Stat::spa, defenseStat = physical ? Stat::def : Stat::spd;
    int attackBoost = out(source).boosts[attackStat], defenseBoost = out(target).boosts[defenseStat];
    if (crit && attackBoost < 0) attackBoost = 0;
    if (crit && defenseBoost > 0) defenseBoost = 0;
    int attack = calculateStat(source, attackStat, attackBoost);
    int defense = calculateStat(target, defenseStat, defenseBoost);
    attack = runEvent(physical ? Ev::ModifyAtk : Ev::ModifySpA, source, target, move, attack);
    defense = runEvent(physical ? Ev::ModifyDef : Ev::ModifySpD, target, source, move, defense);
    int64_t damage = int64_t(2 * source->level / 5 + 2) * basePower * attack / defense / 50;
    return modifyDamage(int(damage), source, target, move);
}

Value Battle::modifyDamage(int damage, Pokemon* source, Pokemon* target, ActiveMove* move) {
    damage += 2;
    if (move->spreadHit) damage = modify(damage, 3072);
    damage = runEvent(Ev::WeatherModifyDamage, source, target, move, damage, 0, nullptr, true);
    bool crit = move->crit[target->side * ACTIVE + target->position];
    if (crit) damage = damage * 3 / 2;
    damage = damage * (100 - prng.random(16)) / 100;
    if (move->type != Type::unknown) {
        int own[2], count = getTypes(source, own, true);
        bool native = own[0] == move->type || (count > 1 && own[1] == move->type);
        int stab = native || hasType(source, move->type) ? 6144 : 4096;
        if (source->terastallized - 1 == move->type && native) stab = 8192;
        stab = runEvent(Ev::ModifySTAB, source, target, move, stab);
        damage = modify(damage, stab);
    }
    int typeMod = clamp(runEffectiveness(target, move), -6, 6);
    for (int n = 0; n < typeMod; n++) damage *= 2;
    for (int n = 0; n > typeMod; n--) damage /= 2;
    if (source->status == condition::brn && move->category == Category::Physical && !hasAbility(source, ability::guts))
        damage = modify(damage, 2048);
    damage = runEvent(Ev::ModifyDamage, source, target, move, damage);
    return damage ? damage & 0xFFFF : 1;
}
