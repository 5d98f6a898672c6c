// Shares a loop out among threads. POSIX threads, not C++'s: so the library needs no C++ runtime.

#pragma once

#include <pthread.h>

#include <cstdint>

// A part of a loop, in a thread of its own.
template <typename Play>
struct LoopPart {
    int64_t from, to;
    Play* play;

    static void* run(void* part) {
        const LoopPart& own = *static_cast<LoopPart*>(part);
        for (int64_t n = own.from; n < own.to; n++) (*own.play)(n);
        return nullptr;
    }
};

// Runs play(n) for n from 0 to count - 1 on several threads.
template <typename Play>
void shareLoop(int64_t count, int threads, Play play) {
    constexpr int MOST = 256;
    if (threads > MOST) threads = MOST;
    if (threads > count) threads = int(count);
    LoopPart<Play> parts[MOST];
    pthread_t started[MOST];
    for (int n = 0; n < threads; n++) {
        parts[n] = {count * n / threads, count * (n + 1) / threads, &play};
        if (n && pthread_create(&started[n], nullptr, LoopPart<Play>::run, &parts[n])) {
            LoopPart<Play>::run(&parts[n]);  // no more threads here
            started[n] = pthread_self();
        }
    }
    if (threads > 0) LoopPart<Play>::run(&parts[0]);
    for (int n = 1; n < threads; n++)
        if (!pthread_equal(started[n], pthread_self())) pthread_join(started[n], nullptr);
}
