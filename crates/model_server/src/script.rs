//! What the server answers: a script is asked for a turn at every request for an answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::answer::Answer;
use crate::delay::Delay;
use crate::fault::Fault;
use crate::seen::Seen;

/// Decides what is answered. It is called from the server's tasks and does not block.
pub trait Script: Send + Sync + 'static {
    /// The answer to a request for one.
    fn turn(&self, seen: &Seen) -> Turn;

    /// The answer to a request for the models, or for one of them.
    fn listing(&self, seen: &Seen) -> Listing {
        let _ = seen;
        Listing::default()
    }
}

/// One answer, and what goes wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// What the model says.
    pub answer: Answer,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// What is waited for before the first byte.
    pub delay: Option<Delay>,
    /// Sends the body in pieces of this many bytes, whatever they cut apart: nothing is wrong with that, and a
    /// client must not notice.
    pub bytes_at_once: Option<usize>,
}

impl Turn {
    /// The same with a fault.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// The same after a delay.
    #[must_use]
    pub fn after(mut self, delay: Delay) -> Self {
        self.delay = Some(delay);
        self
    }

    /// The same in pieces of this many bytes.
    #[must_use]
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.bytes_at_once = Some(bytes);
        self
    }
}

impl From<Answer> for Turn {
    fn from(answer: Answer) -> Self {
        Self { answer, ..Self::default() }
    }
}

impl From<Fault> for Turn {
    /// The fault over a short answer, for faults that need none.
    fn from(fault: Fault) -> Self {
        Self { answer: Answer::text("The fault is elsewhere."), ..Self::default() }.with(fault)
    }
}

/// The models there are, for the wires' lists.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The models.
    pub models: Vec<ModelInfo>,
    /// What goes wrong; faults of content and stream have nothing to hold on to here.
    pub fault: Option<Fault>,
}

impl Default for Listing {
    fn default() -> Self {
        Self { models: vec![ModelInfo::new("test-model")], fault: None }
    }
}

/// One model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its id.
    pub name: String,
    /// The longest prompt and answer together, in tokens.
    pub context: u64,
    /// Whether it calls tools.
    pub has_tools: bool,
    /// Whether it thinks.
    pub has_thinking: bool,
}

impl ModelInfo {
    /// A model of 131,072 tokens with tools and without thinking.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), context: 131_072, has_tools: true, has_thinking: false }
    }
}

/// A function is a script.
impl<F, T> Script for F
where
    F: Fn(&Seen) -> T + Send + Sync + 'static,
    T: Into<Turn>,
{
    fn turn(&self, seen: &Seen) -> Turn {
        self(seen).into()
    }
}

/// Turns in order of the requests; after the last one it is the last one again.
#[derive(Debug)]
pub struct InOrder {
    turns: Vec<Turn>,
    next: AtomicUsize,
}

impl InOrder {
    /// From its turns. Without any, every answer is empty.
    #[must_use]
    pub fn new<T: Into<Turn>>(turns: impl IntoIterator<Item = T>) -> Self {
        Self { turns: turns.into_iter().map(Into::into).collect(), next: AtomicUsize::new(0) }
    }

    /// How many turns were asked for.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }
}

impl Script for InOrder {
    fn turn(&self, _: &Seen) -> Turn {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        self.turns.get(index).or(self.turns.last()).cloned().unwrap_or_default()
    }
}

/// The same turn, whatever is asked.
#[derive(Debug)]
pub struct Always(Turn);

impl Always {
    /// From its turn.
    #[must_use]
    pub fn new(turn: impl Into<Turn>) -> Self {
        Self(turn.into())
    }
}

impl Script for Always {
    fn turn(&self, _: &Seen) -> Turn {
        self.0.clone()
    }
}

/// Another script, with a fault laid over the turns that a condition picks.
pub struct Faulty<S, P> {
    script: S,
    picks: P,
    fault: Fault,
}

impl<S: Script, P: Fn(&Seen) -> bool> Faulty<S, P> {
    /// Lays `fault` over those turns of `script` for whose request `picks` holds.
    #[must_use]
    pub fn new(script: S, fault: Fault, picks: P) -> Self {
        Self { script, picks, fault }
    }
}

impl<S: Script, P: Fn(&Seen) -> bool + Send + Sync + 'static> Script for Faulty<S, P> {
    fn turn(&self, seen: &Seen) -> Turn {
        let turn = self.script.turn(seen);
        if (self.picks)(seen) { turn.with(self.fault.clone()) } else { turn }
    }

    fn listing(&self, seen: &Seen) -> Listing {
        self.script.listing(seen)
    }
}
