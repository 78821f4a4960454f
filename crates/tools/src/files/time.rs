//! Times of files as text.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// When the content was last changed: RFC 3339 in UTC, whole seconds. `None` where the clock is beyond the calendar.
pub(crate) fn modified(meta: &Metadata) -> Option<String> {
    seconds(meta.mtime())
}

/// Seconds since the Unix epoch as RFC 3339 in UTC.
pub(crate) fn seconds(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}
