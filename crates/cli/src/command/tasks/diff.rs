//! `tasks diff`: how the files that a task changed differ from what they were before it.

use clap::Args;
use serde_json::json;
use setpoint_app::Error;
use setpoint_app::operator::tasks::{Undoing, Verb};

use super::undo::unkept;
use crate::command::reading;
use crate::text::{Line, Tone, sanitise};
use crate::{App, Exit, Io};

/// Show what a task changed in files, compared with what was there before it
#[derive(Args, Debug)]
pub(super) struct Diff {
    /// Name the task by its id, or the start or end of its id
    task: String,
}

impl Diff {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        reading(app, async |organisation| {
            let task = organisation.resolve(&self.task).await?;
            // What undoing would put back is what the task changed.
            let undoing = organisation.undoing(&task, None, true).await?;
            let changes: Vec<_> = changes(&undoing).collect();
            let value =
                json!({ "task_id": task, "changes": changes.iter().map(Change::value).collect::<Vec<_>>(), "not_kept": undoing.unkept() });
            io.out.show(&app.options, &value, || {
                if changes.is_empty() && undoing.unkept().is_empty() {
                    return vec![Line::plain(
                        "the task changed no file outside its workspace, or all is as before",
                    )];
                }
                changes.iter().flat_map(Change::lines).chain(unkept(&undoing)).collect()
            })?;
            Ok(Exit::DONE)
        })
        .await
    }
}

/// What became of one path.
struct Change {
    what: &'static str,
    path: String,
    /// Its name before, or why nothing is known of it.
    note: Option<String>,
    difference: Option<String>,
}

fn changes(undoing: &Undoing) -> impl Iterator<Item = Change> {
    let changed = undoing.outcomes().into_iter().map(|(verb, path, name)| Change {
        what: match verb {
            Verb::Restore => "deleted",
            Verb::Revert => "changed",
            Verb::Remove => "created",
            Verb::Rename => "renamed",
        },
        difference: undoing.difference(&path),
        path: path.to_string_lossy().into_owned(),
        note: name.map(|name| format!("it was {}", name.to_string_lossy())),
    });
    let unknown = undoing.left().iter().map(|(path, why)| Change {
        what: "changed",
        path: path.to_string_lossy().into_owned(),
        note: Some(why.clone()),
        difference: None,
    });
    changed.chain(unknown)
}

impl Change {
    fn value(&self) -> serde_json::Value {
        json!({ "change": self.what, "path": self.path, "note": self.note, "difference": self.difference })
    }

    fn lines(&self) -> Vec<Line> {
        let note =
            self.note.as_deref().map(|note| format!(" ({})", sanitise::line(note))).unwrap_or_default();
        let head = Line::new()
            .and(Tone::Strong, self.what)
            .and(Tone::Plain, &format!(" {}{note}", sanitise::line(&self.path)));
        let difference = self.difference.iter().flat_map(|text| text.lines());
        let tone = |line: &str| match line.chars().next() {
            Some('+') => Tone::Good,
            Some('-') => Tone::Bad,
            _ => Tone::Dim,
        };
        std::iter::once(head)
            .chain(difference.map(|line| Line::new().and(tone(line), &format!("  {}", sanitise::line(line)))))
            .collect()
    }
}
