//! The same model in a plain tool loop: a few lines of instructions, the person's words, the core tools, and a
//! conversation that grows until the model answers without a call.
//!
//! Setpoint is compared with it, so it has the same tools, under the same gate and with the same person's consent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::Any;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{Phase, ToolAnswer, ToolCall};
use setpoint_tools::{CallPlace, Host, Registry};
use tokio_util::sync::CancellationToken;

use crate::error::TrialError;
use crate::place::Place;
use crate::relay;

/// The tools that are offered.
const TOOLS: &[&str] = &["shell", "read_file", "write_file", "edit_file", "list_dir", "glob", "grep"];
/// Questions after which the loop is stopped.
const TURNS_MAX: u64 = 80;
/// Attempts per question.
const ATTEMPTS_MAX: u32 = 4;
/// Pause between two attempts.
const REST: Duration = Duration::from_secs(5);
/// Characters of an error's body that are quoted.
const BODY_CHARS_MAX: usize = 400;

/// The model to ask.
pub(crate) struct Model<'a> {
    pub(crate) name: &'a str,
    pub(crate) base: &'a str,
    pub(crate) key: Option<&'a str>,
}

/// The result of a loop.
#[derive(Debug, Default)]
pub(crate) struct PlainRun {
    /// The model's final answer.
    pub(crate) text: String,
    pub(crate) tool_calls: u64,
    pub(crate) approvals: u64,
}

struct Loop {
    registry: Registry,
    surroundings: Arc<Surroundings>,
    created: BTreeSet<PathBuf>,
    run: PlainRun,
}

/// Pursues the goal. `keeper` is the executable that keeps tool calls, if there is one.
pub(crate) async fn run(
    model: &Model<'_>,
    place: &Place,
    goal: &str,
    keeper: Option<PathBuf>,
) -> Result<PlainRun, TrialError> {
    let client = relay::client(model.base)?;
    let mut this = Loop::new(place, keeper);
    let mut messages = vec![
        json!({ "role": "system", "content": instructions(place) }),
        json!({ "role": "user", "content": goal }),
    ];
    let tools = this.tools();
    for _ in 0..TURNS_MAX {
        let body = json!({ "model": name(model.name), "messages": messages, "tools": tools });
        let message = asked(&client, model, &body).await?;
        let calls: Vec<Value> = message["tool_calls"].as_array().cloned().unwrap_or_default();
        if calls.is_empty() {
            this.run.text = message["content"].as_str().unwrap_or_default().to_owned();
            return Ok(this.run);
        }
        messages.push(json!({ "role": "assistant", "content": message["content"], "tool_calls": calls }));
        for call in calls {
            let content = this.call(&call["function"]).await;
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": content }));
        }
    }
    this.run.text = format!("(stopped after {TURNS_MAX} questions)");
    Ok(this.run)
}

fn instructions(place: &Place) -> String {
    format!(
        "You work in the directory {} of a Linux machine. Do what the person asks, with the tools. Look before you change \
         something, and check afterwards. When you are done, answer in a few sentences and call no tool. If it cannot be \
         done, say so and why.",
        place.work().display()
    )
}

/// Returns the model's name at the server, without our prefix `openai/`.
fn name(name: &str) -> &str {
    name.strip_prefix("openai/").unwrap_or(name)
}

async fn asked(client: &reqwest::Client, model: &Model<'_>, body: &Value) -> Result<Value, TrialError> {
    let mut reason = String::new();
    for attempt in 1..=ATTEMPTS_MAX {
        let mut request = client.post(format!("{}/chat/completions", model.base.trim_end_matches('/')));
        request = request.header("content-type", "application/json").body(body.to_string());
        if let Some(key) = model.key {
            request = request.bearer_auth(key);
        }
        let answered = match request.send().await {
            Ok(response) => {
                let status = response.status();
                response.text().await.map(|text| (status, text))
            }
            Err(error) => Err(error),
        };
        match answered {
            Ok((status, text)) if status.is_success() => {
                let value: Value = serde_json::from_str(&text).map_err(|error| TrialError::Model {
                    reason: format!("its answer is no JSON: {error}"),
                })?;
                return Ok(value["choices"][0]["message"].clone());
            }
            Ok((status, text)) => {
                let text: String = text.chars().take(BODY_CHARS_MAX).collect();
                reason = format!("it answered {status}: {text}");
                if status.is_client_error() && status.as_u16() != 429 {
                    break;
                }
            }
            Err(error) => reason = error.to_string(),
        }
        if attempt < ATTEMPTS_MAX {
            tokio::time::sleep(REST).await;
        }
    }
    Err(TrialError::Model { reason })
}

impl Loop {
    fn new(place: &Place, keeper: Option<PathBuf>) -> Self {
        let variables = place.variables();
        let env = variables.iter().map(|(name, value)| ((*name).into(), value.into()));
        let host = Host::new(std::env::consts::OS, env);
        let host = match keeper {
            Some(keeper) => host.with_keeper(keeper),
            None => host,
        };
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let surroundings = Surroundings {
            cwd: text(place.work()),
            home: text(place.home().to_owned()),
            workspace: text(place.space()),
            vars: variables
                .iter()
                .filter(|(name, _)| *name == "HOME")
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            os: std::env::consts::OS.to_owned(),
            programs: host.notable_programs(),
            ..Surroundings::default()
        };
        Loop {
            registry: Registry::built_in(&host),
            surroundings: Arc::new(surroundings),
            created: BTreeSet::new(),
            run: PlainRun::default(),
        }
    }

    fn tools(&self) -> Vec<Value> {
        let specs = self.registry.specs().into_iter().filter(|spec| TOOLS.contains(&spec.name.as_str()));
        let function = |name: String, description: String, parameters: Any| {
            let function = json!({ "name": name, "description": description, "parameters": parameters.0 });
            json!({ "type": "function", "function": function })
        };
        specs.map(|spec| function(spec.name, spec.description, spec.input_schema)).collect()
    }

    /// Runs a call, with the person's consent if needed, and returns the text for the model.
    async fn call(&mut self, function: &Value) -> String {
        let tool = function["name"].as_str().unwrap_or_default().to_owned();
        let arguments = function["arguments"].as_str().unwrap_or("{}");
        let Ok(input) = serde_json::from_str::<Value>(arguments) else {
            return "The arguments are no JSON object.".to_owned();
        };
        self.run.tool_calls += 1;
        let mut ask = ToolAsk {
            call: ToolCall { tool, input: Any(input) },
            phase: Phase::Work,
            probe: false,
            grant: None,
            caution: false,
        };
        let mut answer = self.registry.run(&ask, self.place()).await;
        if let Some(need) = answer.approval.take() {
            self.run.approvals += 1;
            ask.grant = Some(need.digest);
            answer = self.registry.run(&ask, self.place()).await;
        }
        self.created.extend(answer.created.iter().map(PathBuf::from));
        told(&answer)
    }

    fn place(&self) -> CallPlace {
        CallPlace {
            keeps_as: None,
            surroundings: Arc::clone(&self.surroundings),
            created: self.created.clone(),
            sources: BTreeSet::new(),
            secrets: BTreeSet::new(),
            cancel: CancellationToken::new(),
        }
    }
}

fn told(answer: &ToolAnswer) -> String {
    match answer.exit_code {
        Some(code) if code != 0 => format!("exit code {code}\n{}", answer.text),
        _ if answer.ok => answer.text.clone(),
        _ => format!("failed: {}", answer.text),
    }
}
