//! Rebuilds the crate when a system's folder gains or loses a file: embedding
//! the folder tracks the files it saw, not those that came later.

fn main() {
    println!("cargo:rerun-if-changed=systems");
    println!("cargo:rerun-if-changed=defaults");
}
