// What Python calls (engine.py): arrays of rows, shared out among threads.

#include <pthread.h>

#include "battle.h"

namespace {

// A part of a loop, in a thread of its own. POSIX threads, not C++'s: so the library needs no C++ runtime.
template <typename Play>
struct Part {
    int64_t from, to;
    Play* play;

    static void* run(void* part) {
        const Part& own = *static_cast<Part*>(part);
        for (int64_t n = own.from; n < own.to; n++) (*own.play)(n);
        return nullptr;
    }
};

// Runs play(n) for n from 0 to count - 1 on several threads.
template <typename Play>
void share(int64_t count, int threads, Play play) {
    constexpr int MOST = 256;
    if (threads > MOST) threads = MOST;
    if (threads > count) threads = int(count);
    Part<Play> parts[MOST];
    pthread_t started[MOST];
    for (int n = 0; n < threads; n++) {
        parts[n] = {count * n / threads, count * (n + 1) / threads, &play};
        if (n && pthread_create(&started[n], nullptr, Part<Play>::run, &parts[n])) {
            Part<Play>::run(&parts[n]);  // no more threads here
            started[n] = pthread_self();
        }
    }
    if (threads > 0) Part<Play>::run(&parts[0]);
    for (int n = 1; n < threads; n++)
        if (!pthread_equal(started[n], pthread_self())) pthread_join(started[n], nullptr);
}

uint64_t nextRandom(uint64_t x) {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

int pick(int legal, uint64_t x) {
    int count = __builtin_popcount(unsigned(legal));
    if (!count) return 0;
    for (int skip = int((x >> 33) % unsigned(count)); skip; skip--) legal &= legal - 1;
    return __builtin_ctz(unsigned(legal));
}

}  // namespace

extern "C" {

int gen9_words() { return WORDS; }

// Writes five words for each handler, unless null is given: effect, callback, order, priority, subOrder. Returns how many there are.
int gen9_handlers(int32_t* words) { return HANDLERS.write(words); }

const char* gen9_event(int event) {
    static constexpr const char* NAMES[] = {
#define X(name) #name,
        EVENTS(X) CALLBACKS(X)
#undef X
    };
    return NAMES[event];
}

// Brings battles whose rows hold teams and seed to their team preview, from which gen9_start goes on, too.
void gen9_prepare(int32_t* rows, int64_t count, int threads) {
    share(count, threads, [&](int64_t n) { Battle(reinterpret_cast<Row*>(rows)[n]).prepare(); });
}

// Starts battles whose rows hold teams and seed.
void gen9_start(int32_t* rows, int64_t count, int threads) {
    share(count, threads, [&](int64_t n) { Battle(reinterpret_cast<Row*>(rows)[n]).start(); });
}

// masks [count, sides, slots]: legal choices as bits.
void gen9_legal(int32_t* rows, const int64_t* which, int64_t count, int32_t* masks, int threads) {
    share(count, threads, [&](int64_t n) {
        Battle battle(reinterpret_cast<Row*>(rows)[which[n]]);
        for (int side = 0; side < SIDES; side++)
            for (int slot = 0; slot < battle.row.activePerSide; slot++)
                masks[n * SIDES * ACTIVE + side * ACTIVE + slot] = battle.legal(side, slot);
    });
}

// moves [count, sides, slots]: into which Pokémon are locked that are asked for one, 0 for none.
void gen9_locked(int32_t* rows, const int64_t* which, int64_t count, int32_t* moves, int threads) {
    share(count, threads, [&](int64_t n) {
        Battle battle(reinterpret_cast<Row*>(rows)[which[n]]);
        for (int side = 0; side < SIDES; side++)
            for (int slot = 0; slot < battle.row.activePerSide; slot++)
                moves[n * SIDES * ACTIVE + side * ACTIVE + slot] = battle.lockedMove(side, slot);
    });
}

// choices [count, sides, slots].
void gen9_step(int32_t* rows, const int64_t* which, int64_t count, const int32_t* choices, int threads) {
    share(count, threads, [&](int64_t n) {
        Battle battle(reinterpret_cast<Row*>(rows)[which[n]]);
        if (!battle.ended()) battle.commitChoices(choices + n * SIDES * ACTIVE);
    });
}

// One battle started (choices: null) or stepped, and what it writes as lines (writeLog).
int64_t gen9_play_logged(int32_t* words, const int32_t* choices, const Names* names, char* text, int64_t size) {
    static thread_local Log log;
    log.clear();
    Row& row = *reinterpret_cast<Row*>(words);
    Battle battle(row);
    battle.log = &log;
    if (!choices)
        battle.start();
    else if (!battle.ended())
        battle.commitChoices(choices);
    return writeLog(log, row, *names, text, size);
}

// Plays steps of each battle with choices drawn evenly; a finished one begins anew from its row of fresh with another seed.
// counts [count, 3]: finished battles, choices, turns of the finished battles.
void gen9_rollout(int32_t* rows, const int32_t* fresh, uint64_t* states, int64_t count, int steps, int64_t* counts, int threads) {
    share(count, threads, [&](int64_t n) {
        Row& row = reinterpret_cast<Row*>(rows)[n];
        uint64_t x = states[n];
        for (int step = 0; step < steps; step++) {
            Battle battle(row);
            int32_t choices[SIDES * ACTIVE] = {};
            for (int side = 0; side < SIDES; side++) {
                for (int slot = 0; slot < row.activePerSide; slot++) {
                    int legal = battle.legal(side, slot);
                    x = nextRandom(x);
                    choices[side * ACTIVE + slot] = pick(legal, x);
                    counts[3 * n + 1] += legal != 0;
                }
            }
            battle.commitChoices(choices);
            if (!battle.ended()) continue;
            counts[3 * n]++;
            counts[3 * n + 2] += row.turn;
            row = reinterpret_cast<const Row*>(fresh)[n];
            x = nextRandom(x);
            for (int word = 0; word < 4; word++) row.seed[word] = int32_t(x >> 16 * word & 0xFFFF);
            Battle(row).start();
        }
        states[n] = x;
    });
}

}  // extern "C"
