//! What is fitted to battles that were played: the value of a position where the search stops (a logistic regression on who
//! won), and how likely each option is to be the one that a strong player takes (a softmax regression on what was chosen).
//!
//! A file of weights has a "value NAME WEIGHT" or "choice NAME WEIGHT" a line (agents/search/weights/*.txt, by
//! scripts/build/fit_search_weights.py). Every feature of a value is ours less theirs, so a position and its mirror image have
//! chances that sum to 1. This file is put into poke-engine's sources when it is built (scripts/setup_search.sh).

use crate::choices::{Choice, Choices, MoveCategory, MoveTarget};
use crate::engine::damage_calc::{calculate_damage, DamageRolls};
use crate::engine::generate_instructions::get_effective_speed;
use crate::engine::items::Items;
use crate::engine::state::{MoveChoice, PokemonVolatileStatus};
use crate::pokemon::PokemonName;
use crate::state::{Pokemon, PokemonIndex, PokemonStatus, Side, SideReference, State};
use std::collections::HashMap;
use std::str::FromStr;

macro_rules! features {
    ($kind:ident $names:ident $($name:ident)*) => {
        #[allow(non_camel_case_types)]
        #[repr(usize)]
        #[derive(Clone, Copy)]
        enum $kind { $($name),* }
        const $names: &[&str] = &[$(stringify!($name)),*];
    };
}

// Of a value. Behind them come two for each species: "alive:NAME" and "hp:NAME".
features! { F NAMES
    // Of all that stand: how many their health how many are ill and the health of those.
    alive hp item
    burn sleep freeze paralyze poison toxic
    burn_hp sleep_hp freeze_hp paralyze_hp poison_hp toxic_hp
    left_1 left_2 left_3 left_4 left_5
    slept tera_used
    // Of the one on the field.
    active_hp active_burn active_sleep active_freeze active_paralyze active_poison active_toxic
    atk_up atk_down def_up def_down spa_up spa_down spd_up spd_down spe_up spe_down
    accuracy_down evasion_up
    substitute confusion leechseed reflect_volatile lightscreen_volatile recharge taunt encore
    trapped saltcure
    // Of the side.
    rocks spikes toxic_spikes web reflect light_screen veil tailwind safeguard wish
    // Of the two on the field: speed and the best move's mean damage as a share of what is left.
    faster damage two_hits one_hit faster_one_hit faster_two_hits no_damage damage_squared
    damage_health safe one_hit_health stuck
}
const SPECIES: usize = NAMES.len();

// Of an option. Behind them come "move:NAME" for each move and "switch:NAME" for each species.
features! { C CHOICE_NAMES
    damage damage_squared two_hits one_hit faster_one_hit no_damage inaccurate
    status_wasted heal_missing boosted explode_hp in_danger in_danger_slower tera tera_in_danger tera_damage
    is_switch switch_hp switch_ill switch_asleep switch_threat switch_threat_one_hit switch_answer switch_answer_one_hit
    switch_faster switch_in_danger switch_in_danger_slower switch_useless switch_boosted
}
const MOVES: usize = CHOICE_NAMES.len();
const SWITCHES: usize = MOVES + 2000;

/// Fitted weights, by the places of their features.
pub struct Weights {
    value: Vec<f32>,
    choice: Vec<f32>,
}

fn put(weights: &mut Vec<f32>, place: usize, weight: f32) {
    if place >= weights.len() {
        weights.resize(place + 1, 0.0);
    }
    weights[place] = weight;
}

fn place_of(names: &[&str], name: &str) -> Option<usize> {
    names.iter().position(|known| *known == name)
}

impl Weights {
    /// Reads a file of weights; the error names the file and the line.
    pub fn read(path: &str) -> Result<Weights, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {}", path, error))?;
        let mut weights = Weights { value: Vec::new(), choice: Vec::new() };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            weights.take(line).ok_or_else(|| format!("{}: '{}' is no weight of this build", path, line))?;
        }
        Ok(weights)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let (kind, name, weight) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
        let (group, word) = name.split_once(':').unwrap_or(("", name));
        match (kind, group) {
            ("value", "") => put(&mut self.value, place_of(NAMES, word)?, weight),
            ("value", "alive") => put(&mut self.value, SPECIES + 2 * PokemonName::from_str(word).ok()? as usize, weight),
            ("value", "hp") => put(&mut self.value, SPECIES + 2 * PokemonName::from_str(word).ok()? as usize + 1, weight),
            ("choice", "") => put(&mut self.choice, place_of(CHOICE_NAMES, word)?, weight),
            ("choice", "move") => put(&mut self.choice, MOVES + Choices::from_str(word).ok()? as usize, weight),
            ("choice", "switch") => put(&mut self.choice, SWITCHES + PokemonName::from_str(word).ok()? as usize, weight),
            _ => return None,
        }
        Some(())
    }

    /// Side one's chance to win from here, 0 to 1.
    pub fn value(&self, state: &State) -> f32 {
        let mut sum = 0.0;
        visit(state, &mut |place, amount| sum += amount * self.value.get(place).copied().unwrap_or(0.0));
        1.0 / (1.0 + (-sum).exp())
    }

    /// How likely each of a side's options is to be taken, to the power of `trust`; they sum to 1.
    pub fn priors(&self, state: &mut State, side: SideReference, options: &[MoveChoice], trust: f32) -> Vec<f32> {
        let mut sums = vec![0.0; options.len()];
        choices(state, side, options, &mut |option, place, amount| {
            sums[option] += amount * self.choice.get(place).copied().unwrap_or(0.0)
        });
        let most = sums.iter().copied().fold(f32::MIN, f32::max);
        let odds: Vec<f32> = sums.iter().map(|sum| (trust * (sum - most)).exp()).collect();
        let all: f32 = odds.iter().sum();
        odds.iter().map(|odd| odd / all).collect()
    }
}

/// The features of a position's value, side one's less side two's: names with what is not zero.
pub fn value_features(state: &State) -> HashMap<String, f32> {
    let mut found: HashMap<String, f32> = HashMap::new();
    visit(state, &mut |place, amount| {
        let name = match place.checked_sub(SPECIES) {
            None => NAMES[place].to_string(),
            Some(rest) => format!("{}:{}", if rest % 2 == 1 { "hp" } else { "alive" }, PokemonName::from((rest / 2) as i16).to_string().to_lowercase()),
        };
        *found.entry(name).or_insert(0.0) += amount;
    });
    found.retain(|_, amount| *amount != 0.0);
    found
}

/// The features of each of a side's options, by name.
pub fn choice_features(state: &mut State, side: SideReference, options: &[MoveChoice]) -> Vec<HashMap<String, f32>> {
    let mut found: Vec<HashMap<String, f32>> = vec![HashMap::new(); options.len()];
    choices(state, side, options, &mut |option, place, amount| {
        let name = if place < MOVES {
            CHOICE_NAMES[place].to_string()
        } else if place < SWITCHES {
            format!("move:{}", Choices::from((place - MOVES) as u16).to_string().to_lowercase())
        } else {
            format!("switch:{}", PokemonName::from((place - SWITCHES) as i16).to_string().to_lowercase())
        };
        *found[option].entry(name).or_insert(0.0) += amount;
    });
    found
}

fn visit(state: &State, add: &mut impl FnMut(usize, f32)) {
    side(&state.side_one, &mut |place, amount| add(place, amount));
    side(&state.side_two, &mut |place, amount| add(place, -amount));
    matchup(state, add);
}

fn ill(status: &PokemonStatus) -> Option<usize> {
    match status {
        PokemonStatus::NONE => None,
        PokemonStatus::BURN => Some(0),
        PokemonStatus::SLEEP => Some(1),
        PokemonStatus::FREEZE => Some(2),
        PokemonStatus::PARALYZE => Some(3),
        PokemonStatus::POISON => Some(4),
        PokemonStatus::TOXIC => Some(5),
    }
}

fn share(mon: &Pokemon) -> f32 {
    mon.hp as f32 / mon.maxhp as f32
}

#[cfg(any(feature = "gen1", feature = "gen2", feature = "gen3"))]
fn boots(_: &Pokemon) -> bool {
    false
}

#[cfg(not(any(feature = "gen1", feature = "gen2", feature = "gen3")))]
fn boots(mon: &Pokemon) -> bool {
    mon.item == Items::HEAVYDUTYBOOTS
}

fn side(side: &Side, add: &mut impl FnMut(usize, f32)) {
    let (mut alive, mut bare, mut grounded) = (0, 0.0, 0.0);
    for mon in side.pokemon.into_iter() {
        if mon.terastallized {
            add(F::tera_used as usize, 1.0);
        }
        if mon.hp <= 0 {
            continue;
        }
        let health = share(mon);
        alive += 1;
        add(F::alive as usize, 1.0);
        add(F::hp as usize, health);
        if mon.item != Items::NONE {
            add(F::item as usize, 1.0);
        }
        if let Some(status) = ill(&mon.status) {
            add(F::burn as usize + status, 1.0);
            add(F::burn_hp as usize + status, health);
            if status == 1 {
                add(F::slept as usize, mon.sleep_turns as f32);
            }
        }
        let species = SPECIES + 2 * mon.id as usize;
        add(species, 1.0);
        add(species + 1, health);
        if !boots(mon) {
            bare += 1.0;
            grounded += mon.is_grounded() as u8 as f32;
        }
    }
    if (1..=5).contains(&alive) {
        add(F::left_1 as usize + alive - 1, 1.0);
    }
    active(side, add);
    let conditions = &side.side_conditions;
    for (place, amount) in [
        (F::rocks, conditions.stealth_rock as f32 * bare),
        (F::spikes, conditions.spikes as f32 * grounded),
        (F::toxic_spikes, conditions.toxic_spikes as f32 * grounded),
        (F::web, conditions.sticky_web as f32 * grounded),
        (F::reflect, conditions.reflect as f32),
        (F::light_screen, conditions.light_screen as f32),
        (F::veil, conditions.aurora_veil as f32),
        (F::tailwind, conditions.tailwind as f32),
        (F::safeguard, conditions.safeguard as f32),
        (F::wish, (side.wish.0 > 0) as u8 as f32),
    ] {
        if amount != 0.0 {
            add(place as usize, amount);
        }
    }
}

fn active(side: &Side, add: &mut impl FnMut(usize, f32)) {
    let mon = side.get_active_immutable();
    if mon.hp <= 0 {
        return;
    }
    add(F::active_hp as usize, share(mon));
    if let Some(status) = ill(&mon.status) {
        add(F::active_burn as usize + status, 1.0);
    }
    let boosts = [side.attack_boost, side.defense_boost, side.special_attack_boost, side.special_defense_boost, side.speed_boost];
    for (stat, stage) in boosts.iter().enumerate() {
        if *stage > 0 {
            add(F::atk_up as usize + 2 * stat, *stage as f32);
        } else if *stage < 0 {
            add(F::atk_down as usize + 2 * stat, -*stage as f32);
        }
    }
    if side.accuracy_boost < 0 {
        add(F::accuracy_down as usize, -side.accuracy_boost as f32);
    }
    if side.evasion_boost > 0 {
        add(F::evasion_up as usize, side.evasion_boost as f32);
    }
    for (place, volatile) in [
        (F::substitute, PokemonVolatileStatus::SUBSTITUTE),
        (F::confusion, PokemonVolatileStatus::CONFUSION),
        (F::leechseed, PokemonVolatileStatus::LEECHSEED),
        (F::reflect_volatile, PokemonVolatileStatus::REFLECT),
        (F::lightscreen_volatile, PokemonVolatileStatus::LIGHTSCREEN),
        (F::recharge, PokemonVolatileStatus::MUSTRECHARGE),
        (F::taunt, PokemonVolatileStatus::TAUNT),
        (F::encore, PokemonVolatileStatus::ENCORE),
        (F::trapped, PokemonVolatileStatus::PARTIALLYTRAPPED),
        (F::saltcure, PokemonVolatileStatus::SALTCURE),
    ] {
        if side.volatile_statuses.contains(&volatile) {
            add(place as usize, 1.0);
        }
    }
}

/// Whether it cannot use a move now.
fn held(side: &Side) -> bool {
    matches!(side.get_active_immutable().status, PokemonStatus::SLEEP | PokemonStatus::FREEZE)
        || side.volatile_statuses.contains(&PokemonVolatileStatus::MUSTRECHARGE)
}

/// A move's mean damage, its accuracy counted, as a share of the health that the other has left.
fn blow_of(state: &State, from: &SideReference, choice: &Choice) -> f32 {
    if matches!(choice.category, MoveCategory::Status | MoveCategory::Switch) {
        return 0.0;
    }
    let target = state.get_side_immutable(&from.get_other_side()).get_active_immutable().hp;
    match calculate_damage(state, from, choice, DamageRolls::Average) {
        Some((damage, _)) if target > 0 => damage as f32 * choice.accuracy.min(100.0) / 100.0 / target as f32,
        _ => 0.0,
    }
}

/// The same for the best move of the one on the field.
fn blow(state: &State, from: SideReference) -> f32 {
    let side = state.get_side_immutable(&from);
    if held(side) {
        return 0.0;
    }
    let usable = side.get_active_immutable().moves.into_iter().filter(|known| !known.disabled && known.pp > 0);
    usable.map(|known| blow_of(state, &from, &known.choice)).fold(0.0, f32::max)
}

fn matchup(state: &State, add: &mut impl FnMut(usize, f32)) {
    let (one, two) = (state.side_one.get_active_immutable(), state.side_two.get_active_immutable());
    if one.hp <= 0 || two.hp <= 0 {
        return;
    }
    let first = order(state);
    add(F::faster as usize, first as f32);
    let blows = (blow(state, SideReference::SideOne), blow(state, SideReference::SideTwo));
    for (ours, theirs, mon, other, sign) in [(blows.0, blows.1, one, two, 1.0), (blows.1, blows.0, two, one, -1.0)] {
        let faster = first as f32 * sign > 0.0;
        let capped = ours.min(1.0);
        add(F::damage as usize, sign * capped);
        add(F::damage_squared as usize, sign * capped * capped);
        add(F::damage_health as usize, sign * capped * share(other));
        if ours >= 0.5 {
            add(F::two_hits as usize, sign);
            if faster {
                add(F::faster_two_hits as usize, sign);
            }
        }
        if ours >= 1.0 {
            add(F::one_hit as usize, sign);
            add(F::one_hit_health as usize, sign * share(other));
            if faster {
                add(F::faster_one_hit as usize, sign);
            }
        }
        if ours == 0.0 {
            add(F::no_damage as usize, sign);
            if theirs >= 0.5 {
                add(F::stuck as usize, sign);
            }
        }
        if theirs < 0.25 {
            add(F::safe as usize, sign * share(mon));
        }
    }
}

/// 1 where side one's Pokémon on the field is faster, -1 where side two's is, 0 for a tie.
fn order(state: &State) -> i8 {
    let speeds = (get_effective_speed(state, &SideReference::SideOne), get_effective_speed(state, &SideReference::SideTwo));
    let first = (speeds.0 > speeds.1) as i8 - (speeds.0 < speeds.1) as i8;
    if state.trick_room.active { -first } else { first }
}

fn faster(state: &State, side: SideReference) -> bool {
    order(state) == if side == SideReference::SideOne { 1 } else { -1 }
}

fn choices(state: &mut State, from: SideReference, options: &[MoveChoice], add: &mut impl FnMut(usize, usize, f32)) {
    if options.len() < 2 {
        return;
    }
    let other = from.get_other_side();
    let met = state.get_side_immutable(&other).get_active_immutable().hp > 0;
    let standing = state.get_side_immutable(&from).get_active_immutable().hp > 0;
    let danger = if met && standing { blow(state, other).min(1.0) } else { 0.0 };
    let slower = met && standing && danger >= 1.0 && !faster(state, from);
    for (option, choice) in options.iter().enumerate() {
        match choice {
            MoveChoice::None => {}
            MoveChoice::Switch(index) => {
                let mut add = |place: usize, amount: f32| add(option, place, amount);
                add(C::is_switch as usize, 1.0);
                add(C::switch_in_danger as usize, danger);
                if slower {
                    add(C::switch_in_danger_slower as usize, 1.0);
                }
                entrance(state, from, *index, met, &mut add);
            }
            _ => {
                let mut add = |place: usize, amount: f32| add(option, place, amount);
                attack(state, from, choice, danger, slower, &mut add);
            }
        }
    }
}

fn attack(state: &State, from: SideReference, option: &MoveChoice, danger: f32, slower: bool, add: &mut impl FnMut(usize, f32)) {
    let (side, other) = state.get_both_sides_immutable(&from);
    let (mon, target) = (side.get_active_immutable(), other.get_active_immutable());
    #[cfg(any(feature = "gen1", feature = "gen2", feature = "gen3"))]
    let (index, tera) = match option {
        MoveChoice::Move(index) => (index, false),
        _ => return,
    };
    #[cfg(not(any(feature = "gen1", feature = "gen2", feature = "gen3")))]
    let (index, tera) = match option {
        MoveChoice::Move(index) | MoveChoice::MoveMega(index) => (index, false),
        MoveChoice::MoveTera(index) => (index, true),
        _ => return,
    };
    let choice = &mon.moves[index].choice;
    add(MOVES + choice.move_id as usize, 1.0);
    let share_taken = blow_of(state, &from, choice);
    let capped = share_taken.min(1.0);
    if tera {
        add(C::tera as usize, 1.0);
        add(C::tera_in_danger as usize, danger);
        add(C::tera_damage as usize, capped);
    }
    if choice.category == MoveCategory::Status {
        if choice.status.is_some() && target.status != PokemonStatus::NONE {
            add(C::status_wasted as usize, 1.0);
        }
        if choice.heal.is_some() {
            add(C::heal_missing as usize, 1.0 - share(mon));
        }
        if choice.boost.as_ref().map_or(false, |boost| boost.target == MoveTarget::User) {
            add(C::boosted as usize, (side.attack_boost.max(side.special_attack_boost).max(side.defense_boost).max(0)) as f32);
        }
        add(C::in_danger as usize, danger);
        if slower {
            add(C::in_danger_slower as usize, 1.0);
        }
        return;
    }
    add(C::damage as usize, capped);
    add(C::damage_squared as usize, capped * capped);
    add(C::inaccurate as usize, 1.0 - choice.accuracy.min(100.0) / 100.0);
    if share_taken == 0.0 {
        add(C::no_damage as usize, 1.0);
    }
    if share_taken >= 0.5 {
        add(C::two_hits as usize, 1.0);
    }
    if share_taken >= 1.0 {
        add(C::one_hit as usize, 1.0);
        if choice.priority > 0 || faster(state, from) {
            add(C::faster_one_hit as usize, 1.0);
        }
    }
    if matches!(choice.move_id, Choices::EXPLOSION | Choices::SELFDESTRUCT) {
        add(C::explode_hp as usize, share(mon));
    }
}

/// A switch: who comes in, what it has to fear from the one over there, and what it could do itself.
fn entrance(state: &mut State, from: SideReference, index: PokemonIndex, met: bool, add: &mut impl FnMut(usize, f32)) {
    let other = from.get_other_side();
    let side = state.get_side(&from);
    let boosts = side.attack_boost.max(side.special_attack_boost).max(side.speed_boost).max(0);
    add(C::switch_boosted as usize, boosts as f32);
    let mon = &side.pokemon[index];
    add(SWITCHES + mon.id as usize, 1.0);
    add(C::switch_hp as usize, share(mon));
    if mon.status != PokemonStatus::NONE {
        add(C::switch_ill as usize, 1.0);
    }
    if matches!(mon.status, PokemonStatus::SLEEP | PokemonStatus::FREEZE) {
        add(C::switch_asleep as usize, 1.0);
    }
    if !met {
        return;
    }
    // Both blows are those of the newcomer's own stats: what the one on the field has of boosts and volatiles goes with it.
    let kept = (side.active_index, side.volatile_statuses.clone());
    let stages = [side.attack_boost, side.defense_boost, side.special_attack_boost, side.special_defense_boost, side.speed_boost];
    side.active_index = index;
    side.volatile_statuses = Default::default();
    stage(side, [0; 5]);
    let (threat, answer, first) = (blow(state, other), blow(state, from), faster(state, from));
    let side = state.get_side(&from);
    side.active_index = kept.0;
    side.volatile_statuses = kept.1;
    stage(side, stages);
    add(C::switch_threat as usize, threat.min(1.0));
    add(C::switch_answer as usize, answer.min(1.0));
    if threat >= 1.0 {
        add(C::switch_threat_one_hit as usize, 1.0);
    }
    if answer >= 1.0 {
        add(C::switch_answer_one_hit as usize, 1.0);
    }
    if answer == 0.0 {
        add(C::switch_useless as usize, 1.0);
    }
    if first {
        add(C::switch_faster as usize, 1.0);
    }
}

fn stage(side: &mut Side, stages: [i8; 5]) {
    [side.attack_boost, side.defense_boost, side.special_attack_boost, side.special_defense_boost, side.speed_boost] = stages;
}
