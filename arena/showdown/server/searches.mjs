// The ladder of a server that the arena opens for others: its owner makes the matches.
//
//   {id, search: USER, format}      a user looks for a battle on the ladder
//
// Showdown then matches him with a user whom the owner expects him to play, and with nobody else.

let told = null;

/** From now on; a second call replaces the first. isExpected(users, format): whether the owner has ordered that battle. say: to the owner. */
export function watchSearches(Ladders, isExpected, say) {
  const first = told === null;
  told = say;
  if (!first) return;
  const {prototype} = Ladders.Ladder;
  const {addSearch} = prototype;

  prototype.matchmakingOK = function (matches) {
    return isExpected(matches.map(([, user]) => user.id), matches[0][0].formatid);
  };

  prototype.addSearch = function (search, user) {
    addSearch.call(this, search, user);
    const {formatid} = search;
    if (Ladders.searches.get(formatid)?.searches.get(user.id) === search) told({search: user.id, format: formatid});
  };
}
