//! The answer of a model, before it is rendered for a wire.

/// The answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its thinking, in the pieces in which it is streamed.
    pub thinking: Vec<String>,
    /// Its text, in the pieces in which it is streamed.
    pub text: Vec<String>,
    /// The tools that it calls.
    pub calls: Vec<Call>,
    /// The cost that the server reports; if `None`, it counts: one token per four characters, at least one, and as cached
    /// what an earlier prompt began with too. On Ollama's wire a prompt costs at most its context (`num_ctx`, by default
    /// 4,096), because Ollama silently cuts the rest.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub finish: Finish,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// The arguments as the model wrote them; not necessarily JSON.
    pub arguments: String,
}

/// The tokens that an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole prompt, including what was read from a cache. (Anthropic's wire counts the cached part separately; the
    /// server subtracts it there.)
    pub input: i128,
    /// The part of the prompt that was read from a cache.
    pub cached: i128,
    /// What the model wrote, including its thinking.
    pub output: i128,
    /// The part of the output that was thinking.
    pub reasoning: i128,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// It was complete: for its calls if it has any, otherwise by itself.
    #[default]
    Natural,
    /// It reached the limit on its length.
    Length,
    /// A filter stopped it.
    Filtered,
}

impl Answer {
    /// Creates an answer with a text, streamed word by word.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let words = text.split_inclusive(char::is_whitespace).map(str::to_owned).collect();
        Self { text: words, ..Self::default() }
    }

    /// Creates an answer with a single call.
    #[must_use]
    pub fn call(name: &str, arguments: &str) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Adds a call.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: &str) -> Self {
        self.calls.push(Call { name: name.to_owned(), arguments: arguments.to_owned() });
        self
    }

    /// Adds thinking before the answer, streamed word by word.
    #[must_use]
    pub fn after_thinking(mut self, thinking: &str) -> Self {
        self.thinking = thinking.split_inclusive(char::is_whitespace).map(str::to_owned).collect();
        self
    }

    /// Sets the cost.
    #[must_use]
    pub fn costing(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets why it ended.
    #[must_use]
    pub fn ended_by(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }
}
