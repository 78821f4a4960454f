//! Runs the same task over loopback HTTP, compared with a bare client that makes the same calls.
//!
//! The model is the scripted server in its own process, so that its work is not counted. R1's question is answered in
//! this process: the task begins at its `TaskSpec`, and seventeen calls go over the wire.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use setpoint_journal::Journal;
use setpoint_machine::conversation::MessageForm;
use setpoint_machine::{Brief, ModelCall};
use setpoint_memory::Access;
use setpoint_model::remote::{Endpoint, Remote};
use setpoint_model::wire::{Dialect, Request};
use setpoint_model::{Model, ModelError, Progress};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, ModelServer, SeenRequest, Wire};
use setpoint_protocol::RoleId;
use setpoint_protocol::record::Reply;
use setpoint_runtime::hints::Hints;
use setpoint_runtime::{Models, Organisation, Parts};
use tokio::task::JoinSet;

use crate::instant::{InstantModel, InstantTools, PLAN, Pace};
use crate::measure::{self, Spread};
use crate::scenario;

/// Tasks of one run.
const TASKS: usize = 300;
/// Tasks before the measurement starts, which open connections and fill caches.
const WARM: usize = 20;
/// Runs of each side. A ratio is reported to a few hundredths: with as few runs as in the other benchmarks, the same
/// program gave 1.85 and 2.03 within an hour.
const ROUNDS: usize = 15;
/// Largest accepted cost of a task, relative to the cost of its calls alone.
const RATIO_MAX: f64 = 2.0;
/// The model's name at the server.
const MODEL: &str = "bench-model";

/// The side whose calls are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasuredSide {
    /// Whole tasks.
    Organisation,
    /// Only the same calls.
    Bare,
}

impl MeasuredSide {
    fn name(self) -> &'static str {
        match self {
            MeasuredSide::Organisation => "organisation",
            MeasuredSide::Bare => "bare",
        }
    }
}

/// Serves until its standard input ends.
pub(crate) fn serve() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let server = runtime.block_on(ModelServer::start(Arc::new(answer))).map_err(|error| error.to_string())?;
    println!("{}", server.base(Wire::Chat));
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    drop(std::io::stdin().read_to_end(&mut Vec::new()));
    Ok(())
}

/// Answers like the model of [`crate::instant`], from the text of the question.
fn answer(seen: &SeenRequest) -> Answer {
    let question = &*seen.asked.told();
    match Site::of(seen) {
        Some(Site::Plan) => Answer::text(&PLAN),
        Some(Site::Execute) if question::calls(question).next().is_some() => {
            Answer::text(r#"{"status":"completed","output":"a look was taken and it is fine"}"#)
        }
        Some(Site::Execute) => Answer::call("look", &json!({ "name": question::work(question) }).to_string()),
        _ => {
            let cites: Vec<&str> = question::calls(question).collect();
            let verdict = |id: &str| json!({ "criterion_id": id, "verdict": "pass", "evidence": "seen", "cites": cites });
            let verdicts: Vec<Value> = question::criteria(question).map(verdict).collect();
            Answer::text(&json!({ "verdicts": verdicts, "summary": "all five were looked at" }).to_string())
        }
    }
}

/// Prints the table of whole tasks and the bare client, run alternately.
pub(crate) fn table() -> Result<(), String> {
    let server = Server::start()?;
    println!(
        "\nover loopback HTTP, begun at the TaskSpec (17 model calls), beside a bare client that makes the same calls;\n\
         the median of {ROUNDS} runs; wall is per task, and the server works beside them\n"
    );
    println!(
        "{:<9} {:>9} {:>26} {:>26} {:>6} {:>13} {:>13} {:>8}",
        "answers",
        "in flight",
        "task CPU ms",
        "bare CPU ms",
        "ratio",
        "task wall ms",
        "bare wall ms",
        "target"
    );
    for is_streamed in [false, true] {
        for in_flight in [1, 100] {
            let mut found = [Vec::new(), Vec::new()];
            for _ in 0..ROUNDS {
                for (who, found) in
                    [MeasuredSide::Organisation, MeasuredSide::Bare].into_iter().zip(&mut found)
                {
                    found.push(child(who, &server.base, is_streamed, in_flight)?);
                }
            }
            let spread =
                |n: usize, of: fn(&(f64, f64)) -> f64| Spread::of(found.get(n).into_iter().flatten().map(of));
            let (task, bare) = (spread(0, |one| one.0), spread(1, |one| one.0));
            let ratio = task.median / bare.median;
            println!(
                "{:<9} {:>9} {:>26} {:>26} {:>6.2} {:>13.2} {:>13.2} {:>8}",
                if is_streamed { "streamed" } else { "whole" },
                in_flight,
                task.text(),
                bare.text(),
                ratio,
                spread(0, |one| one.1).median,
                spread(1, |one| one.1).median,
                if ratio <= RATIO_MAX { "met" } else { "missed" },
            );
        }
    }
    Ok(())
}

/// Runs one side in its own process; returns CPU and wall milliseconds per task.
fn child(who: MeasuredSide, base: &str, is_streamed: bool, in_flight: usize) -> Result<(f64, f64), String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(me)
        .args(["--http", who.name(), base])
        .args([is_streamed.to_string(), in_flight.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        [cpu, wall] if output.status.success() => Ok((*cpu, *wall)),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Runs one side in this process.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [_, who, base, is_streamed, in_flight] = arguments else {
        return Err("--http WHO BASE STREAMED IN_FLIGHT".to_owned());
    };
    let is_streamed = is_streamed == "true";
    let in_flight: usize = in_flight.parse().map_err(|_| "not a number".to_owned())?;
    scenario::runtime()?.block_on(async {
        let endpoint = endpoint(base, is_streamed);
        let remote = Remote::new(endpoint, || 0).map_err(|error| error.to_string())?;
        let (cpu, wall) = if who == MeasuredSide::Organisation.name() {
            let organisation = organisation(remote);
            scenario::many(&organisation, in_flight, WARM, 2).await?;
            let (begin, cpu) = (measure::start(), measure::cpu_ms());
            scenario::many(&organisation, in_flight, TASKS, 1_000_000).await?;
            (measure::cpu_ms() - cpu, begin.elapsed())
        } else {
            let calls = Calls::default();
            scenario::one(&organisation(NotingModel { remote, calls: calls.clone() }), 1).await?;
            let bare = Arc::new(BareClient::new(base, is_streamed, &calls)?);
            bare.many(in_flight, WARM).await?;
            let (begin, cpu) = (measure::start(), measure::cpu_ms());
            bare.many(in_flight, TASKS).await?;
            (measure::cpu_ms() - cpu, begin.elapsed())
        };
        let tasks = TASKS as f64;
        println!("{} {}", cpu / tasks, wall.as_secs_f64() * 1e3 / tasks);
        Ok(())
    })
}

fn endpoint(base: &str, is_streamed: bool) -> Endpoint {
    let mut endpoint =
        Endpoint::new("bench/model".to_owned(), Dialect::Chat, base.to_owned(), MODEL.to_owned());
    endpoint.is_streamed = is_streamed;
    endpoint
}

fn organisation(model: impl Model + 'static) -> Organisation {
    let perceiver = Arc::new(InstantModel { on_call: || {}, pace: Pace::AtOnce });
    Organisation::new(Parts {
        journal: Journal::in_memory(),
        models: Models::one(Arc::new(model)).with_role(RoleId::Perceiver, perceiver),
        toolbox: Arc::new(InstantTools),
        memory: Access::closed("there is none here"),
        has_reflection: false,
        hints: Hints::default(),
        keys: Default::default(),
    })
}

/// The questions of one task, in the order in which they were asked.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<ModelCall>>>);

/// Calls of one task.
const CALLS: usize = 17;

/// A model that records its questions for the bare client.
struct NotingModel {
    remote: Remote,
    calls: Calls,
}

#[async_trait]
impl Model for NotingModel {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        {
            let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
            if calls.len() < CALLS {
                calls.push(call.clone());
            }
        }
        self.remote.answer(call, progress).await
    }

    fn name(&self) -> &str {
        self.remote.name()
    }
}

/// A minimal client for these calls: it converts texts into JSON and JSON into texts. It checks, decides and stores
/// nothing.
struct BareClient {
    client: reqwest::Client,
    url: String,
    is_streamed: bool,
    /// The questions in waves: those of a wave are asked concurrently.
    waves: Vec<Vec<Value>>,
}

impl BareClient {
    fn new(base: &str, is_streamed: bool, calls: &Calls) -> Result<Self, String> {
        let calls = calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() != CALLS {
            return Err(format!("{} calls were made, not {CALLS}", calls.len()));
        }
        let mut waves: [Vec<Value>; 5] = Default::default();
        for call in calls.iter() {
            let wave = match &call.brief {
                Brief::Perceive(_) | Brief::Report(_) | Brief::Plan(_) => 0,
                Brief::Execute(brief) if brief.calls.is_empty() => 1,
                Brief::Execute(_) => 2,
                Brief::Judge(_) => 3,
                Brief::Merge(_) => 4,
                Brief::Distil(_) | Brief::Reflect(_) => continue,
            };
            if let Some(wave) = waves.get_mut(wave) {
                wave.push(body(call, is_streamed));
            }
        }
        let client = reqwest::Client::builder().build().map_err(|error| error.to_string())?;
        Ok(BareClient { client, url: format!("{base}/chat/completions"), is_streamed, waves: waves.into() })
    }

    async fn many(self: &Arc<Self>, in_flight: usize, tasks: usize) -> Result<(), String> {
        let mut running = JoinSet::new();
        for _ in 0..tasks {
            if running.len() >= in_flight
                && let Some(ended) = running.join_next().await
            {
                ended.map_err(|error| error.to_string())??;
            }
            let bare = Arc::clone(self);
            running.spawn(async move { bare.one().await });
        }
        while let Some(ended) = running.join_next().await {
            ended.map_err(|error| error.to_string())??;
        }
        Ok(())
    }

    async fn one(self: &Arc<Self>) -> Result<(), String> {
        for wave in 0..self.waves.len() {
            let mut calls = JoinSet::new();
            for n in 0..self.waves.get(wave).map_or(0, Vec::len) {
                let bare = Arc::clone(self);
                calls.spawn(async move { bare.call(wave, n).await });
            }
            while let Some(ended) = calls.join_next().await {
                ended.map_err(|error| error.to_string())??;
            }
        }
        Ok(())
    }

    async fn call(&self, wave: usize, n: usize) -> Result<(), String> {
        let body = self.waves.get(wave).and_then(|wave| wave.get(n)).cloned().unwrap_or_default();
        let body = serde_json::to_vec(&body).map_err(|error| error.to_string())?;
        let request = self.client.post(&self.url).header("content-type", "application/json").body(body);
        let response = request.send().await.map_err(|error| error.to_string())?;
        let text = response.text().await.map_err(|error| error.to_string())?;
        let pieces = if self.is_streamed {
            text.lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .filter(|data| *data != "[DONE]")
                .map(|data| serde_json::from_str::<Value>(data).map(|_| 1))
                .sum::<Result<usize, _>>()
        } else {
            serde_json::from_str::<Value>(&text).map(|_| 1)
        };
        match pieces {
            Ok(0) => Err("an answer without a piece".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Returns the body that the organisation would send.
fn body(call: &ModelCall, is_streamed: bool) -> Value {
    let manner = MessageForm { has_tools: !call.tools().is_empty(), to: "" };
    let (system, messages) = (call.prompt.system_text(), call.prompt.messages(manner));
    let schema: Option<&RawValue> = call.schema.and_then(|schema| serde_json::from_str(schema).ok());
    let request = Request {
        model: MODEL,
        system: system.trim_end(),
        messages: &messages,
        tools: call.tools(),
        schema,
        tokens_out_max: call.limits.tokens_out_max,
        cache_key: Some(call.purpose().name()),
        is_streamed,
        ..Request::default()
    };
    serde_json::from_slice(&Dialect::Chat.body(&request).unwrap_or_default()).unwrap_or_default()
}

/// The server in its own process.
struct Server {
    child: Child,
    base: String,
}

impl Server {
    fn start() -> Result<Self, String> {
        let me = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(me)
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut base = String::new();
        if let Some(out) = child.stdout.as_mut() {
            BufReader::new(out).read_line(&mut base).map_err(|error| error.to_string())?;
        }
        Ok(Server { child, base: base.trim().to_owned() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Closing its standard input stops the server.
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}
