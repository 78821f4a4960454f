//! Describes a question that was not recorded, and how the nearest recorded one differs.
//!
//! It quotes the first line that differs, except in a model's own text, of which it only names the place.

use setpoint_protocol::record::Purpose;
use setpoint_protocol::text::clip;

use super::tape::{Exchange, Tape};

/// Maximum characters of a line that are shown.
const LINE_CHARS_MAX: usize = 160;
/// Data blocks that code writes from calls. All others may contain a model's words.
const SHOWN_BLOCKS: &[&str] = &["result conversation", "data calls", "data probes of the whole"];
/// Maximum lines that are compared from either end; differences further inside are ignored.
const LINES_MAX: usize = 20_000;

/// Returns the reason of the failure.
pub(super) fn reason(tape: &Tape, asked: &str, purpose: Purpose, number: u64, recorded: usize) -> String {
    let name = purpose.name();
    let question = format!("the recording has no answer to question {number} of `{name}`");
    if recorded > 0 {
        return format!(
            "{question}: it was recorded {recorded} time(s), and each recorded answer is used once"
        );
    }
    let same_purpose = tape.exchanges().iter().filter(|exchange| exchange.purpose == purpose);
    // The first of several equally near ones: later ones of a conversation repeat it.
    let nearest = same_purpose.rev().max_by_key(|exchange| alike(asked, &exchange.asked));
    let cut = tape.notice().map(|notice| format!("; {notice}")).unwrap_or_default();
    match nearest {
        None => format!("{question}: it has none of `{name}` at all{cut}"),
        Some(nearest) => format!("{question}: {}{cut}", difference(tape, asked, nearest)),
    }
}

/// Returns how many lines two questions have in common, from both ends, and how many characters of the first line that
/// differs.
fn alike(asked: &str, recorded: &str) -> (usize, usize) {
    let same = |(a, b): &(&str, &str)| a == b;
    let front = asked.lines().zip(recorded.lines()).take(LINES_MAX).take_while(same).count();
    let back = asked.lines().rev().zip(recorded.lines().rev()).take(LINES_MAX).take_while(same).count();
    let differing = asked.lines().nth(front).zip(recorded.lines().nth(front));
    let chars =
        differing.map(|(ours, theirs)| ours.chars().zip(theirs.chars()).take_while(|(a, b)| a == b).count());
    (front + back, chars.unwrap_or_default())
}

fn difference(tape: &Tape, asked: &str, nearest: &Exchange) -> String {
    let at = tape.exchanges().iter().position(|exchange| std::ptr::eq(exchange, nearest)).unwrap_or_default();
    // The head of the file is line 1.
    let at = format!("the nearest is in line {} of {}", at + 2, tape.path().display());
    let mut ours = asked.lines();
    let mut theirs = nearest.asked.lines();
    let mut block = "";
    for line in 1.. {
        let (our, their) = (ours.next(), theirs.next());
        if our == their && our.is_some() {
            // Only heads of blocks are not indented.
            block = our.filter(|line| !line.starts_with(' ')).unwrap_or(block);
            continue;
        }
        let is_head = |line: Option<&str>| line.is_none_or(|line| !line.starts_with(' '));
        let of_block = if block.is_empty() { String::new() } else { format!(", in `{block}`") };
        let place = format!("{at} and differs first in line {line} of the question{of_block}");
        let hides =
            (block.starts_with("data ") || block.starts_with("said ")) && !SHOWN_BLOCKS.contains(&block);
        return match (our, their) {
            (None, None) => format!("{at} and has the same text but another hash: the recording was edited"),
            _ if hides && !(is_head(our) && is_head(their)) => place,
            _ => format!("{place}: recorded {}, asked {}", shown(their), shown(our)),
        };
    }
    at
}

/// Formats a line on one line, or says that there is none.
fn shown(line: Option<&str>) -> String {
    let Some(line) = line else { return "nothing more".to_owned() };
    let plain: String = line.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("`{}`", clip(&plain, LINE_CHARS_MAX))
}
