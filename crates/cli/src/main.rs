//! The `setpoint` binary: the one place that puts the command line and the runtime together.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_cli::{Allowance, ApprovalPolicy, Host, Invocation, Io};
use setpoint_client::desk::{
    ConfigLine, ControllerSummary, Diagnosis, Health, PlaybookLine, PlaybookProblem,
};
use setpoint_client::models::{
    InitFile, InitWishes, Initialised, KeyVariable, ModelLine, ModelsReport, PriceLine, ProviderLine,
    ServerLine, Trial, TrialCost,
};
use setpoint_client::organisation::EVENTS_MAX;
use setpoint_client::{ClientError, Desk, ErrorKind, Event, Goal, Organisation, Resumed, TaskLine};
use setpoint_protocol::TaskId;
use setpoint_protocol::record::Record;
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_protocol::topology::Payload;
use setpoint_runtime as runtime;
use tokio::sync::mpsc;
use tracing_subscriber::Layer as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// A task is thousands of small allocations from several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let invocation = match setpoint_cli::parse(std::env::args_os()) {
        Ok(invocation) => invocation,
        Err(refusal) => {
            let mut io = Io::of_process(setpoint_cli::Color::Auto);
            return refusal.report(&mut io).into();
        }
    };
    let mut io = Io::of_process(invocation.global.color);
    let is_json = invocation.global.is_json;
    let program = match runtime::program::Program::load(&wishes(&invocation)) {
        Ok(program) => program,
        Err(error) => return setpoint_cli::report_error(&mut io, &program_error(&error), is_json).into(),
    };
    start_logging(&program, invocation.global.is_verbose);
    let host = Local { program };
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(tokio) => {
            let _inside = tokio.enter();
            if let Err(error) = runtime::program::outlive_file_size_limits() {
                tracing::warn!(%error, "a limit on the size of files will end this process");
            }
            tokio.block_on(setpoint_cli::execute(invocation, &host, &mut io)).into()
        }
        Err(error) => {
            let error =
                ClientError::new(ErrorKind::Internal, format!("failed to start the runtime: {error}")).hint(
                    "see what the system allows this process: open files, processes, memory (`ulimit -a`)",
                );
            setpoint_cli::report_error(&mut io, &error, is_json).into()
        }
    }
}

fn wishes(invocation: &Invocation) -> runtime::program::Wishes {
    let global = &invocation.global;
    runtime::program::Wishes {
        data_dir: global.data_dir.clone(),
        model: global.model.clone(),
        set: global.set.clone(),
        cassette: global.cassette.as_ref().map(|cassette| match cassette {
            setpoint_cli::Cassette::Record(path) => runtime::program::Cassette::Record(path.clone()),
            setpoint_cli::Cassette::Replay(path) => runtime::program::Cassette::Play(path.clone()),
        }),
    }
}

/// Logs go to a file in the data directory, which is made when there is something to say, and with `-v` to stderr.
fn start_logging(program: &runtime::program::Program, is_verbose: bool) {
    let filter = || {
        tracing_subscriber::EnvFilter::try_from_env("SETPOINT_LOG")
            .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("setpoint=debug,info"))
    };
    let log = Arc::new(runtime::program::LogFile::new(program.directories.log()));
    let file = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(move || Arc::clone(&log).writer())
        .with_filter(filter());
    let stderr = is_verbose.then(|| {
        tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr).with_filter(filter())
    });
    drop(tracing_subscriber::registry().with(file).with(stderr).try_init());
}

struct Local {
    program: runtime::program::Program,
}

#[async_trait]
impl Host for Local {
    fn desk(&self) -> &dyn Desk {
        self
    }

    async fn open(&self) -> Result<Arc<dyn Organisation>, ClientError> {
        let organisation = self.program.open().map_err(|error| program_error(&error))?;
        Ok(Arc::new(Running { organisation, program: self.program.clone() }))
    }

    async fn open_without_models(&self) -> Result<Arc<dyn Organisation>, ClientError> {
        let organisation = self.program.open_without_models().map_err(|error| program_error(&error))?;
        Ok(Arc::new(Running { organisation, program: self.program.clone() }))
    }

    fn approvals(&self, file: &Path) -> Result<Box<dyn ApprovalPolicy>, ClientError> {
        let policy = runtime::approvals::read(file, &self.program.surroundings()).map_err(|error| {
            let reason = runtime::organisation::error_chain(&error);
            ClientError::new(ErrorKind::Configuration, reason).hint(
                "a line allows with `path PATH` or `command COMMAND`, forbids with `deny` before it, or is a comment after `#`; docs/approvals.md has examples",
            )
        })?;
        Ok(Box::new(Policy(policy)))
    }
}

struct Policy(runtime::approvals::Policy);

impl ApprovalPolicy for Policy {
    fn decide(&self, need: &ApprovalNeed) -> Allowance {
        match self.0.decide(need) {
            runtime::approvals::Word::Allow(by) => Allowance::Allow { by },
            runtime::approvals::Word::Deny(by) => Allowance::Deny { by },
            runtime::approvals::Word::Silent => Allowance::Silent,
        }
    }
}

/// An organisation in this process.
struct Running {
    organisation: runtime::Organisation,
    program: runtime::program::Program,
}

#[async_trait]
impl Organisation for Running {
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), ClientError> {
        let new = self.program.new_task(goal.raw_input, goal.interactive, goal.preview_plan);
        // Tapped before the task is there, so that its first records are not missed.
        let tap = self.organisation.tap();
        let task = self.organisation.start(new).await.map_err(|error| runtime_error(&error))?;
        Ok((task.clone(), self.follow(task, tap)))
    }

    async fn resume(&self, task: &TaskId) -> Result<(Resumed, mpsc::Receiver<Event>), ClientError> {
        let tap = self.organisation.tap();
        let resumed = match self.organisation.resume(task).await.map_err(|error| runtime_error(&error))? {
            runtime::Resumed::Running => Resumed::Running,
            runtime::Resumed::Ended => Resumed::Ended,
        };
        Ok((resumed, self.follow(task.clone(), tap)))
    }

    async fn say(&self, task: &TaskId, payload: Payload) -> Result<(), ClientError> {
        self.organisation.say(task, payload).await.map_err(|error| runtime_error(&error))
    }

    async fn records(&self, task: &TaskId) -> Result<Vec<Record>, ClientError> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.records(&task)).await
    }

    async fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskLine>, ClientError> {
        let organisation = self.organisation.clone();
        let tasks = blocking(move || organisation.tasks(only_open, limit)).await?;
        Ok(tasks.into_iter().map(task_line).collect())
    }

    async fn resolve(&self, prefix: &str) -> Result<TaskId, ClientError> {
        let (organisation, prefix) = (self.organisation.clone(), prefix.to_owned());
        blocking(move || organisation.resolve(&prefix)).await
    }

    async fn export(&self, task: &TaskId) -> Result<Vec<String>, ClientError> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.export(&task)).await
    }

    async fn shutdown(&self) {
        self.organisation.shutdown().await;
    }
}

impl Running {
    /// The events of one task, out of everything that the tap hears.
    fn follow(&self, task: TaskId, mut tap: setpoint_runtime::Tap) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(EVENTS_MAX);
        let organisation = self.organisation.clone();
        tokio::spawn(async move {
            loop {
                let event = match tap.next().await {
                    runtime::Tapped::Event(runtime::TapEvent::Records { task: of, records, closed })
                        if of == task =>
                    {
                        Event::Records { records, closed }
                    }
                    runtime::Tapped::Event(runtime::TapEvent::Progress { task: of, call, text })
                        if of == task =>
                    {
                        Event::Progress { call, text }
                    }
                    runtime::Tapped::Event(runtime::TapEvent::Released { task: of, reason })
                        if of == task =>
                    {
                        let error = organisation.take_failure(&task).map_or_else(
                            || ClientError::new(ErrorKind::Internal, &*reason),
                            |error| runtime_error(&error),
                        );
                        Event::Released(error)
                    }
                    runtime::Tapped::Event(_) => continue,
                    runtime::Tapped::Lagged(_) => Event::Lagged,
                    runtime::Tapped::Closed => return,
                };
                let is_last = matches!(event, Event::Records { closed: true, .. } | Event::Released(_));
                if sender.send(event).await.is_err() || is_last {
                    return;
                }
            }
        });
        receiver
    }
}

#[async_trait]
impl Desk for Local {
    fn config(&self) -> Result<Vec<ConfigLine>, ClientError> {
        let line =
            |(name, key, setting): (&str, &runtime::config::Key, &runtime::config::Setting)| ConfigLine {
                key: name.to_owned(),
                value: setting.value.clone(),
                origin: setting.origin.to_string(),
                about: key.about.to_owned(),
            };
        Ok(self.program.config.shown().map(line).collect())
    }

    fn config_files(&self) -> Vec<(String, bool)> {
        let files = self.program.config_files.iter();
        files.map(|path| (path.display().to_string(), path.exists())).collect()
    }

    fn playbooks(&self) -> (Vec<PlaybookLine>, Vec<PlaybookProblem>) {
        let (known, broken) = self.program.playbooks();
        let lines = known.into_iter().map(|book| PlaybookLine {
            name: book.name,
            title: book.title,
            example: book.example,
            approaches: book.approaches,
            origin: book.origin,
        });
        (lines.collect(), broken.into_iter().map(problem).collect())
    }

    fn playbook(&self, name: &str) -> Result<String, ClientError> {
        self.program.playbook(name).ok_or_else(|| {
            ClientError::new(ErrorKind::Usage, format!("there is no playbook called {name:?}"))
                .hint("`setpoint playbooks` lists them")
        })
    }

    fn check_playbooks(&self, file: Option<&Path>) -> Result<Vec<PlaybookProblem>, ClientError> {
        Ok(self.program.check_playbooks(file).into_iter().map(problem).collect())
    }

    fn doctor(&self) -> Vec<Diagnosis> {
        runtime::desk::examine(&self.program).into_iter().map(diagnosis).collect()
    }

    async fn models(&self) -> ModelsReport {
        models_report(runtime::models::survey::survey(&self.program).await)
    }

    async fn try_models(&self) -> Trial {
        let trial = runtime::models::trial::try_out(&self.program).await;
        let cost = trial.cost.map(|cost| TrialCost {
            calls: cost.calls,
            tokens_in: cost.usage.tokens_in,
            tokens_out: cost.usage.tokens_out,
            money: cost.money.map(|money| money.units()),
        });
        Trial { found: trial.found.into_iter().map(diagnosis).collect(), cost }
    }

    async fn initialise(&self, wishes: &InitWishes) -> Result<Initialised, ClientError> {
        let wishes = runtime::init::InitWishes {
            look_at: wishes.look_at.clone(),
            is_forced: wishes.is_forced,
            is_shown_only: wishes.is_shown_only,
        };
        match runtime::init::initialise(&self.program, &wishes).await {
            Ok(done) => Ok(initialised(done)),
            Err(error) => {
                let kind = if error.is_usage() { ErrorKind::Usage } else { ErrorKind::Configuration };
                let message = runtime::organisation::error_chain(&error);
                Err(ClientError::new(kind, message).hint(error.hint()))
            }
        }
    }

    fn controller(
        &self,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<ControllerSummary, ClientError> {
        let settings = self.program.config.controller().clone();
        let summary = runtime::ggs::run(input, output, settings).map_err(|error| {
            ClientError::new(ErrorKind::Internal, runtime::organisation::error_chain(&error))
                .hint("see that the input can be read and that there is room where the output goes")
        })?;
        Ok(ControllerSummary { lines: summary.lines, refused: summary.errors })
    }
}

fn problem(problem: runtime::program::PlaybookProblem) -> PlaybookProblem {
    PlaybookProblem { file: problem.file, line: problem.line, reason: problem.reason }
}

fn diagnosis(one: runtime::desk::Diagnosis) -> Diagnosis {
    Diagnosis {
        subject: one.subject.into_owned(),
        state: health(one.health),
        finding: one.finding,
        hint: one.hint,
    }
}

fn health(health: runtime::desk::Health) -> Health {
    match health {
        runtime::desk::Health::Good => Health::Good,
        runtime::desk::Health::Note => Health::Note,
        runtime::desk::Health::Bad => Health::Bad,
    }
}

fn models_report(survey: runtime::models::survey::Survey) -> ModelsReport {
    let (models, error) = match survey.chosen {
        Ok(chosen) => (chosen.into_iter().map(model_line).collect(), None),
        Err(error) => (vec![], Some(program_error(&error.into()))),
    };
    let provider = |one: runtime::models::provider::ProviderLine| ProviderLine {
        name: one.name,
        api: one.api.to_owned(),
        address: one.address,
        key_env: one.key_env,
        is_key_set: one.is_key_set,
        is_key_needed: one.is_key_needed,
        problem: one.problem,
    };
    let server = |one: runtime::models::survey::Server| {
        let (names, is_whole, problem) = one.names();
        ServerLine { provider: one.provider, address: one.address, models: names, is_whole, problem }
    };
    ModelsReport {
        models,
        error,
        servers: survey.servers.into_iter().map(server).collect(),
        providers: survey.providers.into_iter().map(provider).collect(),
    }
}

fn model_line(one: runtime::models::survey::Surveyed) -> ModelLine {
    let facts = one.facts();
    ModelLine {
        slot: one.chosen.slot.key(),
        name: one.chosen.name,
        origin: one.chosen.origin.to_string(),
        address: facts.address,
        key_env: one.chosen.key_env,
        is_key_set: facts.is_key_set,
        window_tokens: facts.window_tokens,
        tokens_out_max: facts.tokens_out_max,
        rank: one.chosen.rank,
        price: facts.price.map(|price| PriceLine {
            million_in: price.token_in.times(1_000_000).to_string(),
            million_out: price.token_out.times(1_000_000).to_string(),
            million_cached: price.token_cached.times(1_000_000).to_string(),
        }),
        state: health(one.health),
        finding: one.finding,
        hint: one.hint,
    }
}

fn initialised(done: runtime::init::Initialised) -> Initialised {
    let (brain, tool) = done.chosen.unzip();
    let file = |file: runtime::init::InitFile| InitFile {
        path: file.path.display().to_string(),
        text: file.text,
        kept: file.kept.map(|kept| kept.display().to_string()),
    };
    let variable = |(variable, provider)| KeyVariable { variable, provider };
    Initialised {
        found: done.found,
        brain,
        tool,
        files: done.files.into_iter().map(file).collect(),
        is_written: done.is_written,
        notes: done.notes,
        variables: done.variables.into_iter().map(variable).collect(),
    }
}

fn task_line(summary: runtime::organisation::TaskSummary) -> TaskLine {
    TaskLine {
        task: summary.task,
        goal: summary.title,
        opened_at: summary.opened_at,
        closed_at: summary.closed_at,
        result: summary.result,
        records: summary.records,
        driven_by: summary.driven_by,
    }
}

/// Reads the journal where waiting harms nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, runtime::RuntimeError> + Send + 'static,
) -> Result<T, ClientError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| runtime_error(&error)),
        Err(error) => Err(ClientError::new(ErrorKind::Internal, error.to_string())
            .hint("the journal keeps what was done; `setpoint doctor` looks at it")),
    }
}

fn runtime_error(error: &runtime::RuntimeError) -> ClientError {
    let (kind, hint) = runtime::desk::edge_of(error);
    at_the_edge(kind, runtime::organisation::error_chain(error), hint.map(str::to_owned))
}

fn program_error(error: &runtime::program::ProgramError) -> ClientError {
    let (kind, hint) = runtime::desk::edge_of_program(error);
    at_the_edge(kind, runtime::organisation::error_chain(error), hint.map(|hint| hint.into_owned()))
}

fn at_the_edge(kind: runtime::desk::Edge, message: String, hint: Option<String>) -> ClientError {
    let kind = match kind {
        runtime::desk::Edge::Usage => ErrorKind::Usage,
        runtime::desk::Edge::Configuration => ErrorKind::Configuration,
        runtime::desk::Edge::Internal => ErrorKind::Internal,
    };
    let error = ClientError::new(kind, message);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
