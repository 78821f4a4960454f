//! The journal's tests: its rules over both backends, its behaviour on a disk, and what a crash leaves.

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
