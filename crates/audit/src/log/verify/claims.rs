//! What a verification proves and does not prove, in sentences that fit what was compared.

use super::Verification;

/// Sentences for the operator. Nothing else was proven.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// What was proven.
    pub proves: Vec<String>,
    /// What was not proven, and could not be seen in what was compared.
    pub cannot_prove: Vec<String>,
}

impl Claims {
    pub(super) fn of(seen: &Verification) -> Self {
        let Verification { entries, sealed, sealed_by_export, earlier_logs, .. } = seen;
        let (mut proves, mut cannot_prove) = (Vec::new(), Vec::new());
        if seen.is_sound() && *entries > 0 {
            proves.push(format!(
                "All {entries} entries fit together: to change, remove, insert, repeat or move one takes rewriting \
                 all later ones."
            ));
        }
        let unsealed = entries.saturating_sub(*sealed);
        if unsealed > 0 {
            cannot_prove.push(format!(
                "The last {unsealed} entries are covered by no valid checkpoint: a process that can write to the \
                 directory could have cut off or rewritten entries there, undetected."
            ));
        }
        if let Some(key) = seen.key.filter(|_| *sealed > 0) {
            proves.push(format!(
                "The first {sealed} entries are those that were signed with the key {key}: to change them takes its \
                 secret half, or a program that has it."
            ));
            if seen.is_key_pinned {
                proves.push("That is the key that you named.".to_owned());
            } else if *sealed_by_export == 0 {
                cannot_prove.push(
                    "No key and no exported checkpoints were given: a log that was rewritten as a whole and signed \
                     with another key is not detected."
                        .to_owned(),
                );
            }
            if *earlier_logs > 0 {
                cannot_prove.push(format!(
                    "The checkpoints show {earlier_logs} earlier logs that were set aside; they were not verified."
                ));
            }
        }
        if seen.exported.is_some() && *sealed_by_export > 0 {
            proves.push(format!(
                "The first {sealed_by_export} entries match the exported checkpoints: to change them undetected \
                 takes changing the export, too."
            ));
        }
        cannot_prove.push(match seen.exported {
            None => "No exported checkpoints were given: a restored older copy of both log and checkpoints is not \
                     detected, even if it continued from there."
                .to_owned(),
            Some(_) if *sealed_by_export > 0 => format!(
                "A restored older copy of both log and checkpoints with {sealed_by_export} entries or more is not \
                 detected with this export, even if it continued from there."
            ),
            Some(_) => "The export covers no entry of this log.".to_owned(),
        });
        cannot_prove.push(match seen.exported {
            None => "A person with the signing key can rewrite and sign everything: only exported checkpoints out \
                     of their reach would show it."
                .to_owned(),
            Some(_) => "A person with the signing key who can write to every copy of the exported checkpoints can \
                        rewrite everything, undetected."
                .to_owned(),
        });
        cannot_prove.push(
            "That the entries are true: the log shows only that they were not changed after they were written."
                .to_owned(),
        );
        Self { proves, cannot_prove }
    }
}
