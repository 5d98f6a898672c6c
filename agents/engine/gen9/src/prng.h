// Showdown's Gen5RNG (sim/prng.ts): a 64-bit linear congruential generator whose upper half is drawn.

#pragma once

#include "layout.h"

class Prng {
  public:
    explicit Prng(Row& row) : row(row) {}

    // A whole number in [0, below).
    int random(int below) {
        uint64_t x = 0;
        for (int word : row.seed) x = x << 16 | uint64_t(word);
        x = x * 0x5D588B656C078965u + 0x269EC3u;
        for (int word = 0; word < 4; word++) row.seed[word] = int32_t(x >> (48 - 16 * word) & 0xFFFF);
        return int((x >> 32) * uint64_t(below) >> 32);
    }

    int random(int from, int to) { return from + random(to - from); }
    bool randomChance(int numerator, int denominator) { return random(denominator) < numerator; }

    template <typename Item>
    void shuffle(Item* items, int start, int end) {
        for (; start < end - 1; start++) {
            int next = random(start, end);
            if (next != start) {
                Item kept = items[start];
                items[start] = items[next];
                items[next] = kept;
            }
        }
    }

  private:
    Row& row;
};
