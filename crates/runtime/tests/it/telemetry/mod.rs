//! The telemetry of a task, sent over real HTTP.

mod collector;
mod faults;
mod resumed;
mod spans;

use std::path::Path;
use std::sync::Arc;

use setpoint_journal::Journal;
use setpoint_model::playbook::{Library, Playbook};
use setpoint_protocol::TaskId;
use setpoint_runtime::{Models, NewTask};
use setpoint_telemetry::otlp::{Exporter, Settings};
use setpoint_telemetry::task::Content;

use self::collector::Collector;
use crate::support::{Tested, new_task, organisation_of};

/// Returns settings for a collector at this address.
fn settings(base: &str) -> Settings {
    Settings {
        traces: Some(format!("{base}/v1/traces")),
        metrics: Some(format!("{base}/v1/metrics")),
        service: "setpoint".to_owned(),
        version: "0.0.0".to_owned(),
        instance: "one".to_owned(),
    }
}

fn base(collector: &Collector) -> String {
    format!("http://{}", collector.address)
}

/// Creates an organisation with the embedded brain that exports telemetry.
fn told(journal: &Journal, base: &str, content: Content) -> Tested {
    let organisation = organisation_of(journal, brain());
    organisation.send_telemetry(Exporter::start(&settings(base)).unwrap(), content);
    organisation
}

fn brain() -> Models {
    Models::one(Arc::new(Playbook::new(Arc::new(Library::load(None)))))
}

fn files() -> tempfile::TempDir {
    let files = tempfile::tempdir().unwrap();
    for (name, size) in [("a", 10), ("b", 2_000), ("c", 300), ("d", 40)] {
        std::fs::write(files.path().join(name), vec![b'x'; size]).unwrap();
    }
    files
}

fn goal(files: &Path) -> NewTask {
    NewTask { raw_input: format!("find the three largest files under {}", files.display()), ..new_task() }
}

/// Runs a task to its end and shuts the organisation down.
async fn run(organisation: Tested, new: NewTask) -> TaskId {
    let task = organisation.start(new).await.unwrap();
    organisation.ended(&task).await;
    organisation.shutdown().await;
    task
}
