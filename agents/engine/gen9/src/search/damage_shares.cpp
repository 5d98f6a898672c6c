// Estimates of damage: damage_shares.h.

#include "search/damage_shares.h"

namespace search {

namespace {

constexpr float STAGES[] = {2 / 8.f, 2 / 7.f, 2 / 6.f, 2 / 5.f, 2 / 4.f, 2 / 3.f, 1, 1.5f, 2, 2.5f, 3, 3.5f, 4};

float stage(int boost) { return STAGES[6 + clamp(boost, -6, 6)]; }

const EffectState* find(const EffectState* list, int count, int id) {
    for (int n = 0; n < count; n++)
        if (list[n].id == id) return &list[n];
    return nullptr;
}

bool onSide(const Row& row, int side, int id) { return find(row.sides[side].conditions, row.sides[side].conditionCount, id); }

// The factor of the stat that Protosynthesis or Quark Drive raises.
float paradox(const Fighter& f, int stat) {
    for (int id : {int(condition::protosynthesis), int(condition::quarkdrive)})
        if (const EffectState* state = f.state(id); state && state->counter == stat) return stat == Stat::spe ? 1.5f : 1.3f;
    return 1;
}

int typeOf(const Fighter& user, const MoveData& move, bool tera) {
    switch (move.id) {
        case move::terablast: return tera ? user.p.teraType : user.p.terastallized ? user.p.terastallized - 1 : move.type;
        case move::ivycudgel: {
            int second = SPECIES[user.p.species].types[1];
            return second == Type::none ? int(Type::Grass) : second;
        }
        case move::weatherball:
            switch (user.row.weatherState.id) {
                case condition::raindance: return Type::Water;
                case condition::sunnyday: return Type::Fire;
                case condition::sandstorm: return Type::Rock;
                case condition::snowscape: return Type::Ice;
                default: return move.type;
            }
        default: return move.type;
    }
}

float effectiveness(const Fighter& target, int type, int move) {
    if (type < 0 || type >= Type::COUNT) return 1;
    float factor = 1;
    auto against = [&](int own) {
        if (own < 0 || own >= Type::COUNT) return;
        int mod = CHART[type][own];
        if (move == move::freezedry && own == Type::Water) mod = 1;
        factor *= mod == 2 ? 0.f : mod == 1 ? 2.f : mod == -1 ? 0.5f : 1.f;
    };
    int tera = target.p.terastallized - 1;
    if (tera >= 0 && tera != Type::Stellar) {
        against(tera);
        return factor;
    }
    const int32_t* types = target.active ? target.active->types : SPECIES[target.p.species].types;
    against(types[0]);
    against(types[1]);
    return factor;
}

// The factor by the target's ability and item; 0: it does nothing.
float resisted(const Fighter& user, const Fighter& target, const MoveData& move, int type) {
    if (type == Type::Ground && !grounded(target)) return 0;
    if (user.p.ability == ability::moldbreaker) return 1;
    bool physical = move.category == Category::Physical;
    switch (target.p.ability) {
        case ability::flashfire: return type == Type::Fire ? 0 : 1;
        case ability::waterabsorb: return type == Type::Water ? 0 : 1;
        case ability::voltabsorb: return type == Type::Electric ? 0 : 1;
        case ability::sapsipper: return type == Type::Grass ? 0 : 1;
        case ability::bulletproof: return move.has(Flag::bullet) ? 0 : 1;
        case ability::soundproof: return move.has(Flag::sound) ? 0 : 1;
        case ability::thickfat: return type == Type::Fire || type == Type::Ice ? 0.5f : 1;
        case ability::heatproof:
        case ability::waterbubble: return type == Type::Fire ? 0.5f : 1;
        case ability::purifyingsalt: return type == Type::Ghost ? 0.5f : 1;
        case ability::multiscale: return target.p.hp == target.p.maxhp ? 0.5f : 1;
        case ability::disguise: return target.p.species == species::mimikyu ? 0.1f : 1;
        case ability::vesselofruin: return physical ? 1 : 0.75f;
        default: return 1;
    }
}

float weightOf(const Fighter& f) { return SPECIES[f.p.species].weighthg / 10.f; }

// The power of a move that has none of its own, or another under some conditions.
float powerOf(const Fighter& user, const Fighter& target, const MoveData& move) {
    float power = move.basePower;
    auto raised = [](const Fighter& f) {
        int sum = 0;
        for (int stat = 0; stat < Stat::COUNT; stat++) sum += f.boost(stat) > 0 ? f.boost(stat) : 0;
        return sum;
    };
    switch (move.id) {
        case move::lowkick:
        case move::grassknot: {
            float weight = weightOf(target);
            return weight >= 200 ? 120 : weight >= 100 ? 100 : weight >= 50 ? 80 : weight >= 25 ? 60 : weight >= 10 ? 40 : 20;
        }
        case move::heavyslam: {
            float ratio = weightOf(user) / weightOf(target);
            return ratio >= 5 ? 120 : ratio >= 4 ? 100 : ratio >= 3 ? 80 : ratio >= 2 ? 60 : 40;
        }
        case move::storedpower: return 20 + 20 * raised(user);
        case move::acrobatics: return user.p.item ? power : 2 * power;
        case move::knockoff: return target.p.item ? 1.5f * power : power;
        case move::hex: return target.p.status ? 2 * power : power;
        case move::facade: return user.p.status ? 2 * power : power;
        case move::weatherball: return user.row.weatherState.id ? 2 * power : power;
        case move::poltergeist: return target.p.item ? power : 0;
        default: break;
    }
    return power ? power : 70;
}

float hitsOf(const Fighter& user, const MoveData& move) {
    if (!move.multihit[0]) return 1;
    if (move.multihit[0] == move.multihit[1]) return move.multihit[0];
    return user.p.item == item::loadeddice ? 4.5f : 3.1f;
}

float itemFactor(const Fighter& user, bool physical, float effect) {
    switch (user.p.item) {
        case item::choiceband: return physical ? 1.5f : 1;
        case item::choicespecs: return physical ? 1 : 1.5f;
        case item::lifeorb: return 1.3f;
        case item::expertbelt: return effect > 1 ? 1.2f : 1;
        case item::wellspringmask:
        case item::cornerstonemask: return 1.2f;
        default: return 1;
    }
}

float abilityFactor(const Fighter& user, const MoveData& move, int type, float power, float effect) {
    switch (user.p.ability) {
        case ability::hugepower: return move.category == Category::Physical ? 2 : 1;
        case ability::technician: return power <= 60 ? 1.5f : 1;
        case ability::sharpness: return move.has(Flag::slicing) ? 1.5f : 1;
        case ability::guts: return user.p.status && move.category == Category::Physical ? 1.5f : 1;
        case ability::hustle: return move.category == Category::Physical ? 1.2f : 1;
        case ability::tintedlens: return effect < 1 ? 2 : 1;
        case ability::waterbubble: return type == Type::Water ? 2 : 1;
        case ability::supremeoverlord: return 1 + 0.1f * user.p.abilityState.counter;
        case ability::torrent: return type == Type::Water && 3 * user.p.hp <= user.p.maxhp ? 1.5f : 1;
        case ability::blaze: return type == Type::Fire && 3 * user.p.hp <= user.p.maxhp ? 1.5f : 1;
        default: return 1;
    }
}

float fieldFactor(const Fighter& user, int type) {
    float factor = 1;
    int weather = user.row.weatherState.id;
    if (weather == condition::sunnyday) factor *= type == Type::Fire ? 1.5f : type == Type::Water ? 0.5f : 1;
    if (weather == condition::raindance) factor *= type == Type::Water ? 1.5f : type == Type::Fire ? 0.5f : 1;
    int terrain = user.row.terrainState.id;
    if (terrain == condition::grassyterrain && type == Type::Grass && grounded(user)) factor *= 1.3f;
    if (terrain == condition::psychicterrain && type == Type::Psychic && grounded(user)) factor *= 1.3f;
    return factor;
}

float defenceFactor(const Fighter& target, int stat) {
    float factor = paradox(target, stat);
    if (target.p.item == item::assaultvest && stat == Stat::spd) factor *= 1.5f;
    if (target.p.item == item::eviolite && SPECIES[target.p.species].nfe) factor *= 1.5f;
    int weather = target.row.weatherState.id;
    if (weather == condition::sandstorm && stat == Stat::spd && target.hasType(Type::Rock)) factor *= 1.5f;
    if (weather == condition::snowscape && stat == Stat::def && target.hasType(Type::Ice)) factor *= 1.5f;
    return factor;
}

float stabFactor(const Fighter& user, int type, bool tera) {
    bool native = false;
    const int32_t* types = user.active ? user.active->types : SPECIES[user.p.species].types;
    for (int n = 0; n < 2; n++) native = native || types[n] == type;
    int now = tera ? user.p.teraType : user.p.terastallized - 1;
    if (now == Type::Stellar) return native ? 2 : 1.2f;
    if (now == type) return native ? 2 : 1.5f;
    return native ? 1.5f : 1;
}

}  // namespace

const EffectState* Fighter::state(int condition) const {
    return active ? find(active->volatiles, active->volatileCount, condition) : nullptr;
}
bool Fighter::has(int condition) const { return state(condition); }

bool Fighter::hasType(int type) const {
    int tera = p.terastallized - 1;
    if (tera >= 0 && tera != Type::Stellar) return tera == type;
    const int32_t* types = active ? active->types : SPECIES[p.species].types;
    return types[0] == type || types[1] == type;
}

Fighter outOf(const Row& row, int side) {
    const Side& whole = row.sides[side];
    return {row, side, whole.pokemon[(whole.order[0] - 1) % TEAM], &whole.active[0]};
}

bool grounded(const Fighter& f) {
    return !f.hasType(Type::Flying) && f.p.ability != ability::levitate && f.p.item != item::airballoon;
}

float Fighter::speed() const {
    float value = stored(Stat::spe) * stage(boost(Stat::spe));
    if (p.status == condition::par) value *= 0.5f;
    if (p.item == item::choicescarf) value *= 1.5f;
    int weather = row.weatherState.id;
    bool doubled = (p.ability == ability::swiftswim && weather == condition::raindance) ||
        (p.ability == ability::chlorophyll && weather == condition::sunnyday) || (p.ability == ability::sandrush && weather == condition::sandstorm) ||
        has(condition::unburden);
    return value * (doubled ? 2 : 1) * paradox(*this, Stat::spe);
}

int faster(const Fighter& a, const Fighter& b) {
    float one = a.speed(), two = b.speed();
    int first = (one > two) - (one < two);
    return find(a.row.pseudoWeather, a.row.pseudoWeatherCount, condition::trickroom) ? -first : first;
}

bool held(const Fighter& f) {
    return f.p.status == condition::slp || f.p.status == condition::frz || f.has(condition::mustrecharge);
}

float shareOf(const Fighter& user, const Fighter& target, int id, bool tera) {
    const MoveData& move = moveData(id);
    if (move.category == Category::Status || target.p.hp <= 0) return 0;
    int type = typeOf(user, move, tera);
    float effect = effectiveness(target, type, id);
    float accuracy = move.accuracy == TRUE ? 1 : move.accuracy / 100.f;
    if (effect == 0) return 0;
    float kept = resisted(user, target, move, type);
    if (kept == 0) return 0;
    if (move.damage) return accuracy * (move.damage == DAMAGE_IS_LEVEL ? user.p.level : move.damage) / target.p.hp;
    if (id == move::ruination || HANDLERS.find(id, damageCallback)) return accuracy * 0.5f;
    bool physical = move.category == Category::Physical;
    if (id == move::terablast && (tera || user.p.terastallized)) physical = user.stored(Stat::atk) * stage(user.boost(Stat::atk)) > user.stored(Stat::spa) * stage(user.boost(Stat::spa));
    int attackStat = move.overrideOffensiveStat ? move.overrideOffensiveStat - 1 : physical ? int(Stat::atk) : int(Stat::spa);
    int defenseStat = move.overrideDefensiveStat ? move.overrideDefensiveStat - 1 : physical ? int(Stat::def) : int(Stat::spd);
    const Fighter& attacker = move.overrideOffensivePokemon ? target : user;
    float power = powerOf(user, target, move);
    int up = user.p.ability == ability::unaware ? 0 : target.boost(defenseStat), own = target.p.ability == ability::unaware ? 0 : attacker.boost(attackStat);
    if (move.ignoreDefensive) up = 0;
    float attack = attacker.stored(attackStat) * stage(own) * paradox(attacker, attackStat);
    float defense = target.stored(defenseStat) * stage(up) * defenceFactor(target, defenseStat);
    float damage = (2 * user.p.level / 5 + 2) * power * attack / defense / 50 + 2;
    damage *= 0.925f * effect * kept * stabFactor(user, type, tera) * itemFactor(user, physical, effect) *
        abilityFactor(user, move, type, power, effect) * fieldFactor(user, type) * hitsOf(user, move);
    if (physical && user.p.status == condition::brn && user.p.ability != ability::guts && id != move::facade) damage *= 0.5f;
    int screen = physical ? condition::reflect : condition::lightscreen;
    if (onSide(user.row, target.side, screen) || onSide(user.row, target.side, condition::auroraveil)) damage *= 0.5f;
    if (move.has(Flag::charge) && user.p.item != item::powerherb) damage *= 0.5f;
    if (move.has(Flag::futuremove)) damage *= 0.5f;
    return damage * accuracy / target.p.hp;
}

float bestShare(const Fighter& user, const Fighter& target) {
    float best = 0;
    if (held(user)) return 0;
    for (int n = 0; n < user.p.moveCount; n++) {
        const MoveSlot& slot = user.p.moveSlots[n];
        if (slot.pp <= 0 || (user.active && slot.disabled)) continue;
        float share = shareOf(user, target, slot.id);
        if (share > best) best = share;
    }
    return best;
}

float hazardShare(const Fighter& f) {
    if (f.p.item == item::heavydutyboots || f.p.ability == ability::magicguard) return 0;
    float share = 0;
    const Side& side = f.row.sides[f.side];
    if (onSide(f.row, f.side, condition::stealthrock)) share += effectiveness(f, Type::Rock, 0) / 8;
    const EffectState* spikes = find(side.conditions, side.conditionCount, condition::spikes);
    if (spikes && grounded(f)) share += spikes->counter == 1 ? 1 / 8.f : spikes->counter == 2 ? 1 / 6.f : 1 / 4.f;
    return share;
}

}  // namespace search
