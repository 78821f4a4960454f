//! Scripts decide the server's answers: a script is asked for a turn at every request for an answer.

use crate::answer::Answer;
use crate::delay::Delay;
use crate::fault::Fault;
use crate::seen::SeenRequest;

/// Decides the answers. It is called from the server's tasks and must not block.
pub trait Script: Send + Sync + 'static {
    /// Returns the turn for a request for an answer.
    fn turn(&self, seen: &SeenRequest) -> Turn;

    /// Returns the answer to a request for the models, or for one of them.
    fn listing(&self, seen: &SeenRequest) -> Listing {
        let _ = seen;
        Listing::default()
    }
}

/// An answer and the fault injected into it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The model's answer.
    pub answer: Answer,
    /// The fault to inject.
    pub fault: Option<Fault>,
    /// The delay before the first byte.
    pub delay: Option<Delay>,
    /// Splits the body into pieces of this many bytes, at any place: that is legal, and a client must not notice.
    pub bytes_at_once: Option<usize>,
}

impl Turn {
    /// Adds a fault.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Adds a delay.
    #[must_use]
    pub fn after(mut self, delay: Delay) -> Self {
        self.delay = Some(delay);
        self
    }
}

impl From<Answer> for Turn {
    fn from(answer: Answer) -> Self {
        Self { answer, ..Self::default() }
    }
}

impl From<Fault> for Turn {
    /// Injects the fault into a short answer, for faults that need none.
    fn from(fault: Fault) -> Self {
        Self { answer: Answer::text("The fault is elsewhere."), ..Self::default() }.with(fault)
    }
}

/// The models in the wires' lists.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The models in the list.
    pub models: Vec<ModelInfo>,
    /// The fault to inject; faults of content and stream do not apply here.
    pub fault: Option<Fault>,
}

impl Default for Listing {
    fn default() -> Self {
        Self { models: vec![ModelInfo::new("test-model")], fault: None }
    }
}

/// A model in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// The id under which clients ask for it.
    pub name: String,
    /// Largest prompt and answer together, in tokens.
    pub context: u64,
    /// Whether it supports tools.
    pub has_tools: bool,
}

impl ModelInfo {
    /// Creates a model with a context of 131,072 tokens and with tools.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), context: 131_072, has_tools: true }
    }
}

/// Functions are scripts.
impl<F, T> Script for F
where
    F: Fn(&SeenRequest) -> T + Send + Sync + 'static,
    T: Into<Turn>,
{
    fn turn(&self, seen: &SeenRequest) -> Turn {
        self(seen).into()
    }
}

/// The same turn for every request.
impl Script for Turn {
    fn turn(&self, _: &SeenRequest) -> Turn {
        self.clone()
    }
}
