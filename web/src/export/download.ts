// Downloads of files that are generated within the page.

/** A file name of lower-case letters, digits and hyphens that is valid on every file system. */
export function fileName(title: string, ending: string): string {
  const words = title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60);
  return `jsonathlon-${words === '' ? 'chart' : words}.${ending}`;
}

/** Starts the download of a text as a file. */
export function download(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
