// Moves that fail under some conditions, that take two turns, or that hurt who misses: data/moves.ts.
// Of these events target is the user and source whom it is used on, but of onMoveFail the other way round.

#include "battle.h"

namespace {

// Fails unless the target is about to attack.
Value ifTargetAttacks(Battle& b, Event& e) {
    const Action* action = b.willMove(e.source);
    bool attacks = action && moveData(action->move).category != Category::Status;
    return attacks && !b.volatileOf(e.source, condition::mustrecharge) ? UNDEFINED : FALSE;
}

// The first turn of a move that takes two stops it, unless something lets it pass.
Value charge(Battle& b, Event& e) {
    if (!truthy(b.runEvent(Ev::ChargeMove, e.target, e.source, e.cause))) return UNDEFINED;
    b.addVolatile(e.target, condition::twoturnmove, e.source, e.cause);
    return NUL;
}

Value crash(Battle& b, Event& e) {
    b.damage(e.source->maxhp / 2, e.source, e.source, int(condition::mindblownrecoil));
    return UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {move::firstimpression, onTry, {}, [](Battle& b, Event& e) -> Value {
        return b.out(e.target).activeMoveActions > 1 ? FALSE : UNDEFINED;
    }},
    {move::highjumpkick, onMoveFail, {}, crash},
    {move::hyperspacefury, onTry, {}, [](Battle&, Event& e) -> Value {
        return e.target->species == species::hoopaunbound ? UNDEFINED : NUL;
    }},
    {move::meteorbeam, onTryMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.removeVolatile(e.target, condition::meteorbeam)) return UNDEFINED;
        b.boost(Stat::spa, 1, e.target, e.target, e.cause);
        return charge(b, e);
    }},
    {move::phantomforce, onTryMove, {}, [](Battle& b, Event& e) -> Value {
        return b.removeVolatile(e.target, condition::phantomforce) ? UNDEFINED : charge(b, e);
    }},
    {move::poltergeist, onTry, {}, [](Battle&, Event& e) -> Value { return e.source->item ? TRUE : FALSE; }},
    {move::solarblade, onTryMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.removeVolatile(e.target, condition::solarblade)) return UNDEFINED;
        return b.effectiveWeather(e.target) == condition::sunnyday ? UNDEFINED : charge(b, e);
    }},
    {move::solarblade, onBasePower, {}, [](Battle& b, Event& e) -> Value {
        int weather = b.effectiveWeather(e.target);
        bool weak = weather == condition::raindance || weather == condition::sandstorm || weather == condition::snowscape;
        return weak ? e.chainModify(1, 2) : UNDEFINED;
    }},
    {move::steelbeam, onMoveFail, {}, [](Battle& b, Event& e) -> Value {
        b.damage(roundedQuotient(e.source->maxhp, 2), e.source, e.source, int(condition::mindblownrecoil));
        return UNDEFINED;
    }},
    {move::suckerpunch, onTry, {}, ifTargetAttacks},
    {move::supercellslam, onMoveFail, {}, crash},
    {move::thunderclap, onTry, {}, ifTargetAttacks},
};

}  // namespace

extern const HandlerList MOVES_TRY = {HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)};
