// A battle of Showdown as the words of agents/engine/gen9/src/layout.h: the same fields in the same order and numbers.
//
// The layout comes from Python (gen9_state.py): structs by name, each a list of [field, type, length]. READ says where Showdown
// keeps each field. IGNORED names what Showdown keeps besides, with the reason: `unread` lists what is in neither.

const INT_MIN = -(2 ** 31);
const VALUES = [undefined, null, false, '', true]; // agents/engine/gen9/src/values.h
const REQUESTS = {'': 0, move: 1, switch: 2};
const STATS = ['atk', 'def', 'spa', 'spd', 'spe'];
const BOOSTS = [...STATS, 'accuracy', 'evasion'];
const STALENESS = {internal: 1, external: 2};

// Which of its own keys an effect keeps as counter and extra, where it has more than these of COUNTERS or two of them.
const COUNTERS = ['counter', 'time', 'stage', 'layers', 'hp', 'trueDuration', 'boundDivisor', 'bestStat', 'targetLoc', 'endingTurn', 'fallen',
  'busted', 'embodied', 'protean', 'libero', 'started', 'ending', 'lostFocus', 'multiplier', 'damage',
  'checkedBerserk', 'unnerved', 'eject', 'seek', 'numConsecutive'];
const EXTRAS = ['startTime', 'startingTurn', 'fromBooster', 'targetSlot', 'slot'];
const OF_ALL = new Set(['id', 'name', 'target', 'effectOrder', 'duration', 'move', 'lastMove', 'source', 'sourceSlot', 'sourceEffect', 'linkedPokemon',
  'linkedStatus', 'isSlotCondition']);
const IGNORED_KEYS = {
  futuremove: ['moveData'], // follows from the move
  roost: ['typeWas'], // follows from the species
};

const KINDS = {abilityState: 'abilities', itemState: 'items'}; // of what each EffectState is

// The attacks on a Pokémon that the engine keeps (pokemon.cpp): of earlier turns each attacker's latest; of more than six the first
// that is not its attacker's latest is dropped.
function attacks(pokemon) {
  const isLatest = (list, n) => !list.slice(n + 1).some(later => later.source === list[n].source);
  const old = pokemon.attackedBy.filter(attack => !attack.thisTurn);
  const kept = [...old.filter((attack, n) => isLatest(old, n)), ...pokemon.attackedBy.filter(attack => attack.thisTurn)];
  while (kept.length > 6) kept.splice(Math.max(0, kept.findIndex((attack, n) => !isLatest(kept, n))), 1);
  return kept;
}

const flag = name => thing => +!!thing[name];

export class StateReader {
  constructor({structs, numbers, species, types}) {
    Object.assign(this, {structs, numbers, types, species: new Map(species.map((id, n) => [id, n])), unread: new Set()});
    this.sizes = {int32_t: 1};
    const sizeOf = struct => this.sizes[struct] ??= structs[struct].reduce((sum, [, type, length]) => sum + (length || 1) * sizeOf(type), 0);
    this.fields = {};
    for (const [struct, fields] of Object.entries(structs)) {
      sizeOf(struct);
      this.fields[struct] = fields.map(([field, type, length]) => this.field(struct, field, type, length));
    }
  }

  field(struct, field, type, length) {
    const read = READ[struct]?.[field];
    if (!read) throw new Error(`layout.h's ${struct}.${field} is compared with nothing: add it to READ in gen9_state.mjs or to NOT_COMPARED in gen9_state.py`);
    return {name: `${struct}.${field}`, read, struct: type === 'int32_t' ? null : type, length, kind: KINDS[field] || 'conditions'};
  }

  words(battle) {
    this.row = new Int32Array(this.sizes.Row);
    this.at = 0;
    this.write('Row', battle);
    return this.row;
  }

  write(struct, thing) {
    if (thing === undefined) this.at += this.sizes[struct];
    else for (const field of this.fields[struct]) this.writeField(field, field.read(thing, this));
  }

  writeField(field, value) {
    if (!field.length) {
      this.writeOne(field, value);
      return;
    }
    const found = value ? value.length : 0;
    if (found > field.length) throw new Error(`${field.name} has ${found} entries: more than layout.h holds`);
    for (let n = 0; n < found; n++) this.writeOne(field, value[n]);
    this.at += (field.length - found) * this.sizes[field.struct || 'int32_t'];
  }

  writeOne(field, value) {
    if (field.struct) {
      this.kind = field.kind;
      this.write(field.struct, value);
    } else {
      if (value !== undefined) {
        if (!Number.isInteger(value)) throw new Error(`${field.name}: ${value} is no number`);
        this.row[this.at] = value;
      }
      this.at++;
    }
  }

  // What Showdown keeps and no field of the layout is read from.
  note(battle) {
    const side = battle.sides[0], things = {Row: battle, Field: battle.field, Side: side, Pokemon: side.pokemon[0], MoveSlot: side.pokemon[0].moveSlots[0]};
    const texts = Object.entries(this.structs).map(([struct, fields]) => fields.map(([field]) => READ[struct][field].toString()).join('\n')).join('\n');
    for (const [struct, thing] of Object.entries(things)) {
      for (const key of Object.keys(thing)) {
        const own = [...this.structs[struct] || [], ...struct === 'Pokemon' ? this.structs.Active : []];
        const read = new RegExp(`\\.${key}\\b`).test(texts) || own.some(([field]) => field === key);
        if (!read && !IGNORED[struct].has(key)) this.unread.add(`${struct}.${key}`);
      }
    }
  }

  name(pokemon) { return pokemon ? 1 + 6 * pokemon.side.n + pokemon.place : 0; }

  value(value) {
    if (typeof value === 'number') return value;
    return INT_MIN + VALUES.indexOf(value);
  }

  number(kind, id) {
    if (!id) return 0;
    if (this.numbers[kind][id] === undefined) this.unread.add(`number of ${kind} ${id}`);
    return this.numbers[kind][id] || 0;
  }

  effect(effect) {
    if (!effect?.id) return 0;
    const kinds = {Move: 'moves', Ability: 'abilities', Item: 'items'};
    return this.number(kinds[effect.effectType] || 'conditions', effect.id);
  }

  type(name) { return name === '???' ? this.types.length : this.types.indexOf(name); }

  form(species) {
    if (!this.species.has(species.id)) this.unread.add(`number of species ${species.id}`);
    return this.species.get(species.id) || 0;
  }

  // An own key of an effect as a number.
  own(state, keys) {
    const found = keys.filter(key => state[key] !== undefined);
    for (const key of Object.keys(state)) {
      if (OF_ALL.has(key) || COUNTERS.includes(key) || EXTRAS.includes(key) || IGNORED_KEYS[state.id]?.includes(key) || state[key] === undefined) continue;
      this.unread.add(`${state.id}'s ${key}`);
    }
    if (found.length > 1) this.unread.add(`${state.id}'s ${found.join(' and ')}`);
    const value = state[found[0]];
    if (found[0] === 'checkedBerserk') return value ? 1 : -1; // it matters whether it was ever set
    if (found[0] === 'bestStat') return STATS.indexOf(value);
    if (/lot$/.test(found[0])) return slotNumber(value);
    return Math.floor(value) || 0; // Wish keeps halves, and heals without them
  }
}

const slotNumber = slot => slot ? 1 + (slot[1] - 1) + 2 * 'abcdef'.indexOf(slot[2]) : 0; // "p2a"
const listed = states => Object.values(states);
const actives = side => side.active.slice(0, 1);

const READ = {
  Row: {
    seed: b => b.prng.getSeed().split(',').map(Number),
    turn: b => b.turn,
    winner: b => !b.ended ? -1 : b.winner === 'p1' ? 0 : b.winner === 'p2' ? 1 : 2,
    activePerSide: b => b.activePerHalf,
    midTurn: flag('midTurn'),
    requestState: b => REQUESTS[b.requestState],
    effectOrder: b => b.effectOrder,
    lastMove: (b, r) => r.effect(b.lastMove),
    lastSuccessfulMoveThisTurn: (b, r) => r.number('moves', b.lastSuccessfulMoveThisTurn),
    weatherState: b => b.field.weather ? b.field.weatherState : undefined,
    terrainState: b => b.field.terrain ? b.field.terrainState : undefined,
    pseudoWeather: b => listed(b.field.pseudoWeather),
    pseudoWeatherCount: b => listed(b.field.pseudoWeather).length,
    queueLength: b => b.queue.list.length,
    sides: b => b.sides,
  },
  Side: {
    order: (s, r) => s.pokemon.map(p => r.name(p)),
    size: s => s.pokemon.length,
    pokemonLeft: s => s.pokemonLeft,
    totalFainted: s => s.totalFainted,
    faintedThisTurn: (s, r) => r.name(s.faintedThisTurn),
    faintedLastTurn: (s, r) => r.name(s.faintedLastTurn),
    request: s => !s.activeRequest || s.activeRequest.wait ? 0 : s.activeRequest.forceSwitch ? 2 : 1,
    active: actives,
    conditions: s => listed(s.sideConditions),
    conditionCount: s => listed(s.sideConditions).length,
    slotConditions: s => s.slotConditions.slice(0, 1),
    pokemon: s => s.team,
  },
  SlotConditions: {
    list: s => listed(s),
    count: s => listed(s).length,
  },
  Active: {
    pokemon: (p, r) => r.name(p),
    boosts: p => BOOSTS.map(stat => p.boosts[stat]),
    storedStats: p => STATS.map(stat => p.storedStats[stat]),
    types: (p, r) => [0, 1].map(n => r.type(p.types[n])),
    addedType: (p, r) => r.type(p.addedType),
    apparentTypes: (p, r) => [0, 1].map(n => 1 + r.type(p.apparentType.split('/')[n])),
    transformed: flag('transformed'),
    lastMove: (p, r) => r.effect(p.lastMove),
    lastMoveUsed: (p, r) => r.effect(p.lastMoveUsed),
    moveThisTurn: (p, r) => r.number('moves', p.moveThisTurn),
    newlySwitched: flag('newlySwitched'),
    activeTurns: p => p.fainted ? 0 : p.activeTurns,
    activeMoveActions: p => p.fainted ? 0 : p.activeMoveActions,
    moveThisTurnResult: (p, r) => r.value(p.moveThisTurnResult),
    moveLastTurnResult: (p, r) => r.value(p.moveLastTurnResult),
    unknownType: p => +!p.knownType,
    hurtThisTurn: p => p.hurtThisTurn || 0,
    attackedBy: attacks,
    attackedByCount: p => attacks(p).length,
    volatiles: p => listed(p.volatiles),
    volatileCount: p => listed(p.volatiles).length,
  },
  Attack: {
    source: (a, r) => r.name(a.source),
    damage: a => a.damage,
    move: (a, r) => r.number('moves', a.move),
    thisTurn: flag('thisTurn'),
    slot: a => slotNumber(a.slot),
    damageValue: (a, r) => r.value(a.damageValue),
  },
  Pokemon: {
    number: (p, r) => r.name(p) - 1,
    side: p => p.side.n,
    position: p => p.position,
    gender: p => ['', 'M', 'F'].indexOf(p.gender),
    species: (p, r) => r.form(p.species),
    baseSpecies: (p, r) => r.form(p.baseSpecies),
    level: p => p.level,
    ability: (p, r) => r.number('abilities', p.ability),
    baseAbility: (p, r) => r.number('abilities', p.baseAbility),
    item: (p, r) => r.number('items', p.item),
    lastItem: (p, r) => r.number('items', p.lastItem),
    teraType: (p, r) => r.type(p.teraType),
    terastallized: (p, r) => p.terastallized ? 1 + r.type(p.terastallized) : 0,
    canTerastallize: p => p.canTerastallize ? 1 : p.canTerastallize === false ? -1 : 0,
    hp: p => p.hp,
    maxhp: p => p.maxhp,
    status: (p, r) => p.fainted ? 0 : r.number('conditions', p.status),
    statusState: p => p.fainted || !p.status ? undefined : p.statusState,
    abilityState: p => p.isActive ? p.abilityState : undefined,
    itemState: p => p.isActive ? p.itemState : undefined,
    baseStoredStats: p => STATS.map(stat => p.baseStoredStats[stat]),
    moveSlots: p => p.moveSlots,
    moveCount: p => p.moveSlots.length,
    speed: p => p.isActive ? p.speed : 0,
    isActive: flag('isActive'),
    isStarted: flag('isStarted'),
    fainted: flag('fainted'),
    faintQueued: flag('faintQueued'),
    beingCalledBack: flag('beingCalledBack'),
    switchFlag: (p, r) => typeof p.switchFlag === 'string' ? r.number('moves', p.switchFlag) : +p.switchFlag,
    forceSwitchFlag: flag('forceSwitchFlag'),
    skipBeforeSwitchOutEventFlag: flag('skipBeforeSwitchOutEventFlag'),
    usedItemThisTurn: flag('usedItemThisTurn'),
    statsRaisedThisTurn: flag('statsRaisedThisTurn'),
    statsLoweredThisTurn: flag('statsLoweredThisTurn'),
    ateBerry: flag('ateBerry'),
    timesAttacked: p => p.timesAttacked,
    previouslySwitchedIn: p => p.previouslySwitchedIn,
    formeRegression: flag('formeRegression'),
    stellarBoostedTypes: (p, r) => p.stellarBoostedTypes.reduce((bits, type) => bits | 1 << r.type(type), 0),
    swordBoost: flag('swordBoost'),
    shieldBoost: flag('shieldBoost'),
    bondTriggered: flag('bondTriggered'),
    syrupTriggered: flag('syrupTriggered'),
    staleness: p => STALENESS[p.staleness] || 0,
    pendingStaleness: p => STALENESS[p.pendingStaleness] || 0,
    volatileStaleness: p => STALENESS[p.volatileStaleness] || 0,
    lastMoveTargetLoc: p => p.lastMoveTargetLoc || 0,
    trapped: p => p.trapped === 'hidden' ? 2 : +p.trapped,
    maybeTrapped: flag('maybeTrapped'),
    maybeDisabled: flag('maybeDisabled'),
    maybeLocked: flag('maybeLocked'),
  },
  MoveSlot: {
    id: (m, r) => r.number('moves', m.id),
    pp: m => m.pp,
    maxpp: m => m.maxpp,
    disabled: m => m.disabled === 'hidden' ? 2 : +!!m.disabled,
    used: flag('used'),
  },
  EffectState: {
    id: (e, r) => r.number(r.kind, e.id),
    effectOrder: e => e.effectOrder,
    duration: e => e.duration || 0,
    counter: (e, r) => r.own(e, COUNTERS),
    extra: (e, r) => r.own(e, EXTRAS),
    move: (e, r) => r.number('moves', e.move ?? e.lastMove),
    source: (e, r) => r.name(e.source),
    sourceSlot: e => slotNumber(e.sourceSlot),
    sourceEffect: (e, r) => r.effect(e.sourceEffect),
    linkedPokemon: (e, r) => (e.linkedPokemon || []).reduce((bits, p) => bits | 1 << r.name(p) - 1, 0),
    linkedStatus: (e, r) => typeof e.linkedStatus === 'string' ? r.number('conditions', e.linkedStatus) : r.effect(e.linkedStatus),
  },
};

const MESSAGES = 'log messageLog sentLogPos sentEnd inputLog hints lastMoveLine send sentRequests name avatar fullname details showCure getFullDetails ' +
  'getHealth apparentType heroMessageDisplayed';
const FIXED = 'toID format dex gen ruleTable trunc clampIntRange id debugMode forceRandomChance deserialized strictChoices gameType rated reportExactHP ' +
  'reportPercentages supportCancel prngSeed teamGenerator battle foe allySide n team set happiness pokeball dynamaxLevel gigantamax ppUps hpType ' +
  'hpPower baseHpType baseHpPower actions NOT_FAIL HIT_SUBSTITUTE FAIL SILENT_FAIL move target disabledSource baseTypes m place started';
const WITHIN_A_STEP = 'faintQueue effect effectState event events eventDepth activeMove activePokemon activeTarget choice activeRequest draggedIn duringMove ' +
  'lastMoveEncore speedOrder formatData speciesState';
const OTHER_GENERATIONS = 'lastDamage quickClawRoll lastSelectedMove lastSelectedMoveSlot lastEnemySelectedMove lastEnemyMove zMoveUsed dynamaxUsed subFainted ' +
  'itemKnockedOff truantTurn canMegaEvo canMegaEvoX canMegaEvoY canUltraBurst canGigantamax baseMaxhp';
const sets = own => new Set([MESSAGES, FIXED, WITHIN_A_STEP, OTHER_GENERATIONS, own].join(' ').split(' '));
const IGNORED = {
  Row: sets(''),
  Field: sets(''),
  Side: sets('lastMove'), // of triples and Mirror Move in generation 4
  Pokemon: sets('illusion weighthg baseMoveSlots'), // Illusion is not played; weight: that of the species; compared when they are moveSlots again
  MoveSlot: sets(''),
};
