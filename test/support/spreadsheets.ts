// Spreadsheets built by hand: the few parts that .xlsx and .ods need, compressed as programs write them.
import { deflateRawSync } from 'node:zlib'
import { archive, type Member } from './documents.ts'

/** A compressed member of an archive. */
export function packed(name: string, text: string | Buffer): Member {
  const content = Buffer.from(text)
  return [name, deflateRawSync(content), { method: 8, size: content.length }]
}

/** A cell: text, a number with the index of a format below, a formula with its last value, or nothing. */
export type Cell = string | number | null | { v: number; format: keyof typeof FORMATS } | { f: string; v: string }

/** Number formats; those without a code are built in. */
const FORMATS = {
  general: { id: 0 },
  date: { id: 14 },
  zeros: { id: 164, code: '00000' },
  written: { id: 165, code: 'd" of "mmmm" "yyyy' },
  money: { id: 166, code: '#,##0.00' },
  scientific: { id: 11 },
} as const
const NAMES = Object.keys(FORMATS) as (keyof typeof FORMATS)[]

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'

function columnName(at: number): string {
  return (at >= 26 ? columnName(Math.floor(at / 26) - 1) : '') + String.fromCharCode(65 + (at % 26))
}

function xlsxCell(cell: Cell, at: string): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return `<c r="${at}"><v>${cell}</v></c>`
  if (typeof cell === 'string')
    return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`
  if ('f' in cell) return `<c r="${at}" t="str"><f>${escaped(cell.f)}</f><v>${escaped(cell.v)}</v></c>`
  return `<c r="${at}" s="${NAMES.indexOf(cell.format)}"><v>${cell.v}</v></c>`
}

export const xlsxSheet = (rows: readonly (readonly Cell[])[]) =>
  `${XML}<worksheet xmlns="${MAIN}"><sheetData>${rows
    .map(
      (cells, row) =>
        `<row r="${row + 1}">${cells.map((cell, at) => xlsxCell(cell, `${columnName(at)}${row + 1}`)).join('')}</row>`,
    )
    .join('')}</sheetData></worksheet>`

type Sheet = { name: string; rows: readonly (readonly Cell[])[]; hidden?: boolean; xml?: string }

/** `replace`: parts by name, instead of what is written for the sheets. */
export function xlsxFile(sheets: readonly Sheet[], more: readonly Member[] = []): Buffer {
  const custom = NAMES.flatMap(name => {
    const format: { id: number; code?: string } = FORMATS[name]
    return format.code ? [`<numFmt numFmtId="${format.id}" formatCode="${escaped(format.code)}"/>`] : []
  })
  const styles = `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="${custom.length}">${custom.join('')}</numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="${NAMES.length}">${NAMES.map(name => `<xf numFmtId="${FORMATS[name].id}" applyNumberFormat="1"/>`).join('')}</cellXfs></styleSheet>`
  const strings = more.some(([name]) => name === 'xl/sharedStrings.xml')
    ? '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
    : ''
  const types = `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>${sheets.map((_, at) => `<Override PartName="/xl/worksheets/sheet${at + 1}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`).join('')}${strings}</Types>`
  const book = `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELS}"><sheets>${sheets.map(({ name, hidden }, at) => `<sheet name="${escaped(name)}" sheetId="${at + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${at + 1}"/>`).join('')}</sheets></workbook>`
  const relations = `${XML}<Relationships xmlns="${PACKAGE}/relationships">${sheets.map((_, at) => `<Relationship Id="rId${at + 1}" Type="${RELS}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`).join('')}<Relationship Id="rId${sheets.length + 1}" Type="${RELS}/styles" Target="styles.xml"/></Relationships>`
  const root = `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`
  return archive([
    packed('[Content_Types].xml', types),
    packed('_rels/.rels', root),
    packed('xl/workbook.xml', book),
    packed('xl/_rels/workbook.xml.rels', relations),
    packed('xl/styles.xml', styles),
    ...sheets.map(({ rows, xml }, at) => packed(`xl/worksheets/sheet${at + 1}.xml`, xml ?? xlsxSheet(rows))),
    ...more,
  ])
}

/** Text, a number, or a date as ISO 8601 with the text that is displayed. */
type OdsCell = string | number | { date: string; shown: string } | { xml: string }

function odsCell(cell: OdsCell): string {
  const shown = (text: string) => `<text:p>${escaped(text)}</text:p>`
  if (typeof cell === 'string') return `<table:table-cell office:value-type="string">${shown(cell)}</table:table-cell>`
  if (typeof cell === 'number')
    return `<table:table-cell office:value-type="float" office:value="${cell}">${shown(String(cell))}</table:table-cell>`
  if ('xml' in cell) return cell.xml
  return `<table:table-cell office:value-type="date" office:date-value="${cell.date}">${shown(cell.shown)}</table:table-cell>`
}

const OFFICE = 'urn:oasis:names:tc:opendocument:xmlns'

export function odsFile(
  sheets: readonly { name: string; rows: readonly (readonly OdsCell[])[] }[],
  { manifest = '', prolog = '', rowAttributes = '' } = {},
): Buffer {
  const tables = sheets.map(
    ({ name, rows }) =>
      `<table:table table:name="${escaped(name)}">${rows.map(row => `<table:table-row ${rowAttributes}>${row.map(odsCell).join('')}</table:table-row>`).join('')}</table:table>`,
  )
  const content = `${XML}${prolog}<office:document-content xmlns:office="${OFFICE}:office:1.0" xmlns:table="${OFFICE}:table:1.0" xmlns:text="${OFFICE}:text:1.0" office:version="1.3"><office:body><office:spreadsheet>${tables.join('')}</office:spreadsheet></office:body></office:document-content>`
  return archive([
    ['mimetype', 'application/vnd.oasis.opendocument.spreadsheet'],
    packed('content.xml', content),
    packed('styles.xml', `${XML}<office:document-styles xmlns:office="${OFFICE}:office:1.0" office:version="1.3"/>`),
    packed(
      'META-INF/manifest.xml',
      `${XML}<manifest:manifest xmlns:manifest="${OFFICE}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>${manifest}</manifest:manifest>`,
    ),
  ])
}
