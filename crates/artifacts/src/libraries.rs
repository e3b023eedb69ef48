//! Shared libraries that programs load from the machine instead of their artifact. They differ between
//! machines, so two results with different libraries are not results of the same program.
//!
//! Files are read, never run. Libraries that a program loads while it runs (`dlopen`) are not found.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs::File,
    path::{Path, PathBuf},
};

use object::{
    Endianness, FileKind, elf,
    read::{
        ReadCache, ReadRef,
        elf::{Dyn as _, FileHeader},
    },
};

use jsonathlon_catalogue as catalogue;
use jsonathlon_catalogue::artifact::InstalledArtifact;
use jsonathlon_servers::Recipe;

/// Option of the dynamic loader that names the folders to search for libraries.
const LIBRARY_PATH: &str = "--library-path";
const LD_LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// Returns the names of the shared libraries that the installed programs load from the machine. The
/// programs are those of the commands of `server`, or the library of an embedded engine. Empty if the
/// artifact is bundled or the system is external.
pub fn find_machine_libraries(installed: &InstalledArtifact, server: Option<&Recipe>) -> Vec<String> {
    let Some(folder) = &installed.folder else { return Vec::new() };
    let mut search = Vec::new();
    let mut programs = Vec::new();
    match server {
        None => programs.extend(installed.library().map(Path::to_path_buf)),
        Some(server) => {
            for command in server.init.iter().chain([&server.start]) {
                programs.extend(command.iter().filter_map(|argument| program(installed, argument)));
                let paths = command.iter().skip_while(|argument| *argument != LIBRARY_PATH).nth(1);
                search.extend(paths.into_iter().flat_map(|paths| folders(installed, paths)));
            }
            let paths = server.environment.get(LD_LIBRARY_PATH);
            search.extend(paths.into_iter().flat_map(|paths| folders(installed, paths)));
        }
    }
    let mut names = BTreeSet::new();
    for program in programs.into_iter().collect::<BTreeSet<_>>() {
        LibraryResolver { artifact: folder, search: &search, resolved: BTreeMap::new() }
            .walk(&program, &mut names);
    }
    names.into_iter().collect()
}

/// Returns the file that an argument of a command names by a role. `None` if there is no such file.
fn program(installed: &InstalledArtifact, argument: &str) -> Option<PathBuf> {
    let path = argument.starts_with("{{").then(|| fill_roles(installed, argument)).flatten();
    path.filter(|path| path.is_file())
}

fn folders(installed: &InstalledArtifact, paths: &str) -> Vec<PathBuf> {
    paths.split(':').filter_map(|path| fill_roles(installed, path)).collect()
}

/// Returns the text with the paths of the artifact's files in place of their roles. `None` if the text
/// holds other placeholders.
fn fill_roles(installed: &InstalledArtifact, text: &str) -> Option<PathBuf> {
    let files: Vec<(&str, String)> =
        installed.files.iter().map(|(role, path)| (role.as_str(), path.display().to_string())).collect();
    let values: Vec<(&str, &str)> = files.iter().map(|(role, path)| (*role, path.as_str())).collect();
    catalogue::fill(text, &values).ok().map(PathBuf::from)
}

/// Libraries and search paths that the dynamic section of an ELF file names.
#[derive(Debug, Default, PartialEq, Eq)]
struct DynamicSection {
    libraries: Vec<String>,
    rpath: Vec<String>,
    runpath: Vec<String>,
}

/// Finds a program's libraries in the order of the dynamic loader: breadth first, each name looked up once.
struct LibraryResolver<'a> {
    artifact: &'a Path,
    search: &'a [PathBuf],
    /// Name of a library to whether the artifact has it.
    resolved: BTreeMap<String, bool>,
}

impl LibraryResolver<'_> {
    fn walk(&mut self, program: &Path, machine_libraries: &mut BTreeSet<String>) {
        // `DT_RPATH` of the program, which the loader also uses for all libraries that it loads.
        let program_rpath = DynamicSection::of(program).map(|section| section.rpath_of(program));
        let program_rpath = program_rpath.unwrap_or_default();
        let mut pending = VecDeque::from([program.to_path_buf()]);
        while let Some(file) = pending.pop_front() {
            let Some(section) = DynamicSection::of(&file) else { continue };
            let folders: Vec<PathBuf> = match section.runpath.is_empty() {
                true => {
                    let inherited = section.rpath_of(&file).into_iter().chain(program_rpath.iter().cloned());
                    inherited.chain(self.search.iter().cloned()).collect()
                }
                false => {
                    let runpath = section.runpath.iter().map(|folder| at_origin(folder, &file));
                    self.search.iter().cloned().chain(runpath).collect()
                }
            };
            for name in section.libraries {
                if self.resolved.contains_key(&name) {
                    continue;
                }
                let path = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
                let path = path.filter(|path| path.starts_with(self.artifact));
                self.resolved.insert(name.clone(), path.is_some());
                match path {
                    Some(path) => pending.push_back(path),
                    None => drop(machine_libraries.insert(name)),
                }
            }
        }
    }
}

impl DynamicSection {
    /// Reads what a file states. `None` for a file that is neither a program nor a library.
    fn of(path: &Path) -> Option<Self> {
        let data = ReadCache::new(File::open(path).ok()?);
        match FileKind::parse(&data).ok()? {
            FileKind::Elf64 => Self::read::<elf::FileHeader64<Endianness>, _>(&data),
            FileKind::Elf32 => Self::read::<elf::FileHeader32<Endianness>, _>(&data),
            _ => None,
        }
    }

    fn read<'data, H, R>(data: R) -> Option<Self>
    where
        H: FileHeader<Endian = Endianness>,
        R: ReadRef<'data>,
    {
        let header = H::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, data).ok()?;
        // A program without a dynamic section needs no libraries.
        let Some((entries, strings)) = sections.dynamic(endian, data).ok()? else {
            return Some(Self::default());
        };
        let strings = sections.strings(endian, data, strings).ok()?;
        let mut section = Self::default();
        for entry in entries {
            let text = || {
                let text = entry.string(endian, strings).ok()?;
                std::str::from_utf8(text).ok().map(str::to_owned)
            };
            let paths = || -> Vec<String> {
                text().iter().flat_map(|text| text.split(':')).map(str::to_owned).collect()
            };
            match entry.tag(endian) {
                elf::DT_NEEDED => section.libraries.extend(text()),
                elf::DT_RPATH => section.rpath = paths(),
                elf::DT_RUNPATH => section.runpath = paths(),
                _ => {}
            }
        }
        Some(section)
    }

    fn rpath_of(&self, file: &Path) -> Vec<PathBuf> {
        if self.runpath.is_empty() {
            self.rpath.iter().map(|folder| at_origin(folder, file)).collect()
        } else {
            Vec::new()
        }
    }
}

/// Returns the folder with `$ORIGIN`, the folder of the file itself, replaced.
fn at_origin(folder: &str, file: &Path) -> PathBuf {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let origin = file.parent().unwrap_or(Path::new("/")).display().to_string();
    let path = folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
    // Resolve `..`, which would hide that a path lies inside the artifact.
    Path::new(&path).canonicalize().unwrap_or_else(|_| PathBuf::from(path))
}
