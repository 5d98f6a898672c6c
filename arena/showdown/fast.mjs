// Makes Showdown's own code quicker without changing what it does: every battle must give the same log, line by line
// (tests/showdown/test_fast.py plays both). The two places where its time goes:
//
// 1. Event handlers. For each of the hundreds of events of a turn Showdown asks every effect in play (status, volatiles,
//    ability, item, species … of each Pokémon, for four prefixes each) whether it has a property named after the event, by
//    a name glued together on the spot, which V8 must hash and look up anew each time. Here the names are made once, an
//    effect is asked once whether it has any handler for the event, and each Pokémon is walked once instead of three times.
// 2. Copies of moves. Each use of a move clones it deeply, through a clone that walks every property. Here it is known
//    per move which properties need a deep copy.

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
  patchMoveCopies(ModdedDex);
}

function patchEvents(Battle, Pokemon, Side) {
  const stock = Battle.prototype.findEventHandlers;
  const {findPokemonEventHandlers, getCallback} = Battle.prototype;

  /** Adds the handlers that one effect on a Pokémon has for each of `names` to the list of the same index. */
  function ask(battle, pokemon, effect, state, end, endCallArgs, names, lists) {
    const known = handlerNames(effect);
    if (known === null) return;
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      let callback;
      if (known.has(name)) callback = effect[name];
      else if (name === 'onSwitchIn' && battle.gen >= 5) callback = battle.getCallback(pokemon, effect, name);
      if (callback === undefined) continue;
      const handler = {effect, callback, state, end, effectHolder: pokemon};
      if (endCallArgs) handler.endCallArgs = endCallArgs;
      lists[i].push(battle.resolvePriority(handler, name));
    }
  }

  /** Showdown's findPokemonEventHandlers for several names at once, in its order of effects. */
  function walk(battle, pokemon, names, lists) {
    const {conditions} = battle.dex;
    ask(battle, pokemon, pokemon.getStatus(), pokemon.statusState, pokemon.clearStatus, null, names, lists);
    const {volatiles} = pokemon;
    for (const id in volatiles) {
      ask(battle, pokemon, conditions.getByID(id), volatiles[id], pokemon.removeVolatile, null, names, lists);
    }
    ask(battle, pokemon, pokemon.getAbility(), pokemon.abilityState, pokemon.clearAbility, null, names, lists);
    ask(battle, pokemon, pokemon.getItem(), pokemon.itemState, pokemon.clearItem, null, names, lists);
    ask(battle, pokemon, pokemon.baseSpecies, pokemon.speciesState, () => {}, null, names, lists);
    const {side} = pokemon;
    const slot = side.slotConditions[pokemon.position];
    for (const id in slot) {
      const condition = conditions.getByID(id);
      const args = [side, pokemon, condition.id];
      ask(battle, pokemon, condition, slot[id], side.removeSlotCondition, args, names, lists);
    }
  }

  Battle.prototype.findEventHandlers = function (target, eventName, source) {
    // A generation's scripts may replace any method of a battle; then Showdown's own way is taken.
    const replaced = this.findPokemonEventHandlers !== findPokemonEventHandlers || this.getCallback !== getCallback;
    if (replaced || Array.isArray(target) || target instanceof Side) {
      return stock.call(this, target, eventName, source);
    }
    const names = eventNames(eventName);
    const handlers = [];
    if (target instanceof Pokemon && (target.isActive || source?.isActive)) {
      const allies = names.prefixed ? target.alliesAndSelf() : [];
      if (allies.length === 1 && allies[0] === target) {
        const lists = [handlers, [], []];
        walk(this, target, names.self, lists);
        handlers.push(...lists[1], ...lists[2]);
      } else {
        walk(this, target, [names.on], [handlers]);
        for (const ally of allies) {
          const lists = [[], []];
          walk(this, ally, [names.ally, names.any], lists);
          handlers.push(...lists[0], ...lists[1]);
        }
      }
      if (names.prefixed) {
        for (const foe of target.foes()) {
          const lists = [handlers, []];
          walk(this, foe, names.other, lists);
          handlers.push(...lists[1]);
        }
      }
      target = target.side;
    }
    if (source && names.prefixed) walk(this, source, [names.source], [handlers]);
    if (target instanceof Side) {
      for (const side of this.sides) {
        if (side.n >= 2 && side.allySide) continue;
        if (side === target || side === target.allySide) {
          handlers.push(...this.findSideEventHandlers(side, names.on));
        } else if (names.prefixed) {
          handlers.push(...this.findSideEventHandlers(side, names.foe));
        }
        if (names.prefixed) handlers.push(...this.findSideEventHandlers(side, names.any));
      }
    }
    handlers.push(...this.findFieldEventHandlers(this.field, names.on));
    handlers.push(...this.findBattleEventHandlers(names.on));
    return handlers;
  };
}

// move -> [the properties that hold objects]; the rest is copied flat.
const nestedOf = new WeakMap();

function patchMoveCopies(ModdedDex) {
  const stock = ModdedDex.prototype.getActiveMove;
  ModdedDex.prototype.getActiveMove = function (move) {
    if (move && typeof move.hit === 'number') return move;
    if (this.getActiveMove !== ModdedDex.prototype.getActiveMove) return stock.call(this, move);
    move = this.moves.get(move);
    let nested = nestedOf.get(move);
    if (!nested) {
      nested = Object.keys(move).filter(key => move[key] !== null && typeof move[key] === 'object');
      nestedOf.set(move, nested);
    }
    const copy = Object.assign(Object.create(Object.getPrototypeOf(move)), move);
    for (const key of nested) copy[key] = this.deepClone(move[key]);
    copy.hit = 0;
    return copy;
  };
}
