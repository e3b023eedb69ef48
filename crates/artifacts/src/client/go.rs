//! Go: builds a program from a module whose `go.sum` pins every input. The modules come through the user's
//! own module proxy and stay in the user's own module cache.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Client, ClientLookup, FetchJob, process};
use crate::{InstallContext, InstallStep, error::ArtifactError, format::Format};

/// Name of the file with the built program.
const BUILT: &str = "built";

/// Client that builds one program of a module.
#[derive(Debug)]
pub(crate) struct Go {
    pub(crate) package: String,
    pub(crate) tags: Vec<String>,
    pub(crate) go_mod: String,
    pub(crate) go_sum: String,
    /// Lowest usable version of Go, such as `1.25.6`.
    pub(crate) min_version: String,
}

impl Client for Go {
    fn program(&self) -> &'static str {
        "go"
    }

    fn debian_package(&self) -> &'static str {
        "golang-go"
    }

    fn unusable_reason(&self, program: &Path, clients: &ClientLookup) -> Option<String> {
        let Some(version) = self.tool_version(program, clients) else {
            return Some(format!("{} does not say which version it is: repair it", program.display()));
        };
        let installed = numbers(version.trim_start_matches("go"));
        (installed < numbers(&self.min_version)).then(|| {
            let min_version = &self.min_version;
            format!(
                "{} is {version}, and Go {min_version} or later is needed: install one",
                program.display()
            )
        })
    }

    fn tool_version(&self, program: &Path, clients: &ClientLookup) -> Option<String> {
        let mut command = Command::new(program);
        command.args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local").env("GOWORK", "off");
        process::read_output(command, clients).filter(|version| !version.is_empty())
    }

    fn format(&self) -> Format {
        Format::Program
    }

    /// One copy of what is linked, one of the program.
    fn copies(&self) -> u64 {
        2
    }

    fn fetch(&self, job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<PathBuf, ArtifactError> {
        let module = job.folder.join("module");
        let temporary = job.folder.join("tmp");
        for folder in [&module, &temporary] {
            fs::create_dir_all(folder).map_err(ArtifactError::cache(folder))?;
        }
        for (name, text) in [("go.mod", &self.go_mod), ("go.sum", &self.go_sum)] {
            let path = module.join(name);
            fs::write(&path, text).map_err(ArtifactError::cache(&path))?;
        }
        let go_command = |verb: &str| {
            let mut command = Command::new(&job.program);
            command
                .arg(verb)
                // Reject what `go.sum` does not name, whatever the user's GOFLAGS say.
                .args(["-mod=readonly", "-modfile=go.mod", "-overlay=", "-toolexec=", "-tags"])
                .arg(self.tags.join(","))
                .current_dir(&module)
                // Otherwise another toolchain might build than the one whose version was checked.
                .env("GOTOOLCHAIN", "local")
                .env("GOWORK", "off")
                .env_remove("GOOS")
                .env_remove("GOARCH")
                .env("GOTMPDIR", &temporary);
            command
        };
        // Downloads the modules that are needed; go prints a line for each.
        let mut list = go_command("list");
        list.args(["-deps", &self.package]);
        let probe = process::ProgressProbe { step: InstallStep::Downloading, total: 0, measure: &lines };
        let listed = process::run_with_progress(list, job, &probe, context)?;
        let packages = listed.log.lines().filter(|line| is_package(line)).count() as u64;

        let built = job.folder.join(BUILT);
        let mut build = go_command("build");
        // `-trimpath` keeps paths of this machine out of the program; `-v` prints every package that is
        // compiled.
        build.args(["-trimpath", "-v", "-o"]).arg(&built).arg(&self.package);
        let probe = process::ProgressProbe { step: InstallStep::Building, total: packages, measure: &lines };
        let outcome = process::run_with_progress(build, job, &probe, context)?;
        if built.is_file() {
            Ok(built)
        } else {
            let (command, output) = (outcome.command, outcome.output);
            Err(ArtifactError::NoExpectedArchive { command, folder: job.folder.to_path_buf(), output })
        }
    }
}

fn lines(log: &Path) -> u64 {
    fs::read(log).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count() as u64)
}

/// Returns `true` if the line names a package and is not a remark of go's, such as `go: downloading …`.
fn is_package(line: &str) -> bool {
    !line.is_empty() && !line.contains(char::is_whitespace)
}

/// Parses `1.25.6` into numbers; a release candidate counts as its release.
fn numbers(version: &str) -> [u32; 3] {
    let mut parts = version.split('.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    });
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("1.25.6") < numbers("1.26.0") && numbers("1.9") < numbers("1.25.6"));
        assert_eq!(numbers("1.26rc1"), [1, 26, 0]);
        assert!(numbers("devel") < numbers("1.1"));
    }
}
