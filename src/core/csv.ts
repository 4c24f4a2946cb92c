// CSV for spreadsheets: every cell is quoted, and no text can be taken for a formula (OWASP, CSV injection).

export const csvRow = (cells: readonly (string | number | null)[]): string => cells.map(csvCell).join(',')

// A report has a million cells and more: most need neither an apostrophe nor doubled quotes.
export function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return `"${value ?? ''}"`
  const text = RISKY.has(value.charCodeAt(0)) && !NUMBER.test(value) ? `'${value}` : value
  return `"${text.includes('"') ? text.replaceAll('"', '""') : text}"`
}

/** A telephone number in E.164. With digits alone nothing can be called, so it stays as it is, for people and programs. */
const NUMBER = /^\+\d{7,15}$/
const RISKY: ReadonlySet<number> = new Set([...'=+-@\t\r'].map(sign => sign.charCodeAt(0)))
