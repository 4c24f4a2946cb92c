// Which tables a source file names in its SQL.

/** After these words a table is named; a part may be a table alone. */
const NAMED =
  /\b(?:from|join|into|update|using|table|only|truncate)\s+(?:only\s+)?"?(\w+)"?|'(\w+)'::regclass|\bpart`(\w+)`/g

/** Comments of TypeScript and of SQL are ignored. */
export const withoutComments = (text: string) =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/--\s.*$/gm, '')

export function tablesIn(text: string, tables: ReadonlySet<string>): string[] {
  const names = [...withoutComments(text).matchAll(NAMED)].map(found => found.slice(1).find(Boolean) ?? '')
  return [...new Set(names)].filter(name => tables.has(name)).sort()
}

/** Tables that are named as values, as for a statement that is built elsewhere. */
export function quotedTablesIn(text: string, tables: ReadonlySet<string>): string[] {
  const names = [...withoutComments(text).matchAll(/(['"])(\w+)\1/g)].map(([, , name]) => name ?? '')
  return [...new Set(names)].filter(name => tables.has(name)).sort()
}
