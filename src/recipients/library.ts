// The library of phone numbers, loaded at its first use: it takes 75 ms, and most commands read no number.
import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

export const library = once((): typeof import('libphonenumber-js/max') => load('libphonenumber-js/max'))
export const metadata = once((): typeof import('libphonenumber-js/max/metadata').default =>
  load('libphonenumber-js/max/metadata'),
)

/** Makes a value at the first call, and returns the same one afterwards. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
