//! Whole organisations from seeds, the traces of their records, and their documentation.

#[cfg(test)]
mod attempts;
#[cfg(test)]
mod documented;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod tree;
