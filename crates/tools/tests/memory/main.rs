//! However much a tool reads, and however much a program prints: memory stays bounded, and so does the record.
//!
//! One test alone in its process, because what is measured is the process.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod bounds;
