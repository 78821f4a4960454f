//! Goals that language models think about: the binary against the scripted server, over real TCP.

mod wires;
