//! Detects checks that cannot fail, whatever is observed: `any: [A, not A]`.

use setpoint_protocol::predicate::{Agreement, Comparison, Observation, Predicate};

/// At most this many distinct parts per check; a check with more is assumed to be able to fail.
const PARTS_MAX: usize = 10;
/// Texts that have little in common. A part that holds for each of them is taken to hold for any text.
const SAMPLES: &[&str] = &["", "x", "1 2\nerror: y\n"];

/// Returns whether the check holds for every combination of true and false parts.
pub(super) fn cannot_fail(expect: &Predicate) -> bool {
    let mut parts = Vec::new();
    collect(expect, &mut parts);
    if parts.len() > PARTS_MAX {
        return false;
    }
    (0_u32..1 << parts.len()).all(|ways| {
        let are: Vec<(&Predicate, bool)> =
            parts.iter().enumerate().map(|(n, part)| (*part, (ways >> n) & 1 == 1)).collect();
        !is_possible(&are) || holds(expect, &are)
    })
}

fn collect<'a>(predicate: &'a Predicate, parts: &mut Vec<&'a Predicate>) {
    match predicate {
        Predicate::All(inner) | Predicate::Any(inner) => inner.iter().for_each(|part| collect(part, parts)),
        Predicate::Not(inner) => collect(inner, parts),
        part if parts.contains(&part) => {}
        part => parts.push(part),
    }
}

fn holds(predicate: &Predicate, are: &[(&Predicate, bool)]) -> bool {
    match predicate {
        Predicate::All(inner) => inner.iter().all(|part| holds(part, are)),
        Predicate::Any(inner) => inner.iter().any(|part| holds(part, are)),
        Predicate::Not(inner) => !holds(inner, are),
        part => are.iter().any(|(known, is)| *known == part && *is),
    }
}

/// Returns whether this combination can occur: a part that holds for any text is always true, and a number that is
/// not at most 9 is at least 3.
fn is_possible(are: &[(&Predicate, bool)]) -> bool {
    let failing: Vec<&Predicate> = are.iter().filter(|(_, holds)| !holds).map(|(part, _)| *part).collect();
    let is_always = |part: &Predicate| {
        let holds_of = |text: &&str| part.evaluate(&Observation { text, value: None, exit_code: None }).holds;
        matches!(part, Predicate::Contains(_) | Predicate::Matches(_)) && SAMPLES.iter().all(holds_of)
    };
    !failing.iter().any(|one| is_always(one) || failing.iter().any(|other| one_holds(one, other)))
}

/// Returns whether at least one of the two parts holds for any number.
fn one_holds(one: &Predicate, other: &Predicate) -> bool {
    use Comparison::{AtLeast, AtMost, Output};
    use Predicate::Pointer;
    match (one, other) {
        (Pointer { at, is }, Pointer { at: same, is: other }) if at == same => match (is, other) {
            (AtLeast(least), AtMost(most)) => least <= most,
            (Output { how: Agreement::AtLeast, at }, Output { how: Agreement::AtMost, at: same }) => {
                at == same
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_hold_for_anything_are_detected() {
        for (expect, expected) in [
            (r#"{"any": [{"contains": "a"}, {"not": {"contains": "a"}}]}"#, true),
            (r#"{"not": {"all": [{"exit_code": 1}, {"not": {"exit_code": 1}}]}}"#, true),
            (
                r#"{"any": [{"all": [{"contains": "a"}, {"contains": "b"}]}, {"not": {"contains": "a"}}, {"not": {"contains": "b"}}]}"#,
                true,
            ),
            (r#"{"matches": ".*"}"#, true),
            (r#"{"matches": "^"}"#, true),
            (
                r#"{"all": [{"matches": "x?"}, {"any": [{"contains": "a"}, {"not": {"contains": "a"}}]}]}"#,
                true,
            ),
            (
                r#"{"any": [{"pointer": {"at": "/n", "is": {"at_least": 3}}}, {"pointer": {"at": "/n", "is": {"at_most": 9}}}]}"#,
                true,
            ),
            (
                r#"{"any": [{"pointer": {"at": "/n", "is": {"at_least": 9}}}, {"pointer": {"at": "/n", "is": {"at_most": 3}}}]}"#,
                false,
            ),
            (r#"{"any": [{"contains": "a"}, {"not": {"contains": "b"}}]}"#, false),
            (r#"{"all": [{"contains": "a"}, {"not": {"contains": "a"}}]}"#, false),
            (r#"{"matches": "."}"#, false),
            (r#"{"matches": "^$"}"#, false),
            (r#"{"contains": "a"}"#, false),
            (r#"{"exit_code": 0}"#, false),
        ] {
            let predicate: Predicate = serde_json::from_str(expect).unwrap();
            assert_eq!(cannot_fail(&predicate), expected, "{expect}");
        }
    }
}
