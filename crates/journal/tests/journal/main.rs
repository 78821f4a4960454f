//! The journal's tests: its rules over both backends, its behaviour on a disk, and its state after a crash.

#[cfg(test)]
mod common;
#[cfg(test)]
#[cfg(all(unix, feature = "failpoints"))]
mod crash;
#[cfg(test)]
#[cfg(unix)]
mod disk;
#[cfg(test)]
mod rules;
