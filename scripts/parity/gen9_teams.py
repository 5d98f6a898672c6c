"""Teams for scripts/parity/gen9_parity.py: of a ring or folder, without what the engine does not play, and random ones."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Sequence

from poke_env.data import GenData

from agents.engine.gen9.played import plays
from agents.engine.gen9.teams import DATA, NUMBERS, SPECIES, TYPES, side_words
from teamsets.builder.published import as_text, published_sets
from teamsets.errors import BadInput
from teamsets.loading import load_set, validate_teams

FORMAT = "gen9ou"
#: Rings of team sets; to rings 2 and 3 belong all published sets, too.
RINGS = {
    "ring1": ("competitive", "verdict"),
    "ring2": ("competitive", "verdict"),
    "ring3": ("competitive", "verdict", "variety:1000"),
}
#: How often each published set is drawn for ring 2.
DRAWS = 6
#: Moves that nobody knows.
_OF_THE_SIMULATOR = ("struggle", "confused", "recharge")
#: Ids that do something together, of all kinds.
THEMES = (
    "drought chlorophyll leafguard protosynthesis heatrock boosterenergy solarblade growth synthesis moonlight weatherball "
    "hydrosteam willowisp thunderwave toxic venusaur torkoal walkingwake ninetales",
    "drizzle swiftswim hydration damprock raindance hurricane weatherball bleakwindstorm thunderwave willowisp pelipper",
    "sandstream sandforce sandrush smoothrock earthquake stoneedge ironhead excadrill tyranitar overcoat weatherball",
    "snowwarning snowscape chillyreception auroraveil lightclay blizzard weatherball ninetalesalola freezedry",
    "psychicsurge psychicseed terrainextender expandingforce extremespeed suckerpunch roost indeedee iceshard",
    "grassysurge grassyseed terrainextender grassyglide earthquake rillaboom recover",
    "quarkdrive protosynthesis boosterenergy neutralizinggas skillswap knockoff trick ironvaliant greattusk clearbody",
    "corrosion toxicchain poisonpuppeteer toxicdebris poisonheal toxic malignantchain mortalspin toxicspikes hex toxicorb "
    "lumberry naturalcure pecharunt fezandipiti okidogi facade guts",
    "baddreams rest sleeptalk chestoberry lumberry oblivious taunt encore mentalherb slackoff naturalcure darkrai hydration",
    "disguise mimikyu moldbreaker substitute playrough shadowclaw dragondarts terablast",
    "embodyaspectteal embodyaspectwellspring embodyaspectcornerstone ogerpon ogerponwellspring ogerponcornerstone ivycudgel "
    "wellspringmask cornerstonemask transform imposter",
    "cursedbody outrage encore choiceband dragapult innerfocus intimidate airslash ironhead darkpulse waterfall",
    "galewings voltabsorb thunderbolt discharge bravebird acrobatics airslash shucaberry colburberry earthquake darkpulse "
    "knockoff magician pickpocket mirrorarmor justified talonflame",
    "transform imposter ditto substitute roost mimikyu disguise ogerpon hawlucha swordsdance encore phantomforce meteorbeam",
    "battlebond greninjabond watershuriken darkpulse surf icebeam moxie supremeoverlord focussash",
    "souldew latios latias psychic dracometeor levitate expandingforce lusterpurge mysticalfire",
    "intimidate defiant contrary guarddog clearbody innerfocus oblivious mirrorarmor whiteherb ejectpack "
    "razorshell crunch partingshot bigpecks stickyweb lunge irondefense tickle",
    "substitute infiltrator airballoon rapidspin icespinner ceaselessedge mortalspin knockoff boomburst",
    "flashfire waterabsorb voltabsorb sapsipper fireblast surf thunderbolt leafstorm willowisp scald discharge freezedry",
    "colburberry shucaberry custapberry sitrusberry knockoff earthquake unnerve berserk unburden foulplay endure",
    "powerherb meteorbeam solarblade phantomforce hyperbeam gigatonhammer throatspray clangingscales boomburst liquidvoice",
    "icebeam freezedry scald flareblitz flamethrower waterveil waterbubble heatproof blizzard icepunch",
    "psychicnoise recover drainpunch gigadrain leftovers strengthsap wish roost regenerator triage hornleech",
    "bulletproof soundproof overcoat goodasgold magicbounce prankster shadowball boomburst stunspore haze thunderwave roar",
    "electricsurge electricterrain electricseed quarkdrive surgesurfer boosterenergy psyblade thunder rest "
    "effectspore ironvaliant terrainextender transistor charge electromorphosis risingvoltage",
    "mistysurge mistyterrain mistyseed mistyexplosion confuseray toxic willowisp dracometeor rest terrainextender "
    "swagger synchronize",
    "dancer swordsdance dragondance quiverdance petaldance revelationdance fierydance teeterdance victorydance "
    "featherdance aquastep oricorio choicescarf sleeptalk lunardance outrage",
    "stickyhold trick switcheroo knockoff thief covet magician pickpocket unburden leftovers choiceband "
    "protectivepads poltergeist stickybarb",
    "trace synchronize poisontouch toxicchain effectspore flamebody static shedskin naturalcure guts quickfeet "
    "marvelscale abilityshield skillswap entrainment neutralizinggas moldbreaker",
    "leechseed substitute liquidooze gigadrain strengthsap drainpunch rapidspin mortalspin perishsong soundproof "
    "meanlook block spiritshackle uturn teleport throatchop hypervoice boomburst",
    "focusenergy scopelens sniper superluck nightslash transform imposter shellarmor battlearmor merciless toxic "
    "frostbreath razorclaw",
    "queenlymajesty dazzling armortail fakeout extremespeed prankster perishsong triage suckerpunch stall "
    "laggingtail custapberry myceliummight willowisp",
    "noguard compoundeyes widelens blunderpolicy hustle dynamicpunch inferno thunder hurricane blizzard "
    "populationbomb tripleaxel sandattack skilllink loadeddice phantomforce tailslap rockblast",
    "burningbulwark silktrap spikyshield banefulbunker detect protect feint phantomforce outrage longreach "
    "protectivepads closecombat endure clearamulet",
    "sheerforce lifeorb adaptability reckless ironfist toughclaws strongjaw punkrock pixilate galvanize scrappy "
    "metronome flareblitz hyperbeam crunch firepunch hypervoice boomburst terablast redcard ejectbutton",
    "competitive defiant aromaveil flowerveil clearamulet whitesmoke rattled intimidate partingshot taunt encore "
    "disable psychicnoise willowisp stickyweb mirrorarmor owntempo confuseray",
    "dryskin solarpower raindish slushrush windrider tailwind icyrock snowwarning drought drizzle bleakwindstorm "
    "icywind stormdrain lightningrod eartheater waterspout",
    "doubleshock soak revelationdance libero roost shedshell magnetrise magnetpull earthquake electricterrain "
    "airballoon terrainextender transform",
    "tidyup spikes stealthrock stickyweb toxicspikes substitute brickbreak psychicfangs ragingbull reflect "
    "lightscreen auroraveil stoneaxe ceaselessedge defog courtchange tailwind",
    "bellydrum filletaway clangoroussoul contrary sitrusberry keeberry marangaberry leppaberry unnerve earlybird "
    "rest sleeptalk insomnia",
    "bind wrap firespin sandtomb whirlpool magmastorm infestation thundercage gripclaw bindingband rapidspin "
    "substitute shedshell",
)
_NATURES = tuple(DATA["natures"])
_EVS = ("84,84,84,84,84,84", "252,252,4,,,", "252,,4,,252,", ",252,,,4,252", ",,4,252,,252", "")
_IVS = ("", "", "0,0,0,0,0,0", ",0,,,,", "30,7,11,,2,0")
_GENDERS = ("", "", "", "M", "F", "N")


@functools.cache
def played() -> dict[str, tuple[str, ...]]:
    """What the engine plays: "species", "abilities", "items", "moves" and "types", each with its ids."""
    world = {
        kind: tuple(id for id in NUMBERS[kind] if plays(kind, id) and id not in _OF_THE_SIMULATOR)
        for kind in ("abilities", "items", "moves")
    }
    ability, move = world["abilities"][0], world["moves"][0]

    def begins(species: str) -> bool:
        try:
            side_words(f"x|{species}||{ability}|{move}|Hardy|||||100|,,,,,{TYPES[0]}", 0)
        except BadInput:
            return False
        return True

    return {**world, "species": tuple(filter(begins, SPECIES)), "types": tuple(TYPES)}


def restricted(packed: str) -> str | None:
    """A packed team without what the engine does not play; None where less than a Pokémon is left.

    A Pokémon whose species or ability is not played is left out; so are moves, and an item.
    """
    world, kept = played(), []
    for member in packed.split("]"):
        fields = member.split("|")
        fields[1] = fields[1] or fields[0]
        fields[4] = ",".join(move for move in map(_to_id, fields[4].split(",")) if move in world["moves"])
        if _to_id(fields[2]) not in world["items"]:
            fields[2] = ""
        if fields[4] and _to_id(fields[1]) in world["species"] and _to_id(fields[3]) in world["abilities"]:
            kept.append("|".join(fields))
    return "]".join(kept) or None


def teams_of(names: Sequence[str]) -> list[str]:
    """The packed teams of rings, team sets and folders, each restricted to what is played. Raises BadInput for none."""
    whole = []
    for name in names:
        for team_set in RINGS.get(name, (name,)):
            whole += [team.packed for team in load_set(team_set, FORMAT, skip_invalid=True).teams]
        if name in ("ring2", "ring3"):
            whole += _published()
    teams = [team for team in map(restricted, dict.fromkeys(whole)) if team]
    if not teams:
        raise BadInput(f"--teams {' '.join(names)}: the engine plays no Pokémon of these.")
    return teams


def _published() -> list[str]:
    """Teams of six of gen9ou's published sets, with one of the alternatives of each field; no set that is refused alone."""
    rng = random.Random("published")
    dex = GenData.from_gen(9).pokedex
    texts = [
        as_text([one.draw(rng, 0.0, dex[_to_id(one.species)]["abilities"]["0"])])
        for one in published_sets(9, "ou")
        for _ in range(DRAWS)
    ]
    members = [check.packed for check in validate_teams(FORMAT, texts) if check.packed]
    rng.shuffle(members)
    return ["]".join(members[place : place + 6]) for place in range(0, len(members), 6)]


def random_team(rng: random.Random, uses: Counter[str] | None = None) -> str:
    """A packed team of anything that is played on any species. uses: take what was used least, and count it.

    Half of the teams have a theme, whose ids come in half of the places. Half of the Pokémon are as in a team of ring 3,
    with a half or a quarter of their fields drawn anew.
    """
    world = played()
    theme = frozenset(rng.choice(THEMES).split()) if rng.randrange(2) else frozenset()

    def pick(kind: str, count: int = 1) -> list[str]:
        fitting = [one for one in world[kind] if one in theme]
        if len(fitting) >= count and rng.randrange(2):
            return rng.sample(fitting, count)
        ids = rng.sample(world[kind], min(count, len(world[kind])))
        if uses is not None:
            pairs = zip(ids, rng.choices(world[kind], k=len(ids)), strict=True)
            ids = list(dict.fromkeys(min(pair, key=lambda one: uses[kind + one]) for pair in pairs))
            uses.update(kind + one for one in ids)
        return ids

    def member(species: str) -> list[str]:
        item = pick("items")[0] if rng.randrange(8) else ""
        level = "" if rng.randrange(3) else str(rng.randrange(30, 101))
        moves = ",".join(pick("moves", 4 if rng.randrange(8) else rng.randrange(1, 5)))
        nature, evs, tera = rng.choice(_NATURES), rng.choice(_EVS), pick("types")[0]
        gender, ivs = rng.choice(_GENDERS), rng.choice(_IVS)
        fields = [species, "", item, pick("abilities")[0], moves, nature, evs, gender, ivs, "", level, f",,,,,{tera}"]
        own = _members().get(species, ())
        if not own or rng.randrange(2):
            return fields
        known = rng.choice(own).split("|")[2:]
        share = rng.choice((2, 4))  # of the fields that are drawn anew: a half or a quarter
        return [
            species,
            "",
            *(new if not rng.randrange(share) else old for old, new in zip(known, fields[2:], strict=True)),
        ]

    size, chosen = 6 if rng.randrange(10) else rng.randrange(1, 7), list[str]()
    while len(chosen) < size:
        chosen += [species for species in pick("species") if species not in chosen]
    return "]".join("|".join(member(species)) for species in chosen)


@functools.cache
def _members() -> dict[str, tuple[str, ...]]:
    """By species, the Pokémon of ring 3's teams, without what is not played."""
    found: dict[str, list[str]] = {}
    for member in dict.fromkeys(member for team in teams_of(["ring3"]) for member in team.split("]")):
        found.setdefault(_to_id(member.split("|")[1]), []).append(member)
    return {species: tuple(members) for species, members in found.items()}


def _to_id(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())
