//! The rules of the approval gate, as one pure function: facts in, decision out.
//!
//! The facts are gathered before, by code that looks at the disk; the function opens nothing, so the same facts decide
//! the same in a replay. A fact that is missing never lets anything through: every rule asks for the absence of a reason.

use setpoint_protocol::gate::{Area, Cause, Facts, Found, Grant, Rule, RunLevel, Stage, TouchFacts};
use setpoint_protocol::tool::{Secret, Source};

/// What the gate does with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// It may run.
    LetThrough,
    /// A person has to allow it first.
    Ask(Asking),
    /// It may not run, whatever anyone allows ([`Rule::Closed`]): it touches this one of the paths.
    Refuse {
        /// The place in the list of touched paths.
        touch: usize,
    },
    /// It may not run although nothing asks, or what asked is allowed: this line of the approval file denies it
    /// ([`Rule::Denied`]).
    Deny {
        /// The line, with the name of the file.
        line: String,
    },
}

/// Why a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// The rule that decided.
    pub rule: Rule,
    /// The reason, for a person to read.
    pub reason: String,
    /// The place of the path that decided, if one did.
    touch: Option<usize>,
}

impl Decision {
    /// Returns the rule that keeps the call from running.
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        match self {
            Decision::LetThrough => None,
            Decision::Ask(asking) => Some(asking.rule),
            Decision::Refuse { .. } => Some(Rule::Closed),
            Decision::Deny { .. } => Some(Rule::Denied),
        }
    }
}

/// Decides by the facts alone.
pub fn decide(facts: &Facts) -> Decision {
    if let Some(touch) = facts.touches.iter().position(|touch| touch.is_closed) {
        return Decision::Refuse { touch };
    }
    let allowed = || match &facts.denied {
        Some(line) => Decision::Deny { line: line.clone() },
        None => Decision::LetThrough,
    };
    let Some(asking) = asking(facts) else { return allowed() };
    let void = match facts.grant {
        Grant::Covers => return allowed(),
        Grant::Void => "; what was allowed is not, or no longer, exactly this",
        Grant::None => "",
    };
    let is_command = matches!(facts.cause, Some(Cause::Command(_)));
    let rule = match &facts.stage {
        Stage::Outside | Stage::Unmade(_) if is_command && asking.rule != Rule::SecretSent => {
            Rule::OutsideSandbox
        }
        _ => asking.rule,
    };
    let reason = asking.reason;
    let reason = match &facts.stage {
        Stage::Plain => format!("{reason}{void}"),
        Stage::Outside => format!(
            "{reason}{void}; it would run outside the sandbox, and what it changes is not kept for an undo"
        ),
        Stage::Unmade(why) => {
            format!("{reason}{void}; it would run outside of a sandbox, which could not be made: {why}")
        }
        Stage::Ran => {
            format!("it ran in the sandbox, and what it changed is not in place yet: {reason}{void}")
        }
    };
    Decision::Ask(Asking { rule, reason, touch: asking.touch })
}

/// Returns whether one touched path needs consent by itself.
#[must_use]
pub fn is_asked_about(touch: &TouchFacts, facts: &Facts) -> bool {
    touched(touch, facts).is_some()
}

/// Returns the part of the facts that a record keeps: it decides the same, and is as small as one touched path.
#[must_use]
pub fn deciding(facts: Facts, asking: &Asking) -> Facts {
    let source = match (asking.rule, &facts.cause) {
        (Rule::ReadElsewhere, Some(Cause::Calls { server, .. })) => beside(server, &facts).cloned(),
        _ => None,
    };
    let secret = facts.secrets.first().filter(|_| asking.rule == Rule::SecretRead).cloned();
    let contained = facts.contains.first().filter(|_| asking.rule == Rule::SecretSent).cloned();
    Facts {
        touches: asking.touch.and_then(|at| facts.touches.into_iter().nth(at)).into_iter().collect(),
        sources: source.into_iter().collect(),
        secrets: secret.into_iter().collect(),
        contains: contained.into_iter().collect(),
        ..facts
    }
}

fn asking(facts: &Facts) -> Option<Asking> {
    let cause = facts.cause.as_ref().and_then(|cause| caused(cause, facts));
    let mut touches = facts.touches.iter().enumerate();
    let unknown = touches.find_map(|(at, touch)| Some((at, unknown(touch)?)));
    let ask = |(rule, reason), touch| Asking { rule, reason, touch };
    match (cause, unknown) {
        (Some((rule, reason)), Some((at, unknown))) => {
            Some(ask((rule, format!("{reason}; {unknown}")), Some(at)))
        }
        (Some(cause), None) => Some(ask(cause, None)),
        (None, Some((at, unknown))) => Some(ask((Rule::UnknownPlace, unknown), Some(at))),
        (None, None) => {
            let mut touches = facts.touches.iter().enumerate();
            let touched = touches.find_map(|(at, touch)| Some(ask(touched(touch, facts)?, Some(at))));
            let caution = || (Rule::Caution, "memory advises caution with this tool here".to_owned());
            touched.or_else(|| facts.is_cautious.then(|| ask(caution(), None)))
        }
    }
}

/// Returns whether something may leave this machine.
#[must_use]
pub fn sends(cause: &Cause) -> bool {
    match cause {
        Cause::Calls { is_connected, .. } => *is_connected,
        Cause::Command(_) | Cause::Connects { .. } | Cause::Query(_) => true,
        Cause::Content(_) | Cause::Link(_) => false,
    }
}

/// Returns why this asks whatever is touched, or `None`.
fn caused(cause: &Cause, facts: &Facts) -> Option<(Rule, String)> {
    let Some(key) = facts.contains.first().filter(|_| sends(cause)) else { return plainly(cause, facts) };
    let why = match cause {
        Cause::Calls { server, .. } => format!("it would send to {server}"),
        _ => plainly(cause, facts)?.1,
    };
    let key = match key {
        Secret::File(name) | Secret::Key(name) | Secret::Form(name) => name.clone(),
        Secret::Written(_) | Secret::Unknown | Secret::Unsearched => key.to_string(),
    };
    Some((Rule::SecretSent, format!("it contains what looks like a key ({key}); {why}")))
}

/// Like [`caused`], of a call that contains no key.
fn plainly(cause: &Cause, facts: &Facts) -> Option<(Rule, String)> {
    Some(match cause {
        Cause::Command(why) => (Rule::NotReadOnly, why.clone()),
        Cause::Content(why) => (Rule::Obeyed, why.clone()),
        Cause::Link(why) => (Rule::Link, why.clone()),
        Cause::Connects { host, sends } => {
            let sends = sends.iter().map(|name| format!(" and send the secret {name}"));
            (Rule::Network, format!("it would connect to {host}{}", sends.collect::<String>()))
        }
        Cause::Query(host) => (Rule::Network, format!("it would send the query to {host}")),
        Cause::Calls { tool, server, is_trusted: false, .. } => {
            (Rule::Server, format!("it would call {tool} of {server}"))
        }
        Cause::Calls { is_connected: false, .. } => return None,
        Cause::Calls { server, .. } => match (facts.secrets.first(), beside(server, facts)) {
            (Some(secret), _) => (
                Rule::SecretRead,
                format!(
                    "it would send to {server} after the task has read {secret}, which your trust in it does not cover"
                ),
            ),
            (None, source) => {
                let source = source?;
                let why = "which your trust in it does not cover";
                (
                    Rule::ReadElsewhere,
                    format!("it would send to {server} after the task has read {source}, {why}"),
                )
            }
        },
    })
}

/// Returns what the task has read from elsewhere than `server`: those who wrote it may have led a model to send
/// something there.
fn beside<'f>(server: &Source, facts: &'f Facts) -> Option<&'f Source> {
    facts.sources.iter().find(|source| source.origin() != server)
}

fn unknown(touch: &TouchFacts) -> Option<String> {
    let Found::Unknown(error) = &touch.found else { return None };
    Some(format!("it would touch {}, whose place cannot be told ({error})", touch.path))
}

/// Returns why one touched path needs consent, or `None`.
fn touched(touch: &TouchFacts, facts: &Facts) -> Option<(Rule, String)> {
    let path = &touch.path;
    let is_in_workspace = touch.area == Area::Workspace;
    if let Some(unknown) = unknown(touch) {
        return Some((Rule::UnknownPlace, unknown));
    }
    if facts.level == RunLevel::L0 && !is_in_workspace {
        return Some((Rule::LevelL0, format!("it would touch {path}, and at level L0 every change asks")));
    }
    let verb = if touch.is_delete { "delete" } else { "change" };
    match &touch.found {
        Found::Nothing if touch.is_delete => return None,
        Found::Nothing => {
            let cwd = &facts.cwd;
            let outside = format!("it is outside the working directory ({cwd}) and the task's workspace");
            let (rule, why) = match (touch.area, &touch.obeyed) {
                (Area::Elsewhere, _) => (Rule::Elsewhere, &outside),
                (_, Some(why)) => (Rule::Obeyed, why),
                (_, None) => return None,
            };
            return Some((rule, format!("it would create {path}: {why}")));
        }
        Found::Foreign { path, target } => {
            let rule = match (touch.area, &touch.obeyed) {
                (Area::Elsewhere, _) => Some(Rule::Elsewhere),
                (_, Some(_)) => Some(Rule::Obeyed),
                (_, None) if facts.is_kept => None,
                (_, None) => Some(Rule::NotKept),
            };
            if let Some(rule) = rule {
                let target = target.as_ref().map(|target| format!(" (a link to {target})"));
                let target = target.unwrap_or_default();
                return Some((
                    rule,
                    format!("it would {verb} {path}{target}, which this task did not create"),
                ));
            }
        }
        Found::Unknown(_) | Found::Own => {}
    }
    if touch.has_other_names && !touch.is_in_cache {
        let why = format!("it would {verb} {path}, a file that has other names too (hard links)");
        return Some((Rule::HardLink, why));
    }
    let obeyed = touch.obeyed.as_ref().filter(|_| !touch.is_delete && !is_in_workspace)?;
    Some((Rule::Obeyed, format!("it would change {path}: {obeyed}")))
}

#[cfg(test)]
mod tests;
