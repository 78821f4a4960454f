//! Runs a command line in a fully scripted world.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;
use setpoint_cli::io::{Key, Listening, Out, Size, Terminal};
use setpoint_cli::{App, CommandLine, Io};
use tokio::sync::mpsc;

use super::host::FakeHost;
use super::organisation::{Ears, Fake};

/// The result of a command line.
#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) code: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Came {
    /// Parses stdout as the one JSON value that it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.out.lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).unwrap()
    }
}

/// The surroundings of a command.
pub(crate) struct World {
    pub(crate) host: FakeHost,
    pub(crate) stdin: Vec<u8>,
    pub(crate) is_terminal: bool,
    pub(crate) can_redraw: bool,
    pub(crate) is_ascii: bool,
    /// Whether the reader of stdout has closed its end.
    pub(crate) is_gone: bool,
    pub(crate) zone: TimeZone,
    pub(crate) size: Size,
    /// The keys that are typed at each question.
    pub(crate) keys: VecDeque<Vec<Key>>,
}

impl World {
    /// Returns a world without a terminal.
    pub(crate) fn headless(organisation: Arc<Fake>) -> Self {
        World {
            host: FakeHost::new(organisation),
            stdin: vec![],
            is_terminal: false,
            can_redraw: false,
            is_ascii: false,
            is_gone: false,
            zone: TimeZone::UTC,
            size: Size { columns: 100, lines: 30 },
            keys: VecDeque::new(),
        }
    }

    /// Returns a world with a terminal that cannot redraw, so that all output stays and can be read in order.
    pub(crate) fn on_paper(organisation: Arc<Fake>, keys: Vec<Vec<Key>>) -> Self {
        World { is_terminal: true, keys: keys.into(), ..World::headless(organisation) }
    }

    /// Returns a world with a terminal.
    pub(crate) fn on_terminal(organisation: Arc<Fake>, keys: Vec<Vec<Key>>) -> Self {
        World { can_redraw: true, ..World::on_paper(organisation, keys) }
    }

    pub(crate) async fn run(self, line: &str) -> Came {
        self.run_arguments(words(line)).await.0
    }

    /// Runs a command line given as arguments, and returns the host as well.
    pub(crate) async fn run_arguments(self, arguments: Vec<OsString>) -> (Came, FakeHost) {
        let ears = Arc::clone(&self.host.organisation.ears);
        let (out, err) = (Buffer::default(), Heard(Arc::clone(&ears)));
        let mut io = Io {
            input: Box::new(Cursor::new(self.stdin)),
            out: match self.is_gone {
                true => Out::new(Box::new(Gone)),
                false => self::out(out.clone(), self.is_terminal, self.is_ascii),
            },
            err: self::out(err.clone(), self.is_terminal, self.is_ascii),
            terminal: Box::new(Scripted {
                keys: self.keys,
                size: self.size,
                ears: Arc::clone(&ears),
                held: vec![],
            }),
            interrupts: Box::new(move || {
                let (sender, receiver) = mpsc::channel(4);
                *ears.interrupts.lock().unwrap() = Some(sender);
                Ok(receiver)
            }),
            is_input_terminal: self.is_terminal,
            can_redraw: self.can_redraw,
            zone: self.zone,
        };
        let program = std::iter::once(OsString::from("setpoint"));
        let exit = match setpoint_cli::parse(program.chain(arguments)) {
            Ok(CommandLine { options, command }) => {
                let app = App { options, host: &self.host };
                setpoint_cli::execute(command, &app, &mut io).await
            }
            Err(refusal) => refusal.report(&mut io),
        };
        drop(io);
        (Came { code: exit.code(), out: out.text(), err: err.text() }, self.host)
    }
}

/// Returns the words of a command line; a word in `'…'` may hold spaces.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    let mut words = vec![];
    for (n, part) in line.split('\'').enumerate() {
        if n % 2 == 1 {
            words.push(part.into());
        } else {
            words.extend(part.split_whitespace().map(OsString::from));
        }
    }
    words
}

/// Returns the keys that type a text.
pub(crate) fn typed(text: &str) -> Vec<Key> {
    text.chars().map(|c| if c == '\n' { Key::Enter } else { Key::Char(c) }).collect()
}

fn out(writer: impl Write + Send + 'static, is_terminal: bool, is_ascii: bool) -> Out {
    let mut out = Out::new(Box::new(writer));
    (out.is_terminal, out.is_ascii) = (is_terminal, is_ascii);
    out
}

/// An stdout whose reader has closed its end.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An stderr for which the script can wait.
#[derive(Clone)]
struct Heard(Arc<Ears>);

impl Heard {
    fn text(&self) -> String {
        String::from_utf8(self.0.err.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.err.lock().unwrap().extend_from_slice(bytes);
        self.0.shown.notify_one();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal where each question gets the next keys of the script, and then no more.
struct Scripted {
    keys: VecDeque<Vec<Key>>,
    size: Size,
    ears: Arc<Ears>,
    /// Senders of earlier questions, kept open: a person who types nothing more is still there.
    held: Vec<mpsc::Sender<Key>>,
}

impl Terminal for Scripted {
    fn size(&self) -> Option<Size> {
        Some(self.size)
    }

    fn listen(&mut self) -> io::Result<Listening> {
        let Some(script) = self.keys.pop_front() else {
            return Err(io::Error::other("there is no terminal"));
        };
        let (sender, keys) = mpsc::channel(1_024);
        // As typed by a person, unless the script has pauses of its own.
        let is_typed = !script.contains(&Key::Pause);
        sender.try_send(Key::Pause).unwrap();
        for key in script {
            sender.try_send(key).unwrap();
            if is_typed {
                sender.try_send(Key::Pause).unwrap();
            }
        }
        self.held.push(sender);
        self.ears.listening.notify_one();
        Ok(Listening { keys, guard: Box::new(()) })
    }
}
