//! The terminal: its size, and its keys while a question is asked.
//!
//! Raw mode is on only while a [`Listening`] exists. Dropping it (on return, on an error, on a panic)
//! restores the terminal.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use tokio::sync::mpsc;

/// At most this many keys are queued; further ones wait in the terminal.
const KEYS_MAX: usize = 64;
/// Milliseconds for which the reader waits for a key before it checks whether it should stop.
const LOOK_MS: u64 = 50;
/// This many waits without a key are a pause. Together they are longer than a terminal takes to repeat a key that is held, and
/// than a person takes between two keys of a word: `you` does not begin with an answer.
const PAUSE_LOOKS: u32 = 10;
/// At most this many keys typed before a question are discarded.
const STALE_KEYS_MAX: usize = 10_000;

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: u16,
    /// Lines.
    pub lines: u16,
}

/// A key, or pasted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Pasted text.
    Paste(String),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Forward delete.
    Delete,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// To the beginning of the line.
    Home,
    /// To the end of the line.
    End,
    /// Ctrl-U: erases everything before the cursor.
    EraseLine,
    /// Ctrl-W: erases the word before the cursor.
    EraseWord,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    /// Escape.
    Escape,
    /// The terminal changed size.
    Resize,
    /// A key that means nothing here.
    Unknown,
    /// No key: what came before is all that was typed or pasted together.
    Pause,
}

/// A terminal with a person at it.
pub trait Terminal: Send {
    /// Returns its size, if it has one.
    fn size(&self) -> Option<Size>;

    /// Starts reading keys. Discards what was typed before, because it was not meant for the question.
    ///
    /// # Errors
    /// If the terminal cannot be put into raw mode.
    fn listen(&mut self) -> io::Result<Listening>;
}

/// Keys from the terminal, read until this is dropped.
pub struct Listening {
    /// The keys; closed when nothing more can be read. Dropped before the guard, so that the reader does not
    /// wait for room in the queue.
    pub keys: mpsc::Receiver<Key>,
    /// Restores the terminal when dropped.
    pub guard: Box<dyn Any + Send>,
}

/// The terminal in which the process was started.
#[derive(Clone, Copy, Debug)]
pub struct ProcessTerminal {
    /// Whether it understands escape sequences, so that pasted text comes in one piece.
    pub has_sequences: bool,
}

impl Terminal for ProcessTerminal {
    fn size(&self) -> Option<Size> {
        // Not `size`, which runs the `tput` of the PATH if no terminal answers.
        crossterm::terminal::window_size()
            .ok()
            .map(|size| Size { columns: size.columns, lines: size.rows })
            .filter(|size| size.columns > 0)
    }

    fn listen(&mut self) -> io::Result<Listening> {
        let mut guard = RawMode::enter(self.has_sequences)?;
        let is_wanted = Arc::clone(&guard.is_wanted);
        let (sender, keys) = mpsc::channel(KEYS_MAX);
        let reader = std::thread::Builder::new().name("keys".to_owned());
        let is_quiet = settle(&mut ProcessKeys)?;
        guard.reader =
            Some(reader.spawn(move || read_keys(&mut ProcessKeys, is_quiet, &is_wanted, &sender))?);
        Ok(Listening { keys, guard: Box::new(guard) })
    }
}

/// Raw mode, until dropped.
struct RawMode {
    is_wanted: Arc<AtomicBool>,
    has_sequences: bool,
    reader: Option<JoinHandle<()>>,
}

impl RawMode {
    fn enter(has_sequences: bool) -> io::Result<Self> {
        crossterm::terminal::enable_raw_mode()?;
        let guard = RawMode { is_wanted: Arc::new(AtomicBool::new(true)), has_sequences, reader: None };
        if has_sequences {
            crossterm::execute!(io::stderr(), EnableBracketedPaste)?;
        }
        Ok(guard)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        // Keys typed too early can only be discarded after the reader has stopped; otherwise one that was
        // meant for this question could answer the next. The reader checks at least every `LOOK_MS`.
        if let Some(reader) = self.reader.take() {
            drop(reader.join());
        }
        // If the terminal was closed, there is nothing to restore.
        if self.has_sequences {
            drop(crossterm::execute!(io::stderr(), DisableBracketedPaste));
        }
        drop(crossterm::terminal::disable_raw_mode());
    }
}

/// Where keys come from.
trait Keys {
    /// Waits for a key, and returns whether there is one.
    fn wait(&mut self, duration: Duration) -> io::Result<bool>;

    /// Returns the next key.
    fn next(&mut self) -> io::Result<Event>;
}

/// The keys of this process's terminal.
struct ProcessKeys;

impl Keys for ProcessKeys {
    fn wait(&mut self, duration: Duration) -> io::Result<bool> {
        event::poll(duration)
    }

    fn next(&mut self) -> io::Result<Event> {
        event::read()
    }
}

/// Discards what was typed already, and returns whether nothing more comes for a pause.
fn settle(source: &mut impl Keys) -> io::Result<bool> {
    for _ in 0..STALE_KEYS_MAX {
        if !source.wait(Duration::ZERO)? {
            break;
        }
        source.next()?;
    }
    for _ in 0..PAUSE_LOOKS {
        if source.wait(Duration::from_millis(LOOK_MS))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads keys until `is_wanted` is false, and reports each pause. `is_quiet`: whether there is one now.
fn read_keys(source: &mut impl Keys, mut is_quiet: bool, is_wanted: &AtomicBool, sender: &mpsc::Sender<Key>) {
    if is_quiet && sender.blocking_send(Key::Pause).is_err() {
        return;
    }
    let mut looks = 0;
    while is_wanted.load(Ordering::Relaxed) {
        let key = match source.wait(Duration::from_millis(LOOK_MS)) {
            Ok(false) => {
                looks += 1;
                if is_quiet || looks < PAUSE_LOOKS {
                    continue;
                }
                is_quiet = true;
                Some(Key::Pause)
            }
            Ok(true) => match source.next() {
                Ok(event) => key_of(event).inspect(|_| (is_quiet, looks) = (false, 0)),
                Err(_) => return,
            },
            Err(_) => return,
        };
        if let Some(key) = key
            && sender.blocking_send(key).is_err()
        {
            return;
        }
    }
}

fn key_of(event: Event) -> Option<Key> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(pressed(key).unwrap_or(Key::Unknown)),
        Event::Paste(text) => Some(Key::Paste(text)),
        Event::Resize(..) => Some(Key::Resize),
        _ => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Key::Interrupt),
            KeyCode::Char('d') => Some(Key::EndOfInput),
            KeyCode::Char('u') => Some(Key::EraseLine),
            KeyCode::Char('w') => Some(Key::EraseWord),
            KeyCode::Char('a') => Some(Key::Home),
            KeyCode::Char('e') => Some(Key::End),
            KeyCode::Char('h') => Some(Key::Backspace),
            KeyCode::Char('j' | 'm') => Some(Key::Enter),
            _ => None,
        };
    }
    match key.code {
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::ALT) => Some(Key::Char(c)),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Delete => Some(Key::Delete),
        KeyCode::Left => Some(Key::Left),
        KeyCode::Right => Some(Key::Right),
        KeyCode::Home => Some(Key::Home),
        KeyCode::End => Some(Key::End),
        KeyCode::Esc => Some(Key::Escape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinguished() {
        let key = |code, modifiers| key_of(Event::Key(KeyEvent::new(code, modifiers)));
        let none = KeyModifiers::NONE;
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(key(KeyCode::Char('c'), none), Some(Key::Char('c')));
        assert_eq!(key(KeyCode::Char('Y'), KeyModifiers::SHIFT), Some(Key::Char('Y')));
        // Some terminals send the same code for forward delete and Ctrl-D, but here they are different keys.
        assert_eq!(key(KeyCode::Delete, none), Some(Key::Delete));
        assert_eq!(key(KeyCode::Char('d'), KeyModifiers::CONTROL), Some(Key::EndOfInput));
        assert_eq!(key(KeyCode::Char('y'), KeyModifiers::ALT), Some(Key::Unknown));
        assert_eq!(key(KeyCode::F(1), none), Some(Key::Unknown));
        let mut released = KeyEvent::new(KeyCode::Enter, none);
        released.kind = KeyEventKind::Release;
        assert_eq!(key_of(Event::Key(released)), None);
    }

    /// Keys by the number of waits before each; `None` ends the terminal.
    struct Timed(std::collections::VecDeque<(u32, Option<char>)>);

    impl Keys for Timed {
        fn wait(&mut self, duration: Duration) -> io::Result<bool> {
            let Some((looks, key)) = self.0.front_mut() else { return Err(io::Error::other("closed")) };
            if *looks == 0 {
                return key.map(|_| true).ok_or_else(|| io::Error::other("closed"));
            }
            *looks -= u32::from(!duration.is_zero());
            Ok(false)
        }

        fn next(&mut self) -> io::Result<Event> {
            let key = self.0.pop_front().and_then(|(_, key)| key).unwrap();
            Ok(Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)))
        }
    }

    #[test]
    fn a_pause_separates_what_is_typed_together() {
        for (keys, read) in [
            // Typed before the question, and then one key.
            (&[(0, Some('a')), (0, Some('b')), (19, Some('y')), (19, None)][..], "_y_"),
            // Pasted: one after the other without a wait.
            (&[(14, Some('y')), (0, Some('e')), (0, Some('s')), (19, None)], "_yes_"),
            // A word that is typed at an ordinary speed.
            (&[(14, Some('y')), (4, Some('o')), (4, Some('u')), (19, None)], "_you_"),
            // Held since before the question, and let go.
            (&[(1, Some('y')), (1, Some('y')), (2, Some('y')), (19, Some('n')), (19, None)], "yyy_n_"),
        ] {
            let mut source = Timed(keys.iter().copied().collect());
            let is_quiet = settle(&mut source).unwrap();
            let (sender, mut receiver) = mpsc::channel(KEYS_MAX);
            read_keys(&mut source, is_quiet, &AtomicBool::new(true), &sender);
            drop(sender);
            let mut came = String::new();
            while let Some(key) = receiver.blocking_recv() {
                came.push(match key {
                    Key::Char(c) => c,
                    Key::Pause => '_',
                    other => panic!("{other:?}"),
                });
            }
            assert_eq!(came, read, "{keys:?}");
        }
    }
}
