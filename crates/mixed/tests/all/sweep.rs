//! Compares the sweep with the reference over the same documents, which starts from nothing each time.

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::Reference;
use jsonathlon_dataset::stage::DocumentVisitor;
use jsonathlon_mixed::{DocumentsBuilder, Pool, Prefixes, Sweep, SweepError};

use crate::support::{Random, World, generated_events, odd_events};

fn random_prefixes(random: &mut Random, pool: &Pool) -> Vec<u64> {
    (0..pool.writers()).map(|writer| random.below(pool.documents_of(writer) + 1)).collect()
}

/// Moves a sweep to random prefixes and compares all its answers there.
fn compare_everywhere(world: &World, random: &mut Random, vectors: usize, what: &str) {
    let mut sweep = world.sweep();
    for vector in 0..vectors {
        let prefixes = random_prefixes(random, &world.pool);
        sweep.move_to(&Prefixes::from(prefixes.clone())).unwrap();
        assert_eq!(sweep.prefixes().as_slice(), prefixes);
        let expected = world.answers_over(&world.prefix_indexes(&prefixes));
        for question in Question::ALL {
            let expected = expected.rows(question);
            assert_eq!(sweep.rows(question), expected, "{question} at {prefixes:?} ({vector}), {what}");
        }
    }
}

#[test]
fn odd_documents_have_the_answers_of_the_reference() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let count = random.below(60);
        let events = odd_events(&mut random, count);
        let (pool_size, writers) = (random.below(count + 1) as usize, random.up_to(5) as usize);
        let world = World::new(events, pool_size, writers);
        compare_everywhere(&world, &mut random, 8, &format!("seed {seed}"));
    }
}

#[test]
fn generated_documents_have_the_answers_of_the_reference() {
    let world = World::new(generated_events(2_400), 400, 4);
    compare_everywhere(&world, &mut Random::new(1), 300, "generated");
}

#[test]
#[ignore = "takes seconds: 1,000 times the reference over 24,000 documents"]
fn a_thousand_vectors_have_the_answers_of_the_reference() {
    let world = World::new(generated_events(24_000), 4_000, 4);
    compare_everywhere(&world, &mut Random::new(2), 1_000, "generated");
}

#[test]
fn any_documents_can_be_base_and_pool() {
    let events = generated_events(300);
    let mut builder = DocumentsBuilder::default();
    events.iter().for_each(|event| builder.document(event));
    let documents = builder.finish();
    assert_eq!((documents.len(), documents.is_empty()), (300, false));
    // Every seventh document was rejected, and suspects come last.
    let pool = Pool::new((0..100).filter(|index| index % 7 != 0), 3);
    let base: Vec<usize> = (100..300).filter(|index| index % 7 != 0).rev().collect();
    let mut sweep = Sweep::new(&documents, &pool, base.iter().copied()).unwrap();
    assert_eq!(sweep.base_documents(), base.len() as u64);
    let all: Prefixes = (0..3).map(|writer| pool.documents_of(writer)).collect::<Vec<_>>().into();
    sweep.move_to(&all).unwrap();
    let mut reference = Reference::default();
    let kept = events.iter().enumerate().filter(|(index, _)| index % 7 != 0);
    kept.for_each(|(_, event)| reference.observe(event));
    for question in Question::ALL {
        assert_eq!(sweep.rows(question), reference.answers().rows(question), "{question}");
    }
}

#[test]
fn a_chain_takes_every_document_once() {
    let world = World::new(generated_events(1_000), 200, 4);
    let mut sweep = world.sweep();
    for prefix in 0..=50 {
        sweep.move_to(&Prefixes::from(vec![prefix; 4])).unwrap();
    }
    assert_eq!((sweep.steps().pushes, sweep.steps().pops), (200, 0));
    sweep.move_to(&Prefixes::default()).unwrap();
    assert_eq!((sweep.steps().pushes, sweep.steps().pops), (200, 200), "no writer is mentioned");
    assert_eq!(sweep.rows(Question::Q2), world.answer(Question::Q2, &[]));
}

#[test]
fn what_is_not_there_is_refused() {
    let world = World::new(generated_events(20), 10, 3);
    let mut sweep = world.sweep();
    sweep.move_to(&Prefixes::from(vec![4, 3, 2])).unwrap();
    let beyond = sweep.move_to(&Prefixes::from(vec![0, 3, 4])).unwrap_err();
    assert_eq!(beyond, SweepError::BeyondPool { writer: 2, prefix: 4, documents: 3 });
    let unknown = sweep.move_to(&Prefixes::from(vec![0, 0, 0, 1])).unwrap_err();
    assert_eq!(unknown, SweepError::BeyondPool { writer: 3, prefix: 1, documents: 0 });
    assert_eq!(sweep.prefixes().as_slice(), [4, 3, 2], "answers stay where they were");
    assert_eq!(sweep.rows(Question::Q1), world.answer(Question::Q1, &[4, 3, 2]));
    for (pool, base) in [(Pool::new([20], 1), 0..1), (Pool::new([0], 1), 19..21)] {
        let unknown = Sweep::new(&world.documents, &pool, base).unwrap_err();
        assert_eq!(unknown, SweepError::UnknownDocument { index: 20, documents: 20 });
    }
}
