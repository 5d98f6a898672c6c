// Gives the objects of a battle one shape a kind: Pokémon, actions of the queue, handlers of an event.
//
// Showdown makes actions and handlers as literals with different properties and adds others later; so do its methods to
// Pokémon. Each new shape makes V8 throw away the compiled functions that have not seen it. A host's first hundred battles
// spend a third of their time compiling, and about half of that on functions that were compiled before.

import {KEPT} from './events.mjs';
import {MADE} from './requests.mjs';
import {settle} from './shapes.mjs';

export function shapeObjects({Side, BattleQueue, Battle}) {
  shapePokemon(Side);
  shapeActions(BattleQueue);
  shapeHandlers(Battle);
}

/** Gives each Pokémon, as it is made, what Showdown, events.mjs and requests.mjs add to it later. */
function shapePokemon(Side) {
  const {addPokemon} = Side.prototype;
  let first = true;
  Side.prototype.addPokemon = function (set) {
    const pokemon = addPokemon.call(this, set);
    if (!pokemon) return pokemon; // the side is full
    pokemon[KEPT] = undefined;
    pokemon[MADE] = undefined;
    pokemon.lastMoveTargetLoc = undefined;
    pokemon.pendingStaleness = undefined;
    pokemon.staleness = undefined;
    if (first) for (const object of [pokemon, this, this.battle, this.battle.field, this.battle.queue]) settle(object);
    first = false;
    return pokemon;
  };
}

/** An action of the queue: what Showdown's interfaces of actions have, and what its code adds. */
class Action {
  constructor(from) {
    this.choice = from.choice;
    this.pokemon = from.pokemon;
    this.target = from.target;
    this.targetLoc = from.targetLoc;
    this.moveid = from.moveid;
    this.moveSlot = from.moveSlot;
    this.move = from.move;
    this.mega = from.mega;
    this.megax = from.megax;
    this.megay = from.megay;
    this.zmove = from.zmove;
    this.maxMove = from.maxMove;
    this.terastallize = from.terastallize;
    this.index = from.index;
    this.event = from.event;
    this.priority = from.priority;
    this.side = from.side;
    this.order = from.order;
    this.speed = from.speed;
    this.subOrder = from.subOrder;
    this.effectOrder = from.effectOrder;
    this.fractionalPriority = from.fractionalPriority;
    this.sourceEffect = from.sourceEffect;
    this.originalTarget = from.originalTarget;
    for (const key in from) if (!(key in this)) this[key] = from[key]; // a mod's own
  }
}

function shapeActions(BattleQueue) {
  settle(new Action({}));
  const {resolveAction} = BattleQueue.prototype;
  BattleQueue.prototype.resolveAction = function (action, midTurn) {
    return resolveAction.call(this, action && !(action instanceof Action) ? new Action(action) : action, midTurn);
  };
}

/** A handler of an event: what Showdown makes it from (a test looks for others), and what its code adds. */
class Handler {
  constructor({effect, callback, state, end, endCallArgs, effectHolder}) {
    this.effect = effect;
    this.callback = callback;
    this.state = state;
    this.end = end;
    this.endCallArgs = endCallArgs;
    this.effectHolder = effectHolder;
    this.order = this.priority = this.subOrder = this.effectOrder = this.speed = this.index = this.target = undefined;
  }
}

function shapeHandlers(Battle) {
  settle(new Handler({}));
  const {resolvePriority} = Battle.prototype;
  Battle.prototype.resolvePriority = function (handler, name) {
    return resolvePriority.call(this, new Handler(handler), name);
  };
}
