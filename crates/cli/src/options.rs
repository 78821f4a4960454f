//! Options that hold for every command.

use std::path::PathBuf;

use clap::Args;
use setpoint_app::program::Cassette;

use crate::args::values::setting;

/// The options that hold for every command.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Write JSON to stdout and nothing else
    #[arg(long = "json", global = true)]
    pub is_json: bool,
    /// Write the log to stderr too
    #[arg(short = 'v', long = "verbose", global = true)]
    pub is_verbose: bool,
    /// Write no progress to stderr, and only the answer of a task to stdout
    #[arg(short = 'q', long = "quiet", global = true)]
    pub is_quiet: bool,
    /// Keep the data in DIR
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
    /// Use this model for every role, even one with a model of its own
    #[arg(long, value_name = "NAME", global = true)]
    pub model: Option<String>,
    /// Set a configuration value; `setpoint config` lists the keys
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting, global = true)]
    pub set: Vec<Setting>,
    /// Choose when to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    pub color: Color,
    /// The recording of models to make or to play; set by options of single commands.
    #[arg(skip)]
    pub cassette: Option<Cassette>,
}

/// A configuration value that the command line sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key, such as `controller.delta`; `replay` and `tasks fork` also take `delta`.
    pub key: String,
    /// The value, as text.
    pub value: String,
    /// The option that sets it, without the value, which may be a secret.
    pub option: String,
}

impl Setting {
    /// Returns whether it sets the controller: by a bare name, or by a key of its section.
    pub(crate) fn is_of_controller(&self) -> bool {
        self.key.starts_with("controller.") || !self.key.contains('.')
    }

    /// Returns keys with their values.
    pub(crate) fn pairs(settings: &[Setting]) -> Vec<(String, String)> {
        settings.iter().map(|one| (one.key.clone(), one.value.clone())).collect()
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// Use colours on a terminal, unless the environment turns them off
    #[default]
    Auto,
    /// Always use colours
    Always,
    /// Never use colours
    Never,
}
