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
    limit: usize,
    stride: u64,
    samples: Vec<Sample>,
    bytes: usize,
}

impl Sampler {
    pub(crate) fn new(limit: usize) -> Self {
        Sampler { limit, stride: 1, samples: Vec::new(), bytes: 0 }
    }

    /// Offers a document. `index` is its number among the documents that may be sampled, from 0 without gaps.
    #[inline]
    pub(crate) fn offer(&mut self, index: u64, ordinal: u64, line: &[u8]) {
        if index & (self.stride - 1) == 0 && self.limit > 0 {
            self.keep(ordinal, line);
        }
    }

    #[cold]
    fn keep(&mut self, ordinal: u64, line: &[u8]) {
        self.samples.push(Sample { ordinal, line: line.to_vec() });
        self.bytes += line.len();
        while self.samples.len() >= 2 * self.limit || (self.bytes > MOST_BYTES && self.samples.len() > 1) {
            self.stride *= 2;
            let mut index = 0;
            self.samples.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.bytes = self.samples.iter().map(|sample| sample.line.len()).sum();
        }
    }

    /// Returns at most as many samples as wanted, in order.
    pub(crate) fn finish(self) -> Vec<Sample> {
        let (count, limit) = (self.samples.len(), self.limit);
        if count <= limit {
            return self.samples;
        }
        let mut samples = self.samples.into_iter().map(Some).collect::<Vec<_>>();
        (0..limit).filter_map(|index| samples[index * count / limit].take()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(limit: usize, documents: u64, length: usize) -> Vec<u64> {
        let mut sampler = Sampler::new(limit);
        let line = vec![b'x'; length];
        for index in 0..documents {
            sampler.offer(index, 10 + index, &line);
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
            let indexes = sampled(5, documents, 1);
            assert_eq!(indexes.len(), 5, "{documents}");
            let gaps = indexes.windows(2).map(|pair| pair[1] - pair[0]).chain([documents - indexes[4]]);
            assert_eq!(indexes[0], 0);
            assert!(gaps.max().unwrap() <= documents.div_ceil(5) * 3, "{documents}: {indexes:?}");
        }
    }

    #[test]
    fn large_documents_do_not_fill_the_memory() {
        let length = MOST_BYTES / 8 + 1;
        assert!(sampled(1_000, 40, length).len() < 8);
        assert_eq!(sampled(1_000, 1, 2 * MOST_BYTES), [0]);
    }
}
