//! The arena's tree search on poke-engine's model of the game: both sides choose at once, each by its own PUCT.
//!
//! A node is a position with either side's options; a branch is what one pair of options may lead to, with chances. An
//! iteration walks down by what each side takes for its best option, draws what chance does, and stops at the first
//! position that has not been visited, whose value goes back up. What judges a position and what makes an option likely
//! is in fitted.rs. The same seed, position and number of iterations give the same tree.
//! This file is put into poke-engine's sources when it is built (scripts/setup_search.sh).

use crate::engine::evaluate::evaluate;
use crate::engine::generate_instructions::generate_instructions_from_move_pair;
use crate::engine::state::MoveChoice;
use crate::fitted::Weights;
use crate::instruction::StateInstructions;
use crate::state::{SideReference, State};
use rand::prelude::*;
use std::time::{Duration, Instant};

const NOWHERE: u32 = u32::MAX;
/// The clock is looked at whenever so many iterations have passed.
const STEP: u32 = 128;
/// A tree of so many nodes is some gigabytes: no search goes on beyond that.
const MOST_NODES: usize = 6_000_000;

/// How a tree is searched. exploration: the factor of PUCT; first: how much less than its node's mean an option that has not been
/// tried is taken to be worth; weights: fitted ones, or None for poke-engine's evaluation and options that are all alike;
/// trust: the power to which fitted priors are raised, 0 for options that are all alike.
pub struct Settings<'a> {
    pub exploration: f32,
    pub first: f32,
    pub weights: Option<&'a Weights>,
    pub trust: f32,
}

/// One option of one side. total: of the values of the iterations that took it, from its own side (0 lost, 1 won).
pub struct Edge {
    pub choice: MoveChoice,
    pub prior: f32,
    pub visits: u32,
    pub total: f32,
}

struct Outcome {
    chance: StateInstructions,
    node: u32,
}

struct Node {
    /// Both sides' options; none until it is visited a second time.
    sides: [Vec<Edge>; 2],
    /// The branch of each pair of options, NOWHERE where it has not been tried; side one's option counts by rows.
    pairs: Vec<u32>,
    visits: u32,
    total: f32,
}

pub struct Tree<'a> {
    settings: &'a Settings<'a>,
    nodes: Vec<Node>,
    branches: Vec<Vec<Outcome>>,
    root_evaluation: f32,
    rng: StdRng,
}

impl<'a> Tree<'a> {
    pub fn new(state: &mut State, settings: &'a Settings, seed: u64) -> Tree<'a> {
        let mut tree = Tree {
            settings,
            nodes: Vec::new(),
            branches: Vec::new(),
            root_evaluation: evaluate(state),
            rng: StdRng::seed_from_u64(seed),
        };
        let root = tree.add(0.5);
        let options = state.root_get_all_options();
        tree.open(root, state, options);
        tree
    }

    /// Searches until the time is up or, where their number is given, the iterations are made. Returns how many there were.
    pub fn search(&mut self, state: &mut State, time: Duration, iterations: u32) -> u32 {
        let start = Instant::now();
        let mut made = 0;
        while self.nodes.len() < MOST_NODES {
            let step = if iterations > 0 { STEP.min(iterations - made) } else { STEP };
            for _ in 0..step {
                self.iterate(state);
            }
            made += step;
            if (iterations > 0 && made >= iterations) || (iterations == 0 && start.elapsed() >= time) {
                break;
            }
        }
        made
    }

    /// Either side's options at the root.
    pub fn root(&self) -> &[Vec<Edge>; 2] {
        &self.nodes[0].sides
    }

    fn add(&mut self, value: f32) -> u32 {
        self.nodes.push(Node { sides: [Vec::new(), Vec::new()], pairs: Vec::new(), visits: 1, total: value });
        (self.nodes.len() - 1) as u32
    }

    fn open(&mut self, node: u32, state: &mut State, options: (Vec<MoveChoice>, Vec<MoveChoice>)) {
        let one = self.edges(state, SideReference::SideOne, options.0);
        let two = self.edges(state, SideReference::SideTwo, options.1);
        let node = &mut self.nodes[node as usize];
        node.pairs = vec![NOWHERE; one.len() * two.len()];
        node.sides = [one, two];
    }

    fn edges(&self, state: &mut State, side: SideReference, choices: Vec<MoveChoice>) -> Vec<Edge> {
        let priors = match self.settings.weights {
            Some(weights) => weights.priors(state, side, &choices, self.settings.trust),
            None => vec![1.0 / choices.len() as f32; choices.len()],
        };
        choices.into_iter().zip(priors).map(|(choice, prior)| Edge { choice, prior, visits: 0, total: 0.0 }).collect()
    }

    fn iterate(&mut self, state: &mut State) {
        let mut path: Vec<(u32, usize, usize, u32, usize)> = Vec::with_capacity(16);
        let mut at = 0_u32;
        let value = loop {
            let over = state.battle_is_over();
            if over != 0.0 && at != 0 {
                let value = over.max(0.0);
                self.visit(at, value);
                break value;
            }
            if self.nodes[at as usize].pairs.is_empty() {
                let options = state.get_all_options();
                self.open(at, state, options);
            }
            let node = &self.nodes[at as usize];
            let (one, two) = (self.best(node, 0), self.best(node, 1));
            let pair = one * node.sides[1].len() + two;
            let (first, second) = (node.sides[0][one].choice.clone(), node.sides[1][two].choice.clone());
            if first == MoveChoice::None && second == MoveChoice::None {
                let value = self.value(state);
                self.visit(at, value);
                break value;
            }
            let mut branch = node.pairs[pair];
            if branch == NOWHERE {
                let near = path.len() < 2;
                let outcomes = generate_instructions_from_move_pair(state, &first, &second, near);
                branch = self.branches.len() as u32;
                self.branches.push(outcomes.into_iter().map(|chance| Outcome { chance, node: NOWHERE }).collect());
                self.nodes[at as usize].pairs[pair] = branch;
            }
            let drawn = self.draw(branch);
            let outcome = &self.branches[branch as usize][drawn];
            state.apply_instructions(&outcome.chance.instruction_list);
            let next = outcome.node;
            path.push((at, one, two, branch, drawn));
            if next == NOWHERE {
                let over = state.battle_is_over();
                let value = if over != 0.0 { over.max(0.0) } else { self.value(state) };
                let node = self.add(value);
                self.branches[branch as usize][drawn].node = node;
                break value;
            }
            at = next;
        };
        self.learn(state, &path, value);
    }

    /// Takes the value back up, and the state back to the root.
    fn learn(&mut self, state: &mut State, path: &[(u32, usize, usize, u32, usize)], value: f32) {
        for (node, one, two, branch, drawn) in path.iter().rev() {
            state.reverse_instructions(&self.branches[*branch as usize][*drawn].chance.instruction_list);
            self.visit(*node, value);
            let node = &mut self.nodes[*node as usize];
            for (side, place, value) in [(0, *one, value), (1, *two, 1.0 - value)] {
                node.sides[side][place].visits += 1;
                node.sides[side][place].total += value;
            }
        }
    }

    fn visit(&mut self, node: u32, value: f32) {
        let node = &mut self.nodes[node as usize];
        node.visits += 1;
        node.total += value;
    }

    fn best(&self, node: &Node, side: usize) -> usize {
        let mean = node.total / node.visits as f32;
        let own = if side == 0 { mean } else { 1.0 - mean };
        let untried = own - self.settings.first;
        let reach = self.settings.exploration * (node.visits as f32).sqrt();
        let mut best = (0, f32::MIN);
        for (place, edge) in node.sides[side].iter().enumerate() {
            let known = if edge.visits == 0 { untried } else { edge.total / edge.visits as f32 };
            let score = known + reach * edge.prior / (1 + edge.visits) as f32;
            if score > best.1 {
                best = (place, score);
            }
        }
        best.0
    }

    fn draw(&mut self, branch: u32) -> usize {
        let outcomes = &self.branches[branch as usize];
        let all: f32 = outcomes.iter().map(|outcome| outcome.chance.percentage.max(0.0)).sum();
        let mut left = self.rng.random_range(0.0..all.max(f32::MIN_POSITIVE));
        for (place, outcome) in outcomes.iter().enumerate() {
            left -= outcome.chance.percentage.max(0.0);
            if left <= 0.0 {
                return place;
            }
        }
        outcomes.len() - 1 // rounding has left a rest
    }

    fn value(&self, state: &State) -> f32 {
        match self.settings.weights {
            Some(weights) => weights.value(state),
            // As poke-engine's own search has it: 0.5 is what the root is worth.
            None => 1.0 / (1.0 + (-0.0125 * (evaluate(state) - self.root_evaluation)).exp()),
        }
    }
}

/// Trees of their own in so many threads, from seeds 0, 1 …, and their options added up: side one's, side two's, iterations.
pub fn search(state: &State, time: Duration, iterations: u32, threads: usize, settings: &Settings) -> ([Vec<Edge>; 2], u32) {
    let share = if iterations > 0 { iterations.div_ceil(threads as u32) } else { 0 };
    let grown = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads as u64)
            .map(|seed| {
                scope.spawn(move || {
                    let mut state = state.clone();
                    let mut tree = Tree::new(&mut state, settings, seed);
                    let made = tree.search(&mut state, time, share);
                    (std::mem::take(&mut tree.nodes[0].sides), made)
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.join().expect("a search panicked")).collect::<Vec<_>>()
    });
    grown.into_iter().reduce(|(mut sums, before), (sides, made)| {
        for (sum, edge) in sums.iter_mut().flatten().zip(sides.iter().flatten()) {
            sum.visits += edge.visits;
            sum.total += edge.total;
        }
        (sums, before + made)
    }).expect("at least one thread")
}
