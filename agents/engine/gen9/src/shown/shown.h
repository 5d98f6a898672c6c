// What a seat of a battle has been shown, as agents/battle/seat_battle.py has it from the protocol's lines and the requests:
// words for each seat beside its row. Every battle has two, those of seat 0 first. Python reads this file as it reads layout.h.
//
// Numbers of effects, species and types are the engine's (data.h). A Pokémon's fields are poke-env's private ones of the same
// name; what the observation (agents/observation/, in shown/observe.cpp) reads stands here, each with its reader in Python.

#pragma once

#include "../layout.h"

constexpr int SHOWN_MOVES = 8, SHOWN_TYPES = 3, SHOWN_FIELDS = 8;
constexpr int SHOWN_CONDITIONS = 11, SHOWN_EFFECTS = 2;

enum : int32_t { SHOWN_ABSENT = -1, SHOWN_UNKNOWN = -1, SHOWN_FAINTED = -1 };

// Move of Pokemon.moves: of those that it has transformed into while it has. In the order of the dictionary: as they became known
// (mechanics/sets.py guess: the product over the moves is taken in this order).
struct ShownMove {
    int32_t id;        // the move
    int32_t pp;        // _current_pp (pokemon_tokens.py _token; the maximum is that of the move, or as it is sketched, ...)
    int32_t lastUsed;  // _is_last_used (packed_tokens.py side_token: the first of them is Pokemon.last_move)
};

// A Pokémon as poke-env's Pokemon. All 0 where none is known.
struct ShownPokemon {
    int32_t pokemon;  // 1 + its number in the row (Pokemon.number): whom the seat takes it for; 0: this entry is not used
    int32_t species;  // _species (end_forme, read_formechange and details set it; Transform does not), level: _level
    int32_t level;
    int32_t weightSpecies;  // the species whose weight _weightkg is (Transform, formes); unrounded_modifiers.py weights
    int32_t hp, maxhp;      // _current_hp, _max_hp: ours exact, theirs of 100; both 0 before it was seen (0 also for None)
    int32_t status;         // _status: the effect, 0 for none, SHOWN_FAINTED for FNT
    int32_t statusCounter;  // _status_counter
    int32_t item;           // _item: the effect, 0 for none (None or ""), SHOWN_UNKNOWN for unknown_item
    int32_t ability;        // _ability, 0 for None
    int32_t temporaryAbility;    // _temporary_ability, 0 for None, SHOWN_UNKNOWN for "": one that is not known
    int32_t formeChangeAbility;  // _forme_change_ability, 0 for None (Pokemon.ability: temporary, else this, else _ability)
    int32_t terastallized;       // _terastallized
    int32_t teraType;            // _terastallized_type as 1 + type, 0 for None
    int32_t types[SHOWN_TYPES];  // _temporary_types, each 1 + type (0 where there is none): the order matters
    int32_t typeCount;           // how many: 0 where its types are those of its species
    int32_t revealed;            // _revealed: it has come in
    int32_t active;              // _active
    int32_t transformed;         // Pokemon.transformed
    int32_t boosts[Stat::COUNT];  // _boosts in Stat's order; read of an active one only, as all below
    int32_t activeTurns;          // _active_turns (FIRST_TURN is == 1)
    int32_t mustRecharge;         // _must_recharge
    int32_t preparing;            // Pokemon.preparing: bool(_preparing_target or _preparing_move); may hold the move for the keeper's own use
    int32_t protectCounter;       // _protect_counter
    int32_t effects[SHOWN_EFFECTS];  // _effects as bits: the first 16 are the observation's (ShownEffect), the keeper's own follow
    int32_t moveCount;
    ShownMove moves[SHOWN_MOVES];
    // What only the keeper reads.
    int32_t baseMoveCount;
    ShownMove baseMoves[SHOWN_MOVES];     // while it is transformed: its own moves
    int32_t detailsSpecies, detailsTera;  // those of _last_details; detailsTera: 1 + the type of "tera:", 0 without
    int32_t sheet;                        // a hash of what its entry in the last request said of its set (seat_view.py _same_sheet)
    int32_t marks;                        // ShownMark, as bits
    int32_t singleMoveSince;              // the turn in which Destiny Bond began (single_move)
    int32_t contactTarget;                // 1 + the number of whom its last move with contact was aimed at (items.py _last_hit)
    int32_t lastBefore;                   // its last move before it transformed, since the last request (before_transform)
};

// What TrackedBattle's lists hold of a Pokémon.
namespace ShownMark {
enum : int32_t { POISONED_AT_END = 1 << 0, PROTECTED = 1 << 1, DANCING = 1 << 2 };  // DANCING: _dancing
}

// Bits of ShownPokemon.effects, by poke-env's Effect (pokemon_tokens.py _EFFECTS, in its order).
namespace ShownEffect {
enum : int32_t {
    SUBSTITUTE,
    CONFUSION,
    LEECH_SEED,
    REFLECT,
    FOCUS_ENERGY,
    TAUNT,
    ENCORE,
    DISABLE,
    TRAPPED,
    PARTIALLY_TRAPPED,
    CURSE,
    YAWN,
    DESTINY_BOND,
    PERISH1,
    SALT_CURE,
    LOCKED_MOVE,
    ROOST,  // types.py _types: read by the observation, too
    // the keeper's own from here on
    TYPECHANGE,
    PROTECT,
    ENDURE,
    FLASH_FIRE,
    FUTURE_SIGHT,
    HEAL_BLOCK,
    INFESTATION,
    MAGMA_STORM,
    WHIRLPOOL,
    PROTOSYNTHESIS,
    PROTOSYNTHESISATK,
    PROTOSYNTHESISDEF,
    PROTOSYNTHESISSPA,
    PROTOSYNTHESISSPD,
    PROTOSYNTHESISSPE,
    QUARK_DRIVE,
    QUARKDRIVEATK,
    QUARKDRIVEDEF,
    QUARKDRIVESPA,
    QUARKDRIVESPD,
    QUARKDRIVESPE,
    FALLEN1,
    FALLEN2,
    FALLEN3,
    FALLEN4,
    FALLEN5,
    PERISH0,
    PERISH2,
    PERISH3,
    BIND,
    FIRE_SPIN,
    SAND_TOMB,
    THUNDER_CAGE,
    WRAP,
    CHARGE,
    MAGNET_RISE,
    THROAT_CHOP,
    COUNT,
};
}

// Side conditions in the order of packed_tokens.py _CONDITIONS: indices of ShownSide.conditions.
namespace ShownCondition {
enum : int32_t { SPIKES, STEALTH_ROCK, TOXIC_SPIKES, STICKY_WEB, REFLECT, LIGHT_SCREEN, AURORA_VEIL, TAILWIND, SAFEGUARD, MIST, LUCKY_CHANT };
}

// One of the two sides as the seat knows it.
struct ShownSide {
    ShownPokemon pokemon[TEAM];  // in the order of poke-env's dictionary: _team, _opponent_team (theirs as they were first seen)
    int32_t count;               // how many are in it
    int32_t usedTera;            // _used_tera, _opponent_used_tera
    int32_t conditions[SHOWN_CONDITIONS];  // _side_conditions: layers, or the turn in which it began; SHOWN_ABSENT: none
    int32_t pressing;                      // pressing: its active Pokémon has announced Pressure since it came in
    int32_t lastMover;                     // 1 + the number of the Pokémon of its last line of a move
};

// All that a seat knows. sides[0] is its own, sides[1] the other's.
struct Shown {
    int32_t turn;                    // _turn
    int32_t weather, weatherSince;   // _weather: the condition's number, 0 for none, and the turn in which it began
    int32_t fields[SHOWN_FIELDS];    // _fields in the order of the dictionary: terrains, rooms, Gravity, Neutralizing Gas (the ability)
    int32_t fieldsSince[SHOWN_FIELDS];
    int32_t fieldCount;
    int32_t parseWarnings;  // parse_warnings
    int32_t nameRank[TEAM];  // of its own Pokémon by their place in the team (Pokemon.number % TEAM): the order of their idents as strings
                             // (actions.py ordered_bench); Python writes it when a battle begins: the row has no names
    int32_t turnEnded;        // turn_ended
    int32_t protecting;       // protecting: 1 + the number of who used Protect or the like last, 0 for None
    int32_t protections;      // and how often in a row before
    int32_t revealed;  // of the request that it is asked now: bit 4: that it cannot leave, bits 0 to 3: that a move is disabled, where the
                       // request hid it until it was tried (EngineHost._reveal); 0 after each step
    int32_t choosesLead;  // the battle is at its team preview, where the seat chooses who leads: it has no request in the row then
    ShownSide sides[SIDES];
};

constexpr int SHOWN_WORDS = sizeof(Shown) / sizeof(int32_t);
