//! Samples of documents for reading back, spread evenly over the data.

use serde::{Deserialize, Serialize};

/// Maximum size of all samples in bytes. Fewer samples than requested are kept if documents are large.
const MOST_BYTES: usize = 64 << 20;

/// A document that is read back from a system later and compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Number among the offered documents, from 0.
    pub ordinal: u64,
    /// Bytes of the document, without the newline.
    pub line: Vec<u8>,
}

/// Keeps every n-th document; n doubles whenever twice as many as wanted have been kept.
///
/// Unlike reservoir sampling, this is deterministic for the same data and leaves no long stretch out.
#[derive(Debug)]
pub(crate) struct Sampler {
    wanted: usize,
    stride: u64,
    kept: Vec<Sample>,
    bytes: usize,
}

impl Sampler {
    pub(crate) fn new(wanted: usize) -> Self {
        Sampler { wanted, stride: 1, kept: Vec::new(), bytes: 0 }
    }

    /// Offers a document. `place` is its number among the documents that may be sampled, from 0 without gaps.
    #[inline]
    pub(crate) fn offer(&mut self, place: u64, ordinal: u64, line: &[u8]) {
        if place & (self.stride - 1) == 0 && self.wanted > 0 {
            self.keep(ordinal, line);
        }
    }

    #[cold]
    fn keep(&mut self, ordinal: u64, line: &[u8]) {
        self.kept.push(Sample { ordinal, line: line.to_vec() });
        self.bytes += line.len();
        while self.kept.len() >= 2 * self.wanted || (self.bytes > MOST_BYTES && self.kept.len() > 1) {
            self.stride *= 2;
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.bytes = self.kept.iter().map(|sample| sample.line.len()).sum();
        }
    }

    /// Returns at most as many samples as wanted, in order.
    pub(crate) fn finish(self) -> Vec<Sample> {
        let (count, wanted) = (self.kept.len(), self.wanted);
        if count <= wanted {
            return self.kept;
        }
        let mut kept = self.kept.into_iter().map(Some).collect::<Vec<_>>();
        (0..wanted).filter_map(|place| kept[place * count / wanted].take()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(wanted: usize, documents: u64, length: usize) -> Vec<u64> {
        let mut sampler = Sampler::new(wanted);
        let line = vec![b'x'; length];
        for place in 0..documents {
            sampler.offer(place, 10 + place, &line);
        }
        sampler.finish().iter().map(|sample| sample.ordinal - 10).collect()
    }

    #[test]
    fn few_documents_are_all_kept() {
        assert_eq!(sampled(5, 4, 1), [0, 1, 2, 3]);
        assert_eq!(sampled(5, 5, 1), [0, 1, 2, 3, 4]);
        assert_eq!(sampled(0, 5, 1), [0_u64; 0]);
        assert_eq!(sampled(1, 9, 1), [0]);
    }

    #[test]
    fn many_documents_are_spread_evenly() {
        for documents in [6, 9, 10, 11, 99, 1_000, 12_345] {
            let places = sampled(5, documents, 1);
            assert_eq!(places.len(), 5, "{documents}");
            let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).chain([documents - places[4]]);
            assert_eq!(places[0], 0);
            assert!(gaps.max().unwrap() <= documents.div_ceil(5) * 3, "{documents}: {places:?}");
        }
    }

    #[test]
    fn large_documents_do_not_fill_the_memory() {
        let length = MOST_BYTES / 8 + 1;
        assert!(sampled(1_000, 40, length).len() < 8);
        assert_eq!(sampled(1_000, 1, 2 * MOST_BYTES), [0]);
    }
}
