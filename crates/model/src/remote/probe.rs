//! Tests a model by asking it: a few small questions, and one as long as its configured window.
//!
//! It never shows the model's words, repeats no question, and limits the time of each. The cost is counted and
//! reported.

mod questions;

use std::time::Duration;

use setpoint_extract::draft::TurnDraft;
use setpoint_extract::extract;
use setpoint_machine::conversation::Message;
use setpoint_machine::tokens;
use setpoint_protocol::record::ModelFailureKind::{Timeout, TooLong, Unable};
use setpoint_protocol::record::{Part, Reply, Usage};

use self::questions::{
    CODE_WORD, NUMBER, SCHEMA, SYSTEM, TOOL, fits, is_colour, long_question, question, text_of, tool,
};
use super::{Remote, failure, send};
use crate::catalogue::WINDOW_TOKENS_MIN;
use crate::model::ModelError;
use crate::progress::Progress;
use crate::wire::{Dialect, Request};

/// Maximum tokens of the long question, to keep the test cheap.
pub const CONTEXT_TOKENS_MAX: u64 = 24_000;
/// Maximum tokens of an answer; a model that thinks needs some before its first word.
pub const ANSWER_TOKENS_MAX: u32 = 2_048;
/// Longest time of one question, whatever the configuration says about idle time.
pub const QUESTION_TIME_MAX: Duration = Duration::from_secs(600);

/// The result of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// As it should be.
    Good,
    /// Works, with something to know.
    Note,
    /// Does not work.
    Bad,
}

/// A finding about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Result of the test.
    pub outcome: Outcome,
    /// What was found.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The findings about a model, and their cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeReport {
    /// Findings in the order of the tests.
    pub findings: Vec<Finding>,
    /// Questions asked.
    pub calls: u64,
    /// Tokens used, as far as there were answers.
    pub usage: Usage,
}

/// Runs the tests. Stops if the first question is not answered.
pub async fn probe(remote: &Remote) -> ProbeReport {
    let mut probe = Probe { remote, probed: ProbeReport::default() };
    if probe.answers().await {
        probe.tools().await;
        probe.schema().await;
        probe.context().await;
    }
    probe.probed
}

struct Probe<'r> {
    remote: &'r Remote,
    probed: ProbeReport,
}

/// The result of using an interface of the provider.
enum InterfaceOutcome {
    /// The answer is as requested.
    Fits,
    /// The answer is something else.
    Misfit(&'static str),
    /// The interface does not exist.
    Lacks,
    /// There is no answer.
    Failed(ModelError),
}

impl Probe<'_> {
    /// Tests whether the model answers; returns whether it does.
    async fn answers(&mut self) -> bool {
        let word = "Answer with this one word and nothing else: ready";
        match self.ask(&Request { messages: &question(word), ..Request::default() }).await {
            Err(error) => {
                self.failed("does not answer", error);
                false
            }
            Ok(reply) => {
                let text = text_of(&reply);
                if text.to_lowercase().contains("ready") {
                    self.found(Outcome::Good, "answers", None);
                } else if text.is_empty() && reply.is_cut {
                    let hint = "let it think less (`models.brain_effort`, `models.tool_effort`)";
                    let text = format!("thinks for {ANSWER_TOKENS_MAX} tokens without coming to an answer");
                    self.found(Outcome::Bad, text, Some(hint.to_owned()));
                } else if text.is_empty() {
                    let hint = "choose another model: this one gives empty answers";
                    self.found(Outcome::Bad, "gives an empty answer", Some(hint.to_owned()));
                } else {
                    let hint = "it may be too weak for a task: expect repairs and replans";
                    let text = "answers, but not with the one word that was asked for";
                    self.found(Outcome::Note, text, Some(hint.to_owned()));
                }
                !text.is_empty()
            }
        }
    }

    /// Tests tool calls through the provider's interface; if that fails, as text.
    async fn tools(&mut self) {
        let user = format!("Call the tool {TOOL} with the number {NUMBER}.");
        let came = if self.remote.endpoint.takes_tools {
            let tools = [tool()];
            let request = Request { messages: &question(&user), tools: &tools, ..Request::default() };
            match self.ask(&request).await {
                Ok(reply) => fitting_call(&reply),
                Err(_) if self.remote.lacks.tools() => InterfaceOutcome::Lacks,
                Err(error) if error.failure.kind == Unable => {
                    InterfaceOutcome::Misfit("refuses a question with a tool")
                }
                Err(error) => InterfaceOutcome::Failed(error),
            }
        } else {
            InterfaceOutcome::Lacks
        };
        let why = match came {
            InterfaceOutcome::Fits => {
                return self.found(Outcome::Good, "calls tools through the provider's interface", None);
            }
            InterfaceOutcome::Failed(error) => {
                return self.failed("does not answer a question with a tool", error);
            }
            InterfaceOutcome::Lacks => "takes no tools through the provider's interface",
            InterfaceOutcome::Misfit(why) => why,
        };
        let user = format!(
            "There is one tool, {TOOL}; its input has one field, `number`, an integer. Call it with the number {NUMBER}: \
             answer with one JSON object of the form {{\"tool\": …, \"input\": {{…}}}} and nothing else."
        );
        match self.ask(&Request { messages: &question(&user), ..Request::default() }).await {
            Ok(reply) if matches!(extract(&text_of(&reply)), Ok(TurnDraft::Call(call)) if fits(&call)) => {
                let hint = self.setting("tools").filter(|_| self.remote.endpoint.takes_tools);
                self.found(Outcome::Note, format!("{why}; calls them in its text, which is enough"), hint);
            }
            Ok(_) => {
                let hint = "choose another model for R3 (`models.tool`, or `models.executor`)".to_owned();
                self.found(
                    Outcome::Bad,
                    format!("{why}, and cannot call them in its text either"),
                    Some(hint),
                );
            }
            Err(error) => self.failed("does not answer a question with a tool in its text", error),
        }
    }

    /// Tests answers with a JSON Schema; if that fails, JSON on request.
    async fn schema(&mut self) {
        let user = "Name a colour and how many letters the word for it has.";
        let came = if self.remote.endpoint.takes_schema {
            let schema = self.remote.schemas.json(SCHEMA);
            let request =
                Request { messages: &question(user), schema: schema.as_deref(), ..Request::default() };
            match self.ask(&request).await {
                Ok(reply) if is_colour(&text_of(&reply)) => InterfaceOutcome::Fits,
                Ok(_) => InterfaceOutcome::Misfit("does not follow a JSON Schema"),
                Err(_) if self.remote.lacks.schema() => InterfaceOutcome::Lacks,
                Err(error) if error.failure.kind == Unable => {
                    InterfaceOutcome::Misfit("refuses a JSON Schema")
                }
                Err(error) => InterfaceOutcome::Failed(error),
            }
        } else {
            InterfaceOutcome::Lacks
        };
        let why = match came {
            InterfaceOutcome::Fits => return self.found(Outcome::Good, "follows a JSON Schema", None),
            InterfaceOutcome::Failed(error) => {
                return self.failed("does not answer a question with a JSON Schema", error);
            }
            InterfaceOutcome::Lacks => "takes no JSON Schema",
            InterfaceOutcome::Misfit(why) => why,
        };
        let user = format!(
            "{user} Answer with one JSON object with the fields `colour` (text) and `letters` (an integer), and nothing else."
        );
        match self.ask(&Request { messages: &question(&user), ..Request::default() }).await {
            Ok(reply) if is_colour(&text_of(&reply)) => {
                let hint = self.setting("schema").filter(|_| self.remote.endpoint.takes_schema);
                self.found(Outcome::Note, format!("{why}; writes JSON when asked to, which is enough"), hint);
            }
            Ok(_) => {
                let hint = "choose another model: without JSON there is no plan and no verdict".to_owned();
                self.found(
                    Outcome::Bad,
                    format!("{why}, and writes no JSON that can be read either"),
                    Some(hint),
                );
            }
            Err(error) => self.failed("does not answer a question for JSON", error),
        }
    }

    /// Tests whether the window is as large as configured, or as a task needs: asks at the end of a long question for a
    /// text at its beginning.
    async fn context(&mut self) {
        let endpoint = &self.remote.endpoint;
        let name = &endpoint.name;
        let window = endpoint.window_tokens.unwrap_or(WINDOW_TOKENS_MIN);
        let is_known = endpoint.window_tokens.is_some();
        let thinking = endpoint.effort.map_or(0, crate::wire::Effort::tokens);
        let answer = ANSWER_TOKENS_MAX.min(window / 10);
        let room = u64::from(window.saturating_sub(thinking).saturating_sub(answer));
        let target = (u64::from(window) * 4 / 5).min(room * 9 / 10).min(CONTEXT_TOKENS_MAX);
        let user = long_question(target);
        let request = Request { messages: &question(&user), tokens_out_max: answer, ..Request::default() };
        let smaller = match endpoint.dialect {
            _ if !is_known => {
                format!(
                    "let the server give {name} a larger window, or choose another model: a task needs {window} tokens"
                )
            }
            Dialect::Ollama => format!(
                "let the server give {name} a larger window, or state its real `window_tokens` in `models.toml`"
            ),
            _ => format!(
                "state the real `window_tokens` of {name} in `models.toml`: prompts are then cut to it"
            ),
        };
        let reply = match self.ask(&request).await {
            Err(error) if error.failure.kind == TooLong => {
                let what = if is_known { "it is said to have" } else { "that a task needs" };
                let text = format!("its window is smaller than the {window} tokens {what}");
                return self.found(Outcome::Bad, text, Some(smaller));
            }
            Err(error) => return self.failed("does not answer a long question", error),
            Ok(reply) => reply,
        };
        let text = text_of(&reply).to_lowercase();
        let has_word = text.contains(CODE_WORD.0) && text.contains(CODE_WORD.1);
        let least = tokens::at_least(&user);
        if reply.usage.tokens_in < least {
            let read = reply.usage.tokens_in;
            let text = format!(
                "its server read {read} tokens of a question of at least {least}, and did not say so"
            );
            return self.found(Outcome::Bad, text, Some(smaller));
        }
        if !has_word {
            let text = format!("loses the beginning of a question of about {target} tokens");
            return self.found(Outcome::Bad, text, Some(smaller));
        }
        if !is_known {
            let text = format!(
                "reads a question of about {target} tokens to its end; the size of its window is not known"
            );
            let hint =
                format!("state the `window_tokens` of {name} in `models.toml`: prompts are then cut to it");
            return self.found(Outcome::Note, text, Some(hint));
        }
        let text = if target < u64::from(window) * 4 / 5 {
            format!(
                "reads a question of about {target} tokens to its end; its window of {window} was not tested in full"
            )
        } else {
            format!("reads a question of about {target} tokens to its end, in a window of {window}")
        };
        self.found(Outcome::Good, text, None);
    }

    /// Asks once, and counts. Usage is the server's count, otherwise our estimate.
    async fn ask(&mut self, request: &Request<'_>) -> Result<Reply, ModelError> {
        let endpoint = &self.remote.endpoint;
        let wanted = if request.tokens_out_max == 0 { ANSWER_TOKENS_MAX } else { request.tokens_out_max };
        let wanted = wanted.min(endpoint.tokens_out_max.unwrap_or(u32::MAX));
        let thinking = endpoint.effort.map_or(0, crate::wire::Effort::tokens);
        let request = Request {
            model: &endpoint.model,
            system: SYSTEM,
            tokens_out_max: wanted,
            tokens_thinking_max: thinking.min(endpoint.tokens_out_max.map_or(u32::MAX, |most| most - wanted)),
            effort: endpoint.effort,
            window_tokens: endpoint.window_tokens,
            cache_key: Some("probe"),
            is_first_party: endpoint.is_first_party,
            is_streamed: endpoint.is_streamed,
            extra: Some(&endpoint.extra),
            ..*request
        };
        self.probed.calls += 1;
        let time_max = endpoint.idle.saturating_mul(2).min(QUESTION_TIME_MAX);
        let progress = Progress::none();
        let once = tokio::time::timeout(time_max, send::once(self.remote, &request, &progress));
        let tokens_in = || {
            let text = |message: &Message<'_>| match message {
                Message::User(text) => tokens::estimate(text),
                Message::Assistant(_) | Message::Results(_) => 0,
            };
            tokens::estimate(SYSTEM) + request.messages.iter().map(text).sum::<u64>()
        };
        let answered = once.await.unwrap_or_else(|_| {
            let reason = format!("no answer came within {} ms", time_max.as_millis());
            Err(failure::never(Timeout, reason, vec!["raise `models.idle_ms` if the model is that slow"]))
        });
        let mut decoded = match answered {
            Ok(decoded) => decoded,
            Err(error) => {
                // A model that began to answer costs money.
                if progress.has_begun() {
                    self.used(progress.used(tokens_in));
                }
                return Err(error);
            }
        };
        let usage = &mut decoded.reply.usage;
        if !decoded.is_counted {
            usage.tokens_in = usage.tokens_in.max(tokens_in());
            usage.tokens_out = usage.tokens_out.max(tokens::of_reply(&decoded.reply.parts));
        }
        self.used(decoded.reply.usage);
        Ok(decoded.reply)
    }

    fn used(&mut self, usage: Usage) {
        let sum = &mut self.probed.usage;
        sum.tokens_in = sum.tokens_in.saturating_add(usage.tokens_in);
        sum.tokens_out = sum.tokens_out.saturating_add(usage.tokens_out);
        sum.tokens_cached = sum.tokens_cached.saturating_add(usage.tokens_cached);
    }

    /// Returns the setting that disables what the model lacks.
    fn setting(&self, field: &str) -> Option<String> {
        let (provider, _) = self.remote.endpoint.name.split_once('/')?;
        Some(format!("set `providers.{provider}.{field} = false`: then it is not tried first each time"))
    }

    fn found(&mut self, outcome: Outcome, text: impl Into<String>, hint: Option<String>) {
        self.probed.findings.push(Finding { outcome, text: text.into(), hint });
    }

    fn failed(&mut self, what: &str, error: ModelError) {
        let hint = match error.failure.hints.into_iter().next() {
            Some(hint) => hint,
            None => "try again later; if this persists, choose another model".to_owned(),
        };
        self.found(Outcome::Bad, format!("{what}: {}", error.failure.reason), Some(hint));
    }
}

fn fitting_call(reply: &Reply) -> InterfaceOutcome {
    let call = reply.parts.iter().find_map(|part| match part {
        Part::ToolCall(request) => Some(request.to_call()),
        Part::Text(_) | Part::Opaque(_) => None,
    });
    match call {
        None => InterfaceOutcome::Misfit("does not call the tool that it is given"),
        Some(call) if fits(&call) => InterfaceOutcome::Fits,
        Some(call) if call.tool != TOOL => InterfaceOutcome::Misfit("calls a tool that does not exist"),
        Some(_) => InterfaceOutcome::Misfit("calls a tool with an input that does not fit its schema"),
    }
}
