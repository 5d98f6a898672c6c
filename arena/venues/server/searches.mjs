// The ladder of a server that the arena opens for others: its owner makes the matches.
//
//   {id, search: USER, format}      a user looks for a battle on the ladder
//   {id, gone: USER, format?}       he has taken that back; without a format: all his searches and challenges, because he
//                                   has left or changed his name
//
// Showdown then matches him with a user whom the owner expects him to play, and with nobody else.

let notify = null;
let owners = new Set(); // the owner's own users, by id

/**
 * From now on; a second call replaces the first. isExpected(users, format): whether the owner has ordered that battle, of two
 * users or of one with anybody. users: the owner's own. say: to the owner.
 */
export function watchSearches({Ladders, User, isExpected, users, say}) {
  const first = notify === null;
  notify = say;
  owners = new Set(users);
  if (!first) return;
  const {prototype} = Ladders.Ladder;
  const {addSearch, cancelSearch} = prototype;
  const {cancelReady} = User.prototype;

  prototype.matchmakingOK = function (matches) {
    return isExpected(matches.map(([, user]) => user.id), matches[0][0].formatid);
  };

  prototype.addSearch = function (search, user) {
    addSearch.call(this, search, user);
    dropStale(Ladders, isExpected);
    const {formatid} = search;
    if (Ladders.searches.get(formatid)?.searches.get(user.id) === search) notify({search: user.id, format: formatid});
  };

  prototype.cancelSearch = function (user) {
    const cancelled = cancelSearch.call(this, user);
    if (cancelled) notify({gone: user.id, format: this.formatid});
    return cancelled;
  };

  const {cancelSearches} = Ladders;
  Ladders.cancelSearches = function (user) {
    const formats = Ladders.getSearches(user);
    const count = cancelSearches.call(this, user);
    for (const format of formats) notify({gone: user.id, format});
    return count;
  };

  // Called when a user's last connection has closed, and when he changes his name.
  User.prototype.cancelReady = function () {
    cancelReady.call(this);
    for (const id of new Set([this.id, ...this.previousIDs.slice(-1)])) notify({gone: id});
  };
}

/** Ends the searches of the owner's own users for battles that he expects no longer: they would meet the next one. */
export function dropStale(Ladders, isExpected) {
  for (const [format, {searches}] of Ladders.searches) {
    for (const id of searches.keys()) if (owners.has(id) && !isExpected([id], format)) searches.delete(id);
  }
}
