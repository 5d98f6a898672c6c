// Showdown's protocol log of what a battle plays: a record for each line, which log_text.cpp writes as text.
//
//     b.add(Message::damage, p, health(p), from(item::lifeorb), of(source));     // |-damage|p1a: X|90/100|[from] item: Life Orb|[of] p2a: Y
//
// Messages have Showdown's names; what it writes with a minus and another without are told apart by name (start, begin).

#pragma once

#include "tables.h"

#define MESSAGES(X) \
    X(empty, "") X(begin, "start") X(block, "-block") X(move, "move") X(cant, "cant") X(switch_, "switch") X(drag, "drag")           \
    X(faint, "faint") X(detailschange, "detailschange") X(teamsize, "teamsize") X(turn, "turn") X(upkeep, "upkeep") X(win, "win")    \
    X(tie, "tie") X(message, "message") X(bigerror, "bigerror") X(ability, "-ability") X(activate, "-activate") X(anim, "-anim")     \
    X(boost, "-boost") X(clearallboost, "-clearallboost") X(clearboost, "-clearboost") X(clearnegativeboost, "-clearnegativeboost")  \
    X(clearpositiveboost, "-clearpositiveboost") X(crit, "-crit") X(curestatus, "-curestatus") X(damage, "-damage") X(end, "-end")   \
    X(enditem, "-enditem") X(fail, "-fail") X(fieldactivate, "-fieldactivate") X(fieldend, "-fieldend") X(fieldstart, "-fieldstart") \
    X(formechange, "-formechange") X(heal, "-heal") X(hint, "-hint") X(hitcount, "-hitcount") X(immune, "-immune") X(item, "-item")  \
    X(miss, "-miss") X(mustrecharge, "-mustrecharge") X(ohko, "-ohko") X(prepare, "-prepare") X(resisted, "-resisted")               \
    X(setboost, "-setboost") X(sethp, "-sethp") X(sideend, "-sideend") X(sidestart, "-sidestart") X(singlemove, "-singlemove")       \
    X(singleturn, "-singleturn") X(start, "-start") X(status, "-status") X(supereffective, "-supereffective")                        \
    X(swapsideconditions, "-swapsideconditions") X(terastallize, "-terastallize") X(transform, "-transform") X(unboost, "-unboost")  \
    X(weather, "-weather")

enum class Message : int32_t {
#define X(name, text) name,
    MESSAGES(X)
#undef X
};

// An argument of a message: what was true when it was written.
struct Argument {
    enum Kind : int32_t {
        Text,        // text, where % stands for the name of the effect `value`, # for the number `extra`
        Number,      // value
        Mon,         // value: its number; extra: the active slot, -1 where it is not out
        Details,     // value: its number; extra: species; more: 1 + the type to which it is terastallized
        Nickname,    // value: its number
        Health,      // value: its number; extra: HP; more: its greatest HP; last: status
        Name,        // value: an effect: its bare name
        Fullname,    // value: an effect: "move: X", "ability: X", "item: X", "X"
        Id,          // value: an effect
        Species,     // value
        Types,       // value, extra, more: 1 + type
        StatName,    // value
        PlayerId,    // value: a side: p1
        Player,      // value: its player's name
        SideName,    // value: p1: name
    } kind = Text;
    const char* text = nullptr;  // also what stands before the others; null: nothing
    int32_t value = 0, extra = 0, more = 0, last = 0;

    Argument() = default;
    Argument(const char* text) : text(text) {}
    Argument(int number) : kind(Number), value(number) {}
    Argument(Kind kind, int32_t value, int32_t extra = 0, int32_t more = 0, int32_t last = 0)
        : kind(kind), value(value), extra(extra), more(more), last(last) {}
    Argument(const Pokemon* p) {
        if (!p) return;
        kind = Mon;
        value = p->number;
        extra = p->isActive ? p->position : -1;
    }
    Argument after(const char* before) const {
        Argument changed = *this;
        changed.text = before;
        return changed;
    }
};

// What details call a species.
inline int inDetails(int species) {
    return species == species::greninjabond || species == species::rockruffdusk ? SPECIES[species].baseSpecies : species;
}

inline Argument health(const Pokemon* p) { return {Argument::Health, p->number, p->hp, p->maxhp, p->status}; }
inline Argument details(const Pokemon* p) { return {Argument::Details, p->number, p->baseSpecies, p->terastallized}; }
inline Argument named(int effect) { return {Argument::Name, effect}; }
inline Argument full(int effect) { return {Argument::Fullname, effect}; }
inline Argument idOf(int effect) { return {Argument::Id, effect}; }
inline Argument speciesName(int species) { return {Argument::Species, species}; }
inline Argument typeName(int type) { return {Argument::Types, 1 + type}; }
inline Argument statName(int stat) { return {Argument::StatName, stat}; }
inline Argument sideName(int side) { return {Argument::SideName, side}; }
inline Argument from(int effect) { return full(effect).after("[from] "); }
inline Argument of(const Pokemon* p) { return Argument(p).after("[of] "); }

struct Record {
    static constexpr int MOST = 10;
    Message message;
    int32_t count, onlySide;  // onlySide: 1 + the side that alone reads it
    Argument arguments[MOST];
};

// What a step wrote. Showdown's functions of the same names change the line of the last move.
class Log {
  public:
    static constexpr int MOST = 1024;
    Record records[MOST];
    int count = 0;
    bool full = false;  // something had no place

    void add(Message message, const Argument* arguments, int number, int onlySide = 0) {
        if (count == MOST) {
            full = true;
            return;
        }
        Record& record = records[count++];
        record.message = message;
        record.count = number;
        record.onlySide = onlySide;
        for (int n = 0; n < number; n++) record.arguments[n] = arguments[n];
    }
    void clear() {
        count = 0;
        full = false;
        lastMove = -1;
    }
    void addMove(Message message, const Argument* arguments, int number) {
        lastMove = count;
        add(message, arguments, number);
    }
    void attrLastMove(const Argument& attribute, bool still) {
        if (lastMove < 0) return;
        Record& record = records[lastMove];
        if (still && record.message == Message::anim) {
            for (int n = lastMove + 1; n < count; n++) records[n - 1] = records[n];
            count--;
            lastMove = -1;
            return;
        }
        if (still && record.count > 1) {
            record.arguments[2] = "";
            if (record.count == 2) record.count = 3;
        }
        full = full || record.count == Record::MOST;
        if (record.count < Record::MOST) record.arguments[record.count++] = attribute;
    }
    void retargetLastMove(const Pokemon* target) {
        if (lastMove >= 0 && records[lastMove].count > 2) records[lastMove].arguments[2] = target;
    }

  private:
    int lastMove = -1;
};

// How Python calls those who play: its own strings.
struct Names {
    const char* players[SIDES];
    const char* pokemon[SIDES * TEAM];
    int32_t shiny[SIDES * TEAM];
};

// Writes the records as lines, each ended by a line break. Returns their length, or -1 where there are more than
// `size` bytes or than a log has records for. row: for levels and genders.
int64_t writeLog(const Log& log, const Row& row, const Names& names, char* text, int64_t size);
