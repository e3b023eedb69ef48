// Downloads of files that are generated within the page.

/** Lower-case letters, digits and hyphens, of which the first `most` are kept. */
function plain(text: string, most: number): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '').slice(0, most).replace(/-+$/, '');
}

/** A file name that is valid on every file system: the title, then `more`, such as data and date. */
export function fileName(title: string, ending: string, more: readonly string[] = []): string {
  const words = [plain(title, 60), ...more.map((one) => plain(one, 30))].filter((word) => word !== '');
  return `jsonathlon-${words.length === 0 ? 'chart' : words.join('-')}.${ending}`;
}

/** Starts the download of a file. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
