// Made by scripts/build/make_gen9_data.mjs: do not edit.

#pragma once

#include <cstdint>

namespace Type {
enum : int32_t { none = -1, Bug, Dark, Dragon, Electric, Fairy, Fighting, Fire, Flying, Ghost, Grass, Ground, Ice, Normal, Poison, Psychic, Rock, Steel, Stellar, Water, COUNT, unknown = COUNT };
}
namespace Target {
enum : int32_t { normal, any, allAdjacentFoes, self, adjacentAllyOrSelf, adjacentAlly, allySide, allAdjacent, all, scripted, adjacentFoe, allyTeam, allies, randomNormal, foeSide };
}
// Of moves.
namespace Flag {
enum : int64_t {
    allyanim = int64_t(1) << 0,
    bite = int64_t(1) << 1,
    bullet = int64_t(1) << 2,
    bypasssub = int64_t(1) << 3,
    cantusetwice = int64_t(1) << 4,
    charge = int64_t(1) << 5,
    contact = int64_t(1) << 6,
    dance = int64_t(1) << 7,
    defrost = int64_t(1) << 8,
    distance = int64_t(1) << 9,
    failcopycat = int64_t(1) << 10,
    failencore = int64_t(1) << 11,
    failinstruct = int64_t(1) << 12,
    failmefirst = int64_t(1) << 13,
    failmimic = int64_t(1) << 14,
    futuremove = int64_t(1) << 15,
    gravity = int64_t(1) << 16,
    heal = int64_t(1) << 17,
    metronome = int64_t(1) << 18,
    minimize = int64_t(1) << 19,
    mirror = int64_t(1) << 20,
    mustpressure = int64_t(1) << 21,
    noassist = int64_t(1) << 22,
    nonsky = int64_t(1) << 23,
    noparentalbond = int64_t(1) << 24,
    nosketch = int64_t(1) << 25,
    nosleeptalk = int64_t(1) << 26,
    pledgecombo = int64_t(1) << 27,
    powder = int64_t(1) << 28,
    protect = int64_t(1) << 29,
    pulse = int64_t(1) << 30,
    punch = int64_t(1) << 31,
    recharge = int64_t(1) << 32,
    reflectable = int64_t(1) << 33,
    slicing = int64_t(1) << 34,
    snatch = int64_t(1) << 35,
    sound = int64_t(1) << 36,
    wind = int64_t(1) << 37,
};
}
// Types that are immune to what is not a type, as bits.
namespace Immune {
enum : int32_t {
    brn = 1 << Type::Fire,
    frz = 1 << Type::Ice,
    hail = 1 << Type::Ice,
    par = 1 << Type::Electric,
    powder = 1 << Type::Grass,
    prankster = 1 << Type::Dark,
    psn = 1 << Type::Poison | 1 << Type::Steel,
    sandstorm = 1 << Type::Ground | 1 << Type::Rock | 1 << Type::Steel,
    tox = 1 << Type::Poison | 1 << Type::Steel,
    trapped = 1 << Type::Ghost,
};
}
// Of other effects.
namespace Is {
enum : int32_t {
    breakable = 1 << 0,
    cantsuppress = 1 << 1,
    failroleplay = 1 << 2,
    failskillswap = 1 << 3,
    noentrain = 1 << 4,
    noreceiver = 1 << 5,
    notrace = 1 << 6,
    notransform = 1 << 7,
    suppressWeather = 1 << 8,
    affectsFainted = 1 << 9,
    noCopy = 1 << 10,
    isChoice = 1 << 11,
    isBerry = 1 << 12,
    isGem = 1 << 13,
    ignoreKlutz = 1 << 14,
};
}
