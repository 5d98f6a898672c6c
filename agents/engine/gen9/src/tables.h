// The shapes of data.h's tables.

#pragma once

#include "enums.h"
#include "layout.h"

enum class EffectType { None, Condition, Status, Weather, Ability, Item, Move };
enum class Category : int32_t { Physical, Special, Status };

struct EffectData {
    const char* name;
    EffectType type;
    int32_t duration;
    bool breakable, isChoice;
};

// What a move, its `self` or its secondary does when it hits.
struct HitEffect {
    int32_t chance = 0;
    int32_t boosts[Stat::COUNT] = {};
    int32_t status = 0, volatileStatus = 0, sideCondition = 0, weather = 0;
    int32_t heal[2] = {};
    bool selfSwitch = false;

    bool hasBoosts() const {
        for (int by : boosts)
            if (by) return true;
        return false;
    }
};

struct MoveData {
    int32_t id = 0, type = Type::unknown;
    Category category = Category::Physical;
    int32_t target = Target::normal, basePower = 0;
    Value accuracy = TRUE;
    int32_t pp = 1, priority = 0, critRatio = 0, flags = 0;
    int32_t drain[2] = {}, recoil[2] = {};
    bool struggleRecoil = false;
    HitEffect hit = {}, secondary = {};
};

struct SpeciesData {
    int32_t types[2];
};

#include "data.h"

inline const EffectData& effectData(int id) { return EFFECTS[id]; }
inline const MoveData& moveData(int id) { return MOVES[id - FIRST_MOVE]; }
