//! Writes a first configuration: looks for keys in the environment and servers of this machine, and writes a file with
//! the result and the reasons.
//!
//! It never writes a key (the file names variables), never asks a model, and replaces a file only if forced, keeping
//! the old one.
//!
//! Reading order: [`initialise`], `look` (what there is), `text` (what is written), `files` (how it is written).

use setpoint_own_files::whole;
mod look;
mod text;

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use setpoint_model::catalogue::Catalogue;
use setpoint_model::remote::base::BaseError;

use self::look::SearchResult;
use crate::config::{self, Config, ConfigError, Origin, Sources};
use crate::models::choose::{Chooser, Slot};
use crate::models::provider;
use crate::program::{MODELS_FILE, Program};
use setpoint_protocol::text::error_chain;

pub use self::look::{LOOK_TIME_MAX, USUAL_PORTS};

/// Variables that name a model and win over any file.
const WINNING_VARS: [&str; 2] = ["SETPOINT_BRAIN_MODEL", "SETPOINT_TOOL_MODEL"];
/// Keys that the file sets and other sources may set too.
const SAID: [&str; 2] = ["models.brain", "models.tool"];
/// Maximum bytes of an existing table of models that is kept.
const TABLE_BYTES_MAX: u64 = 1024 * 1024;

/// Options of `init`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitOptions {
    /// Addresses to ask instead of the usual ports.
    pub look_at: Vec<String>,
    /// Whether existing files are replaced and kept under another name.
    pub is_forced: bool,
    /// Whether nothing is written.
    pub is_shown_only: bool,
}

/// The result of `init`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InitResult {
    /// What was found, one line each.
    pub found: Vec<String>,
    /// Model that the file chooses for R2 and R4b; `None` if there is nothing to choose.
    pub brain: Option<String>,
    /// Model for R1, R3 and R4a.
    pub tool: Option<String>,
    /// The files, written or shown.
    pub files: Vec<InitFile>,
    /// Whether they were written.
    pub is_written: bool,
    /// Other notes for the person.
    pub notes: Vec<String>,
    /// Variables that are not set and would choose a model, with their providers.
    pub variables: Vec<KeyVariable>,
    /// Providers at a configured address without a named model: a task that names no model does not start.
    pub unnamed: Vec<UnnamedProvider>,
}

/// A provider at a configured address, of which no model is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnnamedProvider {
    pub provider: String,
    /// Setting of the address.
    pub origin: String,
}

/// A variable that holds a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyVariable {
    pub variable: String,
    /// Provider of the key.
    pub provider: String,
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitFile {
    #[serde(serialize_with = "as_shown")]
    pub path: PathBuf,
    pub text: String,
    /// Path at which the older one is kept.
    #[serde(serialize_with = "as_shown_if_there", skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
}

/// Serialises a path as text, lossily if it is not UTF-8.
fn as_shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn as_shown_if_there<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => as_shown(path, serializer),
        None => serializer.serialize_none(),
    }
}

/// Why `init` failed.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// An address is not valid.
    #[error("look at an address")]
    Address(#[source] BaseError),
    /// The environment cannot be used.
    #[error("read the environment")]
    Config(#[source] ConfigError),
    /// The path is not the person's own.
    #[error(
        "write {path}: it is in the working directory or named relative to it, and files there are not trusted"
    )]
    Foreign { path: PathBuf },
    /// The file exists already.
    #[error("write {path}: it already exists")]
    Exists { path: PathBuf },
    /// A file cannot be written.
    #[error("write {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// An older table of models cannot be combined with what was found.
    #[error("add to {path}: {reason}")]
    Table { path: PathBuf, reason: String },
    /// The file to be written does not choose what it says.
    #[error("write a configuration that can be used: {reason}")]
    Check { reason: String },
}

impl InitError {
    /// Returns what a person can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            InitError::Address(_) => {
                "an address looks like http://127.0.0.1:8000 or http://127.0.0.1:8000/v1".to_owned()
            }
            InitError::Config(_) => "unset the named variable".to_owned(),
            InitError::Foreign { .. } => {
                "set HOME or XDG_CONFIG_HOME, which say where your own configuration is; `--print` only shows what would be \
                 written"
                    .to_owned()
            }
            InitError::Exists { .. } => {
                "`--force` rewrites it and keeps the old one as a `.bak`; `--print` only shows what would be written".to_owned()
            }
            InitError::Write { .. } => {
                "check that its folder is writable and has room; `--print` only shows what would be written".to_owned()
            }
            InitError::Table { .. } => "correct the file, or move it away".to_owned(),
            InitError::Check { .. } => {
                "write the file yourself: `--print` shows what was found, docs/models.md what can be written".to_owned()
            }
        }
    }

    /// Returns whether the command line is wrong.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, InitError::Address(_))
    }
}

/// Searches for keys and servers, and writes a configuration.
///
/// # Errors
/// If an address is not valid, or a file exists or cannot be written.
pub async fn initialise(program: &Program, wishes: &InitOptions) -> Result<InitResult, InitError> {
    let path = program.directories.config.join(config::FILE_NAME);
    let table_path = program.directories.config.join(MODELS_FILE);
    let may_write = |path: &PathBuf| {
        if !wishes.is_forced && !wishes.is_shown_only && path.symlink_metadata().is_ok() {
            return Err(InitError::Exists { path: path.clone() });
        }
        Ok(())
    };
    if program.directories.is_config_foreign && !wishes.is_shown_only {
        return Err(InitError::Foreign { path });
    }
    may_write(&path)?;
    let sight = look::look(program, &wishes.look_at).await?;
    let mut done = InitResult {
        found: sight.lines(),
        notes: sight.notes.clone(),
        variables: provider::key_variables()
            .filter(|variable| !sight.keys.contains(variable))
            .map(|(variable, of)| KeyVariable { variable: variable.to_owned(), provider: of.to_owned() })
            .collect(),
        unnamed: sight
            .unnamed
            .iter()
            .map(|(provider, origin)| UnnamedProvider { provider: provider.clone(), origin: origin.clone() })
            .collect(),
        ..InitResult::default()
    };
    let Some(choice) = sight.choices.first() else { return Ok(done) };
    (done.brain, done.tool) = (Some(choice.brain.clone()), Some(choice.tool.clone()));
    let text = text::configuration(&sight);
    let table = text::table(&sight);
    let table = match table {
        Some(new) => {
            may_write(&table_path)?;
            Some(over(&table_path, &new, wishes)?)
        }
        None => None,
    };
    done.notes.extend(winning(program, &path, &text));
    let mut made = vec![InitFile { path, text, kept: None }];
    made.extend(table.map(|text| InitFile { path: table_path, text, kept: None }));
    check(program, &sight, &made)?;
    if !wishes.is_shown_only {
        // The table is written first: it has an effect only with the configuration.
        for file in made.iter_mut().rev() {
            let write = |source| InitError::Write { path: file.path.clone(), source };
            file.kept =
                whole::replace(&file.path, &file.text, wishes.is_forced).map_err(|error| match error {
                    whole::ReplaceError::Exists => InitError::Exists { path: file.path.clone() },
                    whole::ReplaceError::Io(source) => write(source),
                })?;
        }
        done.is_written = true;
    }
    done.files = made;
    Ok(done)
}

/// Returns an older table followed by the new entries. Older entries for the same models are kept.
fn over(path: &Path, new: &text::Table, wishes: &InitOptions) -> Result<String, InitError> {
    let wrong = |reason: String| InitError::Table { path: path.to_owned(), reason };
    let old = if wishes.is_forced {
        config::read_text(path, TABLE_BYTES_MAX).map_err(|error| wrong(error.to_string()))?
    } else {
        None
    };
    let text = new.text(old.as_deref());
    Catalogue::default().over(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(text)
}

/// Lists values that win over the written file: of the working directory, the environment and the command line, read as
/// every command reads them.
fn winning(program: &Program, path: &Path, text: &str) -> Vec<String> {
    let config = match Config::load(&program.sources_with(path, text)) {
        Ok(config) => config,
        Err(error) => return vec![format!("it will not be used: {}", error_chain(&error))],
    };
    let is_here = |origin: &Origin| matches!(origin, Origin::File { path: of, .. } if of == path);
    let others = SAID.into_iter().map(|key| (key, config.origin(key))).filter(|(_, origin)| !is_here(origin));
    let line = |(key, origin): (&str, Origin)| match origin {
        Origin::Env(variable) => format!("{variable} is set, and overrides the file"),
        other => format!(
            "{key} = {} comes from {other}, and overrides the file",
            config.text(key).unwrap_or_default()
        ),
    };
    others.map(line).collect()
}

/// Reads the files as they will be read, and checks that they choose what they say.
fn check(program: &Program, sight: &SearchResult, made: &[InitFile]) -> Result<(), InitError> {
    // The error chain starts with "failed to", as every layer above does.
    let wrong =
        |reason: String| InitError::Check { reason: reason.trim_start_matches("failed to ").to_owned() };
    let Some(choice) = sight.choices.first() else { return Ok(()) };
    let mut env = program.env().clone();
    env.retain(|name, _| !WINNING_VARS.contains(&name.as_str()));
    let Some(file) = made.first() else { return Ok(()) };
    let sources = Sources {
        files: vec![file.path.clone()],
        texts: [(file.path.clone(), file.text.clone())].into(),
        env: env.clone(),
        ..Sources::default()
    };
    let config = Config::load(&sources).map_err(|error| wrong(error_chain(&error)))?;
    let catalogue = Catalogue::built_in().and_then(|built_in| match made.get(1) {
        Some(table) => built_in.over(&table.text),
        None => Ok(built_in),
    });
    let catalogue = catalogue.map_err(|error| wrong(error.to_string()))?;
    let chosen = Chooser { config: &config, env: &env, catalogue: &catalogue }.choose();
    let chosen = chosen.map_err(|error| wrong(error_chain(&error)))?;
    for one in &chosen {
        let expected = match one.slot {
            Slot::Tier(setpoint_protocol::models::Tier::Brain) => &choice.brain,
            _ => &choice.tool,
        };
        if one.name != *expected {
            return Err(wrong(format!("`{}` would be {}, not {expected}", one.slot.key(), one.name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
