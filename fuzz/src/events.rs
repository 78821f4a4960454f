//! Server-sent events: the result does not depend on how the bytes were cut, and agrees with the standard.

use setpoint_model::wire::Events;

use crate::pieces::pieces;

/// The first byte says how the rest is cut.
pub(crate) fn run(input: &[u8]) {
    let Some((seed, bytes)) = input.split_first() else { return };
    let whole = events(&[bytes]);
    assert_eq!(events(&pieces(bytes, *seed)), whole, "the events depend on how the bytes were cut");
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert_eq!(whole.0, by_the_standard(text), "the events are not those of the standard");
        assert_eq!(whole.1, None, "text as short as this has no fault");
    }
}

/// Returns the events in order of arrival, and the error that ended them.
fn events(packets: &[&[u8]]) -> (Vec<(String, String)>, Option<String>) {
    let mut events = Events::default();
    let mut found = Vec::new();
    for packet in packets {
        let each = |name: &str, data: &str| {
            found.push((name.to_owned(), data.to_owned()));
            Ok(())
        };
        if let Err(error) = events.push(packet, each) {
            return (found, Some(error.to_string()));
        }
    }
    (found, None)
}

/// Parses the whole text at once, as the standard describes it.
fn by_the_standard(text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    // Text after the last line end is not a line.
    let Some((lines, _)) = text.rsplit_once('\n') else { return Vec::new() };
    let mut found = Vec::new();
    let mut name = "";
    let mut data: Option<String> = None;
    for line in lines.split('\n') {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (line, field) {
            ("", _) => found.extend(data.take().map(|data| (std::mem::take(&mut name).to_owned(), data))),
            (_, "event") => name = value,
            (_, "data") => match &mut data {
                Some(data) => data.extend(["\n", value]),
                None => data = Some(value.to_owned()),
            },
            _ => {}
        }
        if line.is_empty() {
            name = "";
        }
    }
    found
}
