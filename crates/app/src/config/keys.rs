//! All configuration keys, with type, default, environment variable and meaning.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use setpoint_protocol::settings::ControllerSettings;

use super::levels::{EXPECTED as LEVELS_EXPECTED, is_levels};
use super::{ConfigError, Origin, Setting};

/// Longest name of a provider, a server or a secret.
const NAME_CHARS_MAX: usize = 40;

/// Variables that the providers' own programs read too.
const PROVIDER_VARS: &[(&str, &str)] = &[
    ("OPENAI_BASE_URL", "providers.openai.base_url"),
    ("ANTHROPIC_BASE_URL", "providers.anthropic.base_url"),
    ("OLLAMA_HOST", "providers.ollama.base_url"),
];

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// A finite number.
    Number,
    /// A whole number, 0 or more; empty text or absence means none if the default is none.
    Whole,
    /// A duration: milliseconds, or a number with `ms`, `s`, `m`, `h` or `d`.
    Millis,
    /// Text.
    Text,
    /// A list of texts, in an environment variable or an option as a JSON array.
    Texts,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// What is logged: a level, or levels by target.
    Levels,
}

/// A configuration key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted name: `[controller] delta` in a file is `controller.delta`. A `*` stands for a name that the person
    /// chooses.
    pub name: &'static str,
    /// Type of the value.
    pub kind: KeyType,
    /// Default value.
    pub default: fn() -> Value,
    /// Environment variable that sets it.
    pub env: Option<&'static str>,
    /// Meaning of the key.
    pub about: &'static str,
}

impl Key {
    /// Returns whether the key is a pattern for many keys.
    pub(super) fn is_family(&self) -> bool {
        self.name.contains('*')
    }

    /// Returns whether this is the key's name, or matches its pattern.
    pub(super) fn names(&self, name: &str) -> bool {
        let (mut mine, mut theirs) = (self.name.split('.'), name.split('.'));
        loop {
            match (mine.next(), theirs.next()) {
                (None, None) => return true,
                (Some("*"), Some(chosen)) if is_name(chosen) => {}
                (Some(part), Some(same)) if part == same => {}
                _ => return false,
            }
        }
    }
}

/// Returns whether a provider, a server or a secret may have this name.
fn is_name(name: &str) -> bool {
    (1..=NAME_CHARS_MAX).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
}

/// Returns the environment variables, each with the key that it sets.
pub(super) fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().filter_map(|key| Some((key.env?, key.name))).chain(PROVIDER_VARS.iter().copied())
}

macro_rules! keys {
    ($( $name:literal $kind:expr, $default:expr, $env:expr, $about:literal; )+) => {
        /// All keys, in the order in which `setpoint config` shows them.
        pub const KEYS: &[Key] = &[$( Key { name: $name, kind: $kind, default: $default, env: $env, about: $about } ),+];
    };
}

/// The values of an effort; `default` leaves it to the provider.
const EFFORTS: &[&str] = &["default", "low", "medium", "high"];
/// The values of a search engine.
const ENGINES: &[&str] = &["duckduckgo", "brave", "tavily", "serper"];
/// The values of an interface.
const APIS: &[&str] = &["openai", "openai-responses", "anthropic", "gemini", "ollama"];

fn reference() -> ControllerSettings {
    ControllerSettings::default()
}

keys! {
    "models.brain" KeyType::Text, || Value::Null, Some("SETPOINT_BRAIN_MODEL"), "model of R2 and R4b, as provider/model; unset, the environment's keys choose, and without any the embedded brain answers";
    "models.tool" KeyType::Text, || Value::Null, Some("SETPOINT_TOOL_MODEL"), "model of R1, R3 and R4a; unset, as `models.brain`";
    "models.perceiver" KeyType::Text, || Value::Null, None, "model of R1 alone";
    "models.planner" KeyType::Text, || Value::Null, None, "model of R2 alone";
    "models.executor" KeyType::Text, || Value::Null, None, "model of R3 alone";
    "models.agent_validator" KeyType::Text, || Value::Null, None, "model of R4a alone";
    "models.meta_validator" KeyType::Text, || Value::Null, None, "model of R4b alone; ranked at least as high as R2's";
    "models.brain_effort" KeyType::Choice(EFFORTS), || json!("default"), None, "how much the brain tier thinks before it answers";
    "models.tool_effort" KeyType::Choice(EFFORTS), || json!("default"), None, "how much the tool tier thinks before it answers";
    "models.stream" KeyType::Bool, || json!(true), None, "whether answers are streamed";
    "models.idle_ms" KeyType::Millis, || json!(60_000), None, "time without data after which an answer is given up";
    "providers.*.api" KeyType::Choice(APIS), || Value::Null, None, "protocol of the provider";
    "providers.*.base_url" KeyType::Text, || Value::Null, None, "its address";
    "providers.*.key_env" KeyType::Text, || Value::Null, None, "environment variable that holds its key";
    "providers.*.tools" KeyType::Bool, || Value::Null, None, "whether its models support tool calls";
    "providers.*.schema" KeyType::Bool, || Value::Null, None, "whether it can enforce a JSON Schema on answers";
    "providers.*.extra" KeyType::Text, || Value::Null, None, "extra fields of every request, as a JSON object";
    "mcp.*.command" KeyType::Texts, || Value::Null, None, "program and arguments of an MCP server";
    "mcp.*.url" KeyType::Text, || Value::Null, None, "its address, if it is reached over HTTP";
    "mcp.*.env" KeyType::Texts, || Value::Null, None, "environment variables that its program gets, beside PATH, HOME and TMPDIR";
    "mcp.*.bearer_env" KeyType::Text, || Value::Null, None, "environment variable that holds the key for its address";
    "mcp.*.paths" KeyType::Texts, || Value::Null, None, "folders that its program may read in the sandbox; unset, the working directory";
    "mcp.*.writes" KeyType::Texts, || Value::Null, None, "folders that its program may change in the sandbox";
    "mcp.*.outside" KeyType::Bool, || Value::Null, None, "whether its program runs outside the sandbox, with all your rights";
    "mcp.*.trust_annotations" KeyType::Bool, || Value::Null, None, "whether its tools that say that they only read are called without a question";
    "secrets.*.env" KeyType::Text, || Value::Null, None, "environment variable that holds a secret";
    "secrets.*.file" KeyType::Text, || Value::Null, None, "file that holds it, of mode 0600 or stricter; a relative path starts at the configuration directory";
    "secrets.*.hosts" KeyType::Texts, || Value::Null, None, "servers that `http_fetch` may send it to in a header, as secret://NAME; unset, none";
    "controller.law" KeyType::Text, || json!(reference().law), None, "control law";
    "controller.alpha" KeyType::Number, || json!(reference().alpha), None, "α, weight of the distance D";
    "controller.beta" KeyType::Number, || json!(reference().beta), None, "β, weight of the implausibility P";
    "controller.lambda" KeyType::Number, || json!(reference().lambda), None, "λ, weight of the cost Ω";
    "controller.w1" KeyType::Number, || json!(reference().w1), None, "w1, share of rounds in Ω";
    "controller.w2" KeyType::Number, || json!(reference().w2), None, "w2, share of time in Ω";
    "controller.epsilon" KeyType::Number, || json!(reference().epsilon), None, "ε, plateau threshold of |∇L|";
    "controller.delta" KeyType::Number, || json!(reference().delta), None, "δ, convergence threshold of D";
    "controller.rho" KeyType::Number, || json!(reference().rho), None, "ρ, threshold of P for logical failures";
    "controller.theta" KeyType::Number, || json!(reference().theta), None, "θ, threshold of Ω for giving up";
    "controller.time_budget_ms" KeyType::Millis, || json!(reference().time_budget_ms), None, "time budget of a task";
    "controller.max_replans" KeyType::Whole, || json!(reference().max_replans), None, "replans of a task";
    "controller.law2_rounds" KeyType::Whole, || json!(reference().law2_rounds), None, "worsening rounds in a row that end a task";
    "controller.law2_gradient" KeyType::Choice(&["full", "net"]), || json!("full"), None, "whether Law 2 counts the budget's own part of the gradient";
    "controller.urgency" KeyType::Choice(&["words", "sets"]), || json!("words"), None, "what urgency changes";
    "budgets.calls" KeyType::Whole, || Value::Null, None, "limit on model calls per task";
    "budgets.tokens" KeyType::Whole, || Value::Null, None, "limit on tokens per task, in and out";
    "budgets.money" KeyType::Number, || Value::Null, None, "limit on what a task may spend, in the currency of the \
     price table";
    "memory.recall" KeyType::Bool, || json!(true), None, "whether plans use memory; lessons of tasks are stored either way";
    "memory.reflect" KeyType::Bool, || json!(true), None, "whether the Dreamer asks the tool model to reword lessons after tasks have ended; otherwise templates word them";
    "retention.tasks" KeyType::Millis, || Value::Null, None, "age at which `setpoint tasks prune` deletes the steps \
     of ended tasks, such as 90d; unset, they are kept";
    "retention.memory" KeyType::Millis, || Value::Null, None, "age at which `setpoint memory prune` forgets what was learnt, such as 180d; unset, it is kept until it has faded";
    "audit.follow" KeyType::Bool, || json!(true), None, "whether a process that drives tasks audits them; otherwise `setpoint audit` catches up when it is asked";
    "audit.checkpoints" KeyType::Text, || Value::Null, None, "file that signed checkpoints of the audit log are \
     copied to, best on another disk or machine; a relative path starts at the data directory";
    "audit.key" KeyType::Text, || Value::Null, None, "file with the Auditor's signing key; unset, `audit/key` in the data directory";
    "telemetry.otlp_endpoint" KeyType::Text, || Value::Null, Some("OTEL_EXPORTER_OTLP_ENDPOINT"), "address of a collector that spans and metrics of tasks are sent to, over OTLP/HTTP; unset, nothing is sent";
    "telemetry.content" KeyType::Bool, || json!(false), None, "whether to send goals, answers, parameters and \
     evidence, not only names, numbers and times";
    "log.level" KeyType::Levels, || json!("setpoint=debug,info"), Some("SETPOINT_LOG"), "what is logged: a level, or levels by crate, as `info,setpoint_journal=debug`";
    "run.preview_plan" KeyType::Bool, || json!(false), None, "show each plan and ask before it runs";
    "run.level" KeyType::Choice(&["L0", "L1", "L3"]), || json!("L1"), Some("SETPOINT_LEVEL"), "what a task may do without a question: at L0 change only its workspace, at L1 also the working directory, where it can be undone, at L3 nearly all, in a container";
    "run.container" KeyType::Bool, || json!(false), Some("SETPOINT_CONTAINER"), "whether this machine is a container or a virtual machine with nothing in it but the work; run.level L3 needs it";
    "tools.fetch_private" KeyType::Bool, || json!(false), None, "whether `http_fetch` may connect to this machine and to private networks";
    "search.engine" KeyType::Choice(ENGINES), || json!("duckduckgo"), None, "search engine of `web_search`; all but duckduckgo need a key";
    "search.key_env" KeyType::Text, || Value::Null, None, "environment variable that holds its key; unset, BRAVE_API_KEY, TAVILY_API_KEY or SERPER_API_KEY";
    "search.searxng_url" KeyType::Text, || Value::Null, None, "address of a SearXNG server that `web_search` asks instead, on this machine or elsewhere";
    "run.sandbox" KeyType::Bool, || json!(true), Some("SETPOINT_SANDBOX"), "whether commands of tasks run in the sandbox, where it holds in full; otherwise they ask";
}

/// Returns the key of this name.
pub(super) fn find(name: &str, origin: &Origin) -> Result<&'static Key, ConfigError> {
    KEYS.iter().find(|key| key.names(name)).ok_or_else(|| ConfigError::UnknownKey {
        origin: origin.clone(),
        key: setpoint_protocol::text::clip(name, 100),
        near: nearest(name),
    })
}

/// Sets a value given as text.
pub(super) fn set_text(
    settings: &mut BTreeMap<String, Setting>,
    name: &str,
    text: &str,
    origin: Origin,
) -> Result<(), ConfigError> {
    let value = parse(find(name, &origin)?, text, &origin)?;
    set(settings, name, value, origin)
}

/// Sets a value, replacing the one before, if it has the key's type.
pub(super) fn set(
    settings: &mut BTreeMap<String, Setting>,
    name: &str,
    value: Value,
    origin: Origin,
) -> Result<(), ConfigError> {
    let key = find(name, &origin)?;
    let value = match (key.kind, value) {
        (KeyType::Millis, Value::String(text)) => parse(key, &text, &origin)?,
        (_, value) => value,
    };
    let is_fit = match (key.kind, &value) {
        (_, Value::Null) => (key.default)().is_null(),
        (KeyType::Number, value) => value.as_f64().is_some_and(f64::is_finite),
        (KeyType::Whole | KeyType::Millis, value) => value.as_u64().is_some(),
        (KeyType::Text, value) => value.is_string(),
        (KeyType::Bool, value) => value.is_boolean(),
        (KeyType::Texts, value) => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        (KeyType::Levels, value) => value.as_str().is_some_and(is_levels),
        (KeyType::Choice(words), value) => value.as_str().is_some_and(|word| words.contains(&word)),
    };
    if !is_fit {
        let got = setpoint_protocol::text::clip(&value.to_string(), 80);
        let reason = format!("is {got}; it must be {}", expected(key.kind));
        return Err(ConfigError::Value { origin, key: name.to_owned(), reason });
    }
    settings.insert(name.to_owned(), Setting { value, origin });
    Ok(())
}

/// Describes the values of a type.
fn expected(kind: KeyType) -> String {
    let text = match kind {
        KeyType::Number => "a finite number",
        KeyType::Whole => "a whole number, 0 or more",
        KeyType::Millis => "milliseconds, or a number with ms, s, m, h or d",
        KeyType::Text => "text",
        KeyType::Bool => "true or false",
        KeyType::Texts => "a list of texts, as [\"one\", \"two\"]",
        KeyType::Levels => LEVELS_EXPECTED,
        KeyType::Choice(words) => return format!("one of {}", words.join(", ")),
    };
    text.to_owned()
}

/// Parses a value given as text.
fn parse(key: &Key, text: &str, origin: &Origin) -> Result<Value, ConfigError> {
    let bare = text.trim();
    // An empty text unsets what a weaker layer set.
    if bare.is_empty() && (key.default)().is_null() {
        return Ok(Value::Null);
    }
    let value = match key.kind {
        KeyType::Text | KeyType::Choice(_) | KeyType::Levels => Some(json!(text)),
        KeyType::Number => bare.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::from),
        KeyType::Whole => bare.parse().ok().map(|number: u64| json!(number)),
        KeyType::Millis => millis(text).map(Value::from),
        KeyType::Bool => bare.parse().ok().map(Value::Bool),
        KeyType::Texts => serde_json::from_str::<Vec<String>>(bare).ok().map(Value::from),
    };
    value.ok_or_else(|| ConfigError::Value {
        origin: origin.clone(),
        key: key.name.to_owned(),
        reason: format!(
            "is {:?}; it must be {}",
            setpoint_protocol::text::clip(text, 80),
            expected(key.kind)
        ),
    })
}

fn millis(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Returns the known key whose last part resembles that of `name`: of three letters at most one differs, and at most two
/// in all.
fn nearest(name: &str) -> Option<&'static str> {
    let last = name.rsplit('.').next().unwrap_or(name);
    KEYS.iter()
        .map(|key| {
            let tail = key.name.rsplit('.').next().unwrap_or(key.name);
            // Of keys that are as near by their last part, the one of the same table.
            (edits(last, tail), edits(name, key.name), key.name)
        })
        .min()
        .filter(|(edits, ..)| last.chars().count() > 2 && *edits <= (last.chars().count() / 3).min(2))
        .map(|(.., key)| key)
}

/// Returns the number of edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (i, x) in a.chars().take(64).enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        let mut last_of_b = None;
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            left = (at(&row, j) + usize::from(x != *y)).min(left + 1).min(at(&row, j + 1) + 1);
            if last == Some(*y) && last_of_b == Some(x) {
                left = left.min(j.checked_sub(1).map_or(left, |j| at(&before, j) + 1));
            }
            last_of_b = Some(*y);
            next.push(left);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(x);
    }
    row.last().copied().unwrap_or(0)
}
