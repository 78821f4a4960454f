//! Lists two levels of names below the working directory. Every folder shows some of its entries, however many the
//! others have.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use setpoint_protocol::record::SurveyEntry;

use crate::halt::Halt;
use crate::show;
use crate::walk::search::{Bounds, walk};

/// Maximum levels that are visited.
const DEPTH_MAX: usize = 2;
/// Maximum names that are listed.
const NAMES_MAX: usize = 120;
/// Maximum names that are visited; beyond them the walk stops.
const SEEN_MAX: usize = 5_000;

/// Returns the listed names in order, and the number of others that were visited.
pub(super) fn below(root: &Path, halt: &Halt) -> (Vec<SurveyEntry>, u64) {
    let mut top: Vec<SurveyEntry> = Vec::new();
    let mut inside: BTreeMap<String, Vec<SurveyEntry>> = BTreeMap::new();
    let bounds = Bounds { entries_max: SEEN_MAX, depth_max: DEPTH_MAX, hidden: false, only_git: false };
    walk(root, bounds, halt, |entry| {
        let Ok(path) = entry.path().strip_prefix(root) else { return ControlFlow::Continue(()) };
        let Ok(meta) = entry.metadata() else { return ControlFlow::Continue(()) };
        if halt.rooms().is_closed(&meta) {
            return ControlFlow::Continue(());
        }
        let mark = if meta.is_dir() { "/" } else { "" };
        let name = SurveyEntry {
            path: format!("{}{mark}", show::line(&show::path(path))),
            bytes: meta.is_file().then_some(meta.len()),
        };
        match path.parent().filter(|above| !above.as_os_str().is_empty()) {
            None => top.push(name),
            Some(above) => {
                inside.entry(format!("{}/", show::line(&show::path(above)))).or_default().push(name);
            }
        }
        ControlFlow::Continue(())
    });
    let seen = top.len() + inside.values().map(Vec::len).sum::<usize>();
    let listed = choose(top, inside);
    let left_out = u64::try_from(seen.saturating_sub(listed.len())).unwrap_or(u64::MAX);
    (listed, left_out)
}

/// Chooses the entries of the top first, then those of the folders in turn; sorted by path.
fn choose(mut top: Vec<SurveyEntry>, inside: BTreeMap<String, Vec<SurveyEntry>>) -> Vec<SurveyEntry> {
    top.truncate(NAMES_MAX);
    let mut room = NAMES_MAX - top.len();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    loop {
        let before = room;
        for (folder, names) in &inside {
            let count = counts.entry(folder).or_default();
            if room > 0 && *count < names.len() {
                *count += 1;
                room -= 1;
            }
        }
        if room == before || room == 0 {
            break;
        }
    }
    let mut listed = Vec::new();
    for entry in top {
        let within = inside.get(&entry.path).into_iter().flatten();
        let count = counts.get(entry.path.as_str()).copied().unwrap_or_default();
        listed.push(entry);
        listed.extend(within.take(count).cloned());
    }
    listed
}
