// The shapes of data.h's tables.

#pragma once

#include "enums.h"
#include "layout.h"

enum class EffectType { None, Condition, Status, Weather, Terrain, Ability, Item, Move };
enum class Category : int32_t { Physical, Special, Status };
namespace SelfSwitch {
enum : int32_t { no, yes, copyvolatile, shedtail };
}
namespace Selfdestruct {
enum : int32_t { no, always, ifHit };
}
enum : int32_t { ALL_TYPES = -1, DAMAGE_IS_LEVEL = -1 };

struct EffectData {
    const char* name = "";
    EffectType type = EffectType::None;
    int32_t duration = 0;
    int32_t residualOrder = 0, residualSubOrder = 0;  // of its duration, where it has no residual handler
    int32_t flags = 0;
    int32_t boosts[Stat::COUNT] = {};  // of an item, when it is used

    bool is(int32_t flag) const { return flags & flag; }
};

// What a move, its `self` or its secondary does when it hits.
struct HitEffect {
    int32_t chance = 0;  // 0: it always does
    int32_t boosts[Stat::COUNT] = {};
    int32_t status = 0, volatileStatus = 0, sideCondition = 0, slotCondition = 0, weather = 0, terrain = 0, pseudoWeather = 0;
    int32_t heal[2] = {};
    int32_t selfSwitch = SelfSwitch::no;
    bool forceSwitch = false;
    int32_t selfdestruct = Selfdestruct::no;
    bool onHit = false;  // has a handler: onHit of a move, onSecondaryHit of a secondary, onSelfHit of a self
    const HitEffect* self = nullptr;

    bool hasBoosts() const {
        for (int by : boosts)
            if (by) return true;
        return false;
    }
};

// A move. Names as in Showdown's data/moves.ts; what is not named there has its default here.
struct MoveData {
    int32_t id = 0, type = Type::unknown;
    Category category = Category::Physical;
    int32_t target = Target::normal, basePower = 0;
    Value accuracy = TRUE;
    int32_t pp = 1, basePP = 1, priority = 0, critRatio = 0;  // pp: with PP Ups
    int64_t flags = 0;
    int32_t drain[2] = {}, recoil[2] = {}, multihit[2] = {};  // multihit: from, to
    bool struggleRecoil = false, mindBlownRecoil = false, chloroblastRecoil = false, hasCrashDamage = false, multiaccuracy = false;
    Value willCrit = UNDEFINED;
    int32_t ohko = 0;            // a type, or TRUE
    int32_t damage = 0;          // fixed, or DAMAGE_IS_LEVEL
    int32_t ignoreImmunity = 0;  // a bit for each type, or ALL_TYPES
    int32_t overrideOffensiveStat = 0, overrideDefensiveStat = 0;  // 1 + the stat
    bool overrideOffensivePokemon = false, overrideDefensivePokemon = false;  // of the target, of the source
    bool thawsTarget = false, ignoreAccuracy = false, ignoreEvasion = false, ignoreDefensive = false, ignoreOffensive = false;
    bool ignoreNegativeOffensive = false, ignorePositiveDefensive = false, ignoreAbility = false, infiltrates = false;
    bool breaksProtect = false, stealsBoosts = false, tracksTarget = false, smartTarget = false, sleepUsable = false, callsMove = false;
    bool alwaysHit = false, forceSTAB = false, hasSheerForce = false, hasSheerForceBoost = false, stallingMove = false;
    int32_t condition = 0;  // of the same name
    int32_t nonGhostTarget = 0, pressureTarget = 0;  // 1 + the target
    HitEffect hit = {};
    const HitEffect* selfBoost = nullptr;
    HitEffect secondaries[3] = {};  // a handler may add one
    int32_t secondaryCount = 0;

    bool has(int64_t flag) const { return flags & flag; }
};

struct SpeciesData {
    const char* name = "";
    int32_t types[2] = {Type::none, Type::none};
    int32_t baseStats[6] = {};
    int32_t weighthg = 0;
    bool nfe = false, paradox = false, magnetic = false;  // can evolve; has the tag Paradox; may have Magnet Pull
    int32_t baseSpecies = 0;
    int32_t ability = 0;  // of its first slot
};

#include "data.h"

inline const EffectData& effectData(int id) { return EFFECTS[id]; }
inline const MoveData& moveData(int id) { return MOVES[id - FIRST_MOVE]; }
