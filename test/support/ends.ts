// What a test file has started ends with it. Files share the modules of their worker (vitest.config.ts), so a hook that a module registers
// when it is loaded would run for the first file only: setup.ts registers one for every file.
const ends: (() => unknown)[] = []

/** Called when the tests of the file are over, the latest first. */
export function atEnd(end: () => unknown): void {
  ends.push(end)
}

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end()
}
