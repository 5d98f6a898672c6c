// The index of all handlers by effect.

#include "events.h"

// The lists of all files.
#define LISTS(X) \
    X(ABILITIES_OF_CONTACT) \
    X(ABILITIES_OF_DEFENSE) \
    X(ABILITIES_OF_FIELD) \
    X(ABILITIES_OF_POWER) \
    X(ABILITIES_PARADOX) \
    X(ITEMS_HELD) \
    X(ITEMS_USED) \
    X(CONDITIONS) \
    X(FIELD_CONDITIONS) \
    X(MOVES_POWER) \
    X(MOVES_TRY) \
    X(MOVES_AFTER) \
    X(MOVES_STATUS) \
    X(MOVE_CONDITIONS)

#define X(name) extern const HandlerList name;
LISTS(X)
#undef X

// Sorted by effect: those of an effect stand side by side.
Handlers::Handlers() {
#define X(name) &name,
    const HandlerList* lists[] = {LISTS(X)};
#undef X
    for (int effect = 1, count = 0; effect < EFFECT_COUNT; effect++) {
        Entry& entry = entries[effect];
        entry.first = &sorted[count];
        for (const HandlerList* list : lists) {
            for (int n = 0; n < list->count; n++) {
                const Handler& handler = list->handlers[n];
                if (handler.effect != effect || count == MOST) continue;
                sorted[count++] = handler;
                entry.events.add(handler.callback / PREFIXES);
            }
        }
        entry.last = &sorted[count];
        bool kind = EFFECTS[effect].type == EffectType::Ability || EFFECTS[effect].type == EffectType::Item;
        entry.starts = kind && entry.events.has(Ev::Start) && !find(effect, onSwitchIn) && !find(effect, onAnySwitchIn);
        if (entry.starts) entry.events.add(Ev::SwitchIn);
    }
}

int Handlers::write(int32_t* words) const {
    int count = 0;
    for (const Entry& entry : entries) {
        for (const Handler* handler = entry.first; handler != entry.last; handler++, count++) {
            if (!words) continue;
            for (int word : {handler->effect, handler->callback, handler->order.order, handler->order.priority, handler->order.subOrder}) *words++ = word;
        }
    }
    return count;
}

const Handlers HANDLERS;
