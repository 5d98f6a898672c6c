// Effects on a Pokémon (agents/battle/volatiles.py, types.py), its abilities (abilities.py) and items (items.py, effect_sources.py).

#include <cstring>

#include "keeper.h"

namespace {

using namespace ShownEffect;

// poke-env's effects by the names of lines. Some bits of the observation's are never set in this generation or by what is played.
constexpr const char* EFFECT_NAMES[ShownEffect::COUNT] = {
    "Substitute", "confusion", "Leech Seed", "", "Focus Energy", "Taunt", "Encore", "Disable", "trapped", "", "Curse", "Yawn", "Destiny Bond", "perish1",
    "Salt Cure", "", "Roost", "typechange", "Protect", "Endure", "Flash Fire", "Future Sight", "Heal Block", "Infestation", "Magma Storm",
    "Whirlpool", "Protosynthesis", "protosynthesisatk", "protosynthesisdef", "protosynthesisspa", "protosynthesisspd", "protosynthesisspe",
    "Quark Drive", "quarkdriveatk", "quarkdrivedef", "quarkdrivespa", "quarkdrivespd", "quarkdrivespe", "fallen1", "fallen2", "fallen3",
    "fallen4", "fallen5", "perish0", "perish2", "perish3", "Bind", "Fire Spin", "Sand Tomb", "Thunder Cage", "Wrap", "Charge", "Magnet Rise",
    "Throat Chop",
};
constexpr int COUNTS_OF_PERISH_SONG[] = {PERISH0, PERISH1, PERISH2, PERISH3};

int effectIn(const Argument& argument) { return namedIn(EFFECT_NAMES, ShownEffect::COUNT, argument); }

bool begins(const Argument& argument, const char* text) { return argument.text && !strncmp(argument.text, text, strlen(text)); }

// The ability that an argument names ("ability: Healer", "Sturdy"), 0 if it names none. prefix: without it, it does not.
int abilityIn(const Argument& argument, const char* prefix) {
    if (argument.kind == Argument::Fullname) return EFFECTS[argument.value].type == EffectType::Ability ? argument.value : 0;
    if (*prefix && !begins(argument, prefix)) return 0;
    // also where a condition has the ability's name
    const char* name = argument.kind == Argument::Name ? EFFECTS[argument.value].name : argument.text + strlen(prefix);
    for (int ability = 1; ability < FIRST_ITEM; ability++)
        if (!strcmp(EFFECTS[ability].name, name)) return ability;
    return 0;
}

// What lines of "-activate" tell of an effect that lasts; the others tell of something that happened.
bool lasts(int effect) {
    return effect == TRAPPED || effect == INFESTATION || effect == MAGMA_STORM || effect == WHIRLPOOL || (effect >= BIND && effect <= WRAP) ||
           effect == PROTOSYNTHESIS || effect == QUARK_DRIVE;
}

// Items that are gone when the line comes: _CONSUMED of effect_sources.py.
bool isConsumed(int item) {
    static constexpr const char* ENDS[] = {"Berry", "Herb", "Juice", "Gem", "Seed"};
    const char* name = EFFECTS[item].name;
    for (const char* end : ENDS)
        if (strlen(name) >= strlen(end) && !strcmp(name + strlen(name) - strlen(end), end)) return true;
    return false;
}

}  // namespace

// "-start|POKEMON|EFFECT|..."
void Keeper::readStart(const Record& record, ShownPokemon& p) {
    const Argument& name = record.arguments[1];
    const int effect = effectIn(name);
    for (int count : COUNTS_OF_PERISH_SONG)
        if (effect == PERISH0 || effect == PERISH1 || effect == PERISH2 || effect == PERISH3) endEffect(p, count);
    if (effect >= 0) startEffect(p, effect);
    if (effect == TYPECHANGE) {
        const Argument& types = record.arguments[2];
        setTypes(p, types.value, types.extra, types.more);
    }
    if (int ability = abilityIn(name, "ability: "))
        showAbility(p, ability);
    else
        showCause(record, p);
}

// "-end|POKEMON|EFFECT"
void Keeper::readEnd(const Record& record, ShownPokemon& p) {
    if (abilityIn(record.arguments[1], "ability: ") == ability::neutralizinggas) return endField(ability::neutralizinggas);
    const int effect = effectIn(record.arguments[1]);
    if (effect < 0) return;
    endEffect(p, effect);
    if (effect == PROTOSYNTHESIS || effect == QUARK_DRIVE)  // of two effects one line ends both
        for (int stat = 1; stat <= 5; stat++) endEffect(p, effect + stat);
}

// "-singleturn|POKEMON|move: Roost"
void Keeper::readSingleTurn(const Record& record, ShownPokemon& p) {
    const int effect = effectIn(record.arguments[1]);
    if (effect >= 0) startEffect(p, effect);
    if ((effect != PROTECT && effect != ENDURE) || shown.protecting != p.pokemon) return;
    p.protectCounter = shown.protections + 1;
    p.marks |= ShownMark::PROTECTED;
    shown.protecting = 0;
}

// "-activate|POKEMON|EFFECT|...": what it does, by its name; the ability that activates is shown.
void Keeper::readActivate(const Record& record, ShownPokemon* p) {
    const Argument& name = record.arguments[1];
    if (!p) return;
    if (name.kind == Argument::Text && !strcmp(name.text, "Skill Swap")) return readSwap(record, *p);
    if (says(record, "[broken]") || begins(name, "move: Feint")) p->protectCounter = 0;  // its next Protect is as its first
    if (begins(name, "item:")) {
        p->item = 0;  // "[consumed]"
        return;
    }
    if (name.kind == Argument::Fullname && EFFECTS[name.value].type == EffectType::Item) return readActiveItem(record, *p);
    const int effect = effectIn(name);
    if (lasts(effect)) startEffect(*p, effect);
    const int ability = abilityIn(name, "ability: ");
    if (ability) showAbility(*p, ability);
    if (ability == ability::dancer) p->marks |= ShownMark::DANCING;
}

// "-activate|POKEMON|item: Leppa Berry|MOVE|[consumed]": the move has 10 PP more; "-activate|POKEMON|item: Protective Pads".
void Keeper::readActiveItem(const Record& record, ShownPokemon& p) {
    const int item = record.arguments[1].value;
    if (item != item::leppaberry) {
        p.item = item;
        return;
    }
    if (ShownMove* move = addMove(p, record.arguments[2].value)) {
        const int most = moveData(move->id).pp;
        move->pp = move->pp + 10 < most ? move->pp + 10 : most;
    }
    if (p.item == item) p.item = 0;
}

// "-ability|POKEMON|ABILITY": it has this ability; "…|NEW|OLD|[from] move: Entrainment|[of] USER", "[from] ability: Trace": it was
// given the new one, which the other has.
void Keeper::readAbility(const Record& record, ShownPokemon& p) {
    const int ability = abilityIn(record.arguments[1], "");
    if (ability == ability::pressure) sideOf(p).pressing = true;
    const LineSource source = sourceOf(record, 2);
    if (source.effect != ability::trace && source.type != EffectType::Move) {
        showAbility(p, ability);
        if (ability == ability::neutralizinggas) startField(ability);
        return;
    }
    showAbility(p, record.arguments[2].value);
    giveAbility(p, ability);
    if (ShownPokemon* whose = find(otherOf(record, 2))) showAbility(*whose, ability);
}

// "-block|POKEMON|ability: Aroma Veil|[of] HOLDER", "-block|POKEMON|item: Ability Shield".
void Keeper::readBlock(const Record& record, ShownPokemon& p) {
    ShownPokemon* whose = find(otherOf(record));
    const int effect = record.arguments[1].value;
    if (EFFECTS[effect].type == EffectType::Item)
        p.item = effect;
    else
        showAbility(whose ? *whose : p, effect);
}

// "-activate|USER|Skill Swap|THEIRS|OURS|[of] TARGET": each has the other's ability.
void Keeper::readSwap(const Record& record, ShownPokemon& user) {
    ShownPokemon* target = find(otherOf(record));
    if (!target) return;
    showAbility(*target, record.arguments[2].value);
    showAbility(user, record.arguments[3].value);
    const int theirs = abilityOf(*target), ours = abilityOf(user);
    giveAbility(user, theirs);
    giveAbility(*target, ours);
}

// Who has the ability or item that a line is from.
void Keeper::showCause(const Record& record, ShownPokemon& p) {
    const LineSource source = sourceOf(record);
    if (source.type != EffectType::Ability && source.type != EffectType::Item) return;
    const bool ofWho = record.message != Message::heal && record.message != Message::immune;
    ShownPokemon* whose = ofWho ? find(otherOf(record)) : nullptr;
    ShownPokemon& holder = whose ? *whose : p;
    if (source.type == EffectType::Ability)
        showAbility(holder, source.effect);
    else if (source.effect == item::stickybarb && holder.item != item::stickybarb)
        takeBarb(holder);
    else if (!isConsumed(source.effect))
        holder.item = source.effect;
}

// It has a Sticky Barb: one of its own, or that of a holder that it has hit, which no line tells.
void Keeper::takeBarb(ShownPokemon& p) {
    ShownPokemon* holder = find(p.contactTarget);
    if (holder && holder->item == item::stickybarb) holder->item = 0;
    p.item = item::stickybarb;
}

// "-item|POKEMON|ITEM|[from] move: Trick"; "[from] ability: Frisk|[of] WHO FRISKS".
void Keeper::readItem(const Record& record, ShownPokemon& p) {
    const LineSource source = sourceOf(record, 2);
    const Argument& name = record.arguments[1];
    const int item = name.kind == Argument::Name ? name.value : int(item::airballoon);
    ShownPokemon* whose = find(otherOf(record, 2));
    if (source.effect == ability::frisk) {
        if (whose) showAbility(*whose, ability::frisk);
        p.item = item;
        return;
    }
    const bool takes = source.effect == ability::magician || source.effect == ability::pickpocket || source.effect == move::thief ||
                       source.effect == move::covet;
    const bool exchanged = source.effect == move::trick || source.effect == move::switcheroo;
    p.item = (takes || exchanged) && isUsedAtOnce(record) ? 0 : item;
    if (source.type == EffectType::Ability) showAbility(p, source.effect);
    if (whose && takes) whose->item = 0;
}

// Whether an item that changes hands was used at once: its "-enditem" comes first (White Herb).
bool Keeper::isUsedAtOnce(const Record& record) const {
    for (int n = line - 1; n >= 0; n--) {
        const Record& before = log->records[n];
        switch (before.message) {
            case Message::move:
            case Message::item:
            case Message::turn:
            case Message::empty: return false;
            case Message::enditem:
                if (before.arguments[0].value == record.arguments[0].value && before.arguments[1].value == record.arguments[1].value &&
                    !says(before, "[silent]") && !sourceOf(before).effect)
                    return true;
                break;
            default: break;
        }
    }
    return false;
}
