// Damage of single moves by stock Pokémon Showdown and by @smogon/calc. See damage_parity.py.
//
//     node damage_oracle.mjs '{"package": DIR, "calc": DIR or null, "gen": 9}'
//
// "doubles": true: the cases are of doubles, and say who else is on the field.
// With "pools": true it prints one JSON line of names to draw cases from. Otherwise it reads cases, one JSON object a line,
// and prints a line for each: {"stats", "types" …, "showdown": {"normal", "crit"}, "chance", "calc": {"normal", "crit"}}. Damage
// is a list of four rolls (the lowest, two between, the highest), each the sum of the move's hits, or null where it could not be
// had; `chance`: how likely Showdown makes the first hit critical.
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {pathToFileURL} from 'node:url';
import path from 'node:path';

const options = JSON.parse(process.argv[2]);
const gen = options.gen;
const require = createRequire(pathToFileURL(path.join(options.package, 'package.json')));
const {Battle, Dex} = require(path.join(options.package, 'dist/sim'));
const dex = Dex.mod(`gen${gen}`);
const FORMAT = Dex.formats.get(`gen${gen}${options.doubles ? 'doublesou' : 'ou'}`); // one for all battles: it keeps its table of rules
const calc = options.calc ? require(path.join(options.calc, 'dist')) : null;
const calcGen = calc ? calc.Generations.get(gen) : null;

const OLD = gen <= 2;
/** Which random factors are tried, of 39 (217 to 255) or 16 (85 to 100): the ends and two between. */
const ROLLS = OLD ? [0, 12, 25, 38] : [0, 5, 10, 15];
const HANDLER = /BasePower|ModifyAtk|ModifyDef|ModifySp|ModifyDamage|ModifySTAB|Effectiveness|ModifyType|NegateImmunity|ModifyWeight|TryHit|TryMove|ModifyMove|PrepareHit|CriticalHit|ModifyBoost|TryPrimaryHit/;

// ---------------------------------------------------------------- names to draw from

const current = entry => entry.exists && entry.gen <= gen && !entry.isNonstandard;
const past = entry => entry.exists && entry.gen <= gen && entry.isNonstandard === 'Past' &&
  !['pinkbow', 'polkadotbow'].includes(entry.id);
const matters = entry => Object.keys(entry).some(key => HANDLER.test(key)) ||
  (entry.condition && Object.keys(entry.condition).some(key => HANDLER.test(key)));

function pools() {
  const of = (list, keep) => list.filter(keep).map(entry => entry.id);
  const species = dex.species.all().filter(s => s.num > 0 && !s.forme.includes('Gmax'));
  const hits = dex.moves.all().filter(m => m.category !== 'Status' && !m.isZ && !m.isMax && m.id !== 'hiddenpower');
  const hidden = m => !m.realMove || (gen >= 2 && gen <= 7);
  const standard = list => ({
    all: of(list, current), past: of(list, past),
    relevant: of(list, e => current(e) && matters(e)), relevantPast: of(list, e => past(e) && matters(e)),
  });
  return {
    species: of(species, current), speciesPast: of(species, past),
    spread: of(hits, m => current(m) && ['allAdjacent', 'allAdjacentFoes'].includes(m.target)),
    moves: of(hits, m => hidden(m) && (current(m) || (m.realMove && gen < 8))), movesPast: of(hits, m => !m.realMove && past(m)),
    abilities: standard(dex.abilities.all()), items: standard(dex.items.all()),
    types: dex.types.all().filter(t => !t.isNonstandard).map(t => t.name),
    natures: gen >= 3 ? dex.natures.all().map(n => n.name) : [''],
  };
}

// ---------------------------------------------------------------- Showdown

/** Who stands where: a place for each side in singles; in doubles the target is beside the attacker or opposite. */
function placesOf(c) {
  if (!options.doubles) return [[c.attacker], [c.defender]];
  return c.hitsAlly ? [[c.attacker, c.defender], c.others] : [[c.attacker, c.others[0]], [c.defender, c.others[1]]];
}

function setOf(c, side) {
  const set = {
    name: side.species, species: side.species, item: '', ability: 'No Ability', moves: [c.move], nature: side.nature || 'Serious',
    evs: side.evs, ivs: side.ivs, level: side.level, gender: side.gender, happiness: 255, teraType: side.tera || undefined,
  };
  if (c.move.startsWith('hiddenpower')) set.hpType = dex.moves.get(c.move).type;
  return set;
}

/** A battle with both Pokémon on the field in the case's state. Abilities and items are given after the start, so that
 * nothing that happens on entry (Intimidate, Drought, seeds …) is part of it. */
function setUp(c) {
  const battle = new Battle({format: FORMAT, seed: [1, 2, 3, 4], strictChoices: false});
  const places = placesOf(c);
  for (const [slot, sides] of [['p1', places[0]], ['p2', places[1]]]) {
    const team = sides.map(side => setOf(c, side));
    battle.setPlayer(slot, {name: slot, team});
  }
  if (battle.requestState === 'teampreview') battle.makeChoices('default', 'default');
  battle.randomChance = () => false;
  const active = battle.sides.map(side => side.active);
  const attacker = active[0][0], defender = c.hitsAlly ? active[0][1] : active[1][0];
  places.forEach((sides, side) => sides.forEach((one, place) => prepare(battle, active[side][place], one)));
  places.forEach((sides, side) => sides.forEach((one, place) => {
    if (one.fainted) Object.assign(active[side][place], {hp: 0, fainted: true});
  }));
  if (c.weather) { battle.field.weather = c.weather; battle.field.weatherState = battle.initEffectState({id: c.weather, duration: 0}); }
  if (c.terrain) { battle.field.terrain = c.terrain; battle.field.terrainState = battle.initEffectState({id: c.terrain}); }
  for (const id of c.rooms) battle.field.pseudoWeather[id] = battle.initEffectState({id});
  for (const [side, ids] of [[battle.sides[0], c.ownSide], [defender.side, c.screens]]) {
    for (const id of ids) {
      if (gen === 1) side.active[0].volatiles[id] = battle.initEffectState({id, target: side.active[0]});
      else side.sideConditions[id] = battle.initEffectState({id, target: side});
    }
  }
  if (c.targetMoves) {
    const move = dex.getActiveMove('quickattack');
    battle.queue.list = [{choice: 'move', pokemon: defender, move, moveid: 'quickattack', order: 200, priority: 0, speed: 1, fractionalPriority: 0}];
  }
  return {battle, attacker, defender};
}

function prepare(battle, pokemon, side) {
  pokemon.activeTurns = 1;
  const species = dex.species.get(side.species);
  if (pokemon.species.id !== species.id) pokemon.setSpecies(species); // as Arceus's formes without their plates
  if (side.tera) {
    pokemon.teraType = side.tera;
    pokemon.terastallized = side.tera;
    pokemon.apparentType = side.tera;
  }
  if (gen >= 2) { pokemon.item = side.item; pokemon.itemState = battle.initEffectState({id: side.item, target: pokemon}); }
  if (gen >= 3) {
    pokemon.ability = pokemon.baseAbility = side.ability;
    pokemon.abilityState = battle.initEffectState({id: side.ability, target: pokemon});
    const fallen = side.effects.find(effect => effect.startsWith('fallen'));
    if (fallen) pokemon.abilityState.fallen = Number(fallen.slice(6));
    if (['unnerve', 'asoneglastrier', 'asonespectrier'].includes(side.ability)) pokemon.abilityState.unnerved = true; // as from entry on
    if (side.ability === 'slowstart' && side.effects.includes('slowstart')) pokemon.abilityState.counter = 5;
  }
  for (const effect of side.effects) {
    const quick = /^(protosynthesis|quarkdrive)(atk|def|spa|spd|spe)$/.exec(effect);
    const id = quick ? quick[1] : effect;
    if (/^(fallen\d|slowstart)$/.test(id)) continue;
    const stockpiled = /^stockpile(\d)$/.exec(effect);
    if (stockpiled) {
      pokemon.volatiles.stockpile = battle.initEffectState({id: 'stockpile', target: pokemon, layers: Number(stockpiled[1])});
      continue;
    }
    pokemon.volatiles[id] = battle.initEffectState({id, target: pokemon, ...(quick ? {bestStat: quick[2]} : {})});
    if (id === 'powertrick') {
      const stats = pokemon.storedStats;
      [stats.atk, stats.def] = [stats.def, stats.atk];
    }
  }
  if (gen === 1) pokemon.boostBy(side.boosts);
  else Object.assign(pokemon.boosts, side.boosts);
  if (side.status) {
    pokemon.status = side.status;
    pokemon.statusState = battle.initEffectState({id: side.status, target: pokemon, time: 3, startTime: 3});
    if (gen === 1 && side.status === 'brn') pokemon.modifyStat('atk', 0.5);
    if (gen === 1 && side.status === 'par') pokemon.modifyStat('spe', 0.25);
  }
  pokemon.hp = Math.max(1, Math.floor(pokemon.maxhp * side.hp / 100));
}

/** Every roll of the move, summed over its hits, without and with a critical hit. */
function byShowdown(c, {battle, attacker, defender}) {
  const move = dex.getActiveMove(c.move);
  let roll = 0, chance = null, drawn = null, probe = 255;
  const hits = {normal: null, crit: null, later: false};
  battle.randomChance = (numerator, denominator) => {
    drawn ??= numerator / denominator;
    return numerator >= denominator;
  };
  battle.random = (from, to) => {
    if (gen === 2 && from === 256 && to === undefined) return probe;
    if (from === 217 && to === 256) return 217 + roll;
    if (from === 16 && to === undefined) return 15 - roll;
    if (from === 100 && to === undefined) return 99; // no secondary effect that is not certain
    return to === undefined ? 0 : from;
  };
  battle.sample = list => list.length >= 8 && list.includes(5) && list.includes(2) ? 3 : list[0];
  // Accuracy is not what is tested, and a critical hit is decided here.
  battle.actions.hitStepAccuracy = targets => targets.map(target =>
    !move.ohko || (attacker.level >= target.level && (move.ohko === true || !target.hasType(move.ohko))));
  let failed = false; // then Jump Kick works out what its user loses
  const single = battle.singleEvent.bind(battle);
  battle.singleEvent = (name, ...rest) => {
    failed ||= name === 'MoveFail';
    return single(name, ...rest);
  };
  const event = battle.runEvent.bind(battle);
  battle.runEvent = (name, target, ...rest) => name === 'Accuracy' ? true : name === 'RedirectTarget' ? rest[2] : event(name, target, ...rest);
  const priority = battle.priorityEvent.bind(battle);
  battle.priorityEvent = (name, ...rest) => name === 'RedirectTarget' ? rest[3] : priority(name, ...rest);
  let used, target;
  /** What a Disguise or an Ice Face loses where it takes the first hit instead, by the ability's own handlers; else null. */
  const broken = () => {
    if (!['disguise', 'iceface'].includes(target.ability) || battle.suppressingAbility(target) || !hits.normal) return null;
    const dealt = battle.singleEvent('Damage', target.getAbility(), target.abilityState, target, attacker, used, hits.normal[0]);
    if (dealt !== 0) return null;
    let lost = 0;
    const damage = target.damage;
    target.damage = amount => { lost += battle.trunc(amount); return amount; };
    battle.singleEvent('Update', target.getAbility(), target.abilityState, target);
    target.damage = damage;
    return ROLLS.map(() => lost);
  };
  const restore = before => {
    Object.assign(target, {item: before.item, itemState: before.itemState, lastItem: before.last});
    attacker.stellarBoostedTypes = [...before.stellar];
    used.stellarBoosted = before.boosted;
    if (target.abilityState) Object.assign(target.abilityState, {berryWeaken: before.weaken, resisted: before.resisted});
    if (before.allies) used.allies = [...before.allies];
    Object.assign(attacker, {hp: before.own, fainted: before.fainted});
    battle.faintQueue = [...before.queue];
    if (before.grown) Object.assign(attacker.volatiles[used.id], before.grown);
    else delete attacker.volatiles[used.id];
    [used.ignoreOffensive, used.ignoreDefensive] = before.flags;
  };
  const getDamage = battle.actions.getDamage.bind(battle.actions);
  /** How likely a hit is critical, unless the target prevents it. */
  const chanceOf = () => {
    if (used.willCrit !== undefined) return Number(used.willCrit);
    drawn = null;
    if (gen !== 2) {
      getDamage(attacker, target, used, true);
      return drawn ?? 0;
    }
    let low = 0, high = 256; // critical below this number of 256
    while (low < high) {
      probe = (low + high) >> 1;
      target.getMoveHitData(used).crit = false;
      getDamage(attacker, target, used, true);
      if (target.getMoveHitData(used).crit) low = probe + 1;
      else high = probe;
    }
    probe = 255;
    return low / 256;
  };
  battle.actions.getDamage = (source, hit, active, quiet) => {
    // In generation 1 a move's later hits repeat the first one's damage; a one-hit KO needs no second hit.
    if (hit !== defender || source !== attacker || failed || ((gen === 1 || active.ohko) && hits.normal)) return getDamage(source, hit, active, quiet);
    [used, target] = [active, hit];
    const own = used.willCrit;
    const before = {
      item: target.item, itemState: target.itemState, last: target.lastItem, stellar: [...attacker.stellarBoostedTypes],
      boosted: used.stellarBoosted, weaken: target.abilityState?.berryWeaken, resisted: target.abilityState?.resisted,
      allies: used.allies && [...used.allies], hp: target.hp, own: attacker.hp, fainted: attacker.fainted, queue: [...battle.faintQueue],
      grown: attacker.volatiles[used.id] && {...attacker.volatiles[used.id]}, flags: [used.ignoreOffensive, used.ignoreDefensive],
      level: source.level,
    };
    if (chance === null) {
      chance = chanceOf();
      restore(before);
    }
    const times = gen > 1 ? 1 : Array.isArray(used.multihit) ? 3 : used.multihit || 1;
    let result;
    for (const name of ['normal', 'crit']) {
      used.willCrit = own === undefined ? name === 'crit' || chance === 1 : own;
      const all = [];
      for (roll of ROLLS) {
        restore(before);
        result = getDamage(source, target, used, true);
        if (used.ohko && result) result = Math.min(result, target.maxhp);
        all.push(typeof result === 'number' ? result * times : 0);
      }
      if (typeof result === 'number') hits[name] = hits[name] ? hits[name].map((sum, i) => sum + all[i]) : all;
    }
    const instead = hits.later ? null : broken();
    if (instead) Object.assign(hits, {normal: instead, crit: [...instead]});
    hits.later = true;
    used.willCrit = own;
    return typeof result === 'number' ? Math.min(1, result) : result;
  };
  // The target keeps its HP, but for one, between hits.
  defender.damage = () => { defender.hp = Math.max(1, defender.hp - 1); return 1; };
  for (const pokemon of battle.getAllActive()) if (pokemon !== defender) pokemon.damage = () => 1;
  const each = battle.eachEvent.bind(battle);
  battle.eachEvent = (name, ...rest) => { if (name !== 'Update') each(name, ...rest); };
  const none = ROLLS.map(() => 0);
  // Too heavy to be lifted in the turn before.
  if (c.move === 'skydrop' && gen >= 6 && defender.getWeight() >= 2000) return {showdown: {normal: none, crit: none}, chance: 0};
  for (const id of ['twoturnmove', c.move]) {
    if (move.flags.charge) attacker.volatiles[id] = battle.initEffectState({id, target: attacker, source: defender, move: c.move, targetLoc: 1});
  }
  if (['meteorbeam', 'electroshot'].includes(c.move)) battle.boost({spa: 1}, attacker, attacker, move);
  if (c.move === 'skullbash' && gen >= 2) battle.boost({def: 1}, attacker, attacker, move);
  try {
    const active = dex.getActiveMove(c.move);
    active.priority = event('ModifyPriority', attacker, defender, active, active.priority);
    active.priority = battle.singleEvent('ModifyPriority', active, null, attacker, defender, null, active.priority) ?? active.priority;
    battle.setActiveMove(active, attacker, defender);
    battle.actions.useMove(active, attacker, {target: defender});
  } catch (error) {
    if (options.trace) console.error(error);
    return {showdown: {normal: null, crit: null}, chance: null};
  }
  return {showdown: {normal: hits.normal || none, crit: hits.crit || none}, chance: chance ?? 0};
}

/** What our side has to know of a Pokémon of the case. */
function facts({battle, attacker, defender}) {
  const others = battle.sides.flatMap(side => side.active).filter(pokemon => pokemon !== attacker && pokemon !== defender);
  return [attacker, defender, ...others].map(pokemon => ({
    species: pokemon.species.id, gender: pokemon.gender === 'N' ? '' : pokemon.gender,
    stats: [pokemon.maxhp, ...['atk', 'def', 'spa', 'spd', 'spe'].map(stat => pokemon.baseStoredStats[stat])],
    types: pokemon.getTypes(), baseTypes: pokemon.getTypes(false, true), hp: pokemon.hp, weight: pokemon.weighthg / 10, speed: battle.gen > 1 ? pokemon.getStat('spe') : pokemon.modifiedStats.spe,
  }));
}

// ---------------------------------------------------------------- @smogon/calc

const WEATHER = {
  sunnyday: 'Sun', raindance: 'Rain', sandstorm: 'Sand', hail: 'Hail', snowscape: 'Snow', desolateland: 'Harsh Sunshine',
  primordialsea: 'Heavy Rain', deltastream: 'Strong Winds',
};
const TERRAIN = {electricterrain: 'Electric', grassyterrain: 'Grassy', mistyterrain: 'Misty', psychicterrain: 'Psychic'};

function calcPokemon(side) {
  const name = dex.species.get(side.species).name;
  const found = calcGen.species.get(calc.toID(name));
  if (!found) throw new Error(`no species ${name}`);
  const ability = gen >= 3 ? dex.abilities.get(side.ability).name : undefined;
  const item = gen >= 2 && side.item ? dex.items.get(side.item).name : undefined;
  const fallen = side.effects.find(effect => effect.startsWith('fallen'));
  const quick = side.effects.find(effect => /^(protosynthesis|quarkdrive)/.test(effect));
  const ivs = {...side.ivs};
  const pokemon = new calc.Pokemon(calcGen, found.name, {
    level: side.level, ability, item, nature: side.nature || undefined, evs: side.evs, ivs, gender: side.gender,
    abilityOn: side.effects.some(effect => ['flashfire', 'slowstart'].includes(effect)),
    status: side.status || undefined, boosts: side.boosts, teraType: side.tera || undefined,
    alliesFainted: fallen ? Number(fallen.slice(6)) : undefined,
    boostedStat: quick ? quick.replace(/^(protosynthesis|quarkdrive)/, '') : undefined,
  });
  pokemon.originalCurHP = Math.max(1, Math.floor(pokemon.maxHP() * side.hp / 100));
  return pokemon;
}

function byCalc(c, crit) {
  if (!calc) return null;
  try {
    const name = dex.moves.get(c.move).name;
    if (!calcGen.moves.get(calc.toID(name))) return null;
    const attacker = calcPokemon(c.attacker), defender = calcPokemon(c.defender);
    const side = ids => ({
      isReflect: ids.includes('reflect'), isLightScreen: ids.includes('lightscreen'), isAuroraVeil: ids.includes('auroraveil'),
      isTailwind: ids.includes('tailwind'),
    });
    const move = new calc.Move(calcGen, name, {
      ability: attacker.ability, item: attacker.item, isCrit: crit, species: attacker.name,
      isStellarFirstUse: c.attacker.tera === 'Stellar',
    });
    const field = new calc.Field({
      gameType: 'Singles', weather: WEATHER[c.weather], terrain: TERRAIN[c.terrain], isGravity: c.rooms.includes('gravity'),
      isMagicRoom: c.rooms.includes('magicroom'), isWonderRoom: c.rooms.includes('wonderroom'),
      attackerSide: {...side(c.ownSide), isCharge: c.attacker.effects.includes('charge'), isPowerTrick: c.attacker.effects.includes('powertrick')},
      defenderSide: {...side(c.screens), isForesight: c.defender.effects.includes('foresight'), isPowerTrick: c.defender.effects.includes('powertrick')},
    });
    const damage = calc.calculate(calcGen, attacker, defender, move, field).damage;
    const width = OLD ? 39 : 16;
    const spread = one => typeof one === 'number' ? Array(width).fill(one) : one;
    const tried = all => ROLLS.map(index => all[index]);
    if (typeof damage === 'number') return tried(spread(damage));
    if (typeof damage[0] === 'number') return tried(damage.length === width ? damage : spread(damage.reduce((a, b) => a + b, 0)));
    return tried(damage.map(spread).reduce((sum, hit) => sum.map((value, i) => value + hit[i])));
  } catch (error) {
    if (options.trace) console.error(error);
    return null;
  }
}

// ---------------------------------------------------------------- the lines

if (options.pools) {
  console.log(JSON.stringify(pools()));
} else {
  const lines = createInterface({input: process.stdin, terminal: false});
  for await (const line of lines) {
    if (!line) continue;
    const c = JSON.parse(line);
    const state = setUp(c);
    const [attacker, defender, ...others] = facts(state);
    const answer = {id: c.id, attacker, defender, others, ...byShowdown(c, state)};
    // The calculator does not know the effects that make a critical hit certain.
    const sure = answer.chance === 1 && c.attacker.effects.some(effect => ['laserfocus', 'focusenergy'].includes(effect));
    answer.calc = options.doubles ? {normal: null, crit: null} : {normal: byCalc(c, sure), crit: byCalc(c, true)};
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}
