// Made by scripts/build/make_gen9_data.mjs from pokemon-showdown 0.11.11: do not edit.

#pragma once

namespace ability {
enum : int32_t {
    drizzle = 1,
    guts = 2,
    hugepower = 3,
    intimidate = 4,
    levitate = 5,
    magicguard = 6,
    multiscale = 7,
    regenerator = 8,
    roughskin = 9,
};
}
namespace item {
enum : int32_t {
    choiceband = 10,
    damprock = 11,
    heavydutyboots = 12,
    leftovers = 13,
    lifeorb = 14,
};
}
namespace condition {
enum : int32_t {
    brn = 15,
    par = 16,
    flinch = 17,
    protect = 18,
    stall = 19,
    choicelock = 20,
    raindance = 21,
    stealthrock = 22,
};
}
namespace move {
enum : int32_t {
    airslash = 23,
    aquajet = 24,
    calmmind = 25,
    dragonclaw = 26,
    dragondance = 27,
    drainpunch = 28,
    earthquake = 29,
    extremespeed = 30,
    flareblitz = 31,
    hydropump = 32,
    knockoff = 33,
    liquidation = 34,
    machpunch = 35,
    moonblast = 36,
    playrough = 37,
    protect = 38,
    raindance = 39,
    recover = 40,
    softboiled = 41,
    stealthrock = 42,
    struggle = 43,
    surf = 44,
    swordsdance = 45,
    thunderbolt = 46,
    uturn = 47,
    willowisp = 48,
};
}

constexpr int FIRST_MOVE = move::airslash;

// By number; 0 is no effect.
constexpr EffectData EFFECTS[] = {
    {"", EffectType::None, 0, false, false},
    {"drizzle", EffectType::Ability, 0, false, false},
    {"guts", EffectType::Ability, 0, false, false},
    {"hugepower", EffectType::Ability, 0, false, false},
    {"intimidate", EffectType::Ability, 0, false, false},
    {"levitate", EffectType::Ability, 0, true, false},
    {"magicguard", EffectType::Ability, 0, false, false},
    {"multiscale", EffectType::Ability, 0, true, false},
    {"regenerator", EffectType::Ability, 0, false, false},
    {"roughskin", EffectType::Ability, 0, false, false},
    {"choiceband", EffectType::Item, 0, false, true},
    {"damprock", EffectType::Item, 0, false, false},
    {"heavydutyboots", EffectType::Item, 0, false, false},
    {"leftovers", EffectType::Item, 0, false, false},
    {"lifeorb", EffectType::Item, 0, false, false},
    {"brn", EffectType::Status, 0, false, false},
    {"par", EffectType::Status, 0, false, false},
    {"flinch", EffectType::Condition, 1, false, false},
    {"protect", EffectType::Condition, 1, false, false},
    {"stall", EffectType::Condition, 2, false, false},
    {"choicelock", EffectType::Condition, 0, false, false},
    {"raindance", EffectType::Weather, 5, false, false},
    {"stealthrock", EffectType::Condition, 0, false, false},
    {"airslash", EffectType::Move, 0, false, false},
    {"aquajet", EffectType::Move, 0, false, false},
    {"calmmind", EffectType::Move, 0, false, false},
    {"dragonclaw", EffectType::Move, 0, false, false},
    {"dragondance", EffectType::Move, 0, false, false},
    {"drainpunch", EffectType::Move, 0, false, false},
    {"earthquake", EffectType::Move, 0, false, false},
    {"extremespeed", EffectType::Move, 0, false, false},
    {"flareblitz", EffectType::Move, 0, false, false},
    {"hydropump", EffectType::Move, 0, false, false},
    {"knockoff", EffectType::Move, 0, false, false},
    {"liquidation", EffectType::Move, 0, false, false},
    {"machpunch", EffectType::Move, 0, false, false},
    {"moonblast", EffectType::Move, 0, false, false},
    {"playrough", EffectType::Move, 0, false, false},
    {"protect", EffectType::Move, 0, false, false},
    {"raindance", EffectType::Move, 0, false, false},
    {"recover", EffectType::Move, 0, false, false},
    {"softboiled", EffectType::Move, 0, false, false},
    {"stealthrock", EffectType::Move, 0, false, false},
    {"struggle", EffectType::Move, 0, false, false},
    {"surf", EffectType::Move, 0, false, false},
    {"swordsdance", EffectType::Move, 0, false, false},
    {"thunderbolt", EffectType::Move, 0, false, false},
    {"uturn", EffectType::Move, 0, false, false},
    {"willowisp", EffectType::Move, 0, false, false},
};

constexpr MoveData MOVES[] = {
    {.id = move::airslash, .type = Type::Flying, .category = Category::Special, .target = Target::any, .basePower = 75, .accuracy = 95, .pp = 24, .critRatio = 1, .flags = Flag::protect, .secondary = {.chance = 30, .volatileStatus = condition::flinch}},
    {.id = move::aquajet, .type = Type::Water, .category = Category::Physical, .target = Target::normal, .basePower = 40, .accuracy = 100, .pp = 32, .priority = 1, .critRatio = 1, .flags = Flag::contact | Flag::protect},
    {.id = move::calmmind, .type = Type::Psychic, .category = Category::Status, .target = Target::self, .accuracy = TRUE, .pp = 32, .critRatio = 1, .hit = {.boosts = {0, 0, 1, 1, 0, 0, 0}}},
    {.id = move::dragonclaw, .type = Type::Dragon, .category = Category::Physical, .target = Target::normal, .basePower = 80, .accuracy = 100, .pp = 24, .critRatio = 1, .flags = Flag::contact | Flag::protect},
    {.id = move::dragondance, .type = Type::Dragon, .category = Category::Status, .target = Target::self, .accuracy = TRUE, .pp = 32, .critRatio = 1, .hit = {.boosts = {1, 0, 0, 0, 1, 0, 0}}},
    {.id = move::drainpunch, .type = Type::Fighting, .category = Category::Physical, .target = Target::normal, .basePower = 75, .accuracy = 100, .pp = 16, .critRatio = 1, .flags = Flag::contact | Flag::protect | Flag::heal | Flag::punch, .drain = {1,2}},
    {.id = move::earthquake, .type = Type::Ground, .category = Category::Physical, .target = Target::allAdjacent, .basePower = 100, .accuracy = 100, .pp = 16, .critRatio = 1, .flags = Flag::protect},
    {.id = move::extremespeed, .type = Type::Normal, .category = Category::Physical, .target = Target::normal, .basePower = 80, .accuracy = 100, .pp = 8, .priority = 2, .critRatio = 1, .flags = Flag::contact | Flag::protect},
    {.id = move::flareblitz, .type = Type::Fire, .category = Category::Physical, .target = Target::normal, .basePower = 120, .accuracy = 100, .pp = 24, .critRatio = 1, .flags = Flag::contact | Flag::protect, .recoil = {33,100}, .secondary = {.chance = 10, .status = condition::brn}},
    {.id = move::hydropump, .type = Type::Water, .category = Category::Special, .target = Target::normal, .basePower = 110, .accuracy = 80, .pp = 8, .critRatio = 1, .flags = Flag::protect},
    {.id = move::knockoff, .type = Type::Dark, .category = Category::Physical, .target = Target::normal, .basePower = 65, .accuracy = 100, .pp = 32, .critRatio = 1, .flags = Flag::contact | Flag::protect},
    {.id = move::liquidation, .type = Type::Water, .category = Category::Physical, .target = Target::normal, .basePower = 85, .accuracy = 100, .pp = 16, .critRatio = 1, .flags = Flag::contact | Flag::protect, .secondary = {.chance = 20, .boosts = {0, -1, 0, 0, 0, 0, 0}}},
    {.id = move::machpunch, .type = Type::Fighting, .category = Category::Physical, .target = Target::normal, .basePower = 40, .accuracy = 100, .pp = 48, .priority = 1, .critRatio = 1, .flags = Flag::contact | Flag::protect | Flag::punch},
    {.id = move::moonblast, .type = Type::Fairy, .category = Category::Special, .target = Target::normal, .basePower = 95, .accuracy = 100, .pp = 24, .critRatio = 1, .flags = Flag::protect, .secondary = {.chance = 30, .boosts = {0, 0, -1, 0, 0, 0, 0}}},
    {.id = move::playrough, .type = Type::Fairy, .category = Category::Physical, .target = Target::normal, .basePower = 90, .accuracy = 90, .pp = 16, .critRatio = 1, .flags = Flag::contact | Flag::protect, .secondary = {.chance = 10, .boosts = {-1, 0, 0, 0, 0, 0, 0}}},
    {.id = move::protect, .type = Type::Normal, .category = Category::Status, .target = Target::self, .accuracy = TRUE, .pp = 16, .priority = 4, .critRatio = 1, .hit = {.volatileStatus = condition::protect}},
    {.id = move::raindance, .type = Type::Water, .category = Category::Status, .target = Target::all, .accuracy = TRUE, .pp = 8, .critRatio = 1, .hit = {.weather = condition::raindance}},
    {.id = move::recover, .type = Type::Normal, .category = Category::Status, .target = Target::self, .accuracy = TRUE, .pp = 8, .critRatio = 1, .flags = Flag::heal, .hit = {.heal = {1,2}}},
    {.id = move::softboiled, .type = Type::Normal, .category = Category::Status, .target = Target::self, .accuracy = TRUE, .pp = 8, .critRatio = 1, .flags = Flag::heal, .hit = {.heal = {1,2}}},
    {.id = move::stealthrock, .type = Type::Rock, .category = Category::Status, .target = Target::foeSide, .accuracy = TRUE, .pp = 32, .critRatio = 1, .hit = {.sideCondition = condition::stealthrock}},
    {.id = move::struggle, .type = Type::Normal, .category = Category::Physical, .target = Target::randomNormal, .basePower = 50, .accuracy = TRUE, .pp = 1, .critRatio = 1, .flags = Flag::contact | Flag::protect, .struggleRecoil = true},
    {.id = move::surf, .type = Type::Water, .category = Category::Special, .target = Target::allAdjacent, .basePower = 90, .accuracy = 100, .pp = 24, .critRatio = 1, .flags = Flag::protect},
    {.id = move::swordsdance, .type = Type::Normal, .category = Category::Status, .target = Target::self, .accuracy = TRUE, .pp = 32, .critRatio = 1, .hit = {.boosts = {2, 0, 0, 0, 0, 0, 0}}},
    {.id = move::thunderbolt, .type = Type::Electric, .category = Category::Special, .target = Target::normal, .basePower = 90, .accuracy = 100, .pp = 24, .critRatio = 1, .flags = Flag::protect, .secondary = {.chance = 10, .status = condition::par}},
    {.id = move::uturn, .type = Type::Bug, .category = Category::Physical, .target = Target::normal, .basePower = 70, .accuracy = 100, .pp = 32, .critRatio = 1, .flags = Flag::contact | Flag::protect, .hit = {.selfSwitch = true}},
    {.id = move::willowisp, .type = Type::Fire, .category = Category::Status, .target = Target::normal, .accuracy = 85, .pp = 24, .critRatio = 1, .flags = Flag::protect, .hit = {.status = condition::brn}},
};

constexpr SpeciesData SPECIES[] = {
    {{Type::Water, Type::Fairy}}, // azumarill
    {{Type::Fairy, Type::none}}, // clefable
    {{Type::Fighting, Type::none}}, // conkeldurr
    {{Type::Dragon, Type::Flying}}, // dragonite
    {{Type::Dragon, Type::Ground}}, // garchomp
    {{Type::Fire, Type::Dark}}, // incineroar
    {{Type::Ground, Type::Flying}}, // landorustherian
    {{Type::Water, Type::Flying}}, // pelipper
    {{Type::Electric, Type::Water}}, // rotomwash
    {{Type::Poison, Type::Water}}, // toxapex
};

// Rows: the attacking type; columns: the defender's. 1 super effective, -1 resisted, 0 neutral; 2 immune.
constexpr int8_t CHART[19][19] = {
    {0, 1, 0, 0, -1, -1, -1, -1, -1, 1, 0, 0, 0, -1, 1, 0, -1, 0, 0},
    {0, -1, 0, 0, -1, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
    {0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0},
    {0, 0, -1, -1, 0, 0, 0, 1, 0, -1, 2, 0, 0, 0, 0, 0, 0, 0, 1},
    {0, 1, 1, 0, 0, 1, -1, 0, 0, 0, 0, 0, 0, -1, 0, 0, -1, 0, 0},
    {-1, 1, 0, 0, -1, 0, 0, -1, 2, 0, 0, 1, 1, -1, -1, 1, 1, 0, 0},
    {1, 0, -1, 0, 0, 0, -1, 0, 0, 1, 0, 1, 0, 0, 0, -1, 1, 0, -1},
    {1, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, -1, 0, 0},
    {0, -1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0},
    {-1, 0, -1, 0, 0, 0, -1, -1, 0, -1, 1, 0, 0, -1, 0, 1, -1, 0, 1},
    {-1, 0, 0, 1, 0, 0, 1, 2, 0, -1, 0, 0, 0, 1, 0, 1, 1, 0, 0},
    {0, 0, 1, 0, 0, 0, -1, 1, 0, 1, 1, -1, 0, 0, 0, 0, -1, 0, -1},
    {0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, -1, -1, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 0, -1, 1, -1, 0, 0, -1, 0, -1, 2, 0, 0},
    {0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, -1, 0, -1, 0, 0},
    {1, 0, 0, 0, 0, -1, 1, 1, 0, 0, -1, 1, 0, 0, 0, 0, -1, 0, 0},
    {0, 0, 0, -1, 1, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, -1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 1, 0, 0, 0, 0, 1, 0, 0, -1},
};
