//! Configuration in layers: defaults, the user's file, the project's file, the environment, flags. The last layer that
//! sets a value wins, and every value records its origin.

mod file;
mod foreign;
mod keys;
mod levels;
mod secrets;
mod servers;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use setpoint_control::gains::UnknownLaw;
use setpoint_control::{GainsError, law};
use setpoint_protocol::money::Money;
use setpoint_protocol::settings::{Budgets, ControllerSettings};

pub(crate) use self::file::read_text;
pub use self::keys::{KEYS, Key, KeyType};
pub(crate) use self::secrets::{SecretSettings, SecretSource};
pub(crate) use self::servers::{SERVERS, SERVERS_MAX, ServerSettings};

/// Name of the configuration file, in the user's configuration directory and in the working directory.
pub const FILE_NAME: &str = "setpoint.toml";
/// Largest configuration file, in bytes.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Prefix of every key of a provider.
const PROVIDERS: &str = "providers.";

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// A line of a file.
    File {
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// An environment variable.
    Env(&'static str),
    /// A flag of the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("built in"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Env(name) => write!(f, "${name}"),
            Origin::Flag(flag) => f.write_str(flag),
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file is larger than [`FILE_BYTES_MAX`].
    #[error("read {path}: it has more than {FILE_BYTES_MAX} bytes")]
    TooLarge { path: PathBuf },
    /// The file is not TOML.
    #[error("read {path}:{line}: {reason}")]
    Syntax {
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The syntax error.
        reason: String,
    },
    /// No key has this name.
    #[error("use {origin}: there is no key `{key}`{}", did_you_mean(.near))]
    UnknownKey {
        /// Where it was set.
        origin: Origin,
        key: String,
        /// The most similar known key.
        near: Option<&'static str>,
    },
    /// A file of the working directory sets a key that only the person may set.
    #[error(
        "use {origin}: `{key}` is not allowed in a file of the working directory, which may come from anyone"
    )]
    Foreign {
        /// Where it was set.
        origin: Origin,
        key: String,
    },
    /// A file of the working directory raises a limit that holds without it.
    #[error(
        "use {origin}: `{key}` {lift}; a file of the working directory, which may come from anyone, can only make it \
         stricter"
    )]
    Lifted {
        /// Where it was set.
        origin: Origin,
        key: String,
        /// The value, and the value without that line.
        lift: String,
    },
    /// The controller has no setting of this name.
    #[error("use {origin}: the controller's settings are {known}")]
    NoController {
        /// Where it was set.
        origin: Origin,
        /// Names of the settings.
        known: String,
    },
    /// The value has another type, or is out of range.
    #[error("use {origin}: `{key}` {reason}")]
    Value {
        /// Where it was set.
        origin: Origin,
        key: String,
        reason: String,
    },
}

fn did_you_mean(near: &Option<&'static str>) -> String {
    near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub value: Value,
    /// Origin of the value.
    pub origin: Origin,
}

/// A configuration value for display.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigLine {
    /// Dotted key.
    pub key: String,
    /// The value; null if it is not set.
    pub value: Value,
    /// Origin of the value.
    pub origin: String,
    /// Meaning of the key.
    pub about: String,
}

/// A complete, validated configuration.
#[derive(Clone, Debug)]
pub struct Config {
    settings: BTreeMap<String, Setting>,
    controller: ControllerSettings,
    budgets: Budgets,
    told: Vec<String>,
}

/// The sources of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files, the weakest first; missing ones are skipped.
    pub files: Vec<PathBuf>,
    /// Texts to use instead of the content of some of these files.
    pub texts: BTreeMap<PathBuf, String>,
    /// Those of these files that came with the working directory, and may not set every key.
    pub foreign: Vec<PathBuf>,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// Flags: key, value as text, and the flag as the person typed it.
    pub flags: Vec<(String, String, String)>,
}

impl Config {
    /// Reads all layers.
    ///
    /// # Errors
    /// If a value cannot be used; the error names file and line.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let mut settings = built_in();
        for path in &sources.files {
            let values = match sources.texts.get(path) {
                Some(text) => file::parse(path, text.as_bytes())?,
                None => file::read(path)?,
            };
            put(&mut settings, path, sources.foreign.contains(path), values)?;
        }
        for (variable, name) in keys::variables() {
            if let Some(text) = sources.env.get(variable).filter(|text| !text.trim().is_empty()) {
                keys::set_text(&mut settings, name, text, Origin::Env(variable))?;
            }
        }
        for (name, text, flag) in &sources.flags {
            keys::set_text(&mut settings, name, text, Origin::Flag(flag.clone()))?;
        }
        Config::of_settings(settings, &sources.foreign)
    }

    /// Reads what a file would contain, over the defaults, without a file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn of_text(text: &[u8]) -> Result<Self, ConfigError> {
        let path = Path::new(FILE_NAME);
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(ConfigError::TooLarge { path: path.to_owned() });
        }
        let mut settings = built_in();
        put(&mut settings, path, false, file::parse(path, text)?)?;
        Config::of_settings(settings, &[])
    }

    fn of_settings(settings: BTreeMap<String, Setting>, foreign: &[PathBuf]) -> Result<Self, ConfigError> {
        let controller = controller_of(&settings)?;
        let budgets = budgets_of(&settings)?;
        servers::check(&settings)?;
        secrets::check(&settings)?;
        let told = foreign::notices(&settings, foreign);
        Ok(Config { settings, controller, budgets, told })
    }

    /// Returns what files of the working directory choose that the person should know, one line each.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.told
    }

    /// Returns every value with its origin, by key.
    #[must_use]
    pub fn settings(&self) -> &BTreeMap<String, Setting> {
        &self.settings
    }

    /// Returns every value to be shown, with its key, in the order of [`KEYS`].
    pub fn shown(&self) -> impl Iterator<Item = (&str, &'static Key, &Setting)> {
        KEYS.iter().flat_map(|key| {
            let of_key = self.settings.iter().filter(|(name, _)| key.names(name));
            of_key.map(move |(name, setting)| (name.as_str(), key, setting))
        })
    }

    /// Returns every value to be shown, with origin and meaning.
    #[must_use]
    pub fn lines(&self) -> Vec<ConfigLine> {
        let line = |(name, key, setting): (&str, &Key, &Setting)| ConfigLine {
            key: name.to_owned(),
            value: Config::display_value(name, setting),
            origin: setting.origin.to_string(),
            about: key.about.to_owned(),
        };
        self.shown().map(line).collect()
    }

    /// Returns a value as it may be shown. An address is reduced to scheme, host and port, and a mark for the rest,
    /// because any part of it may be a key.
    #[must_use]
    pub fn display_value(name: &str, setting: &Setting) -> Value {
        match setting.value.as_str() {
            Some(address) if name == crate::telemetry::ENDPOINT_KEY => {
                Value::String(setpoint_telemetry::otlp::redacted(address))
            }
            Some(address)
                if name.ends_with(".base_url")
                    || name == crate::search::ADDRESS_KEY
                    || (name.starts_with(SERVERS) && name.ends_with(".url")) =>
            {
                // Ollama's own variable names a host without a scheme.
                let (scheme, bare) =
                    if address.contains("://") { ("", address) } else { ("http://", address) };
                let seen = setpoint_telemetry::otlp::redacted(&format!("{scheme}{bare}"));
                Value::String(seen.strip_prefix(scheme).unwrap_or(&seen).to_owned())
            }
            _ => setting.value.clone(),
        }
    }

    /// Returns the origin of a value.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        self.settings.get(key).map_or(Origin::Default, |setting| setting.origin.clone())
    }

    /// Returns the names of the configured providers.
    #[must_use]
    pub fn providers(&self) -> Vec<String> {
        let named = self.settings.keys().filter_map(|name| name.strip_prefix(PROVIDERS)?.split('.').next());
        let names: std::collections::BTreeSet<&str> = named.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Returns the configured MCP servers, by name.
    #[must_use]
    pub(crate) fn servers(&self) -> Vec<ServerSettings> {
        servers::of(&self.settings)
    }

    /// Returns the configured secrets, by name.
    #[must_use]
    pub(crate) fn secrets(&self) -> Vec<SecretSettings> {
        secrets::of(&self.settings)
    }

    /// Returns the controller's settings, validated.
    #[must_use]
    pub fn controller(&self) -> &ControllerSettings {
        &self.controller
    }

    /// Returns the hard budgets.
    #[must_use]
    pub fn budgets(&self) -> Budgets {
        self.budgets.clone()
    }

    /// Returns a text value; `None` if it is not set.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.settings.get(key).and_then(|setting| setting.value.as_str()).filter(|text| !text.is_empty())
    }

    /// Returns a whole number; `None` if it is not set.
    #[must_use]
    pub fn whole(&self, key: &str) -> Option<u64> {
        self.settings.get(key).and_then(|setting| setting.value.as_u64())
    }

    /// Returns a switch; `false` if it is not set.
    #[must_use]
    pub fn is_on(&self, key: &str) -> bool {
        self.word(key).unwrap_or(false)
    }

    /// Returns a switch; `None` if it is not set.
    #[must_use]
    pub fn word(&self, key: &str) -> Option<bool> {
        self.settings.get(key).and_then(|setting| setting.value.as_bool())
    }
}

fn built_in() -> BTreeMap<String, Setting> {
    let known = KEYS.iter().filter(|key| !key.is_family());
    known
        .map(|key| (key.name.to_owned(), Setting { value: (key.default)(), origin: Origin::Default }))
        .collect()
}

/// Applies a file's values over those of weaker layers. A file of the working directory may not set every key.
fn put(
    settings: &mut BTreeMap<String, Setting>,
    path: &Path,
    is_foreign: bool,
    values: Vec<(String, Value, usize)>,
) -> Result<(), ConfigError> {
    for (name, value, line) in values {
        let origin = Origin::File { path: path.to_owned(), line };
        let before = settings.get(&name).cloned();
        keys::set(settings, &name, value, origin)?;
        if is_foreign && let Some(now) = settings.get(&name) {
            foreign::check(&name, before.as_ref(), now)?;
        }
    }
    Ok(())
}

fn budgets_of(settings: &BTreeMap<String, Setting>) -> Result<Budgets, ConfigError> {
    let whole = |key: &str| settings.get(key).and_then(|setting| setting.value.as_u64());
    let money = match settings.get("budgets.money") {
        Some(Setting { value: Value::Number(number), origin }) => {
            let money = number.as_f64().and_then(Money::of_units);
            Some(money.ok_or_else(|| ConfigError::Value {
                origin: origin.clone(),
                key: "budgets.money".to_owned(),
                reason: format!("is {number}; it must be from 0 to {}", setpoint_protocol::money::UNITS_MAX),
            })?)
        }
        _ => None,
    };
    Ok(Budgets { calls: whole("budgets.calls"), tokens: whole("budgets.tokens"), money })
}

fn controller_of(settings: &BTreeMap<String, Setting>) -> Result<ControllerSettings, ConfigError> {
    let prefix = "controller.";
    let object: serde_json::Map<String, Value> = settings
        .iter()
        .filter_map(|(key, setting)| Some((key.strip_prefix(prefix)?.to_owned(), setting.value.clone())))
        .collect();
    let wrong = |key: &str, reason: String| {
        let key = format!("{prefix}{key}");
        let origin = settings.get(key.as_str()).map_or(Origin::Default, |setting| setting.origin.clone());
        ConfigError::Value { origin, key, reason }
    };
    let controller: ControllerSettings =
        serde_json::from_value(Value::Object(object)).map_err(|error| wrong("law", error.to_string()))?;
    match law::governing(&controller) {
        Ok(_) => Ok(controller),
        Err(
            GainsError::NotFinite { key, value, min, max } | GainsError::OutOfRange { key, value, min, max },
        ) => Err(wrong(key, format!("is {value}; it must be from {min} to {max}"))),
        Err(GainsError::Law(UnknownLaw { name, known })) => {
            Err(wrong("law", format!("is {name:?}; it must be one of {known}")))
        }
    }
}

/// Prefix of the controller's keys.
const CONTROLLER: &str = "controller.";

/// Returns the bare name of a controller setting, which may be given with the configuration's prefix.
#[must_use]
pub fn bare_name(name: &str) -> &str {
    name.strip_prefix(CONTROLLER).unwrap_or(name)
}

/// Returns the controller's settings with some values replaced. Names are bare or as in the configuration; the last
/// value of a name wins.
///
/// # Errors
/// If a name is unknown, or the controller rejects a value.
pub fn controller_with(
    recorded: &ControllerSettings,
    set: &[(String, String)],
) -> Result<ControllerSettings, ConfigError> {
    let mut settings = BTreeMap::new();
    let recorded = serde_json::to_value(recorded).unwrap_or_default();
    for (name, value) in recorded.as_object().into_iter().flatten() {
        let setting = Setting { value: value.clone(), origin: Origin::Default };
        settings.insert(format!("{CONTROLLER}{name}"), setting);
    }
    for (name, text) in set {
        let bare = bare_name(name);
        let origin = Origin::Flag(format!("--set {}", setpoint_protocol::text::clip(name, 100)));
        let full = format!("{CONTROLLER}{bare}");
        if !settings.contains_key(&full) {
            return Err(ConfigError::NoController { origin, known: controller_names().join(", ") });
        }
        keys::set_text(&mut settings, &full, text, origin)?;
    }
    controller_of(&settings)
}

/// Returns the bare names of the controller's settings.
fn controller_names() -> Vec<&'static str> {
    KEYS.iter().filter_map(|key| key.name.strip_prefix(CONTROLLER)).collect()
}

#[cfg(test)]
mod tests;
