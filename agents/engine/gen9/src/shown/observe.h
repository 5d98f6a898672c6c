// The observation of a seat (agents/observation/observation.py) from its words (shown.h) and those of the battle.

#pragma once

#include "estimates.h"
#include "request.h"

constexpr int TOKENS = 19, IDS_PER_TOKEN = 12, FEATURES = 56, MOVE_CONSTANTS = 13;

// The project's vocabulary and facts by the engine's numbers (agents/observation/gen9_facts.py). By effect: word (of an ability,
// item, status or weather), fieldWord (-1: no field that poke-env knows), and for moves moveWord, lastWord, moveToken [3],
// moveConstants [MOVE_CONSTANTS], maxPp, moveRank. By species: speciesWord, baseStats [6], speciesTypes [2] (Type), base (equal
// for all formes of one), onlyAbility (0: it may have several), previewed (the species that a team preview names). By type: typeWord,
// teraWord.
struct Facts {
    const int16_t *word, *fieldWord, *moveWord, *lastWord, *moveToken;
    const float* moveConstants;
    const double* maxPp;
    const int32_t* moveRank;
    const int16_t* speciesWord;
    const float* baseStats;
    const int32_t *speciesTypes, *base, *onlyAbility, *previewed;
    const int16_t *typeWord, *teraWord;
    int16_t generation, noWeather, noItem, unknownItem, unknownAbility, unknownMove, noMove, noLast, noType, unknownTera, noStatus, fainted,
        unknownSpecies;
    int16_t padding[3];
};

// Writes zeros for a seat that waits.
void observe(Row& row, int seat, const Shown& shown, const Facts& facts, const Knowledge& knowledge, Missing& missing, int16_t* ids,
             float* features, uint8_t* legal);
