//! Counts what a server sends between two requests, and stops reading at a limit.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::limits::{MESSAGE_BYTES_MAX, NOTIFICATIONS_MAX, TURN_BYTES_MAX};

/// The counts of one connection.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    bytes: AtomicU64,
    notifications: AtomicU64,
    excess: OnceLock<&'static str>,
    /// Ends the connection.
    pub(crate) stop: CancellationToken,
}

impl Meter {
    /// Begins a request.
    pub(crate) fn restart(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.notifications.store(0, Ordering::Relaxed);
    }

    /// Returns what there was too much of.
    pub(crate) fn excess(&self) -> Option<&'static str> {
        self.excess.get().copied()
    }

    pub(crate) fn count_notification(&self) {
        if self.notifications.fetch_add(1, Ordering::Relaxed) >= NOTIFICATIONS_MAX {
            self.exceed("too many notifications");
        }
    }

    fn exceed(&self, what: &'static str) {
        // The first reason stays.
        let _ = self.excess.set(what);
        self.stop.cancel();
    }
}

/// A server's output, which ends in an error where it is too much.
pub(crate) struct Metered<R> {
    inner: R,
    meter: Arc<Meter>,
    /// Bytes since the last line end.
    line: usize,
}

impl<R> Metered<R> {
    pub(crate) fn new(inner: R, meter: Arc<Meter>) -> Self {
        Metered { inner, meter, line: 0 }
    }

    /// Counts what was read; returns what there is too much of.
    fn count(&mut self, read: &[u8]) -> Option<&'static str> {
        let total = self.meter.bytes.fetch_add(read.len() as u64, Ordering::Relaxed) + read.len() as u64;
        for part in read.split_inclusive(|byte| *byte == b'\n') {
            self.line += part.len();
            if self.line > MESSAGE_BYTES_MAX {
                return Some("a message that is too long");
            }
            if part.ends_with(b"\n") {
                self.line = 0;
            }
        }
        (total > TURN_BYTES_MAX).then_some("too many bytes")
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.meter.excess().is_some() {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let excess = self.count(buf.filled().get(before..).unwrap_or_default());
        if let Some(what) = excess {
            self.meter.exceed(what);
            buf.set_filled(before);
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        Poll::Ready(Ok(()))
    }
}
