//! Summarises logs: lines per level, the time range, and the most frequent messages. [`line`] reads a single line; this
//! module decides which lines continue others, and adds them up.

mod fields;
mod line;
#[cfg(test)]
mod tests;
mod time;

use std::collections::BTreeMap;

use self::line::{Entry, Place};
use super::Source;
use crate::catalogue::prelude::*;
use crate::files::lines::{self, Line};

/// Maximum bytes of a line that are read.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// Maximum different messages that are tracked; further new ones are not counted.
const MESSAGES_MAX: usize = 50_000;
/// Most frequent messages that are returned.
const TOP_MESSAGES: usize = 10;
/// Levels that count as errors.
const ERRORS: &[&str] = &["ERROR", "SEVERE", "CRITICAL", "ALERT", "EMERGENCY", "FATAL", "PANIC"];

/// The tallies so far. Whether lines without a time continue others is known only at the end, so they are counted
/// separately.
#[derive(Default)]
struct LogTallies {
    lines: u64,
    /// Lines that begin with a space or tab and then with no time: each continues the line before it.
    indented: u64,
    /// Lines with a carriage return before their end.
    returns: u64,
    /// Lines that begin with a time or have one in a field.
    timed: u64,
    /// The tally of lines with such a time or with a level in a field, and that of the others.
    own: Tally,
    others: Tally,
    /// Of the others, empty lines, and lines that begin with a level.
    empty: u64,
    levelled: u64,
    /// Of the indented lines and of the others, lines that may be entries of their own: they name a level, or speak of an error
    /// that the entry before them does not report.
    doubtful_indented: u64,
    doubtful_others: u64,
    /// The last line with a time or a level in a field reports an error.
    is_after_error: bool,
}

/// The sums over some lines.
#[derive(Default)]
struct Tally {
    lines: u64,
    without_level: u64,
    /// Of these, lines that may report an error.
    suspect: u64,
    /// Lines with an unmarked level whose position says nothing.
    unplaced: u64,
    /// Positions of levels, each with the number of all lines and of lines with an unmarked level.
    places: BTreeMap<Place, [u64; 2]>,
    levels: BTreeMap<&'static str, u64>,
    /// The first and the last time, each with its line number.
    first_time: Option<(u64, String)>,
    last_time: Option<(u64, String)>,
    messages: BTreeMap<String, u64>,
    are_messages_cut: bool,
}

/// The sums over all lines, once it is known which of them continue others.
struct Sum {
    tally: Tally,
    /// Lines that continue others.
    continued: u64,
    /// Of these, lines that may be entries of their own.
    doubtful: u64,
    /// Lines whose level is in another position than in most lines.
    elsewhere: u64,
}

pub(super) fn summarise(mut source: Source<'_>) -> Result<ToolAnswer, ToolError> {
    let mut seen = LogTallies::default();
    let mut line = Vec::new();
    loop {
        match lines::next(&mut source.reader, &mut line, LINE_BYTES_MAX) {
            Ok(Line::Some { is_cut, .. }) => seen.add(&line, is_cut),
            Ok(Line::None) => break,
            Err(error) => return Err(source.failed(error)),
        }
    }
    let complete = !source.reader.is_halted();
    let (lines, returns) = (seen.lines, seen.returns);
    let Sum { tally, continued, doubtful, elsewhere } = seen.sum();
    let (first_time, last_time) = (tally.first_time.map(|time| time.1), tally.last_time.map(|time| time.1));
    let mut top: Vec<(String, u64)> = tally.messages.into_iter().filter(|(_, count)| *count > 1).collect();
    top.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    let repeated = top.len();
    top.truncate(TOP_MESSAGES);
    // “0 errors” would mislead if the levels of the lines are unknown.
    let has_levels = !tally.levels.is_empty() || lines == 0;
    let errors = has_levels.then(|| ERRORS.iter().filter_map(|level| tally.levels.get(level)).sum::<u64>());

    let mut text = format!("{}: {}", show::path_line(source.path), show::count(lines, "line", "lines"));
    for (level, count) in &tally.levels {
        text.push_str(&format!("\n  {level}: {count}"));
    }
    if tally.without_level > 0 {
        text.push_str(&format!("\n  no level that is known: {}", tally.without_level));
    }
    if tally.suspect > 0 {
        text.push_str(&format!("\n  of these, speaking of errors: {}", tally.suspect));
    }
    if continued > 0 {
        text.push_str(&format!("\n  belonging to the line before: {continued}"));
    }
    if doubtful > 0 {
        text.push_str(&format!("\n  of these, perhaps entries of their own: {doubtful}"));
    }
    if elsewhere > 0 {
        text.push_str(&format!("\n  level in another place than in most lines: {elsewhere}"));
    }
    if let (Some(first), Some(last)) = (&first_time, &last_time) {
        text.push_str(&format!("\nfrom {first} to {last}"));
    }
    if !top.is_empty() {
        text.push_str("\nmost frequent:");
        let shown = top.iter().map(|(message, count)| format!("  {count} × {}", show::line(message)));
        text.push_str(&answer::listing(shown, TOP_MESSAGES));
    }
    let facts = json!({
        "kind": "log",
        "lines": lines,
        "levels": tally.levels,
        "errors": errors,
        "without_level": tally.without_level,
        "suspect": tally.suspect,
        "levels_elsewhere": elsewhere,
        "continued": continued,
        "continued_doubtful": doubtful,
        "mostly_without_level": lines > 0 && (lines == continued || tally.without_level * 2 > lines - continued),
        "returns": returns,
        "no_time_known": first_time.is_none() && lines > 0,
        "first_time": first_time,
        "last_time": last_time,
        "top_messages": top.iter().map(|(message, count)| json!({ "message": message, "count": count })).collect::<Vec<_>>(),
        "top_messages_count": repeated,
        "messages_cut": tally.are_messages_cut,
        "complete": complete,
    });
    Ok(answer::walked(text, facts, Gaps { complete, ..Gaps::default() }))
}

impl LogTallies {
    fn add(&mut self, line: &[u8], is_cut: bool) {
        self.lines += 1;
        let line = line::plain(line);
        let end = line.len() - line.iter().rev().take_while(|byte| **byte == b'\r').count();
        self.returns += u64::from(line.get(..end).unwrap_or_default().contains(&b'\r'));
        let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let unindented = line.get(indent..).unwrap_or_default();
        let entry = Entry::of(unindented);
        if indent > 0 && !line::leads_with_a_time(unindented) {
            self.indented += 1;
            self.doubtful_indented += u64::from(entry.is_levelled);
            return;
        }
        self.timed += u64::from(entry.is_timed);
        if entry.is_own {
            self.is_after_error = entry.level.as_ref().is_some_and(|found| ERRORS.contains(&found.level));
            return self.own.add(self.lines, &line, is_cut, entry);
        }
        self.empty += u64::from(line::words(&line).next().is_none());
        self.levelled += u64::from(entry.is_levelled);
        let is_of_error = || self.is_after_error && entry.level.is_none();
        self.doubtful_others +=
            u64::from(!entry.is_levelled && !is_of_error() && line::may_begin(&line, &entry));
        self.others.add(self.lines, &line, is_cut, entry);
    }

    /// Adds the tallies up. If half of the lines have a time, lines without one continue others (a trace, the rows of a
    /// dump); one that begins with a level may come from another program.
    fn sum(self) -> Sum {
        let Self { mut own, others, .. } = self;
        let is_timed = self.timed > 0 && self.timed * 2 >= own.lines + others.lines - self.empty;
        if !is_timed {
            let tally = own.with(others);
            return Sum {
                continued: self.indented,
                doubtful: self.doubtful_indented,
                elsewhere: tally.elsewhere(),
                tally,
            };
        }
        own.without_level += self.levelled;
        Sum {
            continued: self.indented + others.lines - self.levelled,
            doubtful: self.doubtful_indented + self.doubtful_others,
            elsewhere: own.elsewhere() + self.levelled,
            tally: own,
        }
    }
}

impl Tally {
    fn add(&mut self, number: u64, line: &[u8], is_cut: bool, entry: Entry) {
        self.lines += 1;
        match entry.level {
            Some(found) => {
                *self.levels.entry(found.level).or_default() += 1;
                match found.place {
                    Some(place) => {
                        let [all, unmarked] = self.places.entry(place).or_default();
                        *all += 1;
                        *unmarked += u64::from(!found.is_marked);
                    }
                    None => self.unplaced += 1,
                }
            }
            None => {
                self.without_level += 1;
                self.suspect += u64::from(is_cut || entry.is_unknown || line::is_suspect(line));
            }
        }
        if let Some(time) = entry.time {
            self.first_time.get_or_insert_with(|| (number, time.clone()));
            self.last_time = Some((number, time));
        }
        self.add_message(entry.message, 1);
    }

    /// Merges two tallies.
    fn with(mut self, other: Self) -> Self {
        self.lines += other.lines;
        self.without_level += other.without_level;
        self.suspect += other.suspect;
        self.unplaced += other.unplaced;
        for (place, [all, unmarked]) in other.places {
            let [all_of_both, unmarked_of_both] = self.places.entry(place).or_default();
            *all_of_both += all;
            *unmarked_of_both += unmarked;
        }
        for (level, count) in other.levels {
            *self.levels.entry(level).or_default() += count;
        }
        self.first_time = [self.first_time, other.first_time].into_iter().flatten().min();
        self.last_time = self.last_time.max(other.last_time);
        for (message, count) in other.messages {
            self.add_message(message, count);
        }
        self.are_messages_cut |= other.are_messages_cut;
        self
    }

    /// Counts lines with an unmarked level in another position than in most lines.
    fn elsewhere(&self) -> u64 {
        let most = self.places.values().map(|[all, _]| *all).max().unwrap_or(0);
        // A position that only one line or a minority of the lines has is part of their text, not the log's format.
        let is_rare = |(place, [all, _]): &(&Place, &[u64; 2])| {
            *all < most
                || (place.name.is_some() && *all < 2)
                || (place.is_behind_word && *all * 2 <= self.lines)
        };
        let rare = self.places.iter().filter(is_rare);
        self.unplaced + rare.map(|(_, [_, unmarked])| unmarked).sum::<u64>()
    }

    fn add_message(&mut self, message: String, times: u64) {
        if message.is_empty() {
            return;
        }
        if let Some(count) = self.messages.get_mut(&message) {
            *count += times;
        } else if self.messages.len() < MESSAGES_MAX {
            self.messages.insert(message, times);
        } else {
            self.are_messages_cut = true;
        }
    }
}
