//! What is read and tried without a task: configuration, playbooks, models, health.

use std::io::{BufRead, Write};
use std::path::Path;

use async_trait::async_trait;
use setpoint_app as app;
use setpoint_client::desk::{
    ConfigLine, ControllerSummary, Diagnosis, Health, PlaybookLine, PlaybookProblem,
};
use setpoint_client::models::{
    InitFile, InitWishes, Initialised, KeyVariable, ModelLine, ModelsReport, PriceLine, ProviderLine,
    ServerLine, Trial, TrialCost, UnnamedProvider,
};
use setpoint_client::{ClientError, Desk, ErrorKind};

use crate::Local;
use crate::edge::program_error;

#[async_trait]
impl Desk for Local {
    fn config(&self) -> Result<Vec<ConfigLine>, ClientError> {
        let line = |(name, key, setting): (&str, &app::config::Key, &app::config::Setting)| ConfigLine {
            key: name.to_owned(),
            value: app::config::Config::seen(name, setting),
            origin: setting.origin.to_string(),
            about: key.about.to_owned(),
        };
        Ok(self.program.config.shown().map(line).collect())
    }

    fn config_files(&self) -> Vec<(String, bool)> {
        let files = self.program.config_files().iter();
        files.map(|path| (path.display().to_string(), path.exists())).collect()
    }

    fn notices(&self) -> Vec<String> {
        self.program.notices()
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
        app::desk::examine(&self.program).into_iter().map(diagnosis).collect()
    }

    async fn models(&self) -> ModelsReport {
        models_report(app::models::survey::survey(&self.program).await)
    }

    async fn try_models(&self) -> Trial {
        let trial = app::models::trial::try_out(&self.program).await;
        let cost = trial.cost.map(|cost| TrialCost {
            calls: cost.calls,
            tokens_in: cost.usage.tokens_in,
            tokens_out: cost.usage.tokens_out,
            money: cost.money.map(|money| money.units()),
        });
        Trial { found: trial.found.into_iter().map(diagnosis).collect(), cost }
    }

    async fn initialise(&self, wishes: &InitWishes) -> Result<Initialised, ClientError> {
        let wishes = app::init::InitWishes {
            look_at: wishes.look_at.clone(),
            is_forced: wishes.is_forced,
            is_shown_only: wishes.is_shown_only,
        };
        match app::init::initialise(&self.program, &wishes).await {
            Ok(done) => Ok(initialised(done)),
            Err(error) => {
                let kind = if error.is_usage() { ErrorKind::Usage } else { ErrorKind::Configuration };
                let message = setpoint_protocol::text::error_chain(&error);
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
        let summary = app::ggs::run(input, output, settings).map_err(|error| {
            ClientError::new(ErrorKind::Internal, setpoint_protocol::text::error_chain(&error))
                .hint("see that the input can be read and that there is room where the output goes")
        })?;
        Ok(ControllerSummary { lines: summary.lines, refused: summary.errors })
    }
}

fn problem(problem: app::program::PlaybookProblem) -> PlaybookProblem {
    PlaybookProblem { file: problem.file, line: problem.line, reason: problem.reason }
}

fn diagnosis(one: app::desk::Diagnosis) -> Diagnosis {
    Diagnosis {
        subject: one.subject.into_owned(),
        state: health(one.health),
        finding: one.finding,
        hint: one.hint,
    }
}

fn health(health: app::desk::Health) -> Health {
    match health {
        app::desk::Health::Good => Health::Good,
        app::desk::Health::Note => Health::Note,
        app::desk::Health::Bad => Health::Bad,
    }
}

fn models_report(survey: app::models::survey::Survey) -> ModelsReport {
    let (models, error) = match survey.chosen {
        Ok(chosen) => (chosen.into_iter().map(model_line).collect(), None),
        Err(error) => (vec![], Some(program_error(&error.into()))),
    };
    let provider = |one: app::models::provider::ProviderLine| ProviderLine {
        name: one.name,
        api: one.api.to_owned(),
        address: one.address,
        key_env: one.key_env,
        is_key_set: one.is_key_set,
        is_key_needed: one.is_key_needed,
        problem: one.problem,
    };
    let server = |one: app::models::survey::Server| {
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

fn model_line(one: app::models::survey::Surveyed) -> ModelLine {
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

fn initialised(done: app::init::Initialised) -> Initialised {
    let (brain, tool) = done.chosen.unzip();
    let file = |file: app::init::InitFile| InitFile {
        path: file.path.display().to_string(),
        text: file.text,
        kept: file.kept.map(|kept| kept.display().to_string()),
    };
    let variable = |(variable, provider)| KeyVariable { variable, provider };
    let unnamed = |(provider, origin)| UnnamedProvider { provider, origin };
    Initialised {
        found: done.found,
        brain,
        tool,
        files: done.files.into_iter().map(file).collect(),
        is_written: done.is_written,
        notes: done.notes,
        variables: done.variables.into_iter().map(variable).collect(),
        unnamed: done.unnamed.into_iter().map(unnamed).collect(),
    }
}
