//! Asks a user's questions over the records of the serving workload: their statements become part of its setup.

use std::path::Path;

use super::{UserQuestions, UserSystemFolder};
use crate::{
    configuration::{Configuration, digest},
    external::base_name,
    rules::{
        Section, WorkloadSetup,
        questions::{QUESTIONS, question_file},
        reports::Reports,
        serving::SERVING,
    },
    statement_file::StatementFile,
};

/// Placeholder of the table in statements.
const TABLE: &str = "{{table}}";
/// Name of the statements that make a session refuse changes.
const READ_ONLY: &str = "read_only";
/// Statements that make another table than serving does, each with the name of the user's file.
const OWN_TABLE: [(&str, &str); 2] = [("create", "schema"), ("load", "load")];
/// Name of the statements that build a user's indexes.
const INDEX: &str = "index";

impl UserQuestions {
    /// Adds the statements of the questions to a configuration's setup of serving, so that they can be asked over its
    /// records. `question_setup` is the same system's setup of the questions workload, whose statements make sessions
    /// refuse changes. If the questions cannot be asked, the setup says why.
    #[must_use]
    pub fn apply_reports(
        &self,
        mut configuration: Configuration,
        question_setup: Option<&WorkloadSetup>,
    ) -> Configuration {
        let reports = self.reports_of(&configuration);
        let Some(setup) = configuration.setups.get_mut(SERVING) else { return configuration };
        let Section::Serving(section) = &mut setup.section else { return configuration };
        section.reports = match reports {
            Err(reason) => Reports::Refused(reason),
            Ok((folder, table)) => {
                setup.files.extend(self.statements_over(folder, &table));
                if let Some(file) = question_setup.and_then(|setup| setup.files.get(READ_ONLY)) {
                    setup.files.insert(READ_ONLY.to_owned(), file.clone());
                }
                Reports::Asked { folder: format!("{}/", self.path.join(&folder.name).display()) }
            }
        };
        configuration.digest = digest(&configuration);
        configuration
    }

    /// Folder of statements for a configuration, and what they are asked over; otherwise why they are not asked.
    fn reports_of(&self, configuration: &Configuration) -> Result<(&UserSystemFolder, String), String> {
        let reports = configuration.setups.get(SERVING).map(|setup| match &setup.section {
            Section::Serving(section) => section.reports.clone(),
            _ => Reports::Unstated,
        });
        let reports = reports.unwrap_or_default();
        let folder = self.report_folder(configuration).ok_or_else(|| {
            format!("{} has no folder {}/", self.path.display(), base_name(&configuration.system))
        })?;
        let own_table = OWN_TABLE.into_iter().find(|(name, _)| folder.files.contains_key(*name));
        match (own_table, reports) {
            (Some((_, file)), _) => Err(format!(
                "{} makes a table of its own ({file}), and serving has its own as well: leave that file out, or ask \
                 by `run {QUESTIONS}`",
                self.path.join(&folder.name).display()
            )),
            (None, Reports::Table(table)) => Ok((folder, table)),
            (None, other) => Err(other.refusal().unwrap_or_default().to_owned()),
        }
    }

    /// Folder of statements for a configuration: that of its variant, otherwise that of its system.
    fn report_folder(&self, configuration: &Configuration) -> Option<&UserSystemFolder> {
        let of_system = || {
            let system = base_name(&configuration.system);
            self.folders.iter().filter(move |folder| folder.system == system)
        };
        let is_of_variant =
            |folder: &&UserSystemFolder| folder.variant.as_deref() == Some(configuration.variant.as_str());
        of_system().find(is_of_variant).or_else(|| of_system().find(|folder| folder.variant.is_none()))
    }

    /// Statement files of the questions, asked over `table`.
    fn statements_over<'f>(
        &self,
        folder: &'f UserSystemFolder,
        table: &'f str,
    ) -> impl Iterator<Item = (String, StatementFile)> + 'f {
        let names: Vec<String> =
            self.questions.iter().map(|question| question_file(&question.name)).collect();
        names.into_iter().filter_map(move |name| {
            let file = folder.files.get(&name)?;
            let statements = file.statements.iter().map(|text| text.replace(TABLE, table)).collect();
            Some((name, StatementFile { statements, ..file.clone() }))
        })
    }

    /// Sentences on what of the folder has no effect on the questions that these configurations are asked over the
    /// records of serving.
    #[must_use]
    pub fn report_notes(&self, configurations: &[Configuration]) -> Vec<String> {
        let mut notes = Vec::new();
        for folder in &self.folders {
            let is_asked = |configuration: &&Configuration| self.report_folder(configuration) == Some(folder);
            let is_of_system =
                |configuration: &&Configuration| base_name(&configuration.system) == folder.system;
            let name = display(&self.path, folder);
            if configurations.iter().any(|configuration| is_asked(&configuration)) {
                if folder.files.contains_key(INDEX) {
                    notes.push(format!(
                        "{name} builds indexes ({INDEX}), which reports beside serving do without"
                    ));
                }
            } else if configurations.iter().any(|configuration| is_of_system(&configuration)) {
                notes.push(format!(
                    "{name} is asked by `run {QUESTIONS}` alone: serving has no such variant here"
                ));
            }
        }
        notes
    }
}

fn display(path: &Path, folder: &UserSystemFolder) -> String {
    path.join(&folder.name).display().to_string()
}
