// Makes Showdown's own code quicker without changing what it does: every battle must give the same log, line by line
// (tests/arena/simulator/test_real_battles.py plays both). The two places where its time goes:
//
// 1. Event handlers. For each of the hundreds of events of a turn Showdown asks every effect in play (status, volatiles,
//    ability, item, species … of each Pokémon, for four prefixes each) whether it has a property named after the event, by
//    a name glued together on the spot, which V8 must hash and look up anew each time. Here the names are made once, an
//    effect is asked once whether it has any handler for the event, and each Pokémon is walked once instead of three times.
// 2. Copies of moves. Each use of a move clones it deeply, property by property and by name. Here each move gets a
//    constructor of its copies, made once, that knows which of its properties need a deep copy.

import {createRequire} from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const UNPREFIXED = new Set(['BeforeTurn', 'Update', 'Weather', 'WeatherChange', 'TerrainChange']);

/** A string that V8 keeps one copy of, so that looking up a property by it needs no hashing. */
const intern = text => Object.keys({[text]: 0})[0];

const namesOf = new Map();
function eventNames(eventName) {
  let names = namesOf.get(eventName);
  if (!names) {
    const prefixed = !UNPREFIXED.has(eventName);
    const [on, ally, any, foe, source] = ['', 'Ally', 'Any', 'Foe', 'Source'].map(p => intern(`on${p}${eventName}`));
    names = {prefixed, on, ally, any, foe, source, self: prefixed ? [on, ally, any] : [on], other: [foe, any]};
    namesOf.set(eventName, names);
  }
  return names;
}

// effect -> the names of all its handlers. Effects are shared by all battles of a generation and never change.
const handlersOf = new WeakMap();
function handlerNames(effect) {
  let names = handlersOf.get(effect);
  if (names === undefined) {
    const found = [];
    for (const key in effect) if (key.startsWith('on')) found.push(key);
    names = found.length ? new Set(found) : null;
    handlersOf.set(effect, names);
  }
  return names;
}

export function speedUp(packageFolder) {
  const sim = name => require(path.join(packageFolder, 'dist', 'sim', name));
  const {Battle} = sim('battle.js');
  const {Pokemon} = sim('pokemon.js');
  const {Side} = sim('side.js');
  const {ModdedDex} = sim('dex.js');
  patchEvents(Battle, Pokemon, Side);
  patchMoveCopies(ModdedDex, Battle);
}

function patchEvents(Battle, Pokemon, Side) {
  const {findEventHandlers, runEvent, findPokemonEventHandlers, getCallback, findFieldEventHandlers, findSideEventHandlers} =
    Battle.prototype;
  const stock = {
    findEventHandlers, runEvent, findPokemonEventHandlers, getCallback, findFieldEventHandlers, findSideEventHandlers,
  };

  /** Adds the handlers that one effect on a Pokémon has for each of `names` to the list of the same index. */
  function ask(battle, pokemon, effect, state, end, endCallArgs, names, lists) {
    const known = handlerNames(effect);
    if (known === null) return;
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      let callback;
      if (known.has(name)) callback = effect[name];
      else if (name === 'onSwitchIn') callback = battle.getCallback(pokemon, effect, name);
      if (callback === undefined) continue;
      const handler = {effect, callback, state, end, effectHolder: pokemon};
      if (endCallArgs) handler.endCallArgs = endCallArgs;
      lists[i].push(battle.resolvePriority(handler, name));
    }
  }

  /** Showdown's findPokemonEventHandlers for several names at once, in its order of effects. */
  function walk(battle, pokemon, names, lists) {
    const {conditions} = battle.dex;
    if (pokemon.status) {
      ask(battle, pokemon, pokemon.getStatus(), pokemon.statusState, pokemon.clearStatus, null, names, lists);
    }
    const {volatiles} = pokemon;
    for (const id in volatiles) {
      ask(battle, pokemon, conditions.getByID(id), volatiles[id], pokemon.removeVolatile, null, names, lists);
    }
    ask(battle, pokemon, pokemon.getAbility(), pokemon.abilityState, pokemon.clearAbility, null, names, lists);
    if (pokemon.item) ask(battle, pokemon, pokemon.getItem(), pokemon.itemState, pokemon.clearItem, null, names, lists);
    ask(battle, pokemon, pokemon.baseSpecies, pokemon.speciesState, nothing, null, names, lists);
    const {side} = pokemon;
    const slot = side.slotConditions[pokemon.position];
    for (const id in slot) {
      const condition = conditions.getByID(id);
      const args = [side, pokemon, condition.id];
      ask(battle, pokemon, condition, slot[id], side.removeSlotCondition, args, names, lists);
    }
  }

  /** Whether any effect of the field could handle `name`; most events are none of its business. */
  function fieldHandles(battle, field, name) {
    const {conditions} = battle.dex;
    for (const id in field.pseudoWeather) if (handlerNames(conditions.getByID(id))?.has(name)) return true;
    if (field.weather && handlerNames(field.getWeather())?.has(name)) return true;
    return !!field.terrain && !!handlerNames(field.getTerrain())?.has(name);
  }

  function sideHandles(battle, side, name) {
    const {conditions} = battle.dex;
    for (const id in side.sideConditions) if (handlerNames(conditions.getByID(id))?.has(name)) return true;
    return false;
  }

  /** A generation's scripts may replace any method of a battle; then Showdown's own way is taken. */
  const replaced = battle =>
    battle.findPokemonEventHandlers !== stock.findPokemonEventHandlers ||
    battle.getCallback !== stock.getCallback ||
    battle.findFieldEventHandlers !== stock.findFieldEventHandlers ||
    battle.findSideEventHandlers !== stock.findSideEventHandlers;

  Battle.prototype.findEventHandlers = function (target, eventName, source) {
    const found = this.handlersFound;
    if (found) {
      this.handlersFound = null;
      return found;
    }
    if (Array.isArray(target) || target instanceof Side || replaced(this)) {
      return stock.findEventHandlers.call(this, target, eventName, source);
    }
    const names = eventNames(eventName);
    const handlers = [];
    if (target instanceof Pokemon && (target.isActive || source?.isActive)) {
      const allies = names.prefixed ? target.alliesAndSelf() : [];
      if (allies.length === 1 && allies[0] === target) {
        const [ally, any] = [[], []];
        walk(this, target, names.self, [handlers, ally, any]);
        append(handlers, ally);
        append(handlers, any);
      } else {
        walk(this, target, [names.on], [handlers]);
        for (const ally of allies) {
          const any = [];
          walk(this, ally, [names.ally, names.any], [handlers, any]);
          append(handlers, any);
        }
      }
      if (names.prefixed) {
        for (const foe of target.foes()) {
          const any = [];
          walk(this, foe, names.other, [handlers, any]);
          append(handlers, any);
        }
      }
      target = target.side;
    }
    if (source && names.prefixed) walk(this, source, [names.source], [handlers]);
    if (target instanceof Side) {
      for (const side of this.sides) {
        if (side.n >= 2 && side.allySide) continue;
        const ours = side === target || side === target.allySide;
        if (ours && sideHandles(this, side, names.on)) {
          append(handlers, this.findSideEventHandlers(side, names.on));
        } else if (!ours && names.prefixed && sideHandles(this, side, names.foe)) {
          append(handlers, this.findSideEventHandlers(side, names.foe));
        }
        if (names.prefixed && sideHandles(this, side, names.any)) {
          append(handlers, this.findSideEventHandlers(side, names.any));
        }
      }
    }
    if (fieldHandles(this, this.field, names.on)) append(handlers, this.findFieldEventHandlers(this.field, names.on));
    if (this.events || handlerNames(this.format)?.has(names.on)) {
      append(handlers, this.findBattleEventHandlers(names.on));
    }
    return handlers;
  };

  // Most events find no handler at all; then there is nothing to sort, no event to set up, and the answer is what came in.
  Battle.prototype.runEvent = function (eventid, target, source, sourceEffect, relayVar, onEffect, fastExit) {
    if (onEffect || Array.isArray(target) || this.eventDepth >= 8) {
      return stock.runEvent.call(this, eventid, target, source, sourceEffect, relayVar, onEffect, fastExit);
    }
    const handlers = this.findEventHandlers(target || this, eventid, source instanceof Pokemon ? source : null);
    if (handlers.length) {
      this.handlersFound = handlers; // for the call of findEventHandlers with which Showdown's runEvent begins
      return stock.runEvent.call(this, eventid, target, source, sourceEffect, relayVar, onEffect, fastExit);
    }
    if (relayVar === undefined || relayVar === null) return true;
    const whole = typeof relayVar === 'number' && relayVar === Math.abs(Math.floor(relayVar));
    return whole ? this.modify(relayVar, 1) : relayVar;
  };
}

const nothing = () => {};

function append(list, more) {
  for (let i = 0; i < more.length; i++) list.push(more[i]);
}

// move -> [a constructor of its copies, the move itself in a form that is quick to read from, one frozen copy]
const copiersOf = new WeakMap();

/** A constructor that copies one property after the other: V8 then knows the shape of the copies. */
function copierOf(move, deepClone) {
  let copier = copiersOf.get(move);
  if (!copier) {
    const lines = Object.keys(move).map(key => {
      const value = `move[${JSON.stringify(key)}]`;
      return `this[${JSON.stringify(key)}] = ${copyCode(move[key], value)};`;
    });
    const Copy = new Function('move', 'clone', [...lines, 'this.hit = 0;'].join('\n'));
    Copy.prototype = Object.getPrototypeOf(move);
    copier = [Copy, new Copy(move, deepClone), deepFreeze(new Copy(move, deepClone))];
    copiersOf.set(move, copier);
  }
  return copier;
}

/** The code that copies `value` as Showdown's deepClone does. */
function copyCode(value, name) {
  if (value === null || typeof value !== 'object') return name;
  const flat = Object.values(value).every(inner => inner === null || typeof inner !== 'object');
  if (flat && Object.getPrototypeOf(value) === Object.prototype) return `{...${name}}`;
  return `clone(${name})`;
}

function deepFreeze(value) {
  if (value === null || typeof value !== 'object') return value;
  for (const key of Object.keys(value)) deepFreeze(value[key]);
  return Object.freeze(value);
}

function patchMoveCopies(ModdedDex, Battle) {
  let looking = false;
  ModdedDex.prototype.getActiveMove = function (move) {
    if (move && typeof move.hit === 'number') return move;
    const [Copy, model, frozen] = copierOf(this.moves.get(move), this.deepClone);
    return looking ? frozen : new Copy(model, this.deepClone);
  };

  // At the end of a turn Showdown copies every move of both Pokémon only to ask whether it disables itself. A frozen copy
  // does for that; if anything there ever tried to change it, Showdown's code, being strict, would throw.
  const {endTurn} = Battle.prototype;
  Battle.prototype.endTurn = function () {
    looking = true;
    try {
      return endTurn.call(this);
    } finally {
      looking = false;
    }
  };
}
