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
                "All {entries} entries fit together: none was changed, removed, inserted, repeated or moved without every \
                 later one being made anew."
            ));
        }
        let unsealed = entries.saturating_sub(*sealed);
        if unsealed > 0 {
            cannot_prove.push(format!(
                "The last {unsealed} entries are under no checkpoint that fits: whoever can write to the directory could \
                 have cut them off, or made them anew, and that is not seen."
            ));
        }
        if let Some(key) = seen.key.filter(|_| *sealed > 0) {
            proves.push(format!(
                "The first {sealed} entries are those that were signed with the key {key}: to change them takes its \
                 secret half, or the help of a program that has it."
            ));
            if seen.is_key_pinned {
                proves.push("That key is the one that was named.".to_owned());
            } else if *sealed_by_export == 0 {
                cannot_prove.push(
                    "Neither a key nor exported checkpoints vouch for the log: that all of it was rewritten and signed with \
                     another key is not seen."
                        .to_owned(),
                );
            }
            if *earlier_logs > 0 {
                cannot_prove.push(format!(
                    "{earlier_logs} earlier logs were put aside, which the checkpoints show; they were not verified with \
                     this one."
                ));
            }
        }
        if seen.exported.is_some() && *sealed_by_export > 0 {
            proves.push(format!(
                "The first {sealed_by_export} entries are those of the exported checkpoints: to change them unseen takes \
                 the export, too."
            ));
        }
        cannot_prove.push(match seen.exported {
            None => "No exported checkpoints were given: that log and checkpoints were put back together to an older state of \
                     theirs, and perhaps went on from there, is not seen."
                .to_owned(),
            Some(_) if *sealed_by_export > 0 => format!(
                "That log and checkpoints were put back to an older state with {sealed_by_export} entries or more, and \
                 perhaps went on from there, is not seen by this export."
            ),
            Some(_) => "The export vouches for no entry of this log.".to_owned(),
        });
        cannot_prove.push(match seen.exported {
            None => "Whoever has the signing key can rewrite everything and sign it anew: only exported checkpoints out of \
                     their reach would show it."
                .to_owned(),
            Some(_) => "Whoever has the signing key and can write to every copy of the exported checkpoints can rewrite \
                        everything, and that is not seen."
                .to_owned(),
        });
        cannot_prove.push(
            "That what was written is true: the log shows that nothing was changed after it was written."
                .to_owned(),
        );
        Self { proves, cannot_prove }
    }
}
