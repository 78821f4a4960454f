//! Whole tasks with a scripted model, over real TCP, and real tools in a temporary folder.

mod between;
mod claims;
mod conversation;
mod evidence;
mod hostile;
mod impossible;
mod overlooked;
mod planning;
mod tricks;
mod verdicts;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_journal::Journal;
use setpoint_memory::Access;
use setpoint_model::remote::{Endpoint, Remote, base};
use setpoint_model::wire::Dialect;
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};
use setpoint_protocol::message::{ApprovalDecision, ApprovalRequest, ApprovalWord, Finding};
use setpoint_protocol::record::{Opened, Record, Surroundings};
use setpoint_protocol::topology::Payload;
use setpoint_runtime::tap::{Event, TapItem};
use setpoint_runtime::{Models, NewTask};
use setpoint_tools::approval_file::{ApprovalFile, Decision};
use setpoint_tools::{Host, Registry};
use tempfile::TempDir;

use crate::support::{Tested, new_task, organisation_on};

/// A folder with a working directory, and room for the task's own files beside it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.work()).unwrap();
        place
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// Writes a file in the working directory.
    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn surroundings(&self, host: &Host) -> Surroundings {
        let path = |below: &str| self.0.path().join(below).to_str().unwrap().to_owned();
        Surroundings {
            cwd: path("work"),
            home: path(""),
            workspace: path("data/{task}"),
            os: "linux".to_owned(),
            programs: host.notable_programs(),
            ..Surroundings::default()
        }
    }
}

/// A task that has ended.
struct Ran {
    result: Value,
    records: Vec<Record>,
    /// The lines of its export, the texts of prompts included.
    exported: Vec<String>,
    findings: Vec<Finding>,
}

impl Ran {
    /// Returns every message of this kind, in order.
    fn messages(&self, kind: &str) -> Vec<Value> {
        let is_it = |record: &&Record| record.kind.name() == kind;
        let body = |record: &Record| serde_json::from_slice(&record.body).unwrap();
        self.records.iter().filter(is_it).map(body).collect()
    }
}

/// Runs a task to its end. A call that no line of `allowed` allows is refused.
fn run(place: &Place, server: &Hosted, goal: &str, allowed: &str) -> Ran {
    run_with(place, server, Wire::Chat, goal, allowed, |_| ())
}

/// Runs a task to its end, opened with a change, over this wire.
fn run_with(
    place: &Place,
    server: &Hosted,
    wire: Wire,
    goal: &str,
    allowed: &str,
    change: impl FnOnce(&mut Opened),
) -> Ran {
    run_on(place, Models::one(Arc::new(remote(server, wire, "test-model"))), goal, allowed, change)
}

/// Runs a task to its end, opened with a change, with these models.
fn run_on(place: &Place, models: Models, goal: &str, allowed: &str, change: impl FnOnce(&mut Opened)) -> Ran {
    let host = Host::this().with_own_commands(setpoint_model::playbook::forms);
    let surroundings = place.surroundings(&host);
    let policy = ApprovalFile::parse(allowed, "allowed", &surroundings).unwrap();
    let mut new = NewTask { raw_input: goal.to_owned(), ..new_task() };
    new.opened.surroundings = Arc::new(surroundings);
    change(&mut new.opened);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let registry = Registry::built_in(&host).keeping_in(place.0.path().join("kept"));
        let organisation = organisation_on(registry, &Journal::in_memory(), models, Access::closed("none"));
        ended(&organisation, new, &policy).await
    })
}

fn remote(server: &Hosted, wire: Wire, name: &str) -> Remote {
    let dialect = match wire {
        Wire::Chat => Dialect::Chat,
        Wire::Responses => Dialect::Responses,
        Wire::Anthropic => Dialect::Anthropic,
        Wire::Gemini => Dialect::Gemini,
        Wire::Ollama => Dialect::Ollama,
    };
    let base = base::normalised(dialect, &server.base(wire)).unwrap();
    let mut endpoint = Endpoint::new(format!("test/{name}"), dialect, base, name.to_owned());
    endpoint.key = Some("sk-test-0123456789-abcdef".to_owned().into());
    Remote::new(endpoint, || 0).unwrap()
}

async fn ended(organisation: &Tested, new: NewTask, policy: &ApprovalFile) -> Ran {
    let mut tap = organisation.tap();
    let task = organisation.start(new).await.unwrap();
    loop {
        let TapItem::Event(event) = tap.next().await else { panic!("the tap is behind") };
        let Event::Records { records, closed, .. } = event else { continue };
        for record in records.iter() {
            if let Some(Payload::ApprovalRequest(request)) = record.message() {
                let decision = Payload::ApprovalDecision(decide(&request, policy));
                organisation.say(&task, decision).await.unwrap();
            }
        }
        if closed {
            break;
        }
    }
    organisation.ended(&task).await;
    let result = serde_json::to_value(organisation.result(&task).unwrap().unwrap()).unwrap();
    let records = organisation.records(&task).unwrap();
    let exported = organisation.history().export(&task).unwrap();
    let findings = setpoint_audit::findings_of(&task, &records);
    organisation.shutdown().await;
    Ran { result, records, exported, findings }
}

fn decide(request: &ApprovalRequest, policy: &ApprovalFile) -> ApprovalDecision {
    let is_allowed = matches!(policy.decide(&request.need), Decision::Allow { .. });
    ApprovalDecision {
        call_id: request.call_id,
        decision: if is_allowed { ApprovalWord::Once } else { ApprovalWord::Never },
        digest: request.need.digest.clone(),
        by: "headless".to_owned(),
        allows: Vec::new(),
    }
}

/// Returns which role asks.
fn site(seen: &SeenRequest) -> Site {
    Site::of(seen).unwrap_or_else(|| panic!("nobody asks like this: {}", seen.asked.system))
}

fn said(value: &Value) -> Turn {
    Turn::from(Answer::text(&value.to_string()))
}

/// Passes every criterion that is listed, on the evidence of the last call, else of the answer.
fn passed(seen: &SeenRequest) -> Turn {
    let question = seen.asked.last_user().unwrap_or_default();
    let cites = [question::calls(question).last().unwrap_or("output")];
    let verdict = |id: &str| json!({ "criterion_id": id, "verdict": "pass", "evidence": "it is there", "cites": cites });
    said(&json!({ "verdicts": question::criteria(question).map(verdict).collect::<Vec<_>>() }))
}

/// Returns the questions of one role.
fn asked(server: &Hosted, by: Site) -> Vec<SeenRequest> {
    server.seen().into_iter().filter(|seen| site(seen) == by).collect()
}
