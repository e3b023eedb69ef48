// Files that the page hands to the reader, made in the page itself.

/** A name that every file system takes. */
export function fileName(title: string, ending: string): string {
  const words = title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60);
  return `jsonathlon-${words === '' ? 'chart' : words}.${ending}`;
}

/** Hands over a text as a file. */
export function download(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
