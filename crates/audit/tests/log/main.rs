//! The log through its public interface.

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod common;
#[cfg(test)]
mod export;
#[cfg(test)]
mod old;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod writing;
