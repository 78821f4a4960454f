//! The runtime's errors as a client's.

use setpoint_app as app;
use setpoint_client::{ClientError, ErrorKind};
use setpoint_runtime as runtime;

pub(crate) fn runtime_error(error: &runtime::RuntimeError) -> ClientError {
    let (kind, hint) = app::desk::edge_of(error);
    at_the_edge(kind, setpoint_protocol::text::error_chain(error), hint.map(str::to_owned))
}

pub(crate) fn program_error(error: &app::program::ProgramError) -> ClientError {
    let (kind, hint) = app::desk::edge_of_program(error);
    at_the_edge(kind, setpoint_protocol::text::error_chain(error), hint.map(|hint| hint.into_owned()))
}

pub(crate) fn memory_error(error: &setpoint_memory::MemoryFailure) -> ClientError {
    let (kind, hint) = app::desk::edge_of_memory(error);
    at_the_edge(kind, setpoint_protocol::text::error_chain(error), hint.map(str::to_owned))
}

pub(crate) fn audit_error(error: &setpoint_audit::AuditFailure) -> ClientError {
    let message = setpoint_protocol::text::error_chain(error);
    at_the_edge(app::desk::Edge::Configuration, message, Some(app::desk::audit_hint(error).to_owned()))
}

fn at_the_edge(kind: app::desk::Edge, message: String, hint: Option<String>) -> ClientError {
    let kind = match kind {
        app::desk::Edge::Usage => ErrorKind::Usage,
        app::desk::Edge::Unknown => ErrorKind::Unknown,
        app::desk::Edge::Configuration => ErrorKind::Configuration,
        app::desk::Edge::Internal => ErrorKind::Internal,
    };
    let error = ClientError::new(kind, message);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
