//! The models of an organisation: configured, recorded, or played from a recording.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use secrecy::SecretString;
use setpoint_model::Model;
use setpoint_model::cassette::tape::Head;
use setpoint_model::cassette::{Player, Recorder, Tape, TapeError, TapeWriter};
use setpoint_model::catalogue::Catalogue;
use setpoint_model::playbook::Playbook;
use setpoint_model::remote::Remote;
use setpoint_protocol::models::{ModelCard, Tier};
use setpoint_runtime::clock;
use setpoint_runtime::models::{Models, StandIn};

use super::{Program, ProgramError};
use crate::config;
use crate::config::Origin;
use crate::models::choose::{Answerer, Chooser, ModelChoice, Slot};
use crate::models::error::ChoiceError;

/// Name of a person's own table of models, in the configuration directory.
pub const MODELS_FILE: &str = "models.toml";
/// Maximum bytes of a person's own table of models.
const MODELS_BYTES_MAX: u64 = 1024 * 1024;

/// The use of a recording of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cassette {
    /// Answers are recorded to this file.
    Record(PathBuf),
    /// This file answers instead of the models.
    Play(PathBuf),
}

impl Program {
    /// Returns the path of a person's own table of models, whether or not it exists.
    #[must_use]
    pub fn models_file(&self) -> PathBuf {
        self.directories.config.join(MODELS_FILE)
    }

    /// Returns the data about models, including the person's own table.
    ///
    /// # Errors
    /// If a table cannot be used.
    pub fn catalogue(&self) -> Result<Catalogue, ChoiceError> {
        let built_in = Catalogue::built_in();
        let built_in = built_in
            .map_err(|source| ChoiceError::Catalogue { path: "the built-in table".to_owned(), source })?;
        let path = self.models_file();
        // A foreign table could call an expensive model cheap.
        if self.directories.is_config_foreign && path.exists() {
            return Err(ChoiceError::ForeignTable { path: path.display().to_string() });
        }
        let text = config::read_text(&path, MODELS_BYTES_MAX).map_err(|error| ChoiceError::Table {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        match text {
            None => Ok(built_in),
            Some(text) => built_in
                .over(&text)
                .map_err(|source| ChoiceError::Catalogue { path: path.display().to_string(), source }),
        }
    }

    /// Returns the chosen models, by flags, environment and files. Asks no server.
    ///
    /// # Errors
    /// If a choice cannot be used.
    pub fn chosen_models(&self) -> Result<Vec<ModelChoice>, ChoiceError> {
        let catalogue = self.catalogue()?;
        Chooser { config: &self.config, env: &self.sources.env, catalogue: &catalogue }.choose()
    }

    /// Returns the models that tasks start with: configured ones or a recording.
    pub(super) fn models(&self) -> Result<Models, ProgramError> {
        match &self.cassette {
            None => self.configured_models(),
            Some(Cassette::Record(path)) => {
                let path = self.cwd.join(path);
                // Checked before anything is written.
                if path.symlink_metadata().is_ok() {
                    return Err(TapeError::Exists { path }.into());
                }
                self.configured_models()
            }
            Some(Cassette::Play(path)) => {
                let tape = Arc::new(Tape::read(&self.cwd.join(path))?);
                if let Some(notice) = tape.notice() {
                    tracing::warn!(notice, "a recording is incomplete");
                }
                let cards = tape.head().models.clone();
                let player = |card: &ModelCard| -> Arc<dyn Model> {
                    Arc::new(Player::of_card(Arc::clone(&tape), card))
                };
                let models = Models::tiers(player(&cards.brain), player(&cards.tool));
                Ok(cards
                    .roles
                    .iter()
                    .fold(models, |models, (role, card)| models.with_role(*role, player(card))))
            }
        }
    }

    /// Returns the same models, recorded if requested.
    pub(super) fn recorded(&self, models: Models) -> Result<Models, ProgramError> {
        let Some(Cassette::Record(path)) = &self.cassette else { return Ok(models) };
        let by = concat!("setpoint ", env!("CARGO_PKG_VERSION"));
        let head = Head::new(clock::now(), by).of_models(models.cards());
        let tape = Arc::new(TapeWriter::create(&self.cwd.join(path), &head, &self.secrets())?);
        Ok(models.wrap(|model| Arc::new(Recorder::new(Arc::clone(model), Arc::clone(&tape)))))
    }

    /// Returns values that no recording may contain.
    fn secrets(&self) -> Vec<SecretString> {
        self.keys().into_iter().map(|(_, key)| key).collect()
    }

    fn configured_models(&self) -> Result<Models, ProgramError> {
        let library = Arc::new(self.library());
        let mut tiers = BTreeMap::new();
        let mut roles = Vec::new();
        let chosen = self.chosen_models()?;
        let is_named = chosen.iter().any(|chosen| matches!(chosen.origin, Origin::Flag(_)));
        for chosen in chosen {
            let model: Arc<dyn Model> = match chosen.answerer {
                Answerer::Playbook => Arc::new(Playbook::new(Arc::clone(&library))),
                Answerer::Remote(endpoint) => {
                    let remote = Remote::new(*endpoint, clock::now_s);
                    Arc::new(remote.map_err(|source| ChoiceError::Client { model: chosen.name, source })?)
                }
            };
            match chosen.slot {
                Slot::Tier(tier) => drop(tiers.insert(tier, model)),
                Slot::Role(role) => roles.push((role, model)),
            }
        }
        let playbook = || -> Arc<dyn Model> { Arc::new(Playbook::new(Arc::clone(&library))) };
        let brain = tiers.remove(&Tier::Brain).unwrap_or_else(playbook);
        let tool = tiers.remove(&Tier::Tool).unwrap_or_else(playbook);
        let stand_in = if is_named { StandIn::Named } else { StandIn::No };
        let models = Models::tiers(brain, tool).with_stand_in(stand_in);
        Ok(roles.into_iter().fold(models, |models, (role, model)| models.with_role(role, model)))
    }
}
