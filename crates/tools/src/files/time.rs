//! File times as text.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Returns the modification time in RFC 3339, UTC, whole seconds; `None` if the time is outside the calendar.
pub(crate) fn modified(meta: &Metadata) -> Option<String> {
    seconds(meta.mtime())
}

/// Formats seconds since the Unix epoch in RFC 3339, UTC.
pub(crate) fn seconds(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}
