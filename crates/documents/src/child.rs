//! The process that reads: it limits itself, then reads its standard input and answers on its standard output.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::panic::catch_unwind;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::document::{Document, Wanted};
use crate::error::Refusal;
use crate::format::{self, Format};
use crate::reader::{FILE_BYTES_MAX, Limits};
use crate::{pdf, workbook};

/// The first argument of a reader. The second is what it is asked, as JSON.
pub(crate) const ARGUMENT: &str = "--read-document";
/// The exit code after a panic of a library.
const PANICKED: u8 = 101;

/// What a reader is asked.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) wanted: Wanted,
    pub(crate) limits: Limits,
}

/// What a reader answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Document(Document),
    Refused(Refusal),
}

/// Reads a document if this process was started to do that; `main` must then return the exit code. Must be one of the
/// first calls in `main`, before any thread and any open file.
#[must_use]
pub fn serve() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|first| first != ARGUMENT) {
        return None;
    }
    let question = args.next().and_then(|text| text.into_string().ok());
    let question = question.and_then(|text| serde_json::from_str(&text).ok());
    Some(match question.map(|question| answer(&question)) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) => ExitCode::from(PANICKED),
        None => ExitCode::FAILURE,
    })
}

fn answer(question: &Question) -> io::Result<()> {
    // What a library prints must not stand in the answer.
    let mut answer = File::from(rustix::io::dup(rustix::stdio::stdout())?);
    let nowhere = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(nowhere.as_fd())?;
    // The text of a panic may quote the file; the exit code says enough.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = match confine(question.limits) {
        Ok(()) => catch_unwind(|| read(&question.wanted)).map_err(|_| io::ErrorKind::InvalidData)?,
        Err(why) => Err(Refusal::NotConfined { why: why.to_string() }),
    };
    let reply = reply.map_or_else(Reply::Refused, Reply::Document);
    answer.write_all(&serde_json::to_vec(&reply)?)
}

/// Limits what this process may use up, and what it may do.
fn confine(limits: Limits) -> io::Result<()> {
    let set = |resource, value| {
        let limit = Rlimit { current: Some(value), maximum: Some(value) };
        setrlimit(resource, limit)
    };
    set(Resource::Core, 0)?;
    set(Resource::Fsize, 0)?;
    set(Resource::Cpu, limits.cpu_s)?;
    // Not every system limits data; those limit the address space.
    #[cfg(target_os = "linux")]
    set(Resource::Data, limits.data_bytes)?;
    #[cfg(not(target_os = "linux"))]
    let _ = set(Resource::As, limits.data_bytes);
    setpoint_sandbox::only_compute()
}

fn read(wanted: &Wanted) -> Result<Document, Refusal> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(Refusal::damaged)?;
    match format::of(&bytes) {
        None if bytes.is_empty() => Err(Refusal::Empty),
        None | Some(Format::Xlsx | Format::Ods | Format::Binary) if format::is_cut_off(&bytes) => {
            Err(Refusal::CutOff)
        }
        None => Err(Refusal::Unknown),
        Some(Format::Pdf) => pdf::read(&bytes, wanted).map(Document::Pdf),
        Some(format) => workbook::read(&bytes, format, wanted).map(Document::Workbook),
    }
}
