//! The grammar of the command line: every command and option with the sentence that `--help` shows.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::audit::AuditVerb;
use super::memory::MemoryVerb;
use super::values::{age_ms, amount, count, duration_ms, setting, tasks};
use crate::invocation::{Color, Prune};

/// A closed-loop agent runtime: states are measured, not claimed.
///
/// A goal is planned, carried out with tools, and every success criterion is measured on its own evidence;
/// what falls short is planned again in a direction that follows from the measurement.
#[derive(Debug, Parser)]
#[command(name = "setpoint", version, after_help = EXIT_CODES)]
pub(super) struct Grammar {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
}

/// Shown below the help.
const EXIT_CODES: &str = "Exit codes of `run`, `tasks resume` and `tasks fork`:
  0    accepted: every criterion is met
  3    accepted with gaps, which are named
  4    given up
  5    ended because consent was refused
  130  stopped by Ctrl-C, or cancelled
  2    the command line or the configuration cannot be used
  1    internal error";

#[derive(Args, Debug)]
pub(super) struct Common {
    /// Write JSON to stdout and nothing else
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Write the log to stderr too
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
    /// Write no progress to stderr, and of a task only its answer to stdout
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Keep the data in DIR
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) data_dir: Option<PathBuf>,
    /// Use this model for everything, for roles with a model of their own too
    #[arg(long, value_name = "NAME", global = true)]
    pub(super) model: Option<String>,
    /// Set a configuration value; `setpoint config` lists them
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting, global = true)]
    pub(super) set: Vec<(String, String)>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    pub(super) color: Color,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Pursue one goal to its end
    Run(RunArgs),
    /// Look at tasks, cancel them, take them up again; list them when nothing else is said
    Tasks {
        #[command(subcommand)]
        command: Option<TasksCommand>,
    },
    /// Go through a task again without a model: step by step, under other settings, or beside another one
    Replay(ReplayArgs),
    /// Look at what is remembered, state facts, forget, and move memories; list them when nothing else is said
    Memory {
        #[command(subcommand)]
        command: Option<MemoryVerb>,
    },
    /// Ask the Auditor what happened, and whether it was right; its findings are listed when nothing else is said
    Audit {
        #[command(subcommand)]
        command: Option<AuditVerb>,
    },
    /// Run the controller alone: measurements in as JSON lines, directives out
    Ggs,
    /// Look at the playbooks that the embedded brain answers from
    Playbooks {
        #[command(subcommand)]
        command: Option<PlaybooksCommand>,
    },
    /// Look for keys and local servers, and write a first configuration
    Init(InitArgs),
    /// Show which models are chosen and whether they are there
    Models {
        /// List the models that their servers have, too
        #[arg(long)]
        all: bool,
    },
    /// Say how everything stands
    Doctor {
        /// Ask the chosen models, or NAME, a few questions, too; this costs some tokens, which are told
        #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
        model: Option<String>,
    },
    /// Show the configuration with its origins
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Print the JSON Schema of the messages
    Schema {
        /// One message's name, such as `FinalResult`; all of them when left out
        name: Option<String>,
        /// Print the AsyncAPI document of the bus instead
        #[arg(long, conflicts_with = "name")]
        asyncapi: bool,
    },
    /// Print what makes a shell complete commands, options and task ids
    ///
    /// For bash: `source <(setpoint completions bash)` in ~/.bashrc. For zsh the same in ~/.zshrc, for fish
    /// `setpoint completions fish | source` in ~/.config/fish/config.fish. The script asks this program, so it has
    /// to be read anew by each shell.
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// The goal in your own words; `-` reads it from stdin
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(super) goal: Vec<String>,
    /// Read the goal from FILE
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Allow without asking what FILE covers
    #[arg(long, value_name = "FILE")]
    pub(super) approve: Option<PathBuf>,
    /// Show each plan and ask before it runs
    #[arg(long)]
    pub(super) plan: bool,
    /// Write every record to stdout as one JSON line while the task runs
    #[arg(long)]
    pub(super) stream: bool,
    /// Write the answer and nothing else to stdout, for other programs: text as it is, anything else as JSON
    #[arg(long, conflicts_with_all = ["stream", "json"])]
    pub(super) output_only: bool,
    /// Plan for TIME, such as 90s, 5m or 1h, and stop at twice TIME; time spent waiting for people does not count
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    pub(super) time_budget: Option<u64>,
    /// Replans after the first plan
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_replans: Option<u32>,
    /// Model calls at most
    #[arg(long, value_name = "N", value_parser = count)]
    pub(super) max_calls: Option<u64>,
    /// Tokens at most, in and out
    #[arg(long, value_name = "N", value_parser = count)]
    pub(super) max_tokens: Option<u64>,
    /// Money at most, in the currency of the price table
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub(super) max_cost: Option<f64>,
    /// Record what the models say to FILE, which must not be there yet
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(super) record: Option<PathBuf>,
    /// Let a recording answer instead of the models
    #[arg(long, value_name = "FILE")]
    pub(super) replay: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct ReplayArgs {
    /// Its id, or the beginning or the end of it, or a file that `tasks export` wrote
    pub(super) task: String,
    /// Try another setting of the controller, such as delta=0.2, and show what it would have decided
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting, conflicts_with = "diff")]
    pub(super) set: Vec<(String, String)>,
    /// Show what it has in common with OTHER, a task or an exported file, and where the two part
    #[arg(long, value_name = "OTHER")]
    pub(super) diff: Option<String>,
    /// Show records from N on
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["set", "diff"])]
    pub(super) from: Option<u64>,
    /// Show records up to N
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["set", "diff"])]
    pub(super) to: Option<u64>,
    /// Wait for Enter after every step; without a terminal, nothing waits
    #[arg(long, conflicts_with_all = ["set", "diff"])]
    pub(super) step: bool,
    /// Show what the models were asked and what they answered in full
    #[arg(long, conflicts_with_all = ["set", "diff"])]
    pub(super) prompts: bool,
}

#[derive(Args, Debug)]
pub(super) struct InitArgs {
    /// Look at this address instead of the usual ports of this machine; may be given again
    #[arg(long, value_name = "URL")]
    pub(super) look_at: Vec<String>,
    /// Write files that are there anew, and keep the old ones as `.bak`
    #[arg(long, conflicts_with = "print")]
    pub(super) force: bool,
    /// Show what would be written, and write nothing
    #[arg(long, visible_alias = "dry-run")]
    pub(super) print: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum TasksCommand {
    /// List tasks, newest first
    List {
        /// Only tasks that have not ended
        #[arg(long)]
        open: bool,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = tasks)]
        limit: Option<usize>,
    },
    /// Show one task: rounds, criteria, evidence, cost, result
    Show {
        /// Its id, or the beginning or the end of it, or a file that `tasks export` wrote
        task: String,
        /// Write all of it to FILE as one page for a browser, whole or not at all, instead of text to stdout
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Say what a task cost, by role, round, criterion and model, and what of it gave no answer
    Cost {
        /// Its id, or the beginning or the end of it, or a file that `tasks export` wrote
        task: String,
    },
    /// Cancel a task, wherever it runs
    Cancel {
        /// Its id, or the beginning or the end of it
        task: String,
    },
    /// Take up a task that was interrupted, or all of them; the exit code is that of the worst end
    Resume {
        /// Its id, or the beginning or the end of it; every open task that no process drives when left out
        task: Option<String>,
        /// Allow without asking what FILE covers
        #[arg(long, value_name = "FILE")]
        approve: Option<PathBuf>,
        /// Go on from the recording that answered the task so far
        #[arg(long, value_name = "FILE", requires = "task")]
        replay: Option<PathBuf>,
        /// Go on although an older journal was put back: what was done since then is done again, and the audit log notes it
        #[arg(long)]
        force: bool,
    },
    /// Go on from a point of a task as a new one, with the models that are configured now
    Fork {
        /// Its id, or the beginning or the end of it
        task: String,
        /// The record to go on from; the step that it belongs to is taken over whole
        #[arg(long, value_name = "SEQ")]
        at: u64,
        /// Give the controller another setting, such as delta=0.2; other keys set the configuration
        #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
        set: Vec<(String, String)>,
        /// Allow without asking what FILE covers
        #[arg(long, value_name = "FILE")]
        approve: Option<PathBuf>,
    },
    /// Write a task as one file that replays elsewhere: CloudEvents, one JSON object a line
    Export {
        /// Its id, or the beginning or the end of it
        task: String,
        /// Write to FILE, whole or not at all, instead of stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Take the steps of old tasks away and give their room back to the disk; goals, results and what was learnt stay
    Prune(PruneArgs),
}

#[derive(Args, Debug)]
pub(super) struct PruneArgs {
    /// Only what is older than AGE, such as 30d, 12h or 8w; `retention.tasks` or `retention.memory` when left out
    #[arg(long, value_name = "AGE", value_parser = age_ms)]
    older_than: Option<u64>,
    /// Say what would go, and do nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do it without asking
    #[arg(long)]
    yes: bool,
}

impl PruneArgs {
    pub(super) fn asked(self) -> Prune {
        Prune { older_than_ms: self.older_than, is_dry_run: self.dry_run, is_agreed: self.yes }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum PlaybooksCommand {
    /// List them
    List,
    /// Print one as it is written
    Show {
        /// Its name
        name: String,
    },
    /// Check all of them, or one file
    Check {
        /// The file
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Every value with where it comes from
    Show,
    /// The files that are read, weakest first
    Path,
}
