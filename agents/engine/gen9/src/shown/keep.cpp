// The team preview, a step and a request as a seat reads them; what Python calls for battles whose seats' knowledge is kept.

#include "keeper.h"
#include "request.h"
#include "share.h"

namespace {

// A hash of details, moves, stats and ability: what an entry of a request says of a set. Never 0.
int32_t sheetOf(const Pokemon& p) {
    uint32_t hash = 2166136261u;
    const auto add = [&](int32_t word) { hash = (hash ^ uint32_t(word)) * 16777619u; };
    add(inDetails(p.baseSpecies));
    add(p.baseAbility);
    for (int slot = 0; slot < p.moveCount; slot++) add(p.moveSlots[slot].id);
    for (int stat : p.baseStoredStats) add(stat);
    return int32_t(hash | 1);
}

}  // namespace

// What the request of the team preview tells: its own team.
void Keeper::begin() {
    const Side& own = row.sides[seat];
    int32_t ranks[TEAM];
    for (int n = 0; n < TEAM; n++) ranks[n] = shown.nameRank[n];
    shown = {};
    for (int n = 0; n < TEAM; n++) shown.nameRank[n] = ranks[n];
    for (ShownSide& side : shown.sides)
        for (int32_t& value : side.conditions) value = SHOWN_ABSENT;
    ShownSide& side = shown.sides[0];
    for (; side.count < own.size; side.count++) {
        const Pokemon& of = own.pokemon[side.count];
        ShownPokemon& p = side.pokemon[side.count];
        p.pokemon = 1 + of.number;
        p.level = of.level;
        p.species = p.detailsSpecies = SHOWN_ABSENT;
        readEntry(p, of);
    }
}

void Keeper::readLines(const Log& lines) {
    log = &lines;
    for (line = 0; line < lines.count; line++)
        if (!lines.records[line].onlySide) readLine(lines.records[line]);
}

// One of its own as the request has it (seat_view.py _update_team_from_request).
void Keeper::readEntry(ShownPokemon& p, const Pokemon& entry) {
    p.hp = entry.hp;
    p.status = entry.hp ? entry.status : int(SHOWN_FAINTED);
    if (entry.hp) p.maxhp = entry.maxhp;
    p.item = entry.item;
    const int32_t sheet = sheetOf(entry);
    if (p.transformed || sheet != p.sheet) {
        if (p.detailsSpecies == inDetails(entry.baseSpecies)) p.detailsTera = 0;
        updateFromDetails(p, inDetails(entry.baseSpecies), 0);
        for (int slot = 0; slot < entry.moveCount; slot++) addMove(p, entry.moveSlots[slot].id);
    }
    p.sheet = sheet;
    if (!p.formeChangeAbility) p.ability = entry.baseAbility;
    const int own = p.formeChangeAbility ? p.formeChangeAbility : p.ability;
    p.temporaryAbility = entry.ability == own ? 0 : entry.ability;
}

// What SeatView.ask takes from a request. locked: the move that its active Pokémon is locked into, 0 for none.
void Keeper::readRequest(int locked) {
    const Side& own = row.sides[seat];
    ShownSide& side = shown.sides[0];
    ShownPokemon* p = activeOf(side);
    const int itemBefore = p ? p->item : 0;
    for (int n = 0; n < side.count; n++) readEntry(side.pokemon[n], own.pokemon[n]);
    for (ShownSide& either : shown.sides) {
        for (ShownPokemon& known : either.pokemon) {
            keepLastMove(known);
            known.lastBefore = 0;
        }
    }
    if (!p) return;
    if (own.request == REQUEST_MOVE) {
        p->mustRecharge = locked == move::recharge;
        const Pokemon& of = own.pokemon[(p->pokemon - 1) % TEAM];
        bool struggles = true;
        for (int slot = 0; slot < of.moveCount; slot++) struggles = struggles && (of.moveSlots[slot].disabled == 1 || of.moveSlots[slot].pp <= 0);
        for (int slot = 0; slot < of.moveCount && !locked && !struggles; slot++)
            if (ShownMove* move = findMove(*p, of.moveSlots[slot].id)) move->pp = of.moveSlots[slot].pp;
    }
    ShownPokemon* attacker = find(shown.sides[1].lastMover);  // Sticky Barb has changed hands
    if (p->item == item::stickybarb && itemBefore != item::stickybarb)
        takeBarb(*p);
    else if (itemBefore == item::stickybarb && !p->item && attacker)
        attacker->item = item::stickybarb;
}

namespace {

// Plays a battle on, and adds what both seats are shown.
template <typename Play>
void playShown(Row& row, Shown* shown, Play play) {
    static thread_local Log log;
    log.clear();
    Battle battle(row);
    battle.log = &log;
    play(battle);
    battle.log = nullptr;
    for (int seat = 0; seat < SIDES; seat++) {
        shown[seat].revealed = 0;
        Keeper keeper(shown[seat], seat, row);
        keeper.readLines(log);
        if (log.full) shown[seat].parseWarnings++;
        if (!row.sides[seat].request || battle.ended()) continue;
        const bool maybeLocked = atPosition(row.sides[seat], 0).trapped;
        keeper.readRequest(maybeLocked ? battle.lockedMove(seat, 0) : 0);
    }
}

Shown* shownOf(int32_t* words, int64_t n) { return reinterpret_cast<Shown*>(words) + SIDES * n; }

}  // namespace

extern "C" {

int gen9_shown_words() { return SHOWN_WORDS; }

// As gen9_start, with what both seats are shown: shown [count, sides, SHOWN_WORDS], of which nameRank is read.
void gen9_start_shown(int32_t* rows, int64_t count, int32_t* shown, int threads) {
    shareLoop(count, threads, [&](int64_t n) {
        Row& row = reinterpret_cast<Row*>(rows)[n];
        Shown* both = shownOf(shown, n);
        for (int seat = 0; seat < SIDES; seat++) Keeper(both[seat], seat, row).begin();
        playShown(row, both, [](Battle& battle) { battle.start(); });
    });
}

// Puts battles whose rows hold teams and seed at their team preview. choosing [count, sides]: which seats choose their lead. shown: as of
// gen9_start_shown, which begins them then.
void gen9_preview_shown(int32_t* rows, int64_t count, const uint8_t* choosing, int32_t* shown, int threads) {
    shareLoop(count, threads, [&](int64_t n) {
        Row& row = reinterpret_cast<Row*>(rows)[n];
        Battle(row).prepare();
        row.winner = UNDECIDED;
        for (int seat = 0; seat < SIDES; seat++) {
            Shown& own = shownOf(shown, n)[seat];
            Keeper(own, seat, row).begin();
            own.choosesLead = choosing[n * SIDES + seat];
        }
    });
}

// As gen9_step; what is at its team preview stays there. shown: of all rows.
void gen9_step_shown(int32_t* rows, const int64_t* which, int64_t count, const int32_t* choices, int32_t* shown, int threads) {
    shareLoop(count, threads, [&](int64_t n) {
        Row& row = reinterpret_cast<Row*>(rows)[which[n]];
        Shown* both = shownOf(shown, which[n]);
        if (row.winner != UNDECIDED || both[0].choosesLead || both[1].choosesLead) return;
        playShown(row, both, [&](Battle& battle) { battle.commitChoices(choices + n * SIDES * ACTIVE); });
    });
}

}  // extern "C"
