// Made by scripts/build/make_gen9_data.mjs: do not edit.

#pragma once

#include <cstdint>

namespace Type {
enum : int32_t { none = -1, Bug, Dark, Dragon, Electric, Fairy, Fighting, Fire, Flying, Ghost, Grass, Ground, Ice, Normal, Poison, Psychic, Rock, Steel, Stellar, Water, COUNT, unknown = COUNT };
}
namespace Target {
enum : int32_t { normal, any, self, all, foeSide, allAdjacent, randomNormal };
}
namespace Flag {
enum : int32_t { contact = 1 << 0, protect = 1 << 1, heal = 1 << 2, punch = 1 << 3 };
}
