//! However much a tool reads and a program prints, memory and the record stay bounded.
//!
//! This test is alone in its process, because the whole process is measured.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod bounds;
