// What Python calls of fitted.rs and tree.rs. Put behind poke-engine's own Python module when it is built
// (scripts/setup_search.sh); State, Duration, FromStr and movechoice_to_string are that module's.

use poke_engine::fitted::{choice_features, value_features, Weights};
use poke_engine::state::SideReference;
use poke_engine::tree::{search, Edge, Settings};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

static WEIGHTS: OnceLock<Mutex<HashMap<String, Arc<Weights>>>> = OnceLock::new();

/// The weights of a file, read once.
fn weights_of(path: &str) -> PyResult<Arc<Weights>> {
    let mut read = WEIGHTS.get_or_init(Default::default).lock().unwrap();
    if let Some(weights) = read.get(path) {
        return Ok(weights.clone());
    }
    let weights = Arc::new(Weights::read(path).map_err(PyErr::new::<pyo3::exceptions::PyValueError, _>)?);
    read.insert(path.to_string(), weights.clone());
    Ok(weights)
}

/// (name, visits, total value, prior) of each option of side one and of side two, and the number of iterations.
#[pyfunction]
fn tree_search(
    text: &str,
    milliseconds: u64,
    iterations: u32,
    threads: usize,
    exploration: f32,
    first: f32,
    weights: Option<&str>,
    trust: f32,
) -> PyResult<(Vec<(String, u32, f32, f32)>, Vec<(String, u32, f32, f32)>, u32)> {
    let state = State::deserialize(text);
    let fitted = weights.map(weights_of).transpose()?;
    let settings = Settings { exploration, first, weights: fitted.as_deref(), trust };
    let ([one, two], made) = search(&state, Duration::from_millis(milliseconds), iterations, threads, &settings);
    let told = |side: &Side, edges: Vec<Edge>| {
        let row = |edge: Edge| (movechoice_to_string(side, &edge.choice), edge.visits, edge.total, edge.prior);
        edges.into_iter().map(row).collect()
    };
    Ok((told(&state.side_one, one), told(&state.side_two, two), made))
}

/// poke-engine's own evaluation of a position, and the features of its fitted value.
#[pyfunction]
fn features_of_value(text: &str) -> (f32, HashMap<String, f32>) {
    let state = State::deserialize(text);
    (poke_engine::engine::evaluate::evaluate(&state), value_features(&state))
}

/// For each side, the features of each of its options by the option's name.
#[pyfunction]
fn features_of_choices(text: &str) -> Vec<HashMap<String, HashMap<String, f32>>> {
    let mut state = State::deserialize(text);
    let (one, two) = state.root_get_all_options();
    let mut found = Vec::new();
    for (reference, options) in [(SideReference::SideOne, one), (SideReference::SideTwo, two)] {
        let features = choice_features(&mut state, reference, &options);
        let side = state.get_side_immutable(&reference);
        found.push(options.iter().map(|choice| movechoice_to_string(side, choice)).zip(features).collect());
    }
    found
}
