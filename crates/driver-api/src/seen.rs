//! Questions that also tell what their snapshot holds of the documents that writers insert.
//!
//! A form puts a question into a statement that returns its answer and, of the same snapshot, the number and
//! the highest sequence of each writer's documents from a floor on. Counting from a floor keeps the addition
//! cheap, however much was inserted before.

use jsonathlon_schema::value::Value;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::codecs::json_rows::RawMembers;
use crate::rows::ResultSet;
use crate::text_template::fill;

/// Column of an answer that holds, in every row, what was seen of all writers as the text of a JSON list.
const LIST_COLUMN: &str = "seen";
/// Columns of an answer in which what was seen of each writer is a row of its own: writer, number, highest
/// sequence. All three are null in rows of the question.
const ROW_COLUMNS: [&str; 3] = ["seen_writer", "seen_documents", "seen_highest"];
/// 2^53: from here on a double may have lost digits.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a snapshot holds of one writer's documents at or above a floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterSeen {
    /// Number of the writer, from 0.
    pub writer: u32,
    /// Number of documents, at least 1.
    pub count: u64,
    /// Highest sequence among these documents.
    pub highest: u64,
}

/// How a question is asked together with what its snapshot holds of each writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenForm {
    /// What is put around the question.
    pub wrapper: SeenWrapper,
    /// Text for one writer, with `{{writer}}` and `{{floor}}`. All of them, joined by `range_separator`,
    /// replace `{{ranges}}` in the wrapper.
    pub range: String,
    /// Text between the ranges of two writers.
    pub range_separator: String,
    /// Places in an element of the list of writers. Unused if each writer is a row of its own.
    pub places: SeenPlaces,
}

/// What is put around a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenWrapper {
    /// Statement with `{{question}}` and `{{ranges}}`.
    Text(String),
    /// Additions to a question that is one JSON object. Each is the text of an object: `insert` is added at
    /// the end of the list or object that the JSON Pointer `into` names, in an object under the name `as`.
    Additions(Vec<String>),
}

/// JSON Pointers into an element of the list of writers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenPlaces {
    /// Place of the writer's number.
    pub writer: String,
    /// Place of the number of documents.
    pub documents: String,
    /// Place of the highest sequence.
    pub highest: String,
}

impl Default for SeenPlaces {
    fn default() -> Self {
        let [writer, documents, highest] = ["/0", "/1", "/2"].map(str::to_owned);
        Self { writer, documents, highest }
    }
}

/// One addition to a question that is a JSON object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Addition<'a> {
    into: String,
    #[serde(rename = "as")]
    name: Option<String>,
    #[serde(borrow)]
    insert: &'a RawValue,
}

impl SeenForm {
    /// Builds the statement that asks `question`, which is one statement without open placeholders, and that
    /// returns with its answer what lies at or above the floor of each writer. `floors` has one per writer.
    ///
    /// # Errors
    /// If there are no floors, or if the question lacks the place of an addition.
    pub fn statement(&self, question: &str, floors: &[u64]) -> Result<String, String> {
        if floors.is_empty() {
            return Err("no writer of which anything could be seen: ask the question alone".to_owned());
        }
        let ranges = self.ranges(floors);
        match &self.wrapper {
            SeenWrapper::Text(text) => Ok(fill(text, &[("question", question), ("ranges", &ranges)])),
            SeenWrapper::Additions(additions) => {
                additions.iter().try_fold(question.to_owned(), |statement, addition| {
                    add(&statement, &fill(addition, &[("ranges", &ranges)]))
                })
            }
        }
    }

    fn ranges(&self, floors: &[u64]) -> String {
        let range = |(writer, floor): (usize, &u64)| {
            let (writer, floor) = (writer.to_string(), floor.to_string());
            fill(&self.range, &[("writer", &writer), ("floor", &floor)])
        };
        floors.iter().enumerate().map(range).collect::<Vec<_>>().join(&self.range_separator)
    }

    /// Takes the answer to such a statement apart. Returns the answer of the question alone and what was seen
    /// of each writer that has anything at or above its floor, in the order of their numbers.
    ///
    /// # Errors
    /// If the answer does not tell what was seen, or contradicts itself. An answer without any row cannot tell,
    /// where that is a column.
    pub fn decode(&self, mut answer: ResultSet) -> Result<(ResultSet, Vec<WriterSeen>), String> {
        let mut seen = match column_index(&answer, LIST_COLUMN) {
            Some(index) => self.take_list(&mut answer, index)?,
            None => take_rows(&mut answer)?,
        };
        seen.sort_by_key(|writer_seen| writer_seen.writer);
        match seen.windows(2).find(|pair| pair[0].writer == pair[1].writer) {
            Some(pair) => Err(format!("the answer tells twice what it saw of writer {}", pair[0].writer)),
            None => Ok((answer, seen)),
        }
    }

    /// Removes the column with the list, which is the same in all rows, and reads the list.
    fn take_list(&self, answer: &mut ResultSet, index: usize) -> Result<Vec<WriterSeen>, String> {
        answer.columns.remove(index);
        let mut list: Option<Value> = None;
        for row in &mut answer.rows {
            if index >= row.len() {
                return Err(format!("a row of the answer lacks the column `{LIST_COLUMN}`"));
            }
            let cell = row.remove(index);
            match &list {
                Some(first) if *first != cell => {
                    return Err(format!("rows of one answer tell that {first:?} and that {cell:?} was seen"));
                }
                Some(_) => {}
                None => list = Some(cell),
            }
        }
        match list {
            None => Err("the answer has no row, so it does not tell what was seen".to_owned()),
            // The system builds no list of nothing.
            Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Text(text)) => self.parse_list(&text),
            Some(other) => Err(format!("`{LIST_COLUMN}` is the text of a list, not {other:?}")),
        }
    }

    fn parse_list(&self, text: &str) -> Result<Vec<WriterSeen>, String> {
        let elements: Vec<Json> = serde_json::from_str(text)
            .map_err(|error| format!("`{LIST_COLUMN}` is not a list of JSON: {error}: {text}"))?;
        let SeenPlaces { writer, documents, highest } = &self.places;
        let mut seen = Vec::with_capacity(elements.len());
        for element in &elements {
            let number = |place: &str| json_number(element.pointer(place));
            seen.extend(writer_seen(number(writer)?, number(documents)?, number(highest)?)?);
        }
        Ok(seen)
    }
}

/// Returns the index of a column. `None` if the answer has no such column.
fn column_index(answer: &ResultSet, name: &str) -> Option<usize> {
    answer.columns.iter().position(|column| column == name)
}

/// Removes the rows that are about writers, and the columns that are null in all other rows.
fn take_rows(answer: &mut ResultSet) -> Result<Vec<WriterSeen>, String> {
    let mut indexes = [0; 3];
    for (index, name) in indexes.iter_mut().zip(ROW_COLUMNS) {
        *index = column_index(answer, name).ok_or_else(|| {
            format!("the answer has neither a column `{LIST_COLUMN}` nor a column `{name}`")
        })?;
    }
    let (mut seen, null) = (Vec::new(), Value::Null);
    let mut rows = Vec::with_capacity(answer.rows.len());
    for row in std::mem::take(&mut answer.rows) {
        let cells = indexes.map(|index| row.get(index).unwrap_or(&null));
        if cells[0] != &null {
            let [writer, count, highest] = cells.map(value_number);
            seen.extend(writer_seen(writer?, count?, highest?)?);
        } else {
            rows.push(without(row, &indexes));
        }
    }
    answer.rows = rows;
    answer.columns = without(std::mem::take(&mut answer.columns), &indexes);
    Ok(seen)
}

/// Returns a list without the elements at `indexes`.
fn without<T>(list: Vec<T>, indexes: &[usize]) -> Vec<T> {
    list.into_iter()
        .enumerate()
        .filter(|(index, _)| !indexes.contains(index))
        .map(|(_, element)| element)
        .collect()
}

/// Puts the numbers of one writer together. `None` if nothing was seen of it.
fn writer_seen(
    writer: Option<u64>,
    count: Option<u64>,
    highest: Option<u64>,
) -> Result<Option<WriterSeen>, String> {
    let Some(count) = count.filter(|count| *count > 0) else { return Ok(None) };
    let writer_number = writer.and_then(|writer| u32::try_from(writer).ok());
    match (writer_number, highest) {
        (Some(writer), Some(highest)) => Ok(Some(WriterSeen { writer, count, highest })),
        _ => Err(format!(
            "the answer has {count} documents of writer {writer:?} with the highest sequence {highest:?}"
        )),
    }
}

/// Reads a number of a list. Some systems write integers as doubles, and some 64-bit ones as text.
fn json_number(value: Option<&Json>) -> Result<Option<u64>, String> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let number = match value {
        Json::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
        Json::String(text) => text.parse().ok(),
        _ => None,
    };
    number.map(Some).ok_or_else(|| format!("`{LIST_COLUMN}` has {value} where a number from 0 belongs"))
}

/// Returns a double that is exactly an integer from 0 as that integer. `None` for other doubles.
fn whole(number: f64) -> Option<u64> {
    // The cast is exact: the number is integral, not negative and below 2^53.
    (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64)
}

fn value_number(value: &Value) -> Result<Option<u64>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Int(number) => match u64::try_from(*number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("the answer has {number} where a number from 0 belongs")),
        },
        other => Err(format!("the answer has {other:?} where a number from 0 belongs")),
    }
}

/// Makes one addition to a statement that is a JSON object.
fn add(statement: &str, addition: &str) -> Result<String, String> {
    let Addition { into, name, insert } =
        serde_json::from_str(addition).map_err(|error| format!("an addition is not well formed: {error}"))?;
    let tokens: Vec<String> =
        into.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
    insert_into(statement.trim_ascii(), &tokens, name.as_deref(), insert.get())
        .map_err(|problem| format!("the question has no place `{into}` to add to: {problem}"))
}

/// Returns the JSON text with `value` added to the container to which the tokens of a pointer lead. All other
/// values keep their source text and their order, on which the meaning of some requests depends.
fn insert_into(text: &str, tokens: &[String], name: Option<&str>, value: &str) -> Result<String, String> {
    let Some((token, deeper_tokens)) = tokens.split_first() else { return append(text, name, value) };
    if text.starts_with('[') {
        let mut elements = elements(text)?;
        let element = token.parse().ok().and_then(|index: usize| elements.get_mut(index));
        let element = element.ok_or_else(|| format!("a list lacks `{token}`"))?;
        *element = insert_into(element, deeper_tokens, name, value)?;
        return Ok(format!("[{}]", elements.join(",")));
    }
    let mut members = members(text)?;
    let member = members.iter_mut().find(|(key, _)| key == token);
    let (_, member) = member.ok_or_else(|| format!("an object lacks `{token}`"))?;
    *member = insert_into(member, deeper_tokens, name, value)?;
    let members: Vec<String> =
        members.iter().map(|(key, value)| format!("{}:{value}", Json::from(key.as_str()))).collect();
    Ok(format!("{{{}}}", members.join(",")))
}

/// Returns a list with `value` as a further element, or an object with a further member.
fn append(text: &str, name: Option<&str>, value: &str) -> Result<String, String> {
    match name {
        None => {
            let mut elements = elements(text)?;
            elements.push(value.to_owned());
            Ok(format!("[{}]", elements.join(",")))
        }
        Some(name) => {
            let members = members(text)?;
            if members.iter().any(|(key, _)| key == name) {
                return Err(format!("an object has `{name}` already"));
            }
            let separator = if members.is_empty() { "" } else { "," };
            let inside = text.strip_suffix('}').unwrap_or(text);
            Ok(format!("{inside}{separator}{}:{value}}}", Json::from(name)))
        }
    }
}

/// Source texts of the elements of a list.
fn elements(text: &str) -> Result<Vec<String>, String> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(elements.into_iter().map(|element| element.get().to_owned()).collect())
}

/// Names and source texts of the members of an object.
fn members(text: &str) -> Result<Vec<(String, String)>, String> {
    let RawMembers(members) = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(members.into_iter().map(|(key, value)| (key, value.get().to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sql() -> SeenForm {
        SeenForm {
            wrapper: SeenWrapper::Text(
                "WITH a AS ({{question}}) SELECT (SELECT 1 WHERE {{ranges}}) AS seen, a.* FROM a".into(),
            ),
            range: "(writer = {{writer}} AND sequence >= {{floor}})".into(),
            range_separator: " OR ".into(),
            places: SeenPlaces::default(),
        }
    }

    fn json(additions: &[&str]) -> SeenForm {
        SeenForm {
            wrapper: SeenWrapper::Additions(additions.iter().map(ToString::to_string).collect()),
            range: r#"{"writer": {{writer}}, "sequence": {"$gte": {{floor}}}}"#.into(),
            range_separator: ", ".into(),
            places: SeenPlaces::default(),
        }
    }

    fn answer(columns: &[&str], rows: Vec<Vec<Value>>) -> ResultSet {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        ResultSet { columns, rows, ..ResultSet::default() }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn a_question_is_asked_from_the_floor_of_each_writer() {
        assert_eq!(
            sql().statement("SELECT '{{ranges}}'", &[8000, 7000]).unwrap(),
            "WITH a AS (SELECT '{{ranges}}') SELECT (SELECT 1 WHERE (writer = 0 AND sequence >= 8000) OR \
             (writer = 1 AND sequence >= 7000)) AS seen, a.* FROM a"
        );
        assert!(sql().statement("SELECT 1", &[]).unwrap_err().contains("no writer"));
    }

    #[test]
    fn additions_leave_a_question_as_it_was_written() {
        let form = json(&[
            r#"{"into": "/command/pipeline", "insert": {"$match": {"$or": [{{ranges}}]}}}"#,
            r#"{"into": "/command", "as": "readConcern", "insert": {"level": "snapshot"}}"#,
            r#"{"into": "/rows/0", "insert": 2}"#,
        ]);
        let question = concat!(
            r#" {"command": {"z": 1.0, "pipeline": [{"$sort": {"n": -1,  "_id": 1}}], "a": {}}, "#,
            "\"rows\": [[1]]}\n"
        );
        let expected = concat!(
            r#"{"command":{"z":1.0,"pipeline":[{"$sort": {"n": -1,  "_id": 1}},"#,
            r#"{"$match": {"$or": [{"writer": 0, "sequence": {"$gte": 3}}]}}],"a":{},"#,
            r#""readConcern":{"level": "snapshot"}},"rows":[[1,2]]}"#
        );
        assert_eq!(form.statement(question, &[3]).unwrap(), expected);
    }

    #[test]
    fn a_question_without_the_place_of_an_addition_is_named() {
        let error = |addition: &str, question: &str| json(&[addition]).statement(question, &[0]).unwrap_err();
        let addition = r#"{"into": "/command/pipeline", "insert": 1}"#;
        for question in [r#"{"command": {}}"#, r#"{"command": {"pipeline": {}}}"#, "SELECT 1", "[]"] {
            let message = error(addition, question);
            assert!(message.contains("no place `/command/pipeline`"), "{message}");
        }
        let message = error(r#"{"into": "", "as": "a", "insert": 1}"#, r#"{"a": 2}"#);
        assert!(message.contains("has `a` already"), "{message}");
        let message = error(r#"{"to": "/a", "insert": 1}"#, "{}");
        assert!(message.contains("not well formed"), "{message}");
        let form = json(&[r#"{"into": "", "as": "a", "insert": 1}"#]);
        assert_eq!(form.statement("{}", &[0]).unwrap(), r#"{"a":1}"#);
    }

    #[test]
    fn a_list_of_writers_is_taken_out_of_every_row() {
        let seen = text("[[1, 2, 9], [0, \"3\", 4.0], [2, 0, null]]");
        let rows = vec![vec![text("x"), seen.clone(), Value::Int(1)], vec![Value::Null, seen, Value::Int(2)]];
        let (rest, seen) = sql().decode(answer(&["event", "seen", "count"], rows)).unwrap();
        assert_eq!(rest.columns, ["event", "count"]);
        assert_eq!(rest.rows, [vec![text("x"), Value::Int(1)], vec![Value::Null, Value::Int(2)]]);
        let expected =
            [WriterSeen { writer: 0, count: 3, highest: 4 }, WriterSeen { writer: 1, count: 2, highest: 9 }];
        assert_eq!(seen, expected);
        let (_, seen) = sql().decode(answer(&["seen"], vec![vec![Value::Null]])).unwrap();
        assert!(seen.is_empty());
    }

    #[test]
    fn a_list_of_objects_is_read_at_its_places() {
        let places = SeenPlaces {
            writer: "/key".into(),
            documents: "/doc_count".into(),
            highest: "/highest/value".into(),
        };
        let form = SeenForm { places, ..sql() };
        let seen = text(r#"[{"key": 1, "doc_count": 3, "highest": {"value": 2.0}}]"#);
        let (_, seen) = form.decode(answer(&["seen"], vec![vec![seen]])).unwrap();
        assert_eq!(seen, [WriterSeen { writer: 1, count: 3, highest: 2 }]);
    }

    #[test]
    fn writers_in_rows_of_their_own_are_taken_out() {
        let columns = ["did", "seen_writer", "seen_documents", "seen_highest"];
        let of_writer = vec![Value::Null, Value::Int(1), Value::Int(5), Value::Int(6)];
        let of_question = vec![text("d"), Value::Null, Value::Null, Value::Null];
        let (rest, seen) = json(&[]).decode(answer(&columns, vec![of_question, of_writer.clone()])).unwrap();
        assert_eq!((rest.columns, rest.rows), (vec!["did".to_owned()], vec![vec![text("d")]]));
        assert_eq!(seen, [WriterSeen { writer: 1, count: 5, highest: 6 }]);
        // Even a question without rows tells what was seen.
        let (rest, seen) = json(&[]).decode(answer(&columns, vec![of_writer])).unwrap();
        assert!(rest.rows.is_empty() && seen.len() == 1);
    }

    #[test]
    fn an_answer_that_does_not_tell_what_was_seen_is_refused() {
        let error = |columns: &[&str], rows| sql().decode(answer(columns, rows)).unwrap_err();
        assert!(error(&["seen"], vec![]).contains("no row"));
        assert!(error(&["event"], vec![vec![text("x")]]).contains("neither a column `seen`"));
        let twice = "[[0, 1, 0], [0, 1, 0]]";
        for list in ["[[0, 1]]", "[[0, -1, 0]]", "[[0, 1.5, 0]]", "[[null, 1, 0]]", "{}", twice] {
            assert!(sql().decode(answer(&["seen"], vec![vec![text(list)]])).is_err(), "{list}");
        }
        assert!(sql().decode(answer(&["seen"], vec![vec![Value::Int(1)]])).is_err());
    }

    #[test]
    fn an_answer_whose_rows_tell_different_things_is_refused() {
        let rows = |second: Value| vec![vec![text("[[0, 1, 0]]")], vec![second]];
        assert!(sql().decode(answer(&["seen"], rows(text("[[0, 1, 0]]")))).is_ok());
        for second in [text("[[0, 2, 1]]"), Value::Null] {
            let error = sql().decode(answer(&["seen"], rows(second))).unwrap_err();
            assert!(error.contains("rows of one answer"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_was_seen_is_what_was_told(
            counts in prop::collection::btree_map(0_u32..50, (1_u64..1 << 50, 0_u64..1 << 50), 0..8)
        ) {
            let list = Json::from_iter(counts.iter().rev().map(|(writer, (count, highest))| {
                serde_json::json!([writer, count, highest])
            }));
            let (_, seen) = sql().decode(answer(&["seen"], vec![vec![text(&list.to_string())]])).unwrap();
            let expected: Vec<WriterSeen> = counts
                .into_iter()
                .map(|(writer, (count, highest))| WriterSeen { writer, count, highest })
                .collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
