//! Documents for reading back, spread evenly over all of them.

use serde::{Deserialize, Serialize};

/// How many bytes of samples are kept at most; of large documents there are then fewer.
const MOST_BYTES: usize = 64 << 20;

/// A document to look for in a system later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Its number among the offered documents, from 0.
    pub ordinal: u64,
    /// Its bytes without the newline.
    pub line: Vec<u8>,
}

/// Takes every n-th document, where n doubles whenever twice as many as wanted have come together.
///
/// Unlike a random reservoir this is the same for the same data, and never leaves a long stretch out.
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

    /// Offers the document number `place` among those that may be sampled.
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

    /// At most as many samples as wanted, in order.
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
