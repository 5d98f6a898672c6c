// Random teams of any species, moves, items and abilities of a generation, so that what nobody uses is used too.

const NATURES = ['Adamant', 'Modest', 'Jolly', 'Timid', 'Bold', 'Brave', 'Serious'];
const known = new WeakMap();

/** What a generation has: species that can start a battle, moves, items, abilities. */
function worldOf(dex) {
  if (known.has(dex)) return known.get(dex);
  const real = thing => thing.exists && thing.gen <= dex.gen && (!thing.isNonstandard || thing.isNonstandard === 'Unobtainable');
  const species = dex.species.all().filter(s =>
    real(s) && s.num > 0 && !s.battleOnly && !s.isMega && !s.isPrimal && !/^(Gmax|Eternamax|Totem)/.test(s.forme) && !s.requiredItems?.length);
  const moves = dex.moves.all().filter(m => real(m) && m.num > 0 && !m.isZ && !m.isMax && m.id !== 'struggle' && !/^Hidden Power ./.test(m.name));
  const items = dex.items.all().filter(i => real(i) && dex.gen > 1);
  const abilities = dex.abilities.all().filter(a => real(a) && a.num > 0 && dex.gen > 2);
  const holds = new Map(); // base species -> items that are for it: stones, crystals, orbs
  for (const item of items) {
    for (const user of item.itemUser || []) {
      const base = dex.species.get(user).baseSpecies;
      holds.set(base, [...(holds.get(base) || []), item.name]);
    }
  }
  const world = {species, moves, items, abilities, holds};
  known.set(dex, world);
  return world;
}

export function anyTeam(dex, roll) {
  const {species, moves, items, abilities, holds} = worldOf(dex);
  const pick = list => list[roll(list.length)];
  const size = roll(10) ? 6 : 1 + roll(6);
  const team = [];
  const taken = new Set();
  while (team.length < size) {
    const kind = pick(species);
    if (taken.has(kind.baseSpecies)) continue;
    taken.add(kind.baseSpecies);
    const chosen = new Set();
    const count = roll(8) ? 4 : 1 + roll(4);
    while (chosen.size < count) chosen.add(pick(moves).name);
    const own = [...new Set(Object.values(kind.abilities))];
    const lawful = own.length === 1 || roll(5) < 3; // whoever has only one is known to have it
    const fitting = holds.get(kind.baseSpecies);
    const evs = pick([0, 84, 252]);
    team.push({
      name: kind.baseSpecies, species: kind.name, moves: [...chosen], level: roll(3) ? 100 : 30 + roll(71), nature: pick(NATURES),
      ability: abilities.length ? (lawful ? pick(own) : pick(abilities).name) : 'No Ability',
      item: !items.length || !roll(8) ? '' : fitting && roll(2) ? pick(fitting) : pick(items).name,
      gender: kind.gender || (dex.gen > 1 ? pick(['M', 'F']) : ''),
      evs: {hp: evs, atk: evs, def: evs, spa: evs, spd: evs, spe: evs},
      ivs: {hp: 30, atk: 30, def: 30, spa: 30, spd: 30, spe: 30},
      teraType: pick(dex.types.names()), gigantamax: !roll(2),
    });
  }
  return team;
}

/** Sets of what decides who may choose what: [species, ability, moves, item]. Where a generation lacks one it is left out. */
const DECIDING = [
  ['Rabsca', 'Synchronize', ['revivalblessing', 'memento', 'protect', 'bugbuzz'], ''],
  ['Pawmot', 'Volt Absorb', ['revivalblessing', 'doubleedge', 'quickattack', 'closecombat'], 'Life Orb'],
  ['Dondozo', 'Unaware', ['wavecrash', 'orderup', 'rest', 'sleeptalk'], 'Choice Band'],
  ['Tatsugiri', 'Commander', ['muddywater', 'dracometeor', 'icywind', 'memento'], ''],
  ['Gothitelle', 'Shadow Tag', ['psychic', 'imprison', 'trickroom', 'healpulse'], ''],
  ['Dugtrio', 'Arena Trap', ['earthquake', 'memento', 'rockslide', 'explosion'], 'Focus Sash'],
  ['Wobbuffet', 'Shadow Tag', ['counter', 'mirrorcoat', 'encore', 'destinybond'], ''],
  ['Zoroark', 'Illusion', ['uturn', 'nightdaze', 'flamethrower', 'protect'], 'Choice Scarf'],
  ['Azumarill', 'Huge Power', ['aquajet', 'bellydrum', 'helpinghand', 'outrage'], 'Red Card'],
  ['Golem', 'Sturdy', ['explosion', 'rollout', 'earthquake', 'stoneedge'], 'Eject Button'],
  ['Snorlax', 'Gluttony', ['selfdestruct', 'rest', 'sleeptalk', 'curse'], ''],
  ['Salamence', 'Intimidate', ['outrage', 'fly', 'dragonclaw', 'protect'], 'Salamencite'],
  ['Charizard', 'Blaze', ['blastburn', 'fly', 'heatwave', 'dragonpulse'], 'Charizardite Y'],
  ['Necrozma-Dusk-Mane', 'Prism Armor', ['photongeyser', 'sunsteelstrike', 'calmmind', 'moonlight'], 'Ultranecrozium Z'],
  ['Tapu Koko', 'Electric Surge', ['thunderbolt', 'uturn', 'naturesmadness', 'taunt'], 'Electrium Z'],
  ['Gengar', 'Cursed Body', ['curse', 'shadowball', 'acupressure', 'disable'], 'Ghostium Z'],
];

/** Any team, half of whose members are of the above. */
export function decidingTeam(dex, roll) {
  const fit = DECIDING.filter(([name, ability, moves]) => dex.species.get(name).gen <= dex.gen && moves.every(move => dex.moves.get(move).gen <= dex.gen) &&
    (dex.gen < 3 || dex.abilities.get(ability).gen <= dex.gen));
  let team = [];
  while (team.length < 2) team = anyTeam(dex, roll);
  return team.map(set => {
    if (!roll(2)) return set;
    const [name, ability, moves, item] = fit[roll(fit.length)];
    const known = dex.items.get(item);
    return {...set, name, species: name, ability, moves, item: known.exists && known.gen <= dex.gen ? item : ''};
  });
}
