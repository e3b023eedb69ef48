//! Settings of a run with user-defined questions.

use jsonathlon_catalogue::UserQuestions;
use jsonathlon_dataset::agreement::{CellType, Column, ComparisonRules, Scale};
use jsonathlon_schema::settings::questions::{
    ColumnType, ExpectedRows, QuestionSettings, QuestionsSettings, UserQuestion,
};
use jsonathlon_schema::value::{Row, Value};

/// Builds the settings for a folder of questions.
#[must_use]
pub fn build_settings(user_questions: &UserQuestions, asking: QuestionSettings) -> QuestionsSettings {
    let reference = user_questions.reference.as_ref().and_then(|name| {
        let folder = user_questions.folders.iter().find(|folder| folder.name == *name)?;
        Some((folder.system.clone(), folder.variant.clone()))
    });
    QuestionsSettings {
        asking,
        folder: std::path::absolute(&user_questions.path).unwrap_or_else(|_| user_questions.path.clone()),
        title: user_questions.title.clone(),
        reference,
        questions: user_questions.questions.clone(),
        expected: user_questions.expected.clone(),
    }
}

/// Rules by which answers to a question are compared.
pub(crate) fn comparison_rules(question: &UserQuestion) -> ComparisonRules {
    let columns = question.columns.iter().map(|column| Column {
        name: column.name.clone(),
        cell_type: match column.column_type {
            ColumnType::Boolean => CellType::Boolean,
            ColumnType::Number => CellType::Number,
            ColumnType::String => CellType::String,
            ColumnType::Json => CellType::Json,
            ColumnType::Time => CellType::Time,
        },
        approximate: column.approximate,
        scale: column.scale.map(|scale| Scale { magnitude: scale.magnitude, divisor: scale.divisor }),
    });
    ComparisonRules {
        columns: columns.collect(),
        order: question.order.iter().map(|(index, _)| *index).collect(),
        limit: question.limit,
        addend: 0.0,
    }
}

/// Converts the rows of `expected.json` to values.
pub(crate) fn expected_rows(rows: &ExpectedRows) -> Vec<Row> {
    rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

fn cell(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(boolean) => Value::Bool(*boolean),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Value::Int(integer),
            (None, Some(float)) if number.is_f64() => Value::Float(float),
            _ => Value::Text(number.to_string()),
        },
        serde_json::Value::String(text) => Value::Text(text.clone()),
        value => Value::Text(value.to_string()),
    }
}

/// Converts rows to the JSON form of files.
pub(crate) fn json_rows(rows: &[Row]) -> Vec<Vec<serde_json::Value>> {
    let json = |value: &Value| serde_json::to_value(value).unwrap_or_default();
    rows.iter().map(|row| row.iter().map(json).collect()).collect()
}
