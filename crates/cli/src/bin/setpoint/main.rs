//! The `setpoint` binary, which joins the command line and the runtime.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use setpoint_app as app;
use setpoint_app::operator::audit::OperatorAudit;
use setpoint_app::operator::memory::OperatorMemory;
use setpoint_app::operator::tasks::LocalOrganisation;
use setpoint_app::{Audit, Desk, Error, ErrorKind, Memory, Organisation};
use setpoint_cli::{App, CommandLine, Exit, Host, Io, NamedTask, Options};
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_runtime as runtime;
use setpoint_scrub::Scrub;
use tracing_subscriber::Layer as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// A task makes thousands of small allocations from several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long the exit waits for work that cannot be interrupted, after a person interrupted the program.
const LEAVING_MAX: Duration = Duration::from_millis(500);
/// How long it waits after a normal end.
const ENDING_MAX: Duration = Duration::from_secs(5);

/// At most this many tasks are offered to a shell that completes an id.
const COMPLETED_MAX: usize = 100;
/// Maximum characters of a variable's value that a warning repeats.
const VALUE_CHARS_MAX: usize = 100;

fn main() -> ExitCode {
    // First of all, because such a process is started for every program that a tool runs.
    if let Some(exit) = app::program::serve_another() {
        return exit;
    }
    // The environment holds keys. A failure is logged once there is a log.
    let kept = app::program::hide_memory_from_user();
    if let Err(error) = app::program::restart_without_bad_time_zone(warn_of_time_zone) {
        let error = Error::new(ErrorKind::Configuration, format!("failed to start in UTC: {error}"))
            .hint("set TZ to a time zone, for instance `TZ=UTC`, and unset TZDIR");
        return setpoint_cli::report_error(&mut Io::of_process(setpoint_cli::Color::Auto), &error, false)
            .into();
    }
    match setpoint_cli::complete(std::env::args_os(), tasks_to_name) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(_) => return ExitCode::FAILURE,
    }
    let CommandLine { options, command } = match setpoint_cli::parse(std::env::args_os()) {
        Ok(line) => line,
        Err(refusal) => {
            let mut io = Io::of_process(setpoint_cli::Color::Auto);
            return refusal.report(&mut io).into();
        }
    };
    let mut io = Io::of_process(options.color);
    let is_json = options.is_json;
    let wishes = wishes(&options);
    let program = if command.needs_configuration() {
        app::program::Program::load(&wishes)
    } else {
        app::program::Program::without_files(&wishes)
    };
    let program = match program {
        Ok(program) => program,
        Err(error) => return setpoint_cli::report_error(&mut io, &error.into(), is_json).into(),
    };
    io.out.without_keys(program.output_keys());
    io.err.without_keys(program.output_keys());
    start_logging(&program, options.is_verbose);
    if let Err(error) = kept {
        tracing::warn!(%error, "other processes of this user can read the environment of this process");
    }
    let host = Local { program };
    let app = App { options, host: &host };
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(tokio) => {
            let inside = tokio.enter();
            if let Err(error) = app::program::outlive_file_size_limits() {
                tracing::warn!(%error, "a write beyond the file-size limit will end this process");
            }
            let exit = tokio.block_on(setpoint_cli::execute(command, &app, &mut io));
            drop(inside);
            // After an interrupt, do not wait for a search of a large journal or for a file that never
            // answers.
            tokio.shutdown_timeout(if exit == Exit::CANCELLED { LEAVING_MAX } else { ENDING_MAX });
            exit.into()
        }
        Err(error) => {
            let error = Error::new(ErrorKind::Internal, format!("failed to start the runtime: {error}"))
                .hint("check the limits of this process: open files, processes, memory (`ulimit -a`)");
            setpoint_cli::report_error(&mut io, &error, is_json).into()
        }
    }
}

/// Returns the newest tasks, for a shell that completes a task's id; none if they cannot be read, because an
/// error would appear in the line that is being typed.
fn tasks_to_name(data_dir: Option<OsString>) -> Vec<NamedTask> {
    let wishes = app::program::ProgramOptions { data_dir: data_dir.map(PathBuf::from), ..Default::default() };
    let tasks = app::program::Program::load(&wishes).and_then(|program| program.newest_tasks(COMPLETED_MAX));
    let named = |(id, title): (TaskId, String)| NamedTask { id: id.to_string(), title };
    tasks.unwrap_or_default().into_iter().map(named).collect()
}

fn warn_of_time_zone(name: &str, value: &OsStr) {
    let value: String = value.to_string_lossy().chars().take(VALUE_CHARS_MAX).collect();
    let line = format!("warning: {name}={value:?} is not a time zone; times are shown in UTC\n");
    // If stderr is closed, there is no other place for the warning.
    drop(std::io::stderr().write_all(line.as_bytes()));
}

fn wishes(options: &Options) -> app::program::ProgramOptions {
    let set = options.set.iter().map(|one| (one.key.clone(), one.value.clone(), one.option.clone()));
    app::program::ProgramOptions {
        data_dir: options.data_dir.clone(),
        model: options.model.clone(),
        set: set.collect(),
        cassette: options.cassette.clone(),
    }
}

/// Sends logs to a file in the data directory, which is created with the first line, and with `-v` to stderr
/// as well.
fn start_logging(program: &app::program::Program, is_verbose: bool) {
    // The configuration has already rejected a value that is not a level.
    let levels = program.config.text("log.level").unwrap_or("off");
    let filter = || tracing_subscriber::EnvFilter::new(levels);
    let log = Arc::new(app::program::LogFile::new(program.directories.log(), program.output_keys()));
    let file = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(move || Arc::clone(&log).writer())
        .with_filter(filter());
    let keys = program.output_keys();
    let lines = move || LogLines(keys.clone());
    let stderr = is_verbose
        .then(|| tracing_subscriber::fmt::layer().with_ansi(false).with_writer(lines).with_filter(filter()));
    drop(tracing_subscriber::registry().with(file).with(stderr).try_init());
}

/// The log on stderr, without these keys. The subscriber writes each event as a whole.
struct LogLines(Scrub);

impl std::io::Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stderr().write_all(&self.0.part(bytes, 0..bytes.len()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

struct Local {
    program: app::program::Program,
}

#[async_trait]
impl Host for Local {
    fn desk(&self) -> &dyn Desk {
        &self.program
    }

    fn now(&self) -> Timestamp {
        runtime::clock::now()
    }

    async fn open(&self) -> Result<Arc<dyn Organisation>, Error> {
        self.program.connect_servers().await;
        let organisation = self.program.open()?;
        Ok(Arc::new(LocalOrganisation::new(organisation, self.program.clone())))
    }

    async fn open_without_models(&self) -> Result<Arc<dyn Organisation>, Error> {
        let organisation = self.program.open_without_models()?;
        Ok(Arc::new(LocalOrganisation::new(organisation, self.program.clone())))
    }

    async fn force(&self, task: Option<&str>) -> Result<(), Error> {
        self.program.force(task).map_err(Error::from)
    }

    async fn open_exported(&self, file: &Path) -> Result<(Arc<dyn Organisation>, TaskId), Error> {
        let opened = self.program.open_exported(file).map_err(Error::from);
        let (organisation, task) = opened?;
        Ok((Arc::new(LocalOrganisation::new(organisation, self.program.clone())), task))
    }

    async fn memory(&self) -> Result<Arc<dyn Memory>, Error> {
        Ok(Arc::new(OperatorMemory::new(self.program.clone())))
    }

    async fn audit(&self) -> Result<Arc<dyn Audit>, Error> {
        Ok(Arc::new(OperatorAudit::new(self.program.clone())))
    }

    fn approvals(&self, file: Option<&Path>) -> Result<Option<app::approvals::Policy>, Error> {
        let file = file.map(|file| self.program.approvals(file)).transpose().map_err(|error| {
            let reason = setpoint_protocol::text::error_chain(&error);
            Error::new(ErrorKind::Configuration, reason).hint(
                "a line allows with `path PATH`, `command COMMAND` or `host HOST`, forbids with `deny` before it, or is a comment after `#`; docs/approvals.md has examples",
            )
        })?;
        self.program.with_level(file)
    }
}
