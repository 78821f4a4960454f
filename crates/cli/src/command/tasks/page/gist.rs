//! A record in one line: its headline, and as much of its details as fits.

use setpoint_protocol::record::Record;
use setpoint_protocol::text::clip;

use super::limit::GIST_CHARS_MAX;
use crate::render::gist::{Gist, gist};
use crate::render::record;

pub(super) fn of(record: &Record) -> String {
    let (headline, details) = match record.message() {
        Some(message) => {
            let Gist { headline, aside, details, .. } = gist(&message);
            (if aside.is_empty() { headline } else { format!("{headline} / {aside}") }, details)
        }
        None => {
            let (headline, details) = record::lines(record, None);
            (headline.to_text(), details)
        }
    };
    let details = details.iter().map(|line| line.to_text().trim().to_owned());
    clip(&std::iter::once(headline).chain(details).collect::<Vec<_>>().join(" / "), GIST_CHARS_MAX)
}
