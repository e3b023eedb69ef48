//! The program killed the hard way, again and again, at any moment.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::support::{Kept, LIMIT, Look, World, mock};

/// Kills over the whole test, at least.
const KILLS: u32 = 24;
/// The latest moment of a kill, milliseconds after the start. A whole run takes longer.
const LATEST_MS: u64 = 900;

/// Marsaglia's xorshift: random enough to find moments.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_millis(self.0 % LATEST_MS)
    }
}

#[test]
fn killed_at_random_moments_a_run_still_completes_with_every_trial_once() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("moments are from seed {seed}");
    let mut moments = Moments(seed);
    let script = json!({"delay_ms": {"load": 30, "q1": 6, "q2": 6, "q3": 6, "q4": 6, "q5": 6, "q6": 6}});
    let world = World::with(&[mock("ma", script.clone()), mock("mb", script)]);
    let (mut kills, mut runs) = (0, 0);
    let mut in_the_middle = 0;
    while kills < KILLS {
        runs += 1;
        let out = format!("out{runs}");
        let kept = world.kept(&out);
        loop {
            let mut running = if kept.path("manifest.json").exists() {
                world.start_resuming(&out)
            } else {
                world.start_measuring(&out, "ma,mb", &["-n", "200", "-r", "2"])
            };
            std::thread::sleep(moments.next());
            if running.has_ended() || kills >= 2 * KILLS {
                running.end(LIMIT).expect(0);
                break;
            }
            let before = kept.whole_lines();
            running.kill();
            kills += 1;
            in_the_middle += u32::from(!before.is_empty());
            assert!(kept.journal().starts_with(&before), "records are gone");
            // Nobody tells the workers; they have to notice by themselves, and soon.
            world.nothing_left();
        }
        finished(&world, &out, &kept);
    }
    assert!(in_the_middle >= KILLS / 3, "{in_the_middle} of {kills} kills met trials: choose other moments");
    println!("{kills} kills, {in_the_middle} of them between records, {runs} runs");
}

fn finished(world: &World, out: &str, kept: &Kept) {
    let summary: jsonathlon_results::summary::Summary =
        serde_json::from_str(&world.run(&["export", "-f", "json", &world.text(out)]).expect(0).stdout)
            .unwrap();
    assert!(summary.complete);
    summary.is_right("ma");
    summary.is_right("mb");
    kept.is_complete();
    assert!(kept.work().is_empty());
}
