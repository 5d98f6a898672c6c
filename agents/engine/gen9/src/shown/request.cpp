#include "request.h"

namespace {

void listMoves(Battle& battle, int side, const Shown& shown, Request& request) {
    const Side& whole = battle.row.sides[side];
    const Pokemon& mon = atPosition(whole, 0);
    if (int locked = battle.lockedMove(side, 0)) {
        request.moves[request.count++] = {.id = locked, .pp = 0, .maxpp = 0, .disabled = 0, .slot = 0, .hasPp = 0};
        request.trapped = true;
        return;
    }
    bool struggles = true;
    for (int n = 0; n < mon.moveCount; n++) {
        const MoveSlot& slot = mon.moveSlots[n];
        bool disabled = slot.disabled == 1 || slot.pp <= 0 || (slot.disabled && shown.revealed >> n & 1);
        struggles = struggles && disabled;
        request.moves[request.count++] = {slot.id, slot.pp, slot.maxpp, disabled, n, 1};
    }
    if (struggles) {
        request.count = 1;
        request.moves[0] = {.id = move::struggle, .pp = 0, .maxpp = 0, .disabled = 0, .slot = 0, .hasPp = 0};
    }
    bool alone = true;
    for (int position = 1; position < whole.size; position++) alone = alone && atPosition(whole, position).fainted;
    request.trapped = !alone && (mon.trapped == 1 || (mon.trapped && shown.revealed & REVEALED_TRAP));
    request.canTerastallize = !struggles && mon.canTerastallize > 0;
}

}  // namespace

Request requestOf(Battle& battle, int side, const Shown& shown, const int32_t* moveRank) {
    const Side& whole = battle.row.sides[side];
    Request request = {};
    request.kind = shown.choosesLead ? int(REQUEST_PREVIEW) : battle.ended() ? int(REQUEST_NONE) : whole.request;
    if (request.kind == REQUEST_NONE) return request;
    if (request.kind == REQUEST_MOVE) listMoves(battle, side, shown, request);
    for (int n = 0; n < request.count; n++) request.order[n] = n;
    sortBy(request.order, request.count, [&](int32_t n) { return moveRank[request.moves[n].id]; });
    for (int position = 1; position < whole.size; position++) request.bench[request.benchCount++] = position;
    sortBy(request.bench, request.benchCount, [&](int32_t position) { return shown.nameRank[(whole.order[position] - 1) % TEAM]; });
    return request;
}

void writeLegal(const Row& row, int side, const Request& request, uint8_t* legal) {
    for (int action = 0; action < NETWORK_ACTIONS; action++) legal[action] = 0;
    for (int n = 0; n < request.count; n++) {
        const ListedMove& listed = request.moves[request.order[n]];
        if (listed.disabled) continue;
        int action = n;
        while (action && request.moves[request.order[action - 1]].id == listed.id) action--;
        legal[action] = 1;
        if (request.canTerastallize) legal[FIRST_TERA + action] = 1;
    }
    if (request.trapped || request.kind == REQUEST_NONE) return;
    if (request.kind == REQUEST_PREVIEW) legal[FIRST_LEADS] = 1;
    const Side& whole = row.sides[side];
    for (int n = 0; n < request.benchCount; n++)
        legal[FIRST_SWITCH + n] = atPosition(whole, request.bench[n]).hp > 0;
}

int engineAction(const Request& request, int action) {
    if (request.kind == REQUEST_PREVIEW) return action == FIRST_LEADS ? 0 : request.bench[action - FIRST_SWITCH];
    if (action >= FIRST_SWITCH && action < FIRST_TERA) return FIRST_ENGINE_SWITCH + request.bench[action - FIRST_SWITCH] - 1;
    bool tera = action >= FIRST_TERA;
    int slot = request.moves[request.order[tera ? action - FIRST_TERA : action]].slot;
    return slot + (tera ? FIRST_ENGINE_TERA : 0);
}
