//! Rebuilds the crate when there is a study more or less: embedding the folder tracks the files it saw, not those that
//! came later.

fn main() {
    println!("cargo:rerun-if-changed=built-in");
}
