//! Large documents: von Neumann ordinals as JSON, each of which contains all smaller ones.
//!
//! D(0) is `{"l": 0}`. D(n) has its number as `l` and a member `k0` … `k(n−1)` for each smaller ordinal. It
//! has 2ⁿ objects in n + 1 levels, and 2ⁿ⁺⁴ bytes, give or take a few. A [`NestedTable`] holds many documents
//! of one D(n), which differ in their top-level `l` and in the presence of the member `rare`.

mod digest;
mod larger;
mod maker;
mod table;

pub use digest::{DigestError, digest};
pub use larger::EnlargedDocument;
pub use maker::NestedGenerator;
pub use table::{InnerContent, MAX_ORDINAL, NestedTable};

/// Version of the mapping from (n, seed, key) to documents. Must be incremented whenever any byte changes.
pub const ORDINALS_VERSION: u32 = 1;

/// Finalizer of splitmix64 (Steele, Lea, Flood 2014, after Stafford's thirteenth variant).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Returns the four-digit number of the inner object `position` in the document `key`. Objects are counted in
/// text order, from 1 for the first one below the top.
fn inner(seed: u64, key: u64, position: u64) -> u64 {
    1000 + mix(mix(seed ^ mix(key)) ^ position) % 9000
}
