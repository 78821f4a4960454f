//! The store as its users see it.

#[cfg(test)]
mod damage;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod store;
#[cfg(test)]
mod support;
#[cfg(test)]
mod words;
