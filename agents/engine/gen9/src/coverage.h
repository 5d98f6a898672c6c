// Counts what battles reach, in a library that is compiled with -DCOVERAGE (scripts/parity/gen9_coverage.py); nothing is left of
// it in any other.

#pragma once

#ifdef COVERAGE
void countUse(int effect);  // of a move, or of an ability or item that a rule asks for
#else
inline void countUse(int) {}
#endif
