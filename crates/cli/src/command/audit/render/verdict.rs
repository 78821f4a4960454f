//! The result of a verification and what it proves.

use setpoint_audit::view::AuditVerdict;

use crate::text::{Line, Tone};
use crate::view::words;

pub(crate) fn verdict(verdict: &AuditVerdict) -> Vec<Line> {
    let (tone, word) = if verdict.is_sound { (Tone::Good, "sound") } else { (Tone::Bad, "NOT sound") };
    let mut lines = vec![Line::new().and(Tone::Dim, "audit log  ").and(tone, word)];
    let field =
        |name: &str, text: String| Line::new().and(Tone::Dim, &format!("{name:<11}")).and(Tone::Plain, &text);
    lines.push(field(
        "entries",
        format!(
            "{}, {} under {}",
            words::thousands(verdict.entries),
            words::thousands(verdict.sealed),
            words::count(verdict.checkpoints, "signed checkpoint"),
        ),
    ));
    if let Some(sealed) = verdict.sealed_by_export {
        lines.push(field(
            "exported",
            format!("{} entries covered by exported checkpoints", words::thousands(sealed)),
        ));
    }
    if let Some(key) = &verdict.key {
        lines.push(field("key", key.clone()));
    }
    if let (Some(rows), Some(left)) = (verdict.rows, verdict.rows_not_noted) {
        let left = if left == 0 {
            String::new()
        } else {
            format!(", {} not in the log yet", words::thousands(left))
        };
        let pruned = match verdict.rows_pruned {
            0 => String::new(),
            pruned => format!(", {} of them pruned since", words::thousands(pruned)),
        };
        lines.push(field(
            "journal",
            format!("{} rows match what the Auditor read{pruned}{left}", words::thousands(rows)),
        ));
    }
    let wrong = verdict.log.iter().chain(&verdict.journal);
    lines.extend(wrong.map(|what| Line::new().and(Tone::Bad, "wrong      ").and(Tone::Plain, what)));
    if verdict.left_out > 0 {
        lines.push(field("", format!("and {} more", words::thousands(verdict.left_out))));
    }
    section(&mut lines, "This proves:", &verdict.proves);
    section(&mut lines, "This cannot prove:", &verdict.cannot_prove);
    lines
}

fn section(lines: &mut Vec<Line>, title: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    lines.push(Line::new());
    lines.push(Line::new().and(Tone::Strong, title));
    lines.extend(sentences.iter().map(|one| Line::new().and(Tone::Plain, &format!("- {one}"))));
}
