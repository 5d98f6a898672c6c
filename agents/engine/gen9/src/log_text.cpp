// The records of a log as Showdown's lines. What one side alone may know comes after a line |split|: first as its own side reads
// it, then as the others do.

#include <initializer_list>

#include "log.h"

namespace {

class Writer {
  public:
    Writer(const Row& row, const Names& names, char* text, int64_t size) : row(row), names(names), text(text), size(size) {}

    int64_t length = 0;  // may be more than size: then the rest is not written

    void put(const char* string) {
        for (; string && *string; string++) put(*string);
    }
    void put(char c) {
        if (length < size) text[length] = c;
        length++;
    }
    void put(int32_t number) {
        char digits[12];
        int count = 0;
        uint32_t left = number < 0 ? -uint32_t(number) : uint32_t(number);
        do digits[count++] = char('0' + left % 10);
        while (left /= 10);
        if (number < 0) put('-');
        while (count) put(digits[--count]);
    }

    void line(const Record& record, bool secret) {
        static constexpr const char* MESSAGE_NAMES[] = {
#define X(name, text) text,
            MESSAGES(X)
#undef X
        };
        put('|');
        put(MESSAGE_NAMES[int(record.message)]);
        for (int n = 0; n < record.count; n++) {
            put('|');
            argument(record.arguments[n], secret);
        }
        put('\n');
    }

    void split(int side) {
        put("|split|");
        player(side);
        put('\n');
    }

  private:
    const Row& row;
    const Names& names;
    char* text;
    int64_t size;

    void player(int side) {
        put('p');
        put(1 + side);
    }

    void fullname(int effect) {
        switch (EFFECTS[effect].type) {
            case EffectType::Ability: put("ability: "); break;
            case EffectType::Item: put("item: "); break;
            case EffectType::Move: put("move: "); break;
            default: break;
        }
        put(EFFECTS[effect].name);
    }

    void id(const char* name) {
        for (; *name; name++) {
            char c = *name >= 'A' && *name <= 'Z' ? char(*name + 'a' - 'A') : *name;
            if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) put(c);
        }
    }

    void health(const Argument& given, bool secret) {
        int hp = given.extra, maxhp = given.more;
        if (!hp) {
            put("0 fnt");
            return;
        }
        int percent = (100 * hp + maxhp - 1) / maxhp;
        if (percent == 100 && hp < maxhp) percent = 99;
        put(secret ? hp : percent);
        put('/');
        put(secret ? maxhp : 100);
        if (!given.last) return;
        put(' ');
        put(EFFECTS[given.last].name);
    }

    void pattern(const Argument& given) {
        for (const char* c = given.text; c && *c; c++) {
            if (*c == '%')
                put(EFFECTS[given.value].name);
            else if (*c == '#')
                put(given.extra);
            else
                put(*c);
        }
    }

    void argument(const Argument& given, bool secret);
    void details(const Argument& given);
};

constexpr const char* STAT_NAMES[] = {"atk", "def", "spa", "spd", "spe", "accuracy", "evasion"};

void Writer::details(const Argument& given) {
    const Pokemon& p = row.sides[given.value / TEAM].pokemon[given.value % TEAM];
    put(SPECIES[inDetails(given.extra)].name);
    if (p.level != 100) {
        put(", L");
        put(p.level);
    }
    if (p.gender) put(p.gender == 1 ? ", M" : ", F");
    if (names.shiny[given.value]) put(", shiny");
    if (!given.more) return;
    put(", tera:");
    put(TYPE_NAMES[given.more - 1]);
}

void Writer::argument(const Argument& given, bool secret) {
    if (given.kind == Argument::Text) {
        pattern(given);
        return;
    }
    put(given.text);
    switch (given.kind) {
        case Argument::Text: break;
        case Argument::Number: put(given.value); break;
        case Argument::Mon:
            player(given.value / TEAM);
            if (given.extra >= 0) put(char('a' + given.extra));
            put(": ");
            put(names.pokemon[given.value]);
            break;
        case Argument::Nickname: put(names.pokemon[given.value]); break;
        case Argument::Details: details(given); break;
        case Argument::Health: health(given, secret); break;
        case Argument::Name: put(EFFECTS[given.value].name); break;
        case Argument::Fullname: fullname(given.value); break;
        case Argument::Id: id(EFFECTS[given.value].name); break;
        case Argument::Species: put(SPECIES[given.value].name); break;
        case Argument::Types:
            for (int type : {given.value, given.extra, given.more}) {
                if (!type) continue;
                if (type != given.value) put('/');
                put(TYPE_NAMES[type - 1]);
            }
            break;
        case Argument::StatName: put(STAT_NAMES[given.value]); break;
        case Argument::PlayerId: player(given.value); break;
        case Argument::Player: put(names.players[given.value]); break;
        case Argument::SideName:
            player(given.value);
            put(": ");
            put(names.players[given.value]);
            break;
    }
}

}  // namespace

int64_t writeLog(const Log& log, const Row& row, const Names& names, char* text, int64_t size) {
    Writer writer(row, names, text, size);
    for (int n = 0; n < log.count; n++) {
        const Record& record = log.records[n];
        int owner = record.onlySide - 1;
        for (int k = 0; k < record.count && owner < 0; k++)
            if (record.arguments[k].kind == Argument::Health) owner = record.arguments[k].value / TEAM;
        if (owner >= 0) {
            writer.split(owner);
            writer.line(record, true);
        }
        if (record.onlySide)
            writer.put('\n');
        else
            writer.line(record, false);
    }
    return log.full || writer.length > size ? -1 : writer.length;
}
