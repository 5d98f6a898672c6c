// Handlers of moves (data/moves.ts). What a move's data says is in data.h.

#include "battle.h"

namespace {

constexpr Handler HANDLERS_HERE[] = {
    {move::knockoff, onBasePower, {}, [](Battle& b, Event& e) -> Value {
        int item = e.source->item;
        if (!item || !truthy(b.singleEvent(Ev::TakeItem, item, &e.source->itemState, e.source, e.source, e.move()))) return UNDEFINED;
        return e.chainModify(3, 2);
    }},
    {move::knockoff, onAfterHit, {}, [](Battle& b, Event& e) -> Value {
        b.takeItem(e.target, e.source);
        return UNDEFINED;
    }},
    {move::protect, onPrepareHit, {}, [](Battle& b, Event& e) -> Value {
        return b.willAct() && truthy(b.runEvent(Ev::StallMove, e.target)) ? TRUE : FALSE;
    }},
    {move::protect, onHit, {}, [](Battle& b, Event& e) -> Value {
        b.addVolatile(e.target, condition::stall, e.source, e.cause);
        return UNDEFINED;
    }},
    {move::struggle, onModifyMove, {}, [](Battle&, Event& e) -> Value {
        e.move()->type = Type::unknown;
        return UNDEFINED;
    }},
};

}  // namespace

extern const HandlerList MOVE_EFFECTS = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
