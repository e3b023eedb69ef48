//! Names of questions and of other steps, joined for a sentence.

/// Joins names such as `q1`, and writes three or more consecutive ones as a range: `Q1–Q4, Q6`.
pub(super) fn ranges(questions: &[String]) -> String {
    let number = |name: &str| name.strip_prefix('q').and_then(|digits| digits.parse::<u32>().ok());
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for name in questions {
        let last = runs.last().and_then(|run| run.last()).and_then(|last| number(last));
        let is_next = last.zip(number(name)).is_some_and(|(last, this)| last + 1 == this);
        match runs.last_mut().filter(|_| is_next) {
            Some(run) => run.push(name),
            None => runs.push(vec![name.as_str()]),
        }
    }
    let title = |name: &str| if number(name).is_some() { name.to_uppercase() } else { name.to_owned() };
    let describe = |run: &Vec<&str>| match run.as_slice() {
        [first, .., last] if run.len() > 2 => format!("{}–{}", title(first), title(last)),
        several => several.iter().map(|name| title(name)).collect::<Vec<_>>().join(", "),
    };
    runs.iter().map(describe).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_named_as_ranges() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        assert_eq!(ranges(&names("q1 q2 q3 q4 q5 q6")), "Q1–Q6");
        assert_eq!(ranges(&names("q1 q2 q4 q5 q6")), "Q1, Q2, Q4–Q6");
        assert_eq!(ranges(&names("load q2")), "load, Q2");
    }
}
