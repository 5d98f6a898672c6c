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

// Solar Beam and Solar Blade
Value chargeInSun(Battle& b, Event& e) {
    if (b.removeVolatile(e.target, e.move()->condition)) return UNDEFINED;
    b.add(Message::prepare, e.target, named(e.move()->id));
    if (b.effectiveWeather(e.target) != condition::sunnyday) return charge(b, e);
    b.stillLastMove();
    b.addMove(Message::anim, e.target, named(e.move()->id), e.source);
    return UNDEFINED;
}

Value weakInWeather(Battle& b, Event& e) {
    int weather = b.effectiveWeather(e.target);
    bool weak = weather == condition::raindance || weather == condition::sandstorm || weather == condition::snowscape;
    return weak ? e.chainModify(1, 2) : UNDEFINED;
}

constexpr Handler HANDLERS_HERE[] = {
    {move::doubleshock, onTryMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.hasType(e.target, Type::Electric)) return UNDEFINED;
        b.add(Message::fail, e.target, "move: Double Shock");
        b.stillLastMove();
        return NUL;
    }},
    {move::fakeout, onTry, {}, [](Battle& b, Event& e) -> Value {
        if (b.out(e.target).activeMoveActions <= 1) return UNDEFINED;
        b.hint("Fake Out only works on your first turn out.");
        return FALSE;
    }},
    {move::firstimpression, onTry, {}, [](Battle& b, Event& e) -> Value {
        if (b.out(e.target).activeMoveActions <= 1) return UNDEFINED;
        b.hint("First Impression only works on your first turn out.");
        return FALSE;
    }},
    {move::highjumpkick, onMoveFail, {}, crash},
    {move::hyperspacefury, onTry, {}, [](Battle& b, Event& e) -> Value {
        if (e.target->species == species::hoopaunbound) return UNDEFINED;
        b.hint("Only a Pokemon whose form is Hoopa Unbound can use this move.");
        b.stillLastMove();
        if (e.target->species == species::hoopa)
            b.add(Message::fail, e.target, "move: Hyperspace Fury", "[forme]");
        else
            b.add(Message::fail, e.target, "move: Hyperspace Fury");
        return NUL;
    }},
    {move::meteorbeam, onTryMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.removeVolatile(e.target, condition::meteorbeam)) return UNDEFINED;
        b.add(Message::prepare, e.target, named(move::meteorbeam));
        b.boost(Stat::spa, 1, e.target, e.target, e.cause);
        return charge(b, e);
    }},
    {move::phantomforce, onTryMove, {}, [](Battle& b, Event& e) -> Value {
        if (b.removeVolatile(e.target, condition::phantomforce)) return UNDEFINED;
        b.add(Message::prepare, e.target, named(move::phantomforce));
        return charge(b, e);
    }},
    {move::poltergeist, onTryHit, {}, [](Battle& b, Event& e) -> Value {
        b.add(Message::activate, e.target, "move: Poltergeist", named(e.target->item));
        return UNDEFINED;
    }},
    {move::poltergeist, onTry, {}, [](Battle&, Event& e) -> Value { return e.source->item ? TRUE : FALSE; }},
    {move::solarbeam, onTryMove, {}, chargeInSun},
    {move::solarbeam, onBasePower, {}, weakInWeather},
    {move::solarblade, onTryMove, {}, chargeInSun},
    {move::solarblade, onBasePower, {}, weakInWeather},
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
