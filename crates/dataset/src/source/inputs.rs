//! The inputs of a source in the order in which they are read, and what is known about them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::form::Form;
use crate::skipped_entries::SkippedEntry;

/// Number of inputs that a note names.
const NAMED: usize = 3;

/// Inputs of a source, shared between its reader and those who need their names. They are added while the
/// source is read, because the members of an archive are not known before.
#[derive(Clone, Debug, Default)]
pub struct Inputs(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Inputs that were opened so far.
    opened: Vec<OpenedInput>,
    is_generated: bool,
    left_out: Vec<SkippedEntry>,
    bulk: BulkCounts,
    bulk_files: u64,
    extended: NamedInputs,
    extended_key: &'static str,
    unclosed: NamedInputs,
    array_lines: NamedInputs,
    several_arrays: NamedInputs,
    repeated_members: NamedInputs,
    hidden_members: NamedInputs,
}

#[derive(Debug)]
struct OpenedInput {
    name: Arc<str>,
    form: Form,
}

/// Inputs with something in common: their number and the names of the first ones.
#[derive(Debug, Default)]
struct NamedInputs {
    count: u64,
    first: Vec<Arc<str>>,
}

impl NamedInputs {
    fn add(&mut self, name: Arc<str>) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(name);
        }
    }

    fn list(&self) -> String {
        let more = if self.count > self.first.len() as u64 { ", …" } else { "" };
        // File names are untrusted: control characters must not reach the terminal.
        format!("{}{more}", self.first.join(", ").replace(char::is_control, "?"))
    }
}

/// Lines of bulk files that are not documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BulkCounts {
    /// Lines that say what is done with the next line.
    pub(super) actions: u64,
    /// Lines behind `update`, which are parts of documents.
    pub(super) updates: u64,
}

impl Inputs {
    /// Creates the only input of a source whose documents this crate generates.
    pub(crate) fn generated(name: &str) -> Self {
        let inputs = Inputs::default();
        inputs.add(name.into(), Form::Lines);
        inputs.state().is_generated = true;
        inputs
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No operation leaves the state half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the next input that is read and returns its index, from 0.
    pub(super) fn add(&self, name: Arc<str>, form: Form) -> u32 {
        let mut state = self.state();
        state.opened.push(OpenedInput { name, form });
        (state.opened.len() - 1) as u32
    }

    pub(super) fn leave_out(&self, entries: impl IntoIterator<Item = SkippedEntry>) {
        self.state().left_out.extend(entries);
    }

    /// Notes that the current input holds Extended JSON.
    pub(super) fn note_extended_json(&self, name: Arc<str>, key: &'static str) {
        let mut state = self.state();
        state.extended_key = key;
        state.extended.add(name);
    }

    /// Notes that an input ends within an array.
    pub(super) fn note_unclosed_array(&self, name: Arc<str>) {
        self.state().unclosed.add(name);
    }

    /// Notes that an input is read as lines although these are arrays whose elements could be meant.
    pub(super) fn note_array_lines(&self, name: Arc<str>) {
        self.state().array_lines.add(name);
    }

    /// Notes that an input is read as arrays of documents and holds several of them.
    pub(super) fn note_several_arrays(&self, name: Arc<str>) {
        self.state().several_arrays.add(name);
    }

    /// Notes that an earlier member of the archive has the name of this one, which is read, too.
    pub(super) fn note_repeated_member(&self, name: Arc<str>) {
        self.state().repeated_members.add(name);
    }

    /// Notes that an archive has several members of one name, of which only the last one is read.
    pub(super) fn note_hidden_members(&self, archive: Arc<str>) {
        self.state().hidden_members.add(archive);
    }

    /// Counts what was skipped in a bulk file.
    pub(super) fn count_bulk(&self, counts: BulkCounts) {
        let mut state = self.state();
        state.bulk_files += 1;
        state.bulk.actions += counts.actions;
        state.bulk.updates += counts.updates;
    }

    /// Returns the display name and the form of an input that was opened.
    pub(super) fn get(&self, index: u32) -> Option<(Arc<str>, Form)> {
        let state = self.state();
        state.opened.get(index as usize).map(|input| (Arc::clone(&input.name), input.form))
    }

    /// Returns the files and members that are not read, as far as they are known.
    pub fn left_out(&self) -> Vec<SkippedEntry> {
        self.state().left_out.clone()
    }

    /// Returns the number of inputs of each form that were opened so far, without forms that no input has.
    pub fn forms(&self) -> Vec<(Form, u64)> {
        let state = self.state();
        let count = |form: Form| state.opened.iter().filter(|input| input.form == form).count() as u64;
        Form::ALL.into_iter().map(|form| (form, count(form))).filter(|(_, count)| *count > 0).collect()
    }

    /// Returns one sentence each on the forms of the inputs, on what else could be meant by them, on repeated
    /// names in archives, on bulk files and on Extended JSON. Empty if the documents are generated.
    pub fn notes(&self) -> Vec<String> {
        let forms = self.forms();
        let state = self.state();
        if state.is_generated || state.opened.is_empty() {
            return Vec::new();
        }
        let forms: Vec<String> =
            forms.into_iter().map(|(form, count)| format!("{form} ({})", files(count))).collect();
        let mut notes = vec![format!("read as: {}", forms.join(", "))];
        notes.extend(state.bulk_note());
        let extended = format!("Extended JSON, such as {{\"{}\": …}}, stays plain JSON", state.extended_key);
        let named = [
            (
                "a line that is an array is one document; `--input array` takes its elements as documents",
                &state.array_lines,
            ),
            (
                "the elements of several arrays are the documents; `--input stream` takes each array as one",
                &state.several_arrays,
            ),
            (
                "members with the name of an earlier one are read like all others; unpack the archive if the \
                 last one replaces the others",
                &state.repeated_members,
            ),
            (
                "of several members with one name only the last one is read; pack the files under different \
                 names",
                &state.hidden_members,
            ),
            (&*extended, &state.extended),
            ("ends before its array is closed, and may have been cut off", &state.unclosed),
        ];
        let named = named.into_iter().filter(|(_, inputs)| inputs.count > 0);
        notes.extend(named.map(|(text, inputs)| format!("{text}: {}", inputs.list())));
        notes
    }
}

impl State {
    /// Returns what was skipped in bulk files. `None` if none was read.
    fn bulk_note(&self) -> Option<String> {
        let BulkCounts { actions, updates } = self.bulk;
        let partial = match updates {
            0 => String::new(),
            count => format!(", and {count} lines behind `update`, which are parts of documents"),
        };
        let skipped = format!("skipped in {}: {actions} bulk action lines{partial}", files(self.bulk_files));
        (self.bulk_files > 0).then_some(skipped)
    }
}

fn files(count: u64) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
