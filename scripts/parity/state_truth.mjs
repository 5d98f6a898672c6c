// The simulator's own state at a decision, and what its lines have said of abilities and items so far.

const SAID = Symbol('said');
const BUSY = new Set(['target', 'source', 'sourceSlot', 'effectOrder', 'id', 'linkedPokemon', 'linkedStatus', 'sourceEffect', 'locked']);

const toID = text => String(text).toLowerCase().replace(/[^a-z0-9]+/g, '');
const isMon = part => typeof part === 'object' && part !== null && 'moveSlots' in part;

/** What the lines have said of a Pokémon: its ability, its item (undefined: nothing; '': it has none). */
const said = mon => (mon[SAID] ??= {});

/** Notes in each effect's state when it began, and what lines say of abilities and items at the time when they come. */
export function watch(battle) {
  battle.shown = {p1: new Set(), p2: new Set()};
  battle.used = {p1: {}, p2: {}};
  battle.mixed = {p1: new Set(), p2: new Set()};
  battle.stale = {p1: new Set(), p2: new Set()};
  battle.secret = false;
  const initEffectState = battle.initEffectState;
  battle.initEffectState = function (...words) {
    const state = initEffectState.apply(this, words);
    state.since ??= this.turn; // one that Baton Pass hands on began before
    return state;
  };
  const {add, addSplit} = battle;
  battle.add = function (...parts) {
    if (!this.secret) note(this, parts);
    return add.apply(this, parts);
  };
  battle.addSplit = function (side, secret, shared) {
    this.secret = !shared; // a line for its own side alone tells the other nothing
    addSplit.call(this, side, secret, shared);
    this.secret = false;
  };
}

/** Whether the line of a Z-Move or Max Move can be that of several moves; "Z-Splash" and Catastropika come from one. */
function isRenamed(battle, pokemon, move, how) {
  if (how?.maxMove) return true;
  return !!how?.zMove && battle.dex.moves.get(move).category !== 'Status' && !pokemon.getItem().zMoveFrom;
}

/** Notes the PP, with those of Pressure, that Z-Moves and Max Moves cost whose lines do not name the move that they come from. */
export function watchMoves(battle) {
  let renamed = null; // who uses such a move now
  let used = null; // who has used a move
  let pressed = null; // the slot of a move that Pressure has made cost more, and by how much
  const {actions} = battle;
  const runMove = actions.runMove;
  actions.runMove = function (move, pokemon, place, how) {
    const before = renamed;
    renamed = isRenamed(this.battle, pokemon, move, how) ? pokemon : null;
    const from = this.battle.log.length;
    used = pressed = null;
    const result = runMove.call(this, move, pokemon, place, how);
    if (pressed && this.battle.activePerHalf > 1 && hidesTarget(this.battle.log, from, pokemon)) {
      pressed.slot.secret = (pressed.slot.secret || 0) + pressed.cost;
      pressed.slot.silent = (pressed.slot.silent || 0) + pressed.cost;
    }
    renamed = before;
    const line = used !== pokemon && !how?.externalMove && this.battle.log[from];
    const locked = pokemon.volatiles.choicelock || pokemon.ability === 'gorillatactics';
    if (line && locked && line.startsWith(`|move|${pokemon}|`)) noteUnused(pokemon, toID(line.split('|')[3])); // Encore's, not its choice
    return result;
  };
  const useMove = actions.useMove;
  if (battle.gen === 1) {
    actions.useMove = function (move, pokemon, how) { // a called move gives PP to the own slot of one that has transformed
      const before = pokemon.baseMoveSlots.map(slot => slot.pp);
      const result = useMove.call(this, move, pokemon, how);
      pokemon.baseMoveSlots.forEach((slot, place) => (slot.untold ||= pokemon.transformed && slot.pp !== before[place]));
      return result;
    };
  }
  for (const mon of battle.sides.flatMap(side => side.pokemon)) {
    const {deductPP, heal, moveUsed, removeVolatile} = mon;
    mon.heal = function (...words) {
      if (battle.effect?.id === 'regenerator') said(this).regenerated = true; // also a traced one
      return heal.apply(this, words);
    };
    mon.removeVolatile = function (effect) { // generation 1: one that flinches after its move need not rest
      if (battle.gen === 1 && effect === 'mustrecharge' && this.volatiles.mustrecharge && this.volatiles.flinch) said(this).flinched = true;
      return removeVolatile.call(this, effect);
    };
    mon.moveUsed = function (move, ...rest) {
      used = this;
      said(this).lastMove = move.id;
      return moveUsed.call(this, move, ...rest);
    };
    mon.deductPP = function (move, ...rest) {
      const cost = deductPP.call(this, move, ...rest);
      const slot = this.getMoveData(move);
      if (slot && rest[0]) pressed = {slot, cost};
      const untold = battle.gen === 1 && noteUntold(this, battle);
      if (slot && renamed === this) {
        slot.hidden = (slot.hidden || 0) + cost;
        slot.twin ||= hasTwin(battle, this, slot);
      }
      if (slot && cost && renamed !== this && !untold) slot.named = true;
      if (slot && battle.gen === 3 && rest[0] === 1) { // Pressure, which no line tells
        slot.silent = (slot.silent || 0) + cost;
        const holder = this.side.foe.active[0];
        if (holder.baseAbility !== 'pressure' || holder.transformed) slot.secret = (slot.secret || 0) + cost; // nor its player's request
      }
      return cost;
    };
  }
}

/** Whether the line of a move does not name its target, as it has failed or is prepared: of two opponents it can be either. */
function hidesTarget(log, from, pokemon) {
  const words = log.slice(from).filter(line => line.startsWith(`|move|${pokemon}|`)).map(line => line.split('|'));
  return words.some(line => line[4] === '' && line.includes('[still]')); // also of a called move
}

/** Notes a move that a Choice item keeps from being used: the line is that of a use that fails. */
function noteUnused(mon, move) {
  const slot = mon.getMoveData(move);
  if (slot) slot.untold = true;
  said(mon).lastMove = move;
}

/** Whether another move of a Pokémon can become the same Max Move: the line does not tell which was used. */
function hasTwin(battle, mon, slot) {
  const {dex} = battle;
  const move = dex.moves.get(slot.id);
  const changes = dex.abilities.get(mon.ability).onModifyType || move.onModifyType;
  return mon.moveSlots.filter(other => other.id !== slot.id).map(other => dex.moves.get(other.id)).some(other =>
    (other.category === 'Status') === (move.category === 'Status') &&
    (move.category === 'Status' || other.type === move.type || changes || other.onModifyType));
}

/** Notes whether a Pokémon has its own ability or was given this one, and forgets what was said of another. */
function noteAbility(mon) {
  const known = said(mon);
  if (known.now !== undefined && (known.now !== mon.ability || !mon.isActive)) {
    known.given = mon.isActive && known.own === mon.baseAbility; // else it has left, or has another forme
    known.ability = known.given ? undefined : known.baseAbility;
  }
  known.now = mon.ability;
  known.own = mon.baseAbility;
}

function note(battle, parts) {
  const [kind, subject, word] = parts;
  for (const side of battle.sides) side?.active.filter(Boolean).forEach(noteAbility); // none before the start
  if (['switch', 'drag', 'replace'].includes(kind) && isMon(subject)) {
    if (kind !== 'replace') noteGuises(battle, subject);
    battle.shown[subject.side.id].add((subject.illusion || subject).name);
    said(subject).regenerated = false;
    said(subject).guise = subject.illusion ? subject.illusion.name : null;
    if (kind !== 'replace') said(subject).lastMove = '';
  }
  if (kind === '-curestatus' && word === 'frz') said(subject).thawed = battle.turn;
  if (['cant', 'move', 'switch', 'drag'].includes(kind) && isMon(subject)) said(subject).flinched = false;
  const extra = {'-mega': 'mega', '-zpower': 'zmove', '-terastallize': 'tera'}[kind] || (kind === '-start' && word === 'Dynamax' && 'dynamax');
  if (extra) battle.used[subject.side.id][extra] = true;
  if (kind === 'cant' && word === 'slp') {
    const state = subject.statusState;
    const step = subject.hasAbility('earlybird') ? 2 : 1; // what was slept and counts again after a switch is not slept
    const again = Math.max(0, state.time + step - (state.after ?? state.time + step));
    Object.assign(state, {slept: Math.max(0, (state.slept || 0) - again) + 1, after: state.time});
  }
  if (kind === '-status' && word === 'slp') subject.statusState.slept = 0;
  const mons = parts.filter(isMon);
  for (const part of parts) {
    const of = typeof part === 'string' && /^\[of\] (.*)$/.exec(part);
    if (of) mons.push(...battle.sides.flatMap(side => side.pokemon).filter(mon => mon.toString() === of[1]));
  }
  const plain = mons.filter(mon => !mon.illusion);
  for (const part of parts) {
    const named = typeof part === 'string' && /(ability|item): (.*)$/.exec(part);
    if (!named || (kind === '-enditem' && parts.includes('[silent]'))) continue; // Pickpocket's names the one it took from
    const id = toID(named[2]);
    const holders = [...new Set(plain.filter(mon => mon[named[1]] === id))];
    if (holders.length !== 1) continue; // if both have it, the line alone does not tell whose it is
    if (named[1] === 'ability') sayAbility(holders[0]);
    else said(holders[0]).item = id;
  }
  if (!isMon(subject) || subject.illusion) return;
  if (kind === '-ability' && subject.ability === toID(word)) sayAbility(subject);
  if (kind === '-item') said(subject).item = toID(word);
  if (kind === '-enditem' && !(word === 'Micle Berry' && parts.length === 3)) said(subject).item = ''; // there its effect ends
}

/** Notes, as a Pokémon comes in, which of its side have left in a guise of Illusion, and whose HP seen since are another's. */
function noteGuises(battle, coming) {
  const side = coming.side.id;
  for (const mon of coming.side.pokemon) {
    const {guise} = said(mon);
    if (!guise) continue;
    battle.mixed[side].add(mon.name).add(guise);
    battle.stale[side].add(guise);
  }
  if (!coming.illusion) battle.stale[side].delete(coming.name);
}

function sayAbility(mon) {
  said(mon).ability = mon.ability;
  if (!said(mon).given && mon.ability === mon.baseAbility) said(mon).baseAbility = mon.ability;
}

/** The plain values of an effect's state. */
function plainState(state) {
  const plain = {};
  for (const [key, value] of Object.entries(state)) {
    if (!BUSY.has(key) && (typeof value !== 'object' || value === null)) plain[key] = value;
  }
  if (state.sourceEffect) plain.by = state.sourceEffect.id;
  if (state.source?.name) plain.source = `${state.source.side.id}: ${state.source.name}`;
  return plain;
}

const states = table => Object.fromEntries(Object.entries(table).map(([id, state]) => [id, plainState(state)]));

/** Generation 1: no line tells which slot is used of two with one move (Mimic), nor after a thaw that of another's move. */
function noteUntold(mon, battle) {
  const used = mon.moveSlots[mon.side.lastSelectedMoveSlot];
  if (used === undefined || !(said(mon).thawed === battle.turn || isDoubled(used, mon.moveSlots))) return false;
  mon.moveSlots.forEach((slot, place) => {
    if (slot.id !== used.id) return;
    slot.untold = true;
    if (!mon.transformed) mon.baseMoveSlots[place].untold = true;
  });
  return true;
}

const isDoubled = (slot, list) => list.some(other => other !== slot && other.id === slot.id);

/** own: the slots that those of the list stand for, where it has not transformed. */
function slots(list, own = []) {
  return list.map((slot, place) => {
    const {id, pp, maxpp, named, hidden, twin, untold, silent, secret} = slot;
    return {
      id, pp, maxpp, named: !!named, hidden: hidden || 0, twin: !!twin, untold: !!untold || !!own[place]?.untold || isDoubled(slot, list),
      silent: silent || 0, secret: secret || 0,
    };
  });
}

function pokemonOf(mon) {
  const {species} = mon;
  noteAbility(mon);
  const health = mon.getHealth();
  return {
    name: mon.name, place: mon.position, active: mon.position < mon.side.active.length && mon.previouslySwitchedIn + mon.isActive > 0, fainted: mon.fainted, guise: said(mon).guise || null,
    species: species.id, base: toID(species.baseSpecies), changesFrom: toID([].concat(species.changesFrom || species.battleOnly || [])[0] || ''),
    original: mon.baseSpecies.id, set: toID(mon.set.species || mon.set.name), baseStats: species.baseStats, weight: mon.weighthg / 10, details: mon.details,
    level: mon.level, gender: mon.gender, secret: health.secret, shared: health.shared, hp: mon.hp, maxhp: mon.maxhp, stats: mon.baseStoredStats,
    status: mon.status, statusState: plainState(mon.statusState), boosts: mon.boosts, volatiles: states(mon.volatiles),
    types: mon.getTypes(), apparentTypes: mon.apparentType.split('/'), addedType: mon.addedType,
    item: mon.item, teraType: mon.teraType, ability: mon.ability, baseAbility: mon.baseAbility, abilityState: plainState(mon.abilityState), ignoringAbility: mon.ignoringAbility(), said: {...said(mon)},
    moves: slots(mon.moveSlots, mon.transformed ? [] : mon.baseMoveSlots), baseMoves: slots(mon.baseMoveSlots), transformed: mon.transformed,
    teraType: mon.teraType, terastallized: mon.terastallized || '', activeTurns: mon.activeTurns,
  };
}

export function snapshot(battle) {
  const {field} = battle;
  return {
    turn: battle.turn, midTurn: battle.requestState === 'switch', preview: battle.requestState === 'teampreview',
    weather: field.weather ? {id: field.weather, ...plainState(field.weatherState)} : null,
    terrain: field.terrain ? {id: field.terrain, ...plainState(field.terrainState)} : null,
    rooms: states(field.pseudoWeather),
    gas: battle.getAllActive().some(mon => mon.ability === 'neutralizinggas' && !mon.volatiles.gastroacid && !mon.transformed && !mon.abilityState.ending),
    sides: Object.fromEntries(battle.sides.map(side => [side.id, {
      size: side.pokemon.length, shown: [...battle.shown[side.id]], mixed: [...battle.mixed[side.id]], stale: [...battle.stale[side.id]], used: battle.used[side.id],
      conditions: states(side.sideConditions), slot: side.active[0] ? states(side.slotConditions[0]) : {},
      pokemon: side.pokemon.map(pokemonOf),
    }])),
  };
}
