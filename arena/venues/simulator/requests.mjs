// Makes a Pokémon's entry in a request anew only when something in it has changed.
//
// Each request lists the player's six Pokémon, most of them as they were in the last one. Showdown makes all entries for each
// request. Here an unchanged entry is the same object as in the last request, which the host then need not compare as text.

/** What an entry was made from, and the entry. Nobody changes an entry. */
class Made {
  constructor(pokemon, entry) {
    this.entry = entry;
    this.fullname = pokemon.fullname;
    this.details = pokemon.details;
    this.hp = pokemon.hp;
    this.maxhp = pokemon.maxhp;
    this.status = pokemon.status;
    this.baseAbility = pokemon.baseAbility;
    this.ability = pokemon.ability;
    this.item = pokemon.item;
    this.pokeball = pokemon.pokeball;
    this.hpType = pokemon.hpType;
    this.hpPower = pokemon.hpPower;
    this.happiness = pokemon.happiness;
    this.teraType = pokemon.teraType;
    this.terastallized = pokemon.terastallized;
    this.moves = pokemon.moves;
  }

  fits(pokemon) {
    return this.hp === pokemon.hp && this.maxhp === pokemon.maxhp && this.status === pokemon.status &&
      this.item === pokemon.item && this.ability === pokemon.ability && this.baseAbility === pokemon.baseAbility &&
      this.details === pokemon.details && this.fullname === pokemon.fullname && this.pokeball === pokemon.pokeball &&
      this.teraType === pokemon.teraType && this.terastallized === pokemon.terastallized && this.hpType === pokemon.hpType &&
      this.hpPower === pokemon.hpPower && this.happiness === pokemon.happiness && this.sameMoves(pokemon.moveSlots) &&
      this.sameStats(pokemon.baseStoredStats);
  }

  sameMoves(slots) {
    const {moves} = this;
    if (moves.length !== slots.length) return false;
    for (let i = 0; i < slots.length; i++) if (moves[i] !== slots[i].id) return false;
    return true;
  }

  sameStats(now) {
    const {stats} = this.entry;
    return stats.atk === now.atk && stats.def === now.def && stats.spa === now.spa && stats.spd === now.spd && stats.spe === now.spe;
  }
}

/** The name under which a Pokémon keeps its last entry. */
export const MADE = Symbol('made');

export function patchRequests(Pokemon) {
  const {getSwitchRequestData} = Pokemon.prototype;
  Pokemon.prototype.getSwitchRequestData = function (forAlly) {
    // An active Pokémon's entry also has what it is about to do (commanding, reviving).
    if (forAlly || this.position < this.side.active.length) return getSwitchRequestData.call(this, forAlly);
    const made = this[MADE];
    if (made?.fits(this)) return made.entry;
    const entry = getSwitchRequestData.call(this, forAlly);
    this[MADE] = new Made(this, entry);
    return entry;
  };
}
