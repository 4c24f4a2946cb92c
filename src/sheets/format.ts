// What a file is, by its content: its name and extension are not trusted.
import { endOf } from '../files/zip.ts'
import type { Origin, Unreadable } from './sheet.ts'
import { tableOfSpreadsheet } from './spreadsheet.ts'
import type { Found } from './table.ts'
import { tableOfText } from './text.ts'

const unreadable = (problem: Unreadable): Found => ({ ok: false, problem })

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1')
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
/** The name of the stream with an encrypted spreadsheet (MS-OFFCRYPTO 2.3.4.2), as OLE writes names. */
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le')

/** Documents that begin with readable text. */
const isDocument = (content: Buffer) => /^(?:%PDF-|\{\\rtf|%!PS)/.test(content.toString('latin1', 0, 8))

export function tableOf(content: Buffer, origin: Origin): Found {
  if (origin === 'file') {
    if (content.subarray(0, 4).equals(ZIP) || endOf(content) >= 0) return tableOfSpreadsheet(content)
    if (content.subarray(0, 8).equals(OLE))
      return unreadable({ kind: content.includes(ENCRYPTED) ? 'password' : 'old-excel' })
  }
  const table = isDocument(content) ? null : tableOfText(content, origin)
  return table ? { ok: true, table } : unreadable({ kind: 'unknown-format' })
}
