// poke-env's Pokemon, as agents/battle/ corrects it: what it keeps when it leaves, its forme, types, ability and moves.

#include "keeper.h"
#include "species.h"

ShownPokemon* Keeper::find(ShownSide& side, int name) {
    for (int n = 0; n < side.count; n++)
        if (side.pokemon[n].pokemon == name) return &side.pokemon[n];
    return nullptr;
}

// switches.py: formes.py end_forme (every other change of forme is for good), then quick_poke_env.py _switch_out
void Keeper::switchOut(ShownPokemon& p) {
    if (p.transformed) p.weightSpecies = p.species;
    if (abilityOf(p) == ability::regenerator && !hasField(ability::neutralizinggas) && p.status != SHOWN_FAINTED) {
        p.hp = (3 * p.hp + p.maxhp) / 3;
        if (p.hp > p.maxhp) p.hp = p.maxhp;
    }
    p.active = p.activeTurns = p.mustRecharge = p.preparing = p.protectCounter = p.temporaryAbility = 0;
    for (int& stage : p.boosts) stage = 0;
    for (int& bits : p.effects) bits = 0;
    p.marks &= ~ShownMark::DANCING;
    endTransform(p);
    setTypes(p, 0, 0);
    if (p.status == condition::tox) p.statusCounter = 0;
    for (int n = 0; n < p.moveCount; n++) p.moves[n].lastUsed = false;
}

void Keeper::endTransform(ShownPokemon& p) {
    if (!p.transformed) return;
    p.transformed = false;
    p.moveCount = p.baseMoveCount;
    for (int n = 0; n < SHOWN_MOVES; n++) p.moves[n] = p.baseMoves[n];
}

void Keeper::updateFromPokedex(ShownPokemon& p, int species) {
    p.species = p.weightSpecies = species;
    if (SHOWN_SPECIES[species].abilityOfForme)
        p.formeChangeAbility = SPECIES[species].ability;
    else if (p.formeChangeAbility)
        p.formeChangeAbility = 0;
    else if (SHOWN_SPECIES[species].oneAbility)
        p.ability = SPECIES[species].ability;
}

// tera: 1 + the type of "tera:", 0 where the details have none.
void Keeper::updateFromDetails(ShownPokemon& p, int species, int tera) {
    if (species == p.detailsSpecies && tera == p.detailsTera) return;
    p.detailsSpecies = species;
    p.detailsTera = tera;
    if (tera) p.teraType = tera;
    const bool nameAlone = p.level == 100 && !row.sides[(p.pokemon - 1) / TEAM].pokemon[(p.pokemon - 1) % TEAM].gender;
    if (!nameAlone || species != p.species) updateFromPokedex(p, species);  // poke-env compares an id with a name where there is more
}

void Keeper::showAbility(ShownPokemon& p, int ability) {
    if (abilityOf(p) == ability) return;
    if (!p.temporaryAbility && !p.ability && !p.transformed)
        p.ability = ability;
    else
        p.temporaryAbility = ability;
}

// Each is 1 + a type, 0 for none.
void Keeper::setTypes(ShownPokemon& p, int first, int second, int third) {
    int types[SHOWN_TYPES] = {first, second, third};
    p.typeCount = 0;
    for (int& type : p.types) type = 0;
    for (int type : types)
        if (type) p.types[p.typeCount++] = type;
}

// Pokemon.base_types of another
void Keeper::copyTypes(ShownPokemon& p, const ShownPokemon& from) {
    const int32_t* own = SPECIES[from.species].types;
    if (from.typeCount)
        setTypes(p, from.types[0], from.types[1], from.types[2]);
    else
        setTypes(p, 1 + own[0], 1 + own[1]);
}

void Keeper::boost(ShownPokemon& p, int stat, int by) {
    int stage = p.boosts[stat] + by;
    p.boosts[stat] = stage > 6 ? 6 : stage < -6 ? -6 : stage;
}

ShownMove* Keeper::findMove(ShownPokemon& p, int move) {
    for (int n = 0; n < p.moveCount; n++)
        if (p.moves[n].id == move) return &p.moves[n];
    return nullptr;
}

// Its entry of a move, which is made where it is a new one; null for one that is in no set.
ShownMove* Keeper::addMove(ShownPokemon& p, int move) {
    ShownMove* known = findMove(p, move);
    if (known || move == move::struggle || move == move::recharge || p.moveCount == SHOWN_MOVES) return known;
    int pp = moveData(move).pp;
    ShownMove& added = p.moves[p.moveCount++];
    added = {move, p.transformed && pp > 5 ? 5 : pp, false};
    return &added;
}
