//! Follows the log and returns its new entries, whichever process wrote them; audits if no other process does.

use std::path::Path;

use setpoint_journal::Journal;
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::AuditReport;
use setpoint_protocol::text::error_chain;

use super::entry::{LogEntry, parse};
use super::{AuditFailure, AuditPlace, Keeper, look};
use crate::log::{Entries, LogError, ReverseEntries};
use crate::view::{AuditEvent, FindingLine};

/// Maximum rows per look.
const ROWS_AT_ONCE: u64 = 4_096;
/// Looks between two tries to take over from another auditing process.
const TAKE_OVER_EVERY: u32 = 20;

/// A reader of the log that audits while no other process does.
#[derive(Debug)]
pub struct Follower {
    place: AuditPlace,
    journal: Journal,
    keeper: Option<Keeper>,
    /// The log's reader: new entries come from here, whichever process wrote them.
    entries: Option<Entries>,
    /// The last entry that was returned, or that was there before the first look.
    told_to: Option<u64>,
    /// Whether the log could not be read at the last look, so that this is reported once.
    is_broken: bool,
    looks: u32,
    /// Whether this process audits, as last reported.
    told: Option<bool>,
}

impl Follower {
    /// Creates one that does nothing before the first [`Follower::look`].
    #[must_use]
    pub fn new(place: AuditPlace, journal: Journal) -> Self {
        Follower {
            place,
            journal,
            keeper: None,
            entries: None,
            told_to: None,
            is_broken: false,
            looks: 0,
            told: None,
        }
    }

    /// Returns what is new since the last look, and whether there is more to read at once. Entries from before the
    /// first look are not new.
    ///
    /// # Errors
    /// If the log, its key or the journal cannot be used.
    pub fn look(&mut self, now: Timestamp) -> Result<(Vec<AuditEvent>, bool), AuditFailure> {
        let mut news = Vec::new();
        if self.keeper.is_none() && self.looks.is_multiple_of(TAKE_OVER_EVERY) {
            self.keeper = Keeper::open(&self.place, &self.journal, now)?;
            if self.told.replace(self.keeper.is_some()) != Some(self.keeper.is_some()) {
                let who = if self.keeper.is_some() {
                    "auditing in this process"
                } else {
                    "another process audits; this one only follows the log"
                };
                news.push(AuditEvent::Note(who.to_owned()));
            }
        }
        self.looks = self.looks.wrapping_add(1);
        self.open_log();
        let mut is_behind = false;
        if let Some(keeper) = &mut self.keeper {
            let caught = keeper.catch_up(ROWS_AT_ONCE, now);
            let ticked = caught.and_then(|caught| keeper.tick(now).map(|_| caught.is_behind));
            match ticked {
                Ok(behind) => is_behind = behind,
                Err(error) => {
                    news.push(AuditEvent::Note(error_chain(&error)));
                    if error.requires_reopen() {
                        self.keeper = None;
                    }
                }
            }
        }
        news.extend(self.news());
        Ok((news, is_behind))
    }

    /// Opens the log after its last readable entry, or again after the last entry that was returned. A log that
    /// replaced it is new from its first entry.
    fn open_log(&mut self) {
        let dir = &self.place.dir;
        let is_replaced = self.entries.as_ref().is_some_and(|entries| entries.is_replaced().unwrap_or(true));
        if is_replaced {
            self.told_to = Some(0);
        }
        if is_replaced || self.is_broken || self.entries.is_none() {
            self.told_to = self.told_to.or_else(|| last_readable(dir).ok());
            if let Some(Ok(entries)) = self.told_to.map(|told_to| Entries::after(dir, told_to)) {
                self.entries = Some(entries);
            }
        }
    }

    fn news(&mut self) -> Vec<AuditEvent> {
        let mut news = Vec::new();
        while let Some(entry) = self.entries.as_mut().and_then(Iterator::next) {
            let Ok(entry) = entry else {
                // If the disk is full, the writer takes a batch back that may have been read: read again after the
                // last entry that was returned.
                if !std::mem::replace(&mut self.is_broken, true) {
                    news.push(AuditEvent::Unreadable);
                }
                break;
            };
            (self.told_to, self.is_broken) = (Some(entry.seq), false);
            match parse(&entry.json) {
                Some(LogEntry::Finding(finding)) => {
                    news.push(AuditEvent::Finding(Box::new(FindingLine::of(entry.seq, finding))));
                }
                Some(LogEntry::Report(report)) => news.push(AuditEvent::Report(report)),
                Some(LogEntry::Forced { task, .. }) => {
                    let note = format!("{task} was resumed by force, from a restored journal");
                    news.push(AuditEvent::Note(note));
                }
                _ => {}
            }
        }
        news
    }

    /// Returns the report as of now.
    ///
    /// # Errors
    /// If the log or the journal cannot be read.
    pub fn report(&self, query: &str, now: Timestamp) -> Result<AuditReport, AuditFailure> {
        match &self.keeper {
            Some(keeper) => Ok(keeper.report(query, now)),
            None => look(&self.place.dir, &self.journal, query, now).map(|audited| audited.report),
        }
    }

    /// Stops auditing, if it does, and closes the journal.
    ///
    /// # Errors
    /// If what was read cannot be noted. The next process reads it again.
    pub fn stop(self, now: Timestamp) -> Result<(), AuditFailure> {
        let stopped = self.keeper.map_or(Ok(()), |keeper| keeper.stop(now));
        if let Err(error) = self.journal.close() {
            tracing::debug!(%error, "the journal did not close");
        }
        stopped
    }
}

/// Returns the number of the log's last entry, or of the last one before damage; 0 if there is none.
fn last_readable(dir: &Path) -> Result<u64, LogError> {
    match ReverseEntries::of(dir)?.next() {
        None => Ok(0),
        Some(Ok(entry)) => Ok(entry.seq),
        Some(Err(error)) if error.is_damage() => {
            Ok(Entries::after(dir, 0)?.map_while(Result::ok).last().map_or(0, |entry| entry.seq))
        }
        Some(Err(error)) => Err(error),
    }
}
