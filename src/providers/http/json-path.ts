// Finds a value in a provider's JSON by a path like `messages[0].id`. Own properties only.

export type JsonPath = readonly (string | number)[]

/** Null: not a path. The empty text is the path of the whole document. */
export function readPath(text: string): JsonPath | null {
  const steps: (string | number)[] = []
  let rest = text
  while (rest !== '') {
    const found = /^\.?([A-Za-z_$@][\w$@-]*)|^\[([0-9]{1,4})\]/.exec(rest)
    if (!found) return null
    steps.push(found[1] ?? Number(found[2]))
    rest = rest.slice(found[0].length)
  }
  return steps
}

export function valueAt(root: unknown, path: JsonPath): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}

/** Text or number at a path, as text; '' when there is none. */
export function textAt(root: unknown, path: JsonPath): string {
  const value = valueAt(root, path)
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON: no path finds a value
  }
}
