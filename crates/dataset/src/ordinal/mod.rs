//! Large documents: the ordinals of von Neumann as JSON, each of which holds all that come before it.
//!
//! D(0) is `{"l": 0}`; D(n + 1) is D(n) with a member `k0` … `kn` for each smaller one, and its own number as `l`. D(n) has
//! 2ⁿ objects in n + 1 levels, and 2ⁿ⁺⁴ bytes, give or take a few. A [`Table`] holds many of one D(n), which differ in their
//! top-level `l` and in who has the member `rare`.

mod digest;
mod larger;
mod maker;
mod table;

pub use digest::{DigestError, digest};
pub use larger::Larger;
pub use maker::Maker;
pub use table::{Data, LARGEST, Table};

/// Version of the law from (n, seed, key) to documents. It changes with every change of any byte.
pub const ORDINALS_VERSION: u32 = 1;

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014, after Stafford's thirteenth variant).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The number in the place `position` of the document `key`, which has four digits. Objects are counted as they come in the
/// text, from 1 for the first below the top.
fn inner(seed: u64, key: u64, position: u64) -> u64 {
    1000 + mix(mix(seed ^ mix(key)) ^ position) % 9000
}
