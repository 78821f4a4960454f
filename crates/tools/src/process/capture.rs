//! Captures a program's output: its beginning and its end, in constant memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use setpoint_scrub::{SPAN_BYTES_MAX, Scrub};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::files::text::whole_characters;

/// A stream that is being read, with its head and tail so far.
#[derive(Clone, Debug)]
pub(crate) struct Capture(Arc<Mutex<KeptBytes>>);

/// The kept output of a stream, without keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CapturedOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes between head and tail that were dropped.
    left_out: u64,
    /// Bytes that were printed, kept or not.
    pub(crate) total: u64,
}

#[derive(Debug)]
struct KeptBytes {
    /// The beginning, plus [`KeptBytes::border`] bytes.
    head: Vec<u8>,
    head_max: usize,
    /// The end of what follows the first `head_max` bytes, plus [`KeptBytes::border`] bytes before it.
    tail: VecDeque<u8>,
    tail_max: usize,
    total: u64,
    keys: Scrub,
}

impl Capture {
    /// Keeps at most `bytes_max`: one third from the beginning, the rest from the end.
    pub(crate) fn new(bytes_max: usize, keys: &Scrub) -> Self {
        let head_max = bytes_max / 3;
        let kept = KeptBytes {
            head: Vec::new(),
            head_max,
            tail: VecDeque::new(),
            tail_max: bytes_max - head_max,
            total: 0,
            keys: keys.clone(),
        };
        Capture(Arc::new(Mutex::new(kept)))
    }

    /// Reads until the end or the first error, which also ends a pipe.
    pub(crate) async fn read(self, mut stream: impl AsyncRead + Unpin) {
        let mut block = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut block).await {
                Ok(0) => return,
                Ok(got) => self.push(block.get(..got).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Takes the output so far, without keys. Keys are removed before the borders are cut, because half a key is still a
    /// secret.
    pub(crate) fn take(&self) -> CapturedOutput {
        let mut kept = self.kept();
        let head = std::mem::take(&mut kept.head);
        let tail = Vec::from(std::mem::take(&mut kept.tail));
        kept.output(head, tail)
    }

    /// Returns a copy of the output so far, likewise.
    pub(crate) fn so_far(&self) -> CapturedOutput {
        let kept = self.kept();
        kept.output(kept.head.clone(), Vec::from(kept.tail.clone()))
    }

    /// Returns how many bytes were printed so far.
    pub(crate) fn total(&self) -> u64 {
        self.kept().total
    }

    fn kept(&self) -> MutexGuard<'_, KeptBytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, block: &[u8]) {
        let mut kept = self.kept();
        let border = if kept.keys.is_empty() { 0 } else { SPAN_BYTES_MAX };
        let begins = usize::try_from(kept.total).unwrap_or(usize::MAX);
        kept.total += block.len() as u64;
        let room = (kept.head_max + border).saturating_sub(begins).min(block.len());
        kept.head.extend_from_slice(block.get(..room).unwrap_or_default());
        let (tail_max, of_head) = (kept.tail_max + border, kept.head_max.saturating_sub(begins));
        let to_tail = block.get(of_head..).unwrap_or_default();
        let skip = to_tail.len().saturating_sub(tail_max);
        let to_tail = to_tail.get(skip..).unwrap_or_default();
        let excess = (kept.tail.len() + to_tail.len()).saturating_sub(tail_max);
        kept.tail.drain(..excess);
        kept.tail.extend(to_tail);
    }
}

impl KeptBytes {
    fn output(&self, head: Vec<u8>, tail: Vec<u8>) -> CapturedOutput {
        let head_max = self.head_max.min(head.len());
        let tail_min = tail.len().saturating_sub(self.tail_max);
        let (keys, total) = (&self.keys, self.total);
        let left_out = total.saturating_sub((head_max + tail.len() - tail_min) as u64);
        let cut = |(head, tail)| CapturedOutput { head, tail, left_out, total };
        if total > (head_max + tail.len()) as u64 {
            return cut((keys.part(&head, 0..head_max), keys.part(&tail, tail_min..tail.len())));
        }
        let whole = [head.get(..head_max).unwrap_or_default(), &tail].concat();
        if left_out == 0 {
            return cut((keys.part(&whole, 0..whole.len()), Vec::new()));
        }
        cut((keys.part(&whole, 0..head_max), keys.part(&whole, head_max + tail_min..whole.len())))
    }
}

/// Cuts a text to `bytes_max` bytes: head and tail, and a note of what was cut between them.
pub(crate) fn bounded_text(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let capture = Capture::new(bytes_max, &Scrub::default());
    capture.push(text.as_bytes());
    capture.take().text(bytes_max)
}

impl CapturedOutput {
    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns whether something was dropped.
    pub(crate) fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// Returns the output if nothing was dropped.
    pub(crate) fn whole(&self) -> Option<Vec<u8>> {
        (!self.is_cut()).then(|| [self.head.as_slice(), self.tail.as_slice()].concat())
    }

    /// Returns head and tail as text of at most `bytes_max` bytes, with a line between them that says what was dropped.
    /// Invalid UTF-8 becomes `U+FFFD`.
    pub(crate) fn text(&self, bytes_max: usize) -> String {
        let all = [self.head.as_slice(), self.tail.as_slice()].concat();
        if !self.is_cut() && all.len() <= bytes_max {
            return lossy(&all);
        }
        let (head, tail) = if self.is_cut() {
            (self.head.as_slice(), self.tail.as_slice())
        } else {
            all.split_at_checked(all.len() / 3).unwrap_or((&all, &[]))
        };
        // Reserves room for the mark.
        let room = bytes_max.saturating_sub(80);
        let (head_len, tail_len) = (head.len(), tail.len());
        let head_max = head_len.min(room / 3);
        let tail_max = tail_len.min(room - room / 3);
        let head = whole_characters(head.get(..head_max).unwrap_or_default());
        let tail = whole_characters_at_end(tail.get(tail.len() - tail_max..).unwrap_or_default());
        let (head, tail) = (bounded(lossy(head), room / 3), lossy(tail));
        let cut_now = head_len + tail_len - head_max - tail_max;
        let left_out = self.left_out + cut_now as u64;
        format!(
            "{head}\n[… {left_out} of {} bytes cut …]\n{}",
            self.total,
            bounded_end(tail, room - room / 3)
        )
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Removes the part of a character that a cut left at the beginning.
fn whole_characters_at_end(bytes: &[u8]) -> &[u8] {
    let broken = bytes.iter().take(3).take_while(|byte| (**byte & 0b1100_0000) == 0b1000_0000).count();
    bytes.get(broken..).unwrap_or(bytes)
}

/// Cuts a text to `max` bytes: replacement characters are longer than the bytes they replace.
fn bounded(mut text: String, max: usize) -> String {
    while text.len() > max {
        text.pop();
    }
    text
}

fn bounded_end(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let mut left = text.len();
    text.chars()
        .skip_while(|c| {
            let skip = left > max;
            left -= c.len_utf8();
            skip
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bytes_max: usize, printed: &[u8], block: usize) -> CapturedOutput {
        let capture = Capture::new(bytes_max, &Scrub::default());
        printed.chunks(block).for_each(|block| capture.push(block));
        capture.take()
    }

    #[test]
    fn output_that_fits_is_whole() {
        for block in [1, 4, 100] {
            let seen = captured(12, b"hello world", block);
            assert_eq!(seen.text(100), "hello world");
            assert_eq!(seen.whole().unwrap(), b"hello world");
        }
    }

    #[test]
    fn long_output_keeps_head_and_tail() {
        let printed: Vec<u8> = (b'a'..=b'z').cycle().take(1_000).collect();
        for block in [1, 7, 64, 1_000] {
            let seen = captured(30, &printed, block);
            assert_eq!(
                seen.text(1_000),
                "abcdefghij\n[… 970 of 1000 bytes cut …]\nstuvwxyzabcdefghijkl",
                "{block}"
            );
            assert!(seen.is_cut() && seen.whole().is_none());
        }
    }

    #[test]
    fn characters_are_not_split() {
        let printed = "é".repeat(1_000);
        for bytes_max in 30..40 {
            let text = captured(bytes_max, printed.as_bytes(), 13).text(1_000);
            assert!(!text.contains('\u{fffd}'), "{text}");
        }
    }

    #[test]
    fn replacement_characters_do_not_exceed_the_bound() {
        let text = captured(10_000, &[0xff; 9_000], 100).text(1_000);
        assert!(text.len() <= 1_000, "{}", text.len());
        assert!(text.contains("of 9000 bytes cut"), "{text}");
        let mixed = captured(3_000, &[b'x'; 9_000], 100).text(1_000);
        assert!(mixed.len() <= 1_000 && mixed.starts_with("xx") && mixed.ends_with("xx"), "{mixed}");
    }

    #[tokio::test]
    async fn a_stream_is_read_to_its_end() {
        let capture = Capture::new(1_000, &Scrub::default());
        capture.clone().read(&b"from a stream"[..]).await;
        assert_eq!(capture.take().text(100), "from a stream");
    }

    #[test]
    fn a_key_at_a_border_leaves_nothing() {
        const KEY: &str = "sk-Zq81LmXv0TtR5bNcYw7HdGf2";
        let keys = Scrub::named(&[("K".to_owned(), KEY.into())]);
        let longest = |text: &str| {
            let pieces = (0..KEY.len()).flat_map(|start| (start + 1..=KEY.len()).map(move |end| start..end));
            pieces
                .filter(|piece| text.contains(KEY.get(piece.clone()).unwrap()))
                .map(|piece| piece.len())
                .max()
        };
        // Everything kept, a little dropped, and most of it dropped; with the key across each border in turn.
        for (bytes_max, before, after) in
            [(90, 0, 40), (90, 15, 60), (90, 20, 100), (90, 500, 45), (90, 25, 200_000)]
        {
            for moved in 0..40 {
                let printed = format!("{}{KEY}{}", ".".repeat(before + moved), ".".repeat(after));
                for block in [1_000, 7] {
                    let capture = Capture::new(bytes_max, &keys);
                    printed.as_bytes().chunks(block).for_each(|block| capture.push(block));
                    let text = capture.take().text(1_000);
                    assert!(longest(&text) <= Some(2), "{before}+{moved} {after} {block}: {text}");
                }
            }
        }
    }
}
