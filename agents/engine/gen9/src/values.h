// What an event handler returns: a number, or one of JavaScript's other values, which Showdown tells apart.

#pragma once

#include <climits>
#include <cstdint>

using Value = int32_t;

enum : Value {
    UNDEFINED = INT_MIN,  // a handler that changes nothing
    NUL,                  // stops silently
    FALSE,                // stops, and the move says that it failed
    NOT_FAIL,             // Showdown's NOT_FAIL, an empty string: stops, and is no failure
    TRUE,
};

constexpr bool isNumber(Value value) { return value > TRUE; }
constexpr bool truthy(Value value) { return value != 0 && value > NOT_FAIL; }
constexpr bool truthyOrZero(Value value) { return value > NOT_FAIL; }
