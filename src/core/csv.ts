// CSV for spreadsheets: every cell is quoted, and no text can be taken for a formula (OWASP, CSV injection).

export const csvRow = (cells: readonly (string | number | null)[]): string => cells.map(cell).join(',')

// A report has a million cells and more: most need neither an apostrophe nor doubled quotes.
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return `"${value ?? ''}"`
  const text = RISKY.has(value.charCodeAt(0)) ? `'${value}` : value
  return `"${text.includes('"') ? text.replaceAll('"', '""') : text}"`
}

const RISKY: ReadonlySet<number> = new Set([...'=+-@\t\r'].map(sign => sign.charCodeAt(0)))
