// CSV for spreadsheets: every cell is quoted, and no text can be taken for a formula (OWASP, CSV injection).

export const csvRow = (cells: readonly (string | number | null)[]): string => cells.map(cell).join(',')

function cell(value: string | number | null): string {
  const text = String(value ?? '')
  const isRisky = typeof value === 'string' && /^[=+\-@\t\r]/.test(text)
  return `"${(isRisky ? `'${text}` : text).replaceAll('"', '""')}"`
}
