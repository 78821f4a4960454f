//! Why a document could not be read.

use std::io;

use serde::{Deserialize, Serialize};

use crate::FILE_BYTES_MAX;

/// Why a document could not be read. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The process that reads could not be started.
    #[error(
        "the process that reads documents could not be started; check that Setpoint is installed completely"
    )]
    NotStarted(#[source] io::Error),
    /// The file is too large.
    #[error("it is larger than {} MiB; split it, or export the part that is needed", FILE_BYTES_MAX / 1_048_576)]
    TooLarge,
    /// The reader refused it.
    #[error("{0}")]
    Refused(Refusal),
    /// The reader needed more memory than it may have.
    #[error(
        "reading it needs more than {} MiB of memory, as archives do that unpack to far more than their size; export the \
         part that is needed as CSV or text",
        data_bytes / 1_048_576
    )]
    Memory {
        /// The limit.
        data_bytes: u64,
    },
    /// The reader did not finish.
    #[error(
        "reading it takes more than {ms} ms; ask for fewer pages or rows, or export the part that is needed"
    )]
    TimedOut {
        /// The limit of time or CPU time.
        ms: u64,
    },
    /// The reader crashed, or answered nonsense.
    #[error(
        "its reader broke down on it, so it is damaged or made to do that; open it in its own program and export it again"
    )]
    Broken,
}

/// Why the reader refused a document, as it says itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Refusal {
    /// It has no content.
    #[error("it is empty (0 bytes); check that it was saved or copied completely")]
    Empty,
    /// Its beginning is that of an archive, as workbooks are, whose list of contents is missing at the end.
    #[error(
        "it is cut off: it begins as a workbook or another archive, and its end is missing; get the whole file"
    )]
    CutOff,
    /// It needs a password.
    #[error("it is encrypted; make a copy without a password")]
    Encrypted,
    /// Its beginning is that of no known format.
    #[error(
        "it is neither a PDF file nor a workbook (xlsx, ods) by its content; read_file reads text, and \
         file_facts describes the rest"
    )]
    Unknown,
    /// It is a workbook in a format that is not read.
    #[error(
        "it is a workbook in a binary format (xls, xlsb), which is not read; save a copy as xlsx, ods or CSV with its own \
         program"
    )]
    Binary,
    /// It begins like a document but cannot be understood.
    #[error("it is damaged or cut off ({why}); open it in its own program and export it again")]
    Damaged {
        /// The reader's words.
        why: String,
    },
    /// The workbook has no sheet of this name.
    #[error("there is no sheet {wanted:?}; there are {}", names(sheets, *count))]
    NoSheet {
        /// The sheet that was asked for.
        wanted: String,
        /// The first sheets.
        sheets: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// It ends before what is wanted.
    #[error("it ends before that: it has {has} pages")]
    NoPage {
        /// Its pages.
        has: u32,
    },
    /// The sheet ends before what is wanted.
    #[error("the sheet {sheet:?} ends before that: its last row with content is {last}")]
    NoRow {
        /// The sheet.
        sheet: String,
        /// Its last row with content; 0 if it is empty.
        last: u32,
    },
    /// The process could not restrict itself, so it read nothing.
    #[error(
        "the process that reads documents could not be confined ({why}); report this with the kernel's version"
    )]
    NotConfined {
        /// What the system said.
        why: String,
    },
}

/// Maximum names of sheets in an error.
const NAMES_MAX: usize = 20;

fn names(sheets: &[String], count: usize) -> String {
    if sheets.is_empty() {
        return "none".to_owned();
    }
    let named: Vec<String> = sheets.iter().take(NAMES_MAX).map(|name| format!("{name:?}")).collect();
    let more = count.saturating_sub(named.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    named.join(", ") + &more
}

impl Refusal {
    /// Maximum characters of what a library said.
    const WHY_CHARS_MAX: usize = 200;

    /// The refusal of a file that a library could not read.
    pub(crate) fn damaged(why: impl std::fmt::Display) -> Self {
        let why: String = why.to_string().escape_debug().take(Refusal::WHY_CHARS_MAX).collect();
        Refusal::Damaged { why }
    }
}
