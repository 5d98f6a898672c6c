// The index of all handlers by effect.

#include "events.h"

Handlers::Handlers() {
    for (const HandlerList* list : {&ABILITIES, &ITEMS, &CONDITIONS, &MOVE_EFFECTS}) {
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
