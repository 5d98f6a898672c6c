// A step's lines: who comes in and leaves, HP and statuses, the turn's end (agents/battle/switches.py, statuses.py, turn_end.py), weather,
// fields and sides (conditions.py).

#include <cstring>

#include "keeper.h"

bool says(const Record& record, const char* text, int start) {
    for (int n = start; n < record.count; n++) {
        const Argument& argument = record.arguments[n];
        if (argument.kind == Argument::Text && argument.text && !strcmp(argument.text, text)) return true;
    }
    return false;
}

LineSource sourceOf(const Record& record, int start) {
    for (int n = start; n < record.count; n++) {
        const Argument& argument = record.arguments[n];
        if (argument.text && !strncmp(argument.text, "[from]", 6))
            return argument.kind == Argument::Fullname ? LineSource{EFFECTS[argument.value].type, argument.value} : LineSource{};
    }
    return {};
}

int otherOf(const Record& record, int start) {
    for (int n = start; n < record.count; n++) {
        const Argument& argument = record.arguments[n];
        if (argument.kind == Argument::Mon && argument.text) return 1 + argument.value;  // "[of] "
    }
    return 0;
}

// Which of these names an argument has after "move: " or "ability: ", -1 for none.
int namedIn(const char* const* names, int count, const Argument& argument) {
    constexpr const char* STATS[] = {"atk", "def", "spa", "spd", "spe"};
    const char* before = argument.text ? argument.text : "";
    for (const char* prefix : {"move: ", "ability: "})
        if (!strncmp(before, prefix, strlen(prefix))) before += strlen(prefix);
    char digits[2] = {};
    const char* after = "";
    if (argument.kind == Argument::Name || argument.kind == Argument::Fullname) {
        after = EFFECTS[argument.value].name;
    } else if (argument.kind == Argument::StatName) {
        after = STATS[argument.value];
    } else if (argument.kind == Argument::Number) {
        digits[0] = char('0' + argument.value % 10);
        after = digits;
    }
    const size_t length = strlen(before);
    for (int n = 0; n < count; n++)
        if (*names[n] && !strncmp(names[n], before, length) && !strcmp(names[n] + length, after)) return n;
    return -1;
}

void Keeper::readLine(const Record& record) {
    ShownPokemon* known = record.count ? find(record.arguments[0]) : nullptr;
    switch (record.message) {
        case Message::switch_:
        case Message::drag: return readSwitch(record);
        case Message::upkeep: return readUpkeep();
        case Message::turn: return readTurn(record.arguments[0].value);
        case Message::weather: return readWeather(record);
        case Message::fieldstart:
            // Trick Room has no condition in its line
            startField(record.arguments[0].kind == Argument::Name ? record.arguments[0].value : int(condition::trickroom));
            return showSetter(record);
        case Message::fieldend: return endField(record.arguments[0].kind == Argument::Name ? record.arguments[0].value : int(condition::trickroom));
        case Message::sidestart: return readSideCondition(record, true);
        case Message::sideend: return readSideCondition(record, false);
        case Message::swapsideconditions: return swapSideConditions();
        case Message::activate: return readActivate(record, known);
        case Message::clearallboost:
            return eachActive([](ShownPokemon& p) {
                for (int& stage : p.boosts) stage = 0;
            });
        default: break;
    }
    if (!known) return;
    ShownPokemon& p = *known;
    switch (record.message) {
        case Message::move: return readMove(record, p);
        case Message::cant: return readCant(record, p);
        case Message::faint: return readFaint(p);
        case Message::detailschange:
            updateFromDetails(p, inDetails(record.arguments[1].extra), record.arguments[1].more);
            setTypes(p, 0, 0);
            p.temporaryAbility = 0;
            return;
        case Message::ability: return readAbility(record, p);
        case Message::block: return readBlock(record, p);
        case Message::anim: p.preparing = 0; return;
        case Message::boost: return boost(p, record.arguments[1].value, record.arguments[2].value);
        case Message::unboost: return boost(p, record.arguments[1].value, -record.arguments[2].value);
        case Message::clearboost:
        case Message::clearnegativeboost:
        case Message::clearpositiveboost:
            for (int& stage : p.boosts)
                if (record.message == Message::clearboost || (stage > 0) == (record.message == Message::clearpositiveboost)) stage = 0;
            return;
        case Message::damage: return readDamage(record, p);
        case Message::heal: return readHeal(record, p);
        case Message::setboost: p.boosts[record.arguments[1].value] = record.arguments[2].value; return;
        case Message::sethp: return setHp(p, record.arguments[1]);
        case Message::status: return readStatus(record, p);
        case Message::curestatus:
            if (p.status == record.arguments[1].value || (record.arguments[1].kind == Argument::Text && p.status == condition::frz))
                p.status = 0;
            if (!p.status) p.statusCounter = 0;
            return showCause(record, p);
        case Message::enditem: p.item = 0; return;
        case Message::item: return readItem(record, p);
        case Message::fail:
        case Message::immune: return showCause(record, p);
        case Message::mustrecharge: p.mustRecharge = true; return;
        case Message::prepare:
            p.preparing = record.arguments[1].kind == Argument::Name ? record.arguments[1].value : int(move::chillyreception);
            return;
        case Message::start: return readStart(record, p);
        case Message::end: return readEnd(record, p);
        case Message::singleturn: return readSingleTurn(record, p);
        case Message::singlemove:
            startEffect(p, ShownEffect::DESTINY_BOND);
            p.singleMoveSince = shown.turn;
            return;
        case Message::terastallize:
            p.terastallized = true;
            p.teraType = record.arguments[1].value;
            sideOf(p).usedTera = true;
            return;
        case Message::transform: return readTransform(record, p);
        default: return;
    }
}

// "switch|POKEMON|DETAILS|HP", "drag|..."
void Keeper::readSwitch(const Record& record) {
    const int name = 1 + record.arguments[0].value;
    const Argument& details = record.arguments[1];
    ShownSide& side = sideOf(record.arguments[0].value / TEAM);
    if (ShownPokemon* leaving = activeOf(side)) {
        switchOut(*leaving);
        if (ShownPokemon* held = facing(leaving)) endEffect(*held, ShownEffect::TRAPPED);
    }
    side.pressing = false;
    ShownPokemon* p = find(side, name);
    if (!p) {
        p = &side.pokemon[side.count++];
        *p = {};
        p->pokemon = name;
        p->level = row.sides[(name - 1) / TEAM].pokemon[(name - 1) % TEAM].level;
        p->item = SHOWN_UNKNOWN;
        p->species = p->detailsSpecies = SHOWN_ABSENT;
    }
    p->active = p->revealed = true;
    updateFromDetails(*p, inDetails(details.extra), details.more);
    setHp(*p, record.arguments[2]);
    if (!p->status || p->status == condition::tox) p->statusCounter = 0;
    p->terastallized = details.more != 0;
}

// "faint|POKEMON": it keeps nothing of what it had on the field.
void Keeper::readFaint(ShownPokemon& p) {
    p.hp = 0;
    p.status = SHOWN_FAINTED;
    endTransform(p);
    const int isActive = p.active;
    switchOut(p);
    p.active = isActive;
    p.terastallized = p.statusCounter = 0;
    if (ShownPokemon* held = facing(&p)) endEffect(*held, ShownEffect::TRAPPED);
}

// "cant|POKEMON|REASON"
void Keeper::readCant(const Record& record, ShownPokemon& p) {
    const Argument& reason = record.arguments[1];
    if (reason.kind == Argument::Fullname && EFFECTS[reason.value].type == EffectType::Ability)
        return showAbility(p, reason.value);  // the first is who has the ability, not who cannot move
    p.marks &= ~ShownMark::DANCING;
    if (says(record, "slp") && p.status == condition::slp) p.statusCounter++;
    if (says(record, "recharge")) p.mustRecharge = false;
    p.preparing = 0;
    endSingleMove(p);
}

void Keeper::setHp(ShownPokemon& p, const Argument& health) {
    p.hp = health.extra;
    if (!health.extra) {
        p.status = SHOWN_FAINTED;
        return;
    }
    p.maxhp = health.more;
    p.status = health.last;
    if (health.value / TEAM == seat) return;
    p.hp = (100 * health.extra + health.more - 1) / health.more;  // as log_text.cpp has it
    if (p.hp == 100 && health.extra < health.more) p.hp = 99;
    p.maxhp = 100;
}

void Keeper::readDamage(const Record& record, ShownPokemon& p) {
    setHp(p, record.arguments[1]);
    showCause(record, p);
    if (!says(record, "[from] confusion")) return;
    p.marks &= ~ShownMark::DANCING;
    p.preparing = 0;
    endSingleMove(p);
}

// Lunar Dance also restores all PP.
void Keeper::readHeal(const Record& record, ShownPokemon& p) {
    setHp(p, record.arguments[1]);
    showCause(record, p);
    const Argument& source = record.arguments[2];
    if (record.count > 2 && source.kind == Argument::Name && source.value == condition::lunardance)
        for (int n = 0; n < p.moveCount; n++) p.moves[n].pp = moveData(p.moves[n].id).pp;
}

// "-status|POKEMON|tox|[from] item: Toxic Orb": a new status, whose counter begins.
void Keeper::readStatus(const Record& record, ShownPokemon& p) {
    p.status = record.arguments[1].value;
    p.statusCounter = 0;
    showCause(record, p);
    if (sourceOf(record, 2).effect == item::toxicorb || isAfterFutureMove()) p.marks |= ShownMark::POISONED_AT_END;
}

// Whether a Future Sight has just come, whose user has Toxic Chain.
bool Keeper::isAfterFutureMove() const {
    for (int n = line - 1; n >= 0; n--) {
        const Record& before = log->records[n];
        switch (before.message) {
            case Message::empty:
            case Message::move:
            case Message::switch_:
            case Message::upkeep:
            case Message::turn: return false;
            case Message::end:
                if (before.arguments[1].value == move::futuresight) return true;
                break;
            default: break;
        }
    }
    return false;
}

// "upkeep": what happens at the end of a turn has happened.
void Keeper::readUpkeep() {
    constexpr int MOST_TOXIC = 15;
    eachActive([](ShownPokemon& p) {
        if (p.status == condition::tox && !(p.marks & ShownMark::POISONED_AT_END) && p.statusCounter < MOST_TOXIC) p.statusCounter++;
    });
    for (ShownSide& side : shown.sides)
        for (ShownPokemon& p : side.pokemon) p.marks &= ~ShownMark::POISONED_AT_END;
    endTurn(shown.turn + 1);
    shown.turnEnded = true;
}

void Keeper::readTurn(int turn) {
    shown.turn = turn;
    eachActive([](ShownPokemon& p) {
        p.activeTurns++;
        p.marks &= ~ShownMark::DANCING;
        endEffect(p, ShownEffect::PROTECT);
        endEffect(p, ShownEffect::ROOST);
    });
    if (!shown.turnEnded) endTurn(turn);
    shown.turnEnded = false;
}

// Ends effects of one turn, and protections in a row that were broken off. turn: the next.
void Keeper::endTurn(int turn) {
    eachActive([](ShownPokemon& p) {
        if (!(p.marks & ShownMark::PROTECTED)) p.protectCounter = 0;
    });
    shown.protecting = 0;
    for (ShownSide& side : shown.sides) {
        for (ShownPokemon& p : side.pokemon) {
            p.marks &= ~ShownMark::PROTECTED;
            for (int effect : {ShownEffect::PROTECT, ShownEffect::ENDURE, ShownEffect::ROOST}) endEffect(p, effect);
            if (turn > p.singleMoveSince + 1) endEffect(p, ShownEffect::DESTINY_BOND);
        }
    }
}

// "-weather|RainDance|[upkeep]": it began earlier.
void Keeper::readWeather(const Record& record) {
    const Argument& name = record.arguments[0];
    const int weather = name.kind == Argument::Name ? name.value : 0;
    if (weather && weather == shown.weather && says(record, "[upkeep]")) return;
    shown.weather = weather;
    shown.weatherSince = weather ? shown.turn : 0;
    showSetter(record);
}

// Who has the ability that a weather or terrain is from.
void Keeper::showSetter(const Record& record) {
    const LineSource source = sourceOf(record);
    ShownPokemon* setter = find(otherOf(record));
    if (setter && source.type == EffectType::Ability) showAbility(*setter, source.effect);
}

bool Keeper::hasField(int field) const {
    for (int n = 0; n < shown.fieldCount; n++)
        if (shown.fields[n] == field) return true;
    return false;
}

template <typename Test>
void Keeper::dropFields(Test drops) {
    int kept = 0;
    for (int n = 0; n < shown.fieldCount; n++) {
        if (drops(shown.fields[n])) continue;
        shown.fields[kept] = shown.fields[n];
        shown.fieldsSince[kept++] = shown.fieldsSince[n];
    }
    for (int n = kept; n < shown.fieldCount; n++) shown.fields[n] = shown.fieldsSince[n] = 0;
    shown.fieldCount = kept;
}

void Keeper::startField(int field) {
    const auto isTerrain = [](int id) { return EFFECTS[id].type == EffectType::Terrain; };
    if (isTerrain(field)) dropFields(isTerrain);
    int place = 0;
    while (place < shown.fieldCount && shown.fields[place] != field) place++;
    if (place == SHOWN_FIELDS) return;
    shown.fields[place] = field;
    shown.fieldsSince[place] = shown.turn;
    if (place == shown.fieldCount) shown.fieldCount++;
}

void Keeper::endField(int field) {
    dropFields([&](int id) { return id == field; });
}

// "-sidestart|p1: NAME|Reflect", "-sideend|..."
void Keeper::readSideCondition(const Record& record, bool begins) {
    static constexpr const char* NAMES[SHOWN_CONDITIONS] = {
        "Spikes", "Stealth Rock", "Toxic Spikes", "Sticky Web", "Reflect", "Light Screen", "Aurora Veil", "Tailwind", "Safeguard", "Mist", "Lucky Chant",
    };
    const int condition = namedIn(NAMES, SHOWN_CONDITIONS, record.arguments[1]);
    if (condition < 0) return;
    int32_t& value = sideOf(record.arguments[0].value).conditions[condition];
    if (!begins)
        value = SHOWN_ABSENT;
    else if (condition == ShownCondition::SPIKES || condition == ShownCondition::TOXIC_SPIKES)
        value = value == SHOWN_ABSENT ? 1 : value + 1;
    else if (value == SHOWN_ABSENT)
        value = shown.turn;
}

void Keeper::swapSideConditions() {
    for (int n = 0; n < SHOWN_CONDITIONS; n++) {
        const int32_t own = shown.sides[0].conditions[n];
        shown.sides[0].conditions[n] = shown.sides[1].conditions[n];
        shown.sides[1].conditions[n] = own;
    }
}
