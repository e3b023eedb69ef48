//! A worker and nothing else: what `jsonathlon worker` runs, for this crate's own tests.

fn main() -> std::process::ExitCode {
    jsonathlon_drivers::worker::main()
}
