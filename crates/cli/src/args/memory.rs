//! The grammar of `memory`, and what its arguments ask for.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use setpoint_protocol::message::Level;

use super::RECORDS_LISTED;
use super::grammar::PruneArgs;
use super::values::{megram, records};
use crate::invocation::{AskedPairs, AskedRecords, At, MemoryCommand, TextSource};
use crate::moment;

#[derive(Debug, Subcommand)]
pub(super) enum MemoryVerb {
    /// Say how much is remembered, where, and when the Dreamer last went through it
    Stats,
    /// Show how strong and how good memories are, and what follows for a plan
    Query {
        /// The space, such as `intent:count-files`; all of them when left out
        space: Option<String>,
        /// The entity, such as `env:local`; the pairs of the space when left out
        entity: Option<String>,
        #[command(flatten)]
        seen: Seen,
    },
    /// List records, newest first
    List {
        /// Only this space
        #[arg(long)]
        space: Option<String>,
        /// Only this entity
        #[arg(long)]
        entity: Option<String>,
        /// Only this layer: raw records, knowledge, common sense, thinking
        #[arg(long, value_enum, ignore_case = true)]
        level: Option<LevelName>,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = records)]
        limit: Option<usize>,
        #[command(flatten)]
        seen: Seen,
    },
    /// Show one record in full, with where it comes from
    Show {
        /// Its id, or the beginning or the end of it
        #[arg(value_parser = megram)]
        id: String,
        #[command(flatten)]
        seen: Seen,
    },
    /// List the rules and facts in force, and what still speaks for them
    Rules {
        #[command(flatten)]
        seen: Seen,
    },
    /// State a fact that every task knows from then on
    Remember {
        /// The fact in your own words; `-` reads it from stdin
        #[arg(required = true)]
        text: Vec<String>,
        /// A word to find it by; may be given again
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Delete records for good, after asking
    Forget {
        /// Their ids, or the beginnings or the ends of them
        #[arg(value_name = "ID", required = true, value_parser = megram)]
        ids: Vec<String>,
        /// Delete them without asking
        #[arg(long)]
        yes: bool,
    },
    /// Forget for good what was learnt long ago, after asking; rules and stated facts stay
    Prune(PruneArgs),
    /// Let the Dreamer go through memory now: make rules, demote rules, delete what has faded
    Dream,
    /// Write all records, one JSON object a line
    Export {
        /// Write to FILE, whole or not at all, instead of stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Write the rules in force instead, each as a folder with a SKILL.md below DIR
        #[arg(long, value_name = "DIR", conflicts_with = "output")]
        skills: Option<PathBuf>,
    },
    /// Take in records, one JSON object a line: all of them or none
    Import {
        /// The file; `-` reads stdin
        file: PathBuf,
        /// Take what can be taken, and name the rest
        #[arg(long)]
        lenient: bool,
    },
    /// Say whether a language model may be told what was learnt without it: goals, paths, what worked. It is not, by default
    Share {
        /// The answer
        word: ShareWord,
    },
    /// Approve what is proposed for the system's own thinking; list it when no ID is given
    Approve {
        /// Its id, or the beginning or the end of it
        #[arg(value_parser = megram)]
        id: Option<String>,
    },
}

impl Default for MemoryVerb {
    fn default() -> MemoryVerb {
        let (space, entity, level, limit) = (None, None, None, None);
        MemoryVerb::List { space, entity, level, limit, seen: Seen { at: None } }
    }
}

/// When memory is looked at.
#[derive(Args, Debug)]
pub(super) struct Seen {
    /// Show it as it will be at TIME if nothing comes in: a time, a day, or a while from now such as +60d
    #[arg(long, value_name = "TIME", value_parser = moment::read, allow_hyphen_values = true)]
    at: Option<At>,
}

/// Whether it may, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ShareWord {
    Yes,
    No,
}

/// A layer, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "UPPER")]
pub(super) enum LevelName {
    M,
    K,
    C,
    T,
}

pub(super) fn command(verb: MemoryVerb) -> MemoryCommand {
    match verb {
        MemoryVerb::Stats => MemoryCommand::Stats,
        MemoryVerb::Query { space, entity, seen } => {
            MemoryCommand::Query(AskedPairs { space, entity, at: seen.at })
        }
        MemoryVerb::List { space, entity, level, limit, seen } => MemoryCommand::List(AskedRecords {
            space,
            entity,
            level: level.map(|name| match name {
                LevelName::M => Level::M,
                LevelName::K => Level::K,
                LevelName::C => Level::C,
                LevelName::T => Level::T,
            }),
            limit: limit.unwrap_or(RECORDS_LISTED),
            at: seen.at,
        }),
        MemoryVerb::Show { id, seen } => MemoryCommand::Show { id, at: seen.at },
        MemoryVerb::Rules { seen } => MemoryCommand::Rules { at: seen.at },
        MemoryVerb::Remember { text, tags } => {
            let text = match text.as_slice() {
                [dash] if dash == "-" => TextSource::Stdin,
                words => TextSource::Words(words.join(" ")),
            };
            MemoryCommand::Remember { text, tags }
        }
        MemoryVerb::Forget { ids, yes } => MemoryCommand::Forget { ids, is_agreed: yes },
        MemoryVerb::Prune(prune) => MemoryCommand::Prune(prune.asked()),
        MemoryVerb::Dream => MemoryCommand::Dream,
        MemoryVerb::Export { output, skills } => MemoryCommand::Export { output, skills },
        MemoryVerb::Import { file, lenient } => {
            let source = match file.to_str() {
                Some("-") => TextSource::Stdin,
                _ => TextSource::File(file),
            };
            MemoryCommand::Import { source, is_lenient: lenient }
        }
        MemoryVerb::Share { word } => MemoryCommand::Share { is_allowed: word == ShareWord::Yes },
        MemoryVerb::Approve { id } => MemoryCommand::Approve { id },
    }
}
