//! `memory`: what is asked of memory, as plain data.

use std::path::PathBuf;

use setpoint_protocol::message::Level;

use super::{Prune, TextSource};
use crate::moment::At;

/// `memory`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryCommand {
    /// `memory stats`.
    Stats,
    /// `memory query`.
    Query(AskedPairs),
    /// `memory list`.
    List(AskedRecords),
    /// `memory show`.
    Show {
        /// An id, or the beginning or the end of one.
        id: String,
        /// The moment; now when it is not said.
        at: Option<At>,
    },
    /// `memory rules`.
    Rules {
        /// The moment; now when it is not said.
        at: Option<At>,
    },
    /// `memory remember`.
    Remember {
        /// Where the fact is.
        text: TextSource,
        /// Words to find it by.
        tags: Vec<String>,
    },
    /// `memory forget`.
    Forget {
        /// Ids, or beginnings or ends of them.
        ids: Vec<String>,
        /// Nobody is asked.
        is_agreed: bool,
    },
    /// `memory prune`.
    Prune(Prune),
    /// `memory dream`.
    Dream,
    /// `memory export`.
    Export {
        /// Where the records go to; stdout when it is not said.
        output: Option<PathBuf>,
        /// Where the rules go to instead.
        skills: Option<PathBuf>,
    },
    /// `memory import`.
    Import {
        /// Where the records are.
        source: TextSource,
        /// What can be taken is, whatever else there is.
        is_lenient: bool,
    },
    /// `memory share`.
    Share {
        /// Whether a language model may be told what was learnt without it.
        is_allowed: bool,
    },
    /// `memory approve`.
    Approve {
        /// An id, or the beginning or the end of one; the proposals are listed when it is not said.
        id: Option<String>,
    },
}

/// Which pairs `memory query` asks about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedPairs {
    /// Their space; all of them when it is not said.
    pub space: Option<String>,
    /// Their entity; all of the space when it is not said.
    pub entity: Option<String>,
    /// The moment; now when it is not said.
    pub at: Option<At>,
}

/// Which records `memory list` lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedRecords {
    /// Only those of this space.
    pub space: Option<String>,
    /// Only those of this entity.
    pub entity: Option<String>,
    /// Only those of this layer.
    pub level: Option<Level>,
    /// How many at most.
    pub limit: usize,
    /// The moment; now when it is not said.
    pub at: Option<At>,
}
