//! Parses server-sent events from lines (WHATWG HTML, 9.2.6), as far as models' answers need them.
//!
//! Ignores comments, ids and retry times. Drops an event that the stream ends inside.

use super::WireError;
use super::lines::{LINE_BYTES_MAX, Lines};

/// Assembles events.
#[derive(Debug, Default)]
pub struct Events {
    lines: Lines,
    event: Event,
}

/// The event so far.
#[derive(Debug, Default)]
struct Event {
    name: String,
    data: String,
    has_data: bool,
}

impl Events {
    /// Takes the next bytes and passes name and data of every completed event to `each`.
    ///
    /// # Errors
    /// If a line or an event is too long, a line is not UTF-8, or `each` fails.
    pub fn push(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&str, &str) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let event = &mut self.event;
        self.lines.push(bytes, |line| event.take(line, &mut each))
    }
}

impl Event {
    fn take(
        &mut self,
        line: &str,
        each: &mut impl FnMut(&str, &str) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        if line.is_empty() {
            let given = if self.has_data { each(&self.name, &self.data) } else { Ok(()) };
            self.name.clear();
            self.data.clear();
            self.has_data = false;
            return given;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => {
                self.name.clear();
                self.name.push_str(value);
            }
            "data" => {
                if self.data.len() + value.len() >= LINE_BYTES_MAX {
                    return Err(WireError::TooLarge { what: "an event of the stream", max: LINE_BYTES_MAX });
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(bytes: &str) -> Vec<String> {
        let mut events = Events::default();
        let mut found = Vec::new();
        let each = |name: &str, data: &str| {
            found.push(format!("{name}|{data}"));
            Ok(())
        };
        events.push(bytes.as_bytes(), each).unwrap();
        found
    }

    #[test]
    fn an_empty_line_ends_an_event_and_data_lines_are_joined() {
        let text = ": hello\nretry: 10\n\nevent: a\ndata: {\"x\":\ndata:1}\nid: 7\n\ndata\n\nevent: b\n\ndata:  c\n\n";
        assert_eq!(events(text), ["a|{\"x\":\n1}", "|", "| c"]);
    }

    #[test]
    fn an_unfinished_event_is_dropped() {
        assert!(events("event: a\ndata: {}\n").is_empty());
        assert!(events("data: {}").is_empty());
    }

    #[test]
    fn an_event_has_the_limit_of_a_line() {
        let line = format!("data: {}\n", "x".repeat(LINE_BYTES_MAX / 2));
        let mut events = Events::default();
        let each = |_: &str, _: &str| Ok(());
        events.push(line.as_bytes(), each).unwrap();
        assert!(matches!(events.push(line.as_bytes(), each), Err(WireError::TooLarge { .. })));
    }
}
