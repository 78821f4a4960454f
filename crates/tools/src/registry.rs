//! The registry: lists the tools, reads calls and runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use setpoint_machine::CallReader;
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::gate::{Facts, RunLevel};
use setpoint_protocol::record::{Surroundings, Survey};
use setpoint_protocol::tool::{
    ApprovalNeed, CallReading, Effect, ExecutedFile, Secret, Source, ToolAnswer, ToolCall, ToolSpec,
};
use setpoint_protocol::{Any, CallId, TaskId, text};
use setpoint_scrub::Scrub;
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::approval_file::Denials;
use crate::background::Background;
use crate::catalogue;
use crate::error::ToolError;
use crate::facts;
use crate::host::Host;
use crate::house::House;
use crate::keys::{self, KeyFiles, KnownKeys};
use crate::process::capture::bounded_text;
use crate::servers;
use crate::servers::ServedFiles;
use crate::tool::{Limits, Tool, ToolCtx};
use crate::turns::Turns;
use crate::typed::unreadable;
use crate::undo::{After, Keeper};

/// Maximum characters of a tool's name that an error repeats.
const NAME_CHARS_MAX: usize = 80;

/// The tools by name.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    limits: Limits,
    house: Arc<House>,
    search_path: Arc<Vec<PathBuf>>,
    keys: Scrub,
    key_files: KeyFiles,
    background: Background,
    level: RunLevel,
    denials: Denials,
    served: ServedFiles,
    turns: Turns,
    /// The folder with what tasks changed, for an undo.
    kept: Option<Arc<PathBuf>>,
    #[cfg(feature = "ungated")]
    is_ungated: bool,
}

/// Where and for whom a call runs: what a [`ToolAsk`] does not contain.
#[derive(Clone, Debug)]
pub struct CallPlace {
    /// The task and the call under which the old states of what it changes are kept; without them nothing is.
    pub keeps_as: Option<(TaskId, CallId)>,
    /// The machine and the place of the task.
    pub surroundings: Arc<Surroundings>,
    /// Every path that an earlier answer of this task listed in `created`.
    pub created: BTreeSet<PathBuf>,
    /// The `source` of every earlier answer of this task.
    pub sources: BTreeSet<Source>,
    /// The `secrets` of every earlier answer of this task.
    pub secrets: BTreeSet<Secret>,
    /// Cancels the call.
    pub cancel: CancellationToken,
}

impl Registry {
    /// Returns the tools that work on this machine.
    #[must_use]
    pub fn built_in(host: &Host) -> Self {
        let search_path =
            host.env().get(OsStr::new("PATH")).map(|path| std::env::split_paths(path).collect());
        let search_path = Arc::new(search_path.unwrap_or_default());
        let (keys, background) = (host.keys().clone(), host.background().clone());
        let mut registry = Registry { search_path, keys, background, ..Registry::default() };
        for tool in catalogue::tools(host) {
            registry.add(tool);
        }
        registry
    }

    /// Sets the limits of calls.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Registry { limits, ..self }
    }

    /// Sets the places that tools must not enter.
    #[must_use]
    pub fn with_house(self, house: House) -> Self {
        Registry { house: Arc::new(house), ..self }
    }

    /// Sets how much tasks may change without consent.
    #[must_use]
    pub fn with_level(self, level: RunLevel) -> Self {
        Registry { level, ..self }
    }

    /// Sets what calls must not do whatever is allowed.
    #[must_use]
    pub fn denying(self, denials: Denials) -> Self {
        Registry { denials, ..self }
    }

    /// Sets the files that servers outside the sandbox run: changing one asks.
    #[must_use]
    pub fn serving(self, served: ServedFiles) -> Self {
        Registry { served, ..self }
    }

    /// Sets the folder in which calls keep what they change, for an undo. Without one, they keep nothing.
    #[must_use]
    pub fn keeping_in(self, folder: PathBuf) -> Self {
        Registry { kept: Some(Arc::new(folder)), ..self }
    }

    /// Opens the gate and the house: every call runs without a question. For tests of attacks only.
    #[cfg(feature = "ungated")]
    #[must_use]
    pub fn ungated(self) -> Self {
        Registry { is_ungated: true, house: Arc::default(), ..self }
    }

    /// Deletes what the calls of a task kept. It cannot be undone any more.
    ///
    /// # Errors
    /// The error of the system.
    pub fn forget(&self, task: &TaskId) -> std::io::Result<()> {
        let Some(folder) = self.kept_of(task) else { return Ok(()) };
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the folder with what tasks changed.
    pub(crate) fn kept(&self) -> Option<Arc<PathBuf>> {
        self.kept.clone()
    }

    /// Ends what the calls of a task keep running, and returns when it has ended. What it changed and was not put in place is
    /// discarded, and so is what is known of the keys in the task's files.
    pub async fn end_background(&self, task: &TaskId) {
        self.background.end(task).await;
        self.key_files.forget(task);
    }

    fn kept_of(&self, task: &TaskId) -> Option<PathBuf> {
        self.kept.as_ref().map(|folder| folder.join(task.to_string()))
    }

    /// Adds a tool, replacing one of the same name.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        self.tools.insert(tool.spec().name, tool);
    }

    /// Returns the catalogue, by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().filter(|tool| tool.is_offered()).map(|tool| tool.spec()).collect()
    }

    /// Returns the tool of this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// Runs a call. Every outcome is an answer, within the limits of a record and without the host's keys.
    pub async fn run(&self, ask: &ToolAsk, place: CallPlace) -> ToolAnswer {
        let start = Instant::now();
        let mut ctx = self.context(ask, place);
        let answer = match self.admit(ask, &ctx.surroundings) {
            Ok(tool) => {
                // Before the call, which may remove the files.
                ctx.keys = self.known_keys(ask, &[], &ctx).await;
                match self.turn(ask, &ctx).await {
                    Ok(_turn) => probed(ask, tool.run(&ask.call.input, &ctx).await),
                    Err(error) => error.into_answer(),
                }
            }
            Err(error) => error.into_answer(),
        };
        let keys = self.known_keys(ask, &answer.created, &ctx).await;
        let secrets = keys::of(&ask.call.tool, &ask.call.input, &answer, &keys);
        let answer = ToolAnswer { secrets, ..answer };
        let millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        bounded(ToolAnswer { duration_ms: millis, ..without(&self.keys, answer) }, &self.limits)
    }

    /// Waits until the call may change files. Commands take their turn themselves, when they change some.
    async fn turn(
        &self,
        ask: &ToolAsk,
        ctx: &ToolCtx,
    ) -> Result<Option<OwnedRwLockReadGuard<()>>, ToolError> {
        let is_command = catalogue::COMMANDS.contains(&ask.call.tool.as_str());
        if is_command || self.read_probe(&ask.call, &ctx.surroundings).effect == Effect::ReadOnly {
            return Ok(None);
        }
        self.turns.to_change(ctx).await.map(Some)
    }

    /// Returns what is known of keys, after another look at the task's files.
    async fn known_keys(&self, ask: &ToolAsk, created: &[String], ctx: &ToolCtx) -> KnownKeys {
        let cwd = PathBuf::from(&ctx.surroundings.cwd);
        let named = keys::to_look_at(&ask.call.input, created, &ctx.place());
        let (files, task, own) = (self.key_files.clone(), ctx.task.clone(), self.keys.clone());
        // A cancelled call is over, but what it printed still has to be marked.
        let ctx = ToolCtx { cancel: CancellationToken::new(), ..ctx.clone() };
        let looked = ctx.blocking(move |halt| Ok(files.look(task.as_ref(), &cwd, &named, &own, halt))).await;
        looked.unwrap_or_else(|_| KnownKeys::of_machine(self.keys.clone()))
    }

    /// Returns the tool of a call that may run.
    fn admit(&self, ask: &ToolAsk, surroundings: &Surroundings) -> Result<&Arc<dyn Tool>, ToolError> {
        let name = &ask.call.tool;
        let Some(tool) = self.tools.get(name) else {
            return Err(ToolError::Missing { name: text::clip(name, NAME_CHARS_MAX), hint: self.hint(name) });
        };
        if ask.probe && self.read_probe(&ask.call, surroundings).effect != Effect::ReadOnly {
            let reason = "it is not provably read-only".to_owned();
            return Err(ToolError::NoProbe { tool: name.clone(), reason });
        }
        Ok(tool)
    }

    pub(crate) fn context(&self, ask: &ToolAsk, place: CallPlace) -> ToolCtx {
        let task = place.keeps_as.as_ref().map(|(task, _)| task.clone());
        let kept = task.as_ref().and_then(|task| self.kept_of(task));
        // What the call itself reads may be in what it writes.
        let secrets = place.secrets.iter().cloned().chain(keys::named_in(&ask.call.input)).collect();
        let after = After { sources: place.sources.clone(), secrets };
        let keeper =
            place.keeps_as.and_then(|(task, call)| Some(Keeper::new(self.kept_of(&task)?, call, after)));
        ToolCtx {
            surroundings: place.surroundings,
            created: place.created,
            sources: place.sources,
            secrets: place.secrets,
            house: Arc::clone(&self.house),
            search_path: Arc::clone(&self.search_path),
            grant: ask.grant.clone(),
            caution: ask.caution,
            probe: ask.probe,
            level: self.level,
            denials: self.denials.clone(),
            served: self.served.clone(),
            turns: self.turns.clone(),
            keys: KnownKeys::default(),
            kept,
            task,
            keeper,
            #[cfg(feature = "ungated")]
            is_ungated: self.is_ungated,
            cancel: place.cancel,
            limits: self.limits.clone(),
        }
    }

    /// Removes this host's keys from all texts of the survey.
    pub(crate) fn without_keys(&self, survey: Survey) -> Survey {
        if self.keys.is_empty() {
            return survey;
        }
        let value = serde_json::to_value(&survey).map(|value| self.keys.value(value));
        value.and_then(serde_json::from_value).unwrap_or_default()
    }

    /// Suggests the tool that `name` probably means: `functions.Read-File` is `read_file`.
    fn hint(&self, name: &str) -> String {
        let plain =
            |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let wanted = plain(name.rsplit(['.', '/', ':']).next().unwrap_or(name));
        let meant = self.tools.keys().find(|known| plain(known) == wanted);
        match meant {
            Some(meant) => format!("; did you mean {meant}?"),
            None => format!("; there are {}", self.tools.keys().cloned().collect::<Vec<_>>().join(", ")),
        }
    }
}

impl CallReader for Registry {
    fn read(&self, call: &ToolCall, surroundings: &Surroundings) -> CallReading {
        if let Some(reading) = servers::reading(call, surroundings) {
            return reading;
        }
        match self.tools.get(&call.tool) {
            Some(tool) => tool.read(&call.input, surroundings),
            None => unreadable(&call.tool, &call.input, Effect::Unsafe),
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("tools", &self.tools.keys()).field("limits", &self.limits).finish()
    }
}

/// Turns a question to a person into a failure if the call is a probe.
fn probed(ask: &ToolAsk, answer: ToolAnswer) -> ToolAnswer {
    match answer.approval {
        Some(need) if ask.probe => {
            ToolError::NoProbe { tool: ask.call.tool.clone(), reason: need.reason }.into_answer()
        }
        approval => ToolAnswer { approval, ..answer },
    }
}

/// Removes these keys from all parts of an answer.
fn without(keys: &Scrub, answer: ToolAnswer) -> ToolAnswer {
    if keys.is_empty() {
        return answer;
    }
    let text = |text: String| keys.text(text);
    let texts = |list: Vec<String>| list.into_iter().map(text).collect::<Vec<String>>();
    let executed = answer.executed_files.into_iter();
    ToolAnswer {
        text: text(answer.text),
        facts: answer.facts.map(|facts| Any(keys.value(facts.0))),
        executed_files: executed
            .map(|file| ExecutedFile { path: text(file.path), names: texts(file.names), ..file })
            .collect(),
        created: texts(answer.created),
        // The digest stays that of the exact call.
        approval: answer.approval.map(|need| ApprovalNeed {
            command: text(need.command),
            cwd: need.cwd.map(&text),
            writes: texts(need.writes),
            deletes: texts(need.deletes),
            hosts: texts(need.hosts),
            after: need.after,
            secrets: need.secrets,
            reason: text(need.reason),
            rule: need.rule,
            facts: need.facts.map(|facts| Box::new(without_in_facts(keys, *facts))),
            digest: need.digest,
            scope: need.scope,
            preview: need.preview.map(&text),
        }),
        ..answer
    }
}

/// Removes these keys from the facts of a question. Only their texts change, so the rule stays.
fn without_in_facts(keys: &Scrub, facts: Facts) -> Facts {
    let clean = serde_json::to_value(&facts).map(|value| keys.value(value));
    clean.and_then(serde_json::from_value).unwrap_or_default()
}

/// Cuts an answer to the limits of a record, and says what was cut.
fn bounded(mut answer: ToolAnswer, limits: &Limits) -> ToolAnswer {
    if let Some(facts) = answer.facts.take() {
        let (facts, cut) = facts::fit(facts.0, limits.facts_bytes_max);
        answer.facts = Some(facts);
        if let Some(cut) = cut {
            answer.text.push_str(&format!("\n[cut from the {cut}]"));
        }
    }
    answer.text = bounded_text(answer.text, limits.output_bytes_max);
    answer
}
