//! `doctor`: how everything stands.

use serde_json::json;
use setpoint_client::desk::Health;
use setpoint_client::{ClientError, Desk};

use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};

/// Something that does not work makes the exit code 1.
pub(super) fn doctor(options: &GlobalOptions, desk: &dyn Desk, io: &mut Io) -> Result<Exit, ClientError> {
    let diagnoses = desk.doctor();
    let worst = diagnoses.iter().map(|diagnosis| diagnosis.state).max().unwrap_or(Health::Good);
    if options.is_json {
        io.out.json(&json!({ "state": worst, "findings": diagnoses }))?;
    } else {
        let rows: Vec<Vec<Cell>> = diagnoses
            .iter()
            .map(|diagnosis| {
                let (tone, word) = words(diagnosis.state);
                vec![
                    (tone, word.to_owned()),
                    (Tone::Name, diagnosis.subject.clone()),
                    (Tone::Plain, diagnosis.finding.clone()),
                ]
            })
            .collect();
        let mut lines = Vec::new();
        for (line, diagnosis) in table(&[], &rows).into_iter().zip(&diagnoses) {
            lines.push(line);
            if let Some(hint) = &diagnosis.hint {
                lines.push(Line::plain("      ").and(Tone::Care, "hint: ").and(Tone::Plain, hint));
            }
        }
        io.out.lines(&lines)?;
    }
    Ok(if worst == Health::Bad { Exit::INTERNAL } else { Exit::DONE })
}

const fn words(health: Health) -> (Tone, &'static str) {
    match health {
        Health::Good => (Tone::Good, "good"),
        Health::Note => (Tone::Care, "note"),
        Health::Bad => (Tone::Bad, "bad"),
    }
}
