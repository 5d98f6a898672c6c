// Makes Showdown's own code quicker without changing what it does: every battle must give the same log, line by line
// (tests/arena/venues/simulator/test_real_battles.py and scripts/parity/simulator_parity.py play both). The places where its time goes:
//
// 1. Shapes. Moves, abilities and items have hundreds of different sets of properties, which V8 must look up anew each time:
//    see shapes.mjs; for the objects of a battle objects.mjs.
// 2. Event handlers. For each of the hundreds of events of a turn Showdown asks every effect in play whether it has a
//    property of one of five names, glued together on the spot: see events.mjs.
// 3. Copies of moves. Each use of a move clones it deeply, property by property and by name. Here a constructor of the
//    copies knows which properties need a deep copy.
// 4. Requests. Entries of Pokémon that have not changed are not made again: see requests.mjs.
// 5. Learnsets. Showdown loads with a generation's data who can learn which move: a quarter of what a process spends until
//    its first battle, and no battle asks. Here they are loaded when they are asked for.

import {createRequire} from 'node:module';
import path from 'node:path';
import {patchEvents} from './events.mjs';
import {shapeObjects} from './objects.mjs';
import {patchRequests} from './requests.mjs';
import {activeCopy, frozenCopy, shapeEntries} from './shapes.mjs';

const require = createRequire(import.meta.url);

export function speedUp(packageFolder) {
  const sim = name => require(path.join(packageFolder, 'dist', 'sim', name));
  const dex = ['moves', 'abilities', 'items', 'species', 'conditions'].map(name => sim(`dex-${name}.js`));
  shapeEntries(Object.assign({}, ...dex));
  shapeObjects({...sim('side.js'), ...sim('battle-queue.js'), ...sim('battle.js')});
  deferLearnsets(sim('dex.js').ModdedDex);
  patchMoveCopies(sim('dex.js').ModdedDex, sim('battle.js').Battle);
  patchRequests(sim('pokemon.js').Pokemon);
  patchEvents({...sim('battle.js'), ...sim('pokemon.js'), ...sim('side.js'), ...sim('field.js')});
}

function patchMoveCopies(ModdedDex, Battle) {
  let looking = false;
  ModdedDex.prototype.getActiveMove = function (move) {
    if (move && typeof move.hit === 'number') return move;
    const known = this.moves.get(move);
    return looking ? frozenCopy(known, this.deepClone, this.deepFreeze) : activeCopy(known, this.deepClone);
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

function deferLearnsets(ModdedDex) {
  const {loadData, loadDataFile} = ModdedDex.prototype;
  const deferred = dex => dex.isBase || /^gen[1-8]$/.test(dex.currentMod); // other mods may change them as they are loaded
  let deferring = false;
  ModdedDex.prototype.loadDataFile = function (folder, dataType) {
    return deferring && dataType === 'Learnsets' ? {} : loadDataFile.call(this, folder, dataType);
  };
  ModdedDex.prototype.loadData = function () {
    if (this.dataCache) return this.dataCache;
    const before = deferring;
    deferring = deferred(this);
    try {
      const data = loadData.call(this);
      if (deferring) {
        let learnsets;
        Object.defineProperty(data, 'Learnsets', {
          enumerable: true,
          get: () => (deferring ? {} : (learnsets ??= inherited(this))),
        });
      }
      return data;
    } finally {
      deferring = before;
    }
  };

  /** As Showdown's loadData does it with every kind of data. */
  function inherited(dex) {
    const own = loadDataFile.call(dex, `${dex.dataDir}/`, 'Learnsets') ?? {};
    const parents = dex.isBase ? {} : dex.mod(dex.parentMod).data.Learnsets;
    for (const id in parents) {
      if (own[id] === null) delete own[id];
      else if (!(id in own)) own[id] = parents[id];
      else if (own[id].inherit) {
        delete own[id].inherit;
        own[id] = {...parents[id], ...own[id]};
      }
    }
    return own;
  }
}
