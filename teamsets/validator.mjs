// Showdown's own words about teams: validate, export, and the few facts of its Pokédex that assembling a team needs.
//
// Imported, it gives the functions. Run as a program, it answers one line of JSON for each line of JSON on stdin:
//   {"op": "validate", "format": "gen1ou", "team": TEXT}   -> {"packed": "...", "problems": []}
//   {"op": "export", "packed": "..."}                      -> {"text": "..."}
//   {"op": "species", "gen": 1, "names": ["Tauros"]}       -> {"species": {"Tauros": {...}}}
// A request that cannot be answered gets {"error": MESSAGE, "formats"?: [...]}. It ends when stdin ends, so that it
// never outlives its parent.

import {realpathSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import {fileURLToPath} from 'node:url';

const here = fileURLToPath(import.meta.url);
const showdown = process.env.ARENA_SHOWDOWN ?? path.join(path.dirname(here), '..', 'node_modules', 'pokemon-showdown');
const {Dex, TeamValidator, Teams} = createRequire(import.meta.url)(path.join(showdown, 'dist', 'sim', 'index.js'));

/** A format that Showdown does not have, or that has more than two sides or slots; `formats` are the ids that are. */
export class UnknownFormat extends Error {
  constructor(message) {
    super(message);
    this.formats = Dex.formats.all().filter(isPlayed).map(format => format.id);
  }
}

const isPlayed = format => format.effectType === 'Format' && ['singles', 'doubles'].includes(format.gameType);

const validators = new Map();

function validatorOf(formatid) {
  let validator = validators.get(formatid);
  if (!validator) {
    const format = Dex.formats.get(formatid);
    if (!format.exists) throw new UnknownFormat('Showdown has no such format');
    if (!isPlayed(format)) throw new UnknownFormat(`only singles and doubles are played here, not ${format.gameType}`);
    validator = new TeamValidator(format);
    validators.set(formatid, validator);
  }
  return validator;
}

/** The sets of a team in any of Showdown's writings (export, packed, JSON), or null. */
function read(text, gen) {
  const {lines, heads} = withoutHeads(text.replaceAll('\r', '').split('\n'));
  const team = heads ? Teams.import(lines.join('\n')) : Teams.import(text.replaceAll('\r', ''));
  if (!team?.length) return null;
  if (heads) team.forEach((set, at) => Object.assign(set, heads[at]));
  for (const set of team) {
    // Before generation 3 an export names EVs only where they are not full, as Showdown's client reads it.
    if (gen <= 2 && set.evs && Object.values(set.evs).every(value => value === 0)) delete set.evs;
  }
  return team;
}

/**
 * An export's lines without the names in the first line of each Pokémon, and what these lines say. Showdown's client reads
 * them from their end (the last " @ ", the last " ("), the simulator's package from their beginning, and so it takes a part of
 * a nickname for the species. `heads` is null for what is no export.
 */
function withoutHeads(lines) {
  const filled = lines.filter(line => line);
  if (filled[0]?.startsWith('[') || (filled.length === 1 && filled[0].includes('|'))) return {lines, heads: null};
  const heads = [];
  let inside = false;
  const kept = lines.map(line => {
    line = line.trim();
    if (line.startsWith('===')) return line;
    if (line === '' || line === '---') {
      inside = false;
      return line;
    }
    if (inside) return line;
    inside = true;
    heads.push(head(line));
    return '?';
  });
  return {lines: kept, heads};
}

/** Species, gender and item in the first line of a Pokémon: "Bob (M) (Great Tusk) (F) @ Leftovers". */
function head(line) {
  const at = line.lastIndexOf(' @ ');
  // A nickname may have an " @ ", too, where no item follows.
  if (at < 0 || (!Dex.items.get(line.slice(at + 3)).exists && named(line).exists)) return {...named(line).set, item: ''};
  const item = line.slice(at + 3).trim();
  return {...named(line.slice(0, at).trim()).set, item: item.replaceAll(' ', '').toLowerCase() === 'noitem' ? '' : item};
}

/** Species and gender in "Bob (M) (Great Tusk) (F)", and whether there is such a species in the last brackets. */
function named(line) {
  const gender = / \(([MF])\)$/.exec(line)?.[1] ?? '';
  if (gender) line = line.slice(0, -4);
  const spaced = line.lastIndexOf(' (');
  const open = spaced >= 0 ? spaced + 1 : line.lastIndexOf('(');
  const bracketed = line.endsWith(')') && open >= 0;
  const species = Dex.species.get(bracketed ? line.slice(open + 1, -1) : line);
  return {exists: bracketed && species.exists, set: {name: '', species: species.name, gender}};
}

/**
 * Validate a team in a format by Showdown's rules.
 * @returns {{packed: string, problems: string[]}} The packed team as the validator left it (it mends small things, such
 * as the IVs of a Hidden Power), without nicknames, so that equal teams have equal text; "" when there are problems.
 */
export function validateTeam(formatid, text) {
  const validator = validatorOf(formatid);
  const team = read(text, validator.dex.gen);
  if (!team) return {packed: '', problems: ['holds no team in a writing that Showdown reads']};
  const problems = validator.validateTeam(team) ?? [];
  if (problems.length) return {packed: '', problems};
  for (const set of team) set.name = set.species;
  return {packed: Teams.pack(team), problems};
}

/** Showdown's export text of a packed team. */
export function exportTeam(packed) {
  const team = Teams.unpack(packed);
  if (!team) throw new Error('not a packed team');
  for (const set of team) {
    // The validator names a Hidden Power type even for those that have no such move.
    if (!set.moves.some(move => move.startsWith('Hidden Power'))) delete set.hpType;
    if (set.ability !== 'No Ability') continue;
    // Generations 1 and 2 have neither abilities nor natures, and full EVs go without saying.
    set.ability = set.nature = '';
    if (Object.values(set.evs ?? {}).every(value => value === 252)) delete set.evs;
  }
  return Teams.export(team).trimEnd() + '\n';
}

/** What a generation's Pokédex says of some species: base speed, first ability, and each type's multiplier against it. */
export function speciesFacts(gen, names) {
  const dex = Dex.forGen(gen);
  const attacks = dex.types.all().filter(type => !type.isNonstandard && type.name !== 'Stellar').map(type => type.name);
  const facts = {};
  for (const name of names) {
    const species = dex.species.get(name);
    if (!species.exists || species.gen > gen) continue;
    const multiplier = type => dex.getImmunity(type, species) ? 2 ** dex.getEffectiveness(type, species) : 0;
    facts[name] = {
      base: species.baseSpecies,
      speed: species.baseStats.spe,
      ability: gen >= 3 ? species.abilities['0'] : '',
      takes: Object.fromEntries(attacks.map(type => [type, multiplier(type)])),
    };
  }
  return facts;
}

const operations = {
  validate: request => validateTeam(request.format, request.team),
  export: request => ({text: exportTeam(request.packed)}),
  species: request => ({species: speciesFacts(request.gen, request.names)}),
};

function answer(line) {
  try {
    const request = JSON.parse(line);
    return operations[request.op](request);
  } catch (error) {
    return {error: error.message, formats: error.formats};
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === here) {
  const lines = readline.createInterface({input: process.stdin});
  lines.on('line', line => process.stdout.write(JSON.stringify(answer(line)) + '\n'));
  lines.on('close', () => process.exit(0));
}
