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
/// Milliseconds after which the reader checks whether it should stop.
const LOOK_MS: u64 = 50;
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
    /// No key: all that came together has been read.
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
        guard.reader = Some(reader.spawn(move || read_keys(&is_wanted, &sender))?);
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
        for _ in 0..STALE_KEYS_MAX {
            if !event::poll(Duration::ZERO)? {
                break;
            }
            event::read()?;
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

/// Reads keys until `is_wanted` is false.
fn read_keys(is_wanted: &AtomicBool, sender: &mpsc::Sender<Key>) {
    while is_wanted.load(Ordering::Relaxed) {
        let key = match event::poll(Duration::from_millis(LOOK_MS)) {
            Ok(false) => continue,
            Ok(true) => event::read().map(key_of),
            Err(error) => Err(error),
        };
        match key {
            Ok(None) => {}
            Ok(Some(key)) => {
                let is_last = matches!(event::poll(Duration::ZERO), Ok(false));
                let keys = std::iter::once(key).chain(is_last.then_some(Key::Pause));
                for key in keys {
                    if sender.blocking_send(key).is_err() {
                        return;
                    }
                }
            }
            Err(_) => return,
        }
    }
}

fn key_of(event: Event) -> Option<Key> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key),
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
        assert_eq!(key(KeyCode::Char('y'), KeyModifiers::ALT), None);
        assert_eq!(key(KeyCode::F(1), none), None);
        let mut released = KeyEvent::new(KeyCode::Enter, none);
        released.kind = KeyEventKind::Release;
        assert_eq!(key_of(Event::Key(released)), None);
    }
}
