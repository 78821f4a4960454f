//! The run-time fence: accepts a message from outside only if a route allows it.
//!
//! Inside a process the types refuse a wrong send. A message from another process is bytes with a claimed sender, so
//! it is decoded, checked against the table, and refused with a typed violation that the Auditor can report.

use setpoint_protocol::RoleId;
use setpoint_protocol::topology::{DecodeError, Kind, KindError, Payload, allows};

/// Maximum body of a message from another process, in bytes; a longer one is refused unread.
pub const COMMAND_BYTES_MAX: usize = 1024 * 1024;

/// A message from outside that was admitted.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedMessage {
    /// Sender, as established by the door that it came through.
    pub from: RoleId,
    /// Decoded message.
    pub payload: Payload,
}

/// The reason for refusing a message from outside.
#[derive(Debug, thiserror::Error)]
pub enum Violation {
    /// The kind is unknown.
    #[error("admit a message")]
    UnknownKind(#[source] KindError),
    /// No route lets this party send it to any role of a task.
    #[error("admit {kind} from {from}: no route allows it (see docs/routes.md)")]
    NoRoute {
        /// Claimed sender.
        from: RoleId,
        /// Kind of the message.
        kind: Kind,
    },
    /// The party lives inside a task; its messages never come from outside.
    #[error("admit a message that claims to be from {0}: that role speaks only from inside a task")]
    Forged(RoleId),
    /// The body is longer than the limit; holds its length in bytes.
    #[error("admit a message of {0} bytes (at most {COMMAND_BYTES_MAX})")]
    TooLong(usize),
    /// The body does not decode as that kind.
    #[error("admit a message")]
    Malformed(#[source] DecodeError),
}

/// Admits a message, or returns why not.
///
/// `from` is established by the door (the command table is the person's, R5's answers come through its own), never by
/// the message.
///
/// # Errors
/// See [`Violation`].
pub fn admit(from: RoleId, kind: &str, body: &[u8]) -> Result<AdmittedMessage, Violation> {
    if from.lives_in_cell() || matches!(from, RoleId::Runtime | RoleId::Auditor) {
        return Err(Violation::Forged(from));
    }
    if body.len() > COMMAND_BYTES_MAX {
        return Err(Violation::TooLong(body.len()));
    }
    let kind: Kind = kind.parse().map_err(Violation::UnknownKind)?;
    let into_a_task = kind.route().to.iter().any(|to| to.lives_in_cell() && allows(from, *to, kind));
    if !into_a_task {
        return Err(Violation::NoRoute { from, kind });
    }
    let payload = Payload::decode(kind, body).map_err(Violation::Malformed)?;
    Ok(AdmittedMessage { from, payload })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_with_an_outside_route_are_admitted() {
        let mut admitted = Vec::new();
        for from in RoleId::ALL {
            for kind in Kind::ALL {
                match admit(from, kind.name(), b"{}") {
                    Ok(_) | Err(Violation::Malformed(_)) => admitted.push(format!("{} {kind}", from.label())),
                    Err(Violation::NoRoute { .. } | Violation::Forged(_)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
        expect_test::expect![[r#"
            User UserInput
            User ClarificationAnswer
            User PlanDecision
            User ApprovalDecision
            User CancelRequest
            R5 MemoryReply"#]]
        .assert_eq(&{
            admitted.sort_by_key(|line| line.starts_with("R5"));
            admitted.join("\n")
        });
    }

    #[test]
    fn a_bad_body_or_kind_is_a_typed_refusal() {
        assert!(admit(RoleId::User, "CancelRequest", b"{}").is_ok());
        assert!(matches!(admit(RoleId::User, "CancelRequest", b"["), Err(Violation::Malformed(_))));
        assert!(matches!(admit(RoleId::User, "Nonsense", b"{}"), Err(Violation::UnknownKind(_))));
        assert!(matches!(admit(RoleId::GoalGradientSolver, "FinalResult", b"{}"), Err(Violation::Forged(_))));
        let long = vec![b' '; COMMAND_BYTES_MAX + 1];
        assert!(matches!(admit(RoleId::User, "CancelRequest", &long), Err(Violation::TooLong(_))));
    }
}
