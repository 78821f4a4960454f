//! What a model would say, before any wire puts its clothes on it.

/// One answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it thought, in the pieces in which it is streamed.
    pub thinking: Vec<String>,
    /// What it says, in the pieces in which it is streamed.
    pub text: Vec<String>,
    /// The tools that it calls.
    pub calls: Vec<Call>,
    /// What the server says that it cost.
    pub usage: Count,
    /// Why it ended.
    pub finish: Finish,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its id; without one the server makes one up where the wire has ids.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them, JSON or not.
    pub arguments: String,
}

/// How many tokens an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole prompt, with what was read from a cache. (Anthropic's wire counts the cached part apart; the
    /// server does that subtraction.)
    pub input: u64,
    /// The part of the prompt that was read from a cache.
    pub cached: u64,
    /// What the model wrote, its thinking included.
    pub output: u64,
    /// The part of the output that was thinking.
    pub reasoning: u64,
}

/// What is said of the cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// The server counts: a token for four characters, at least one, and as cached what an earlier prompt had too, from
    /// its beginning. On Ollama's wire a prompt costs at most its
    /// context (`num_ctx`, else 4,096), because the rest of it is cut off without a word.
    #[default]
    ByServer,
    /// This.
    Given(Usage),
    /// Nothing.
    Unsaid,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// Because it was complete: with calls for the calls' sake, else by itself.
    #[default]
    Natural,
    /// It reached the limit on its length.
    Length,
    /// A filter stopped it.
    Filtered,
}

impl Answer {
    /// A text, streamed word by word.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let words = text.split_inclusive(char::is_whitespace).map(str::to_owned).collect();
        Self { text: words, ..Self::default() }
    }

    /// A text in exactly these pieces.
    #[must_use]
    pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self { text: pieces.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// A single call.
    #[must_use]
    pub fn call(name: &str, arguments: &str) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// One more call.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: &str) -> Self {
        self.calls.push(Call { id: None, name: name.to_owned(), arguments: arguments.to_owned() });
        self
    }

    /// The same with thoughts before it, streamed word by word.
    #[must_use]
    pub fn after_thinking(mut self, thinking: &str) -> Self {
        self.thinking = thinking.split_inclusive(char::is_whitespace).map(str::to_owned).collect();
        self
    }

    /// The same at this cost.
    #[must_use]
    pub fn costing(mut self, usage: Usage) -> Self {
        self.usage = Count::Given(usage);
        self
    }

    /// The same, ended for this reason.
    #[must_use]
    pub fn ended_by(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }
}
