// The index of all handlers by effect.

#include "events.h"

// The lists of all files; those of an effect stand side by side in one of them.
#define LISTS(X) \
    X(ABILITIES_OF_CONTACT) X(ABILITIES_OF_DEFENSE) X(ABILITIES_OF_FIELD) X(ABILITIES_OF_POWER) X(ABILITIES_PARADOX) \
    X(ITEMS_HELD) X(ITEMS_USED) X(CONDITIONS) X(MOVES_POWER) X(MOVES_TRY) X(MOVES_AFTER) X(MOVES_STATUS) X(MOVE_CONDITIONS)

#define X(name) extern const HandlerList name;
LISTS(X)
#undef X

Handlers::Handlers() {
    #define X(name) &name,
    for (const HandlerList* list : {LISTS(X)}) {
#undef X
        for (int n = 0; n < list->count; n++) {
            const Handler& handler = list->handlers[n];
            Entry& entry = entries[handler.effect];
            if (!entry.first) entry.first = &handler;
            entry.last = &handler + 1;
            entry.events.add(handler.callback / PREFIXES);
        }
    }
    for (int effect = 1; effect < FIRST_MOVE; effect++) {
        Entry& entry = entries[effect];
        bool kind = EFFECTS[effect].type == EffectType::Ability || EFFECTS[effect].type == EffectType::Item;
        entry.starts = kind && entry.events.has(Ev::Start) && !entry.events.has(Ev::SwitchIn);
        if (entry.starts) entry.events.add(Ev::SwitchIn);
    }
}

const Handlers HANDLERS;
