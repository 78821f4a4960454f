//! The client against a scripted server, which misbehaves on request.

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod http;
#[cfg(test)]
mod pins;
#[cfg(test)]
mod reconnect;
#[cfg(test)]
mod scripted;
