// Finds the handlers of Showdown's events without asking every effect by name.
//
// For an event such as ModifyDamage Showdown asks each effect in play (status, volatiles, ability, item, species … of each
// Pokémon, rules, weather) for onModifyDamage, and for onAlly…, onAny…, onFoe… or onSource…, depending on whose effect it is.
// Nearly all have none. Here an event is a number, and each effect keeps, by number, which of the five it has: bits.

const UNPREFIXED = new Set(['BeforeTurn', 'Update', 'Weather', 'WeatherChange', 'TerrainChange']);
const [ON, ALLY, ANY, FOE, SOURCE] = [1, 2, 4, 8, 16];
const PREFIXES = [[ON, 'on'], [ALLY, 'onAlly'], [ANY, 'onAny'], [FOE, 'onFoe'], [SOURCE, 'onSource']];
const ASKED = 32; // set for every effect that has been asked, whatever it has
const MOST_EVENTS = 512; // that are kept; for any further one effects are asked each time

/** A string that V8 keeps one copy of, so that looking up a property by it needs no hashing. */
const intern = text => Object.keys({[text]: 0})[0];

const events = new Map();

/** An event: {number, prefixed, switchIn, names: bit -> the name of its handlers}. */
function eventOf(name) {
  let event = events.get(name);
  if (event === undefined) {
    event = {number: events.size, prefixed: !UNPREFIXED.has(name), switchIn: name === 'SwitchIn', names: []};
    for (const [bit, prefix] of PREFIXES) event.names[bit] = intern(prefix + name);
    events.set(name, event);
  }
  return event;
}

/** Which handlers an effect has for an event, as bits. bits: what the effect keeps, by number of event (bitsOf). */
function handlersOf(effect, bits, event) {
  const known = bits[event.number];
  if (known > 0) return known;
  let found = ASKED;
  for (const [bit] of PREFIXES) if (effect[event.names[bit]] !== undefined) found |= bit;
  if (event.switchIn && effect.onStart !== undefined) found |= ON; // abilities and items: Battle.getCallback decides
  bits[event.number] = found;
  return found;
}

// Effect -> its bits. Effects are shared by all battles of a generation and never change.
const allBits = new WeakMap();

function bitsOf(effect) {
  let bits = allBits.get(effect);
  if (bits === undefined) allBits.set(effect, (bits = new Uint8Array(MOST_EVENTS)));
  return bits;
}

const handles = (effect, event) => (handlersOf(effect, bitsOf(effect), event) & ON) !== 0;

/** An effect in play, looked up again only when its id changes. */
class Kept {
  constructor(id, effect) {
    this.set(id, effect);
  }

  set(id, effect) {
    this.id = id;
    this.effect = effect;
    this.bits = bitsOf(effect);
  }

  handlers(event) {
    return handlersOf(this.effect, this.bits, event);
  }
}

/** The effects on a Pokémon that are in no table of states. */
class KeptEffects {
  constructor(pokemon) {
    this.status = new Kept(pokemon.status, pokemon.getStatus());
    this.ability = new Kept(pokemon.ability, pokemon.getAbility());
    this.item = new Kept(pokemon.item, pokemon.getItem());
    this.species = new Kept('', pokemon.baseSpecies);
  }

  update(pokemon) {
    const {status, ability, item, species} = this;
    if (status.id !== pokemon.status) status.set(pokemon.status, pokemon.getStatus());
    if (ability.id !== pokemon.ability) ability.set(pokemon.ability, pokemon.getAbility());
    if (item.id !== pokemon.item) item.set(pokemon.item, pokemon.getItem());
    if (species.effect !== pokemon.baseSpecies) species.set('', pokemon.baseSpecies);
    return this;
  }
}

/** The name under which this module keeps effects in Showdown's own objects. */
export const KEPT = Symbol('kept');

/** The effect of one state in a table of states, such as a Pokémon's volatiles: a state's id never changes. */
function keptIn(battle, states, id) {
  const state = states[id];
  return state[KEPT] ?? (state[KEPT] = new Kept(id, battle.dex.conditions.getByID(id)));
}

/** Which handlers the effects on a Pokémon have for an event: bits. */
function handlersOn(battle, pokemon, event) {
  const kept = (pokemon[KEPT] ??= new KeptEffects(pokemon)).update(pokemon);
  let found = kept.species.handlers(event) | kept.ability.handlers(event);
  if (pokemon.item) found |= kept.item.handlers(event);
  if (pokemon.status) found |= kept.status.handlers(event);
  const {volatiles} = pokemon;
  for (const id in volatiles) found |= keptIn(battle, volatiles, id).handlers(event);
  const slot = pokemon.side.slotConditions[pokemon.position];
  for (const id in slot) found |= keptIn(battle, slot, id).handlers(event);
  return found;
}

const nothing = () => {};

/** Showdown's findPokemonEventHandlers, in its order of effects. Called after handlersOn. */
function collect(battle, handlers, pokemon, event, bit) {
  const {status, ability, item, species} = pokemon[KEPT];
  const {volatiles, side} = pokemon;
  if (pokemon.status) add(battle, handlers, pokemon, status, pokemon.statusState, pokemon.clearStatus, event, bit);
  for (const id in volatiles) {
    add(battle, handlers, pokemon, keptIn(battle, volatiles, id), volatiles[id], pokemon.removeVolatile, event, bit);
  }
  add(battle, handlers, pokemon, ability, pokemon.abilityState, pokemon.clearAbility, event, bit);
  if (pokemon.item) add(battle, handlers, pokemon, item, pokemon.itemState, pokemon.clearItem, event, bit);
  add(battle, handlers, pokemon, species, pokemon.speciesState, nothing, event, bit);
  const slot = side.slotConditions[pokemon.position];
  for (const id in slot) {
    const kept = keptIn(battle, slot, id);
    const handler = add(battle, handlers, pokemon, kept, slot[id], side.removeSlotCondition, event, bit);
    if (handler !== null) handler.endCallArgs = [side, pokemon, kept.effect.id];
  }
}

/** Adds the handler that one effect has. Returns it, or null if it has none. */
function add(battle, handlers, pokemon, kept, state, end, event, bit) {
  if (!(kept.handlers(event) & bit)) return null;
  const {effect} = kept;
  const name = event.names[bit];
  const callback = event.switchIn ? battle.getCallback(pokemon, effect, name) : effect[name];
  if (callback === undefined) return null;
  const handler = battle.resolvePriority({effect, callback, state, end, effectHolder: pokemon}, name);
  handlers.push(handler);
  return handler;
}

/** Adds the handlers of an active Pokémon as an ally or a foe. found: its handlersOn. */
function collectActive(battle, handlers, pokemon, event, bit, found) {
  if (found & bit) collect(battle, handlers, pokemon, event, bit);
  if (found & ANY) collect(battle, handlers, pokemon, event, ANY);
}

/** Which handlers the conditions of a side have for an event: bits; 0: it has no conditions. */
function handlersAt(battle, side, event) {
  const {sideConditions} = side;
  let found = 0;
  for (const id in sideConditions) found |= keptIn(battle, sideConditions, id).handlers(event);
  return found;
}

/** Whether any effect of the field could handle an event. */
function fieldHandles(battle, field, event) {
  const rules = (field[KEPT] ??= Object.keys(field.pseudoWeather).map(id => keptIn(battle, field.pseudoWeather, id)));
  for (let i = 0; i < rules.length; i++) if (rules[i].handlers(event) & ON) return true;
  if (field.weather && handles(field.getWeather(), event)) return true;
  return !!field.terrain && handles(field.getTerrain(), event);
}

function append(list, more) {
  for (let i = 0; i < more.length; i++) list.push(more[i]);
}

/** Replaces methods of Showdown's classes by quicker ones. */
export function patchEvents({Battle, Pokemon, Side, Field}) {
  patchRules(Field);
  const {findEventHandlers, runEvent, singleEvent} = Battle.prototype;
  const stock = Object.fromEntries(RELIED_ON.battle.map(name => [name, Battle.prototype[name]]));
  let handlersFound = null;

  /** Whether a battle is one of more than two players, or its generation or format replaces a method that this relies on: then
   *  Showdown's own way is taken. */
  const ownWay = battle =>
    !(battle.gameType === 'singles' || battle.gameType === 'doubles') ||
    RELIED_ON.battle.some(name => battle[name] !== stock[name]) ||
    [battle.dex.data.Scripts, battle.format].some(
      own => RELIED_ON.pokemon.some(name => own.pokemon?.[name]) || RELIED_ON.side.some(name => own.side?.[name]),
    );

  Battle.prototype.findEventHandlers = function (target, eventName, source) {
    if (handlersFound !== null) {
      const found = handlersFound;
      handlersFound = null;
      return found;
    }
    if (Array.isArray(target) || target instanceof Side || (this[KEPT] ??= ownWay(this))) {
      return findEventHandlers.call(this, target, eventName, source);
    }
    const event = eventOf(eventName);
    const {prefixed, names} = event;
    const handlers = [];
    if (target instanceof Pokemon && (target.isActive || source?.isActive)) {
      const found = handlersOn(this, target, event);
      if (found & ON) collect(this, handlers, target, event, ON);
      if (prefixed) {
        const {active, foe} = target.side;
        for (let i = 0; i < active.length; i++) {
          const ally = active[i];
          if (!ally?.hp) continue;
          collectActive(this, handlers, ally, event, ALLY, ally === target ? found : handlersOn(this, ally, event));
        }
        for (let i = 0; i < foe.active.length; i++) {
          const opposite = foe.active[i];
          if (opposite?.hp) collectActive(this, handlers, opposite, event, FOE, handlersOn(this, opposite, event));
        }
      }
      target = target.side;
    }
    if (source && prefixed && handlersOn(this, source, event) & SOURCE) collect(this, handlers, source, event, SOURCE);
    if (target instanceof Side) {
      for (const side of this.sides) {
        if (side.n >= 2 && side.allySide) continue;
        const found = handlersAt(this, side, event);
        if (side === target || side === target.allySide) {
          if (found & ON) append(handlers, this.findSideEventHandlers(side, names[ON]));
        } else if (prefixed && found & FOE) {
          append(handlers, this.findSideEventHandlers(side, names[FOE]));
        }
        if (prefixed && found & ANY) append(handlers, this.findSideEventHandlers(side, names[ANY]));
      }
    }
    if (fieldHandles(this, this.field, event)) append(handlers, this.findFieldEventHandlers(this.field, names[ON]));
    if (this.events || handles(this.format, event)) append(handlers, this.findBattleEventHandlers(names[ON]));
    return handlers;
  };

  // Most events find no handler at all; then there is nothing to sort, no event to set up, and the answer is what came in.
  Battle.prototype.runEvent = function (eventid, target, source, sourceEffect, relayVar, onEffect, fastExit) {
    if (onEffect || Array.isArray(target) || this.eventDepth >= 8) {
      return runEvent.call(this, eventid, target, source, sourceEffect, relayVar, onEffect, fastExit);
    }
    const handlers = this.findEventHandlers(target || this, eventid, source instanceof Pokemon ? source : null);
    if (handlers.length) {
      handlersFound = handlers; // for the call of findEventHandlers with which Showdown's runEvent begins
      return runEvent.call(this, eventid, target, source, sourceEffect, relayVar, onEffect, fastExit);
    }
    if (relayVar === undefined || relayVar === null) return true;
    const whole = typeof relayVar === 'number' && relayVar === Math.abs(Math.floor(relayVar));
    return whole ? this.modify(relayVar, 1) : relayVar;
  };

  // The same for an event of one effect: without a handler all of Showdown's checks come to the same answer.
  Battle.prototype.singleEvent = function (eventid, effect, state, target, source, sourceEffect, relayVar, callback) {
    const quiet = !this.debugMode && this.eventDepth < 8 && this.log.length - this.sentLogPos <= 1000;
    if (quiet && !callback && effect[eventOf(eventid).names[ON]] === undefined) return relayVar === undefined ? true : relayVar;
    return singleEvent.call(this, eventid, effect, state, target, source, sourceEffect, relayVar, callback);
  };
}

/** Methods whose work is done here without calling them, or whose handlers must be those that this module knows of. */
const RELIED_ON = {
  battle: ['findPokemonEventHandlers', 'findSideEventHandlers', 'findFieldEventHandlers', 'getCallback'],
  pokemon: ['getStatus', 'getAbility', 'getItem', 'alliesAndSelf', 'foes'],
  side: ['allies', 'foes', 'activeTeam'],
};

/** Forgets what is kept of a field's rules and pseudo-weathers when they change. */
function patchRules(Field) {
  for (const name of ['addPseudoWeather', 'removePseudoWeather']) {
    const change = Field.prototype[name];
    Field.prototype[name] = function (...words) {
      this[KEPT] = undefined;
      const answer = change.apply(this, words);
      this[KEPT] = undefined;
      return answer;
    };
  }
}
