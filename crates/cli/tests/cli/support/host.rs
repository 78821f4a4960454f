//! A scripted replacement of what the binary provides.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use setpoint_app::approvals::{Policy, Word};
use setpoint_app::config::ConfigLine;
use setpoint_app::desk::*;
use setpoint_app::ggs::Summary;
use setpoint_app::import::ImportOrigin;
use setpoint_app::init::*;
use setpoint_app::models::survey::*;
use setpoint_app::models::trial::*;
use setpoint_app::program::{PlaybookProblem, PlaybookSummary};
use setpoint_app::sandbox::{SandboxReport, Tried};
use setpoint_app::servers::ServerReport;
use setpoint_app::{Audit, Desk, Error, ErrorKind, Memory, Organisation};
use setpoint_cli::Host;
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_protocol::{TaskId, Timestamp};

use super::audit::FakeAudit;
use super::memory::{FakeMemory, NOW};
use super::organisation::Fake;

/// A host with a scripted organisation.
pub(crate) struct FakeHost {
    pub(crate) organisation: Arc<Fake>,
    pub(crate) desk: FakeDesk,
    pub(crate) memory: Arc<FakeMemory>,
    pub(crate) audit: Arc<FakeAudit>,
    /// How often the organisation or memory was opened.
    pub(crate) opened: AtomicUsize,
    /// Whether the run is at level L3.
    pub(crate) is_autonomous: bool,
}

impl FakeHost {
    pub(crate) fn new(organisation: Arc<Fake>) -> Self {
        FakeHost {
            organisation,
            desk: FakeDesk::default(),
            memory: Arc::new(FakeMemory::default()),
            audit: Arc::new(FakeAudit::default()),
            opened: AtomicUsize::new(0),
            is_autonomous: false,
        }
    }

    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Host for FakeHost {
    fn desk(&self) -> &dyn Desk {
        &self.desk
    }

    fn now(&self) -> Timestamp {
        NOW
    }

    async fn open(&self) -> Result<Arc<dyn Organisation>, Error> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::clone(&self.organisation) as Arc<dyn Organisation>)
    }

    async fn open_without_models(&self) -> Result<Arc<dyn Organisation>, Error> {
        self.open().await
    }

    async fn force(&self, _: Option<&str>) -> Result<(), Error> {
        Ok(())
    }

    async fn open_exported(&self, file: &Path) -> Result<(Arc<dyn Organisation>, TaskId), Error> {
        // The file is named after the task.
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let task = self.organisation.resolve(&name).await?;
        Ok((self.open().await?, task))
    }

    async fn memory(&self) -> Result<Arc<dyn Memory>, Error> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        self.memory.open()?;
        Ok(Arc::clone(&self.memory) as Arc<dyn Memory>)
    }

    async fn audit(&self) -> Result<Arc<dyn Audit>, Error> {
        Ok(Arc::clone(&self.audit) as Arc<dyn Audit>)
    }

    fn approvals(&self, file: Option<&Path>) -> Result<Option<Policy>, Error> {
        if file == Some(Path::new("broken.toml")) {
            return Err(Error::new(ErrorKind::Configuration, "failed to read broken.toml:3: no such rule"));
        }
        let file = file.map(|_| Policy::new(build_only));
        Ok(if self.is_autonomous { Some(Policy::autonomous(file)) } else { file })
    }
}

/// Allows commands with `build`, denies those with `keep`, and has no rule for others.
fn build_only(need: &ApprovalNeed) -> Word {
    if need.command.contains("keep") {
        Word::Deny("file:approve.toml:3".to_owned())
    } else if need.command.contains("build") {
        Word::Allow("file:approve.toml:2".to_owned())
    } else {
        Word::Silent
    }
}

/// A scripted desk.
#[derive(Default)]
pub(crate) struct FakeDesk {
    pub(crate) is_broken: Mutex<bool>,
    pub(crate) refused: u64,
    pub(crate) problems: Vec<PlaybookProblem>,
    pub(crate) diagnoses: Vec<Diagnosis>,
    pub(crate) models: ModelsReport,
    pub(crate) trial: Trial,
    pub(crate) initialised: InitResult,
    pub(crate) wishes: Mutex<InitOptions>,
    pub(crate) notices: Vec<String>,
    pub(crate) server_notices: Vec<String>,
    pub(crate) servers: Vec<ServerReport>,
    /// The configured age in milliseconds from which lessons are pruned.
    pub(crate) retention_ms: Option<u64>,
}

#[async_trait]
impl Desk for FakeDesk {
    fn sandbox(&self) -> Result<SandboxReport, Error> {
        Err(Error::new(ErrorKind::Tool, "there is no sandbox here"))
    }

    fn try_command(&self, _: &[OsString], _: bool) -> Result<Tried, Error> {
        Err(Error::new(ErrorKind::Tool, "there is no sandbox here"))
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    fn server_notices(&self) -> Vec<String> {
        self.server_notices.clone()
    }

    async fn servers(&self) -> Vec<ServerReport> {
        self.servers.clone()
    }

    fn places_of(&self, origin: ImportOrigin) -> Vec<PathBuf> {
        origin.places(Path::new("/nowhere/here"), Path::new("/nowhere/home"), Path::new("/nowhere/config"))
    }

    fn config(&self) -> Result<Vec<ConfigLine>, Error> {
        if *self.is_broken.lock().unwrap() {
            return Err(Error::new(
                ErrorKind::Configuration,
                "failed to read setpoint.toml: line 3 is no key",
            )
            .hint("`setpoint config path` names the files"));
        }
        let line = |key: &str, value: serde_json::Value, origin: &str, about: &str| ConfigLine {
            key: key.to_owned(),
            value,
            origin: origin.to_owned(),
            about: about.to_owned(),
        };
        let age = |ms: u64| line("retention.memory", ms.into(), "setpoint.toml:2", "age");
        let retention = self.retention_ms.map(age);
        Ok(Vec::from([
            line("controller.delta", serde_json::json!(0.2), "--set", "δ, convergence threshold of D"),
            line("models.brain", serde_json::json!("playbook"), "built in", "model of R1, R2 and R4b"),
            line("budgets.calls", serde_json::Value::Null, "built in", "model calls of a task at most"),
        ])
        .into_iter()
        .chain(retention)
        .collect())
    }

    fn config_files(&self) -> Vec<(String, bool)> {
        vec![("/etc/setpoint.toml".to_owned(), false), ("./setpoint.toml".to_owned(), true)]
    }

    fn playbooks(&self) -> (Vec<PlaybookSummary>, Vec<PlaybookProblem>) {
        let playbook = PlaybookSummary {
            name: "count-files".to_owned(),
            title: "Count files".to_owned(),
            example: "count the files in src".to_owned(),
            approaches: vec!["walk".to_owned(), "shell".to_owned()],
            origin: "built in".to_owned(),
        };
        (vec![playbook], self.problems.clone())
    }

    fn playbook(&self, name: &str) -> Result<String, Error> {
        match name {
            "count-files" => Ok("[playbook]\nname = \"count-files\" # \u{1b}[2J".to_owned()),
            _ => Err(Error::new(ErrorKind::Usage, format!("no playbook is called {name:?}"))),
        }
    }

    fn check_playbooks(&self, _: Option<&Path>) -> Result<Vec<PlaybookProblem>, Error> {
        Ok(self.problems.clone())
    }

    fn doctor(&self) -> Vec<Diagnosis> {
        self.diagnoses.clone()
    }

    async fn models(&self) -> ModelsReport {
        self.models.clone()
    }

    async fn try_models(&self) -> Trial {
        self.trial.clone()
    }

    async fn initialise(&self, wishes: &InitOptions) -> Result<InitResult, Error> {
        self.wishes.lock().unwrap().clone_from(wishes);
        Ok(self.initialised.clone())
    }

    fn controller(
        &self,
        input: &mut dyn std::io::BufRead,
        output: &mut dyn std::io::Write,
    ) -> Result<Summary, Error> {
        let mut lines = 0;
        for line in std::io::BufRead::lines(input) {
            lines += 1;
            writeln!(output, "{{\"answer_to\":{}}}", line.unwrap().len()).unwrap();
        }
        Ok(Summary { lines, errors: self.refused, ..Summary::default() })
    }
}
