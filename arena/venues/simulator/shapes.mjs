// Gives the entries of Showdown's tables one shape a kind, so that V8 reads their properties without looking them up.
//
// Showdown makes moves, abilities, items, species and conditions from tables whose entries have different properties: 954
// moves of 202 shapes, 320 abilities of 152. V8 compiles a read of `move.target` well for up to four shapes; with more each
// read is a lookup, and a new shape throws compiled functions away. Here every entry has all properties that any entry of
// its kind has, undefined where it had none. Nothing in Showdown asks which properties an entry has, and a handler that is
// undefined counts as none.

/** Tells V8 at once that each field of this object's shape may hold anything and may change. V8 assumes that a field will
 *  hold what it has seen there, a small number say, and throws compiled functions away when something else comes. */
export function settle(object) {
  for (const key of Reflect.ownKeys(object)) {
    const {writable, value} = Object.getOwnPropertyDescriptor(object, key);
    if (!writable) continue;
    object[key] = 0;
    object[key] = settle;
    object[key] = value;
  }
}

/** What Showdown's code adds to a move in use (its interface ActiveMove). */
const ADDED = [
  'hitTargets', 'moveHitData', 'ability', 'allies', 'auraBooster', 'causedCrashDamage', 'forceStatus', 'hasAuraBreak',
  'hasBounced', 'hasSheerForce', 'isExternal', 'lastHit', 'magnitude', 'pranksterBoosted', 'selfDropped', 'statusRoll',
  'stellarBoosted', 'totalDamage', 'typeChangerBoosted', 'infiltrates', 'ruinedAtk', 'ruinedDef', 'ruinedSpA', 'ruinedSpD',
  'isZOrMaxPowered',
];

// How a value is copied: as it is; an object of plain values, by its properties; anything else by Showdown's deepClone.
const [SAME, FLAT, DEEP] = [0, 1, 2];

function depthOf(value) {
  if (value === null || typeof value !== 'object') return SAME;
  const flat = Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(each => depthOf(each) === SAME);
  return flat ? FLAT : DEEP;
}

const copyFlat = value => (value !== null && typeof value === 'object' ? {...value} : value);

/** All properties of a kind of entry, and constructors that V8 knows the shape of. keys: name -> how its value is copied. */
class Layout {
  constructor(keys, prototype) {
    this.keys = keys;
    const names = [...keys.keys()].map(name => JSON.stringify(name));
    this.Entry = new Function('from', names.map(name => `this[${name}] = from[${name}];`).join('\n'));
    this.Entry.prototype = prototype;
    settle(new this.Entry({}));
    this.active = null;
  }

  /** A constructor of copies for use: Showdown's deepClone of an entry, with what will be added to it. */
  get Active() {
    if (this.active === null) {
      const copies = [...this.keys].map(([key, depth]) => {
        const name = JSON.stringify(key);
        const value = `from[${name}]`;
        return `this[${name}] = ${[value, `copyFlat(${value})`, `clone(${value})`][depth]};`;
      });
      const added = ADDED.filter(name => !this.keys.has(name)).map(name => `this.${name} = undefined;`);
      const code = [...copies, ...added, 'this.hit = 0;'].join('\n');
      this.active = new Function('copyFlat', `return function (from, clone) {${code}}`)(copyFlat);
      this.active.prototype = this.Entry.prototype;
      settle(new this.active({}, value => value));
    }
    return this.active;
  }

  fits(entry) {
    for (const key in entry) if (!(this.keys.get(key) >= depthOf(entry[key]))) return false;
    return true;
  }
}

// Prototype of a kind of entry -> its layout. It is replaced by a larger one when an entry of another generation has a
// property that it lacks.
const layouts = new Map();
// Entry -> its layout; copy of a move that nobody may change, by move.
const shaped = new WeakMap();
const frozen = new WeakMap();

/** An entry with all properties of its kind. tables: what entries of its kind are made from. */
function withShape(entry, tables) {
  const prototype = Object.getPrototypeOf(entry);
  let layout = layouts.get(prototype);
  if (!layout?.fits(entry)) {
    const keys = new Map(layout?.keys);
    for (const source of [entry, ...tables().flatMap(table => Object.values(table))]) {
      for (const key in source) keys.set(key, Math.max(keys.get(key) ?? SAME, depthOf(source[key])));
    }
    layout = new Layout(keys, prototype);
    layouts.set(prototype, layout);
  }
  const same = new layout.Entry(entry);
  shaped.set(same, layout);
  return same;
}

/** Makes every Dex keep its entries with one shape a kind. Takes the classes of Showdown's modules of the Dex. */
export function shapeEntries(classes) {
  const {DexMoves, DataMove, DexAbilities, Ability, DexItems, Item, DexSpecies, Species, DexConditions, Condition} = classes;
  const conditionsOf = table => Object.values(table).map(entry => entry.condition).filter(Boolean);
  keepShaped(DexMoves, DataMove, 'moveCache', data => [data.Moves]);
  keepShaped(DexAbilities, Ability, 'abilityCache', data => [data.Abilities]);
  keepShaped(DexItems, Item, 'itemCache', data => [data.Items]);
  keepShaped(DexSpecies, Species, 'speciesCache', data => [data.Pokedex, data.FormatsData]);
  keepShaped(DexConditions, Condition, 'conditionCache', data => [
    data.Conditions, ...[data.Moves, data.Abilities, data.Items].map(conditionsOf),
  ]);
}

function keepShaped(Table, Kind, cache, tables) {
  const {getByID} = Table.prototype;
  Table.prototype.getByID = function (id) {
    const known = this[cache].get(id);
    if (known !== undefined) return known;
    const found = getByID.call(this, id);
    const kept = this[cache].get(id); // none: there is no such entry, and what was found is not kept
    if (kept === undefined) return found;
    if (shaped.has(kept) || !(kept instanceof Kind)) return kept;
    const entry = this.dex.deepFreeze(withShape(kept, () => tables(this.dex.data)));
    this[cache].set(id, entry);
    return entry;
  };
}

/** The layout of a move that is in no table, such as the turn after a Hyper Beam, if it has no property of its own. */
function fitting(move) {
  const layout = layouts.get(Object.getPrototypeOf(move));
  return layout?.fits(move) ? layout : undefined;
}

/** A copy of a move for one use of it, as Showdown's getActiveMove makes it. clone: Showdown's deepClone. */
export function activeCopy(move, clone) {
  const layout = shaped.get(move) ?? fitting(move);
  if (layout !== undefined) return new layout.Active(move, clone);
  const copy = clone(move);
  copy.hit = 0;
  return copy;
}

/** The same for whoever only looks: one copy for all. */
export function frozenCopy(move, clone, deepFreeze) {
  let copy = frozen.get(move);
  if (copy === undefined) frozen.set(move, (copy = deepFreeze(activeCopy(move, clone))));
  return copy;
}
