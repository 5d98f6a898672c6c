// The counts of coverage.h: of each handler and effect how often it ran, and how often it acted.

#ifdef COVERAGE

#include <string.h>

#include "battle.h"

namespace {

constexpr int EFFECT_COUNT = sizeof(EFFECTS) / sizeof(EFFECTS[0]), CALLBACK_COUNT = Ev::COUNT * PREFIXES;

struct Counts {
    int64_t runs, acts;

    void add(bool acted) {
        __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
        if (acted) __atomic_fetch_add(&acts, 1, __ATOMIC_RELAXED);
    }
};

Counts ofEffects[EFFECT_COUNT], ofHandlers[EFFECT_COUNT][CALLBACK_COUNT];

// What a handler may change besides what it returns.
struct Before {
    Row row;
    int modifier, written, listed, boosts[Stat::COUNT];
    alignas(ActiveMove) unsigned char move[sizeof(ActiveMove)];

    Before(const Battle& b, const Event& e) : row(b.row), modifier(e.modifier), written(b.log ? b.log->count : 0), listed(lengthOf(e)) {
        if (e.boosts) memcpy(boosts, e.boosts, sizeof(boosts));
        if (e.move()) memcpy(move, static_cast<const void*>(e.move()), sizeof(move));
    }
    // How many types or secondaries an event about them has.
    static int lengthOf(const Event& e) { return e.types ? e.types->count : e.secondaries ? e.secondaries->count : 0; }
    bool differs(const Battle& b, const Event& e) const {
        return e.modifier != modifier || lengthOf(e) != listed || (b.log && b.log->count != written) || memcmp(&row, &b.row, sizeof(row)) || (e.boosts && memcmp(boosts, e.boosts, sizeof(boosts))) ||
               (e.move() && memcmp(move, static_cast<const void*>(e.move()), sizeof(move)));
    }
};

}  // namespace

void countUse(int effect) { ofEffects[effect].add(true); }

Value Handler::run(Battle& b, Event& e) const {
    Before before(b, e);
    Value returned = function(b, e);
    bool acted = returned != UNDEFINED || before.differs(b, e);
    ofHandlers[effect][callback].add(acted);
    if (EFFECTS[effect].type != EffectType::Move) ofEffects[effect].add(acted);
    return returned;
}

extern "C" {

int gen9_callbacks() { return CALLBACK_COUNT; }

// effects [effects, 2], handlers [effects, callbacks, 2]: runs, and of these those that acted, since the last call.
void gen9_take_counts(int64_t* effects, int64_t* handlers) {
    memcpy(effects, ofEffects, sizeof(ofEffects));
    memcpy(handlers, ofHandlers, sizeof(ofHandlers));
    memset(ofEffects, 0, sizeof(ofEffects));
    memset(ofHandlers, 0, sizeof(ofHandlers));
}

}  // extern "C"

#endif
