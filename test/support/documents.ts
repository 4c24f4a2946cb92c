// Small documents, built by hand so that each byte can be changed. And the standard test virus, in pieces: as one string it would
// trigger the virus scanner of every developer.

export const EICAR = ['X5O!P%@AP[4', '\\PZX54(P^)7CC)7}', '$EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE', '!$H+H*'].join('')

type Bend = Partial<{ size: number; compressed: number; offset: number; name: string; flags: number; method: number }>
export type Member = readonly [name: string, data: string | Buffer, bend?: Bend]

/** A ZIP archive of stored members; `bend` changes the fields of the directory and of the member's own header. */
export function archive(members: readonly Member[]): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [given, data, bend = {}] of members) {
    const content = Buffer.isBuffer(data) ? data : Buffer.from(data)
    const name = Buffer.from(bend.name ?? given)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(bend.flags ?? 0, 2)
    fields.writeUInt16LE(bend.method ?? 0, 4)
    fields.writeUInt32LE(bend.compressed ?? content.length, 14)
    fields.writeUInt32LE(bend.size ?? content.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const entry = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, name, content])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(bend.offset ?? offset, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), fields, tail, name]))
    local.push(entry)
    offset += entry.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(members.length & 0xffff, 8)
  end.writeUInt16LE(members.length & 0xffff, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...local, directory, end])
}

const TYPES: Member = ['[Content_Types].xml', '<Types/>']

export const docxWith = (...more: Member[]) => archive([TYPES, ['word/document.xml', '<w:document/>'], ...more])
export const docx = () => docxWith()
export const xlsx = () => archive([TYPES, ['xl/workbook.xml', '<workbook/>']])
export const odt = (...more: Member[]) =>
  archive([['mimetype', 'application/vnd.oasis.opendocument.text'], ['content.xml', '<x/>'], ...more])

export const png = () =>
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )

/** The parts of an OLE compound file that are checked: its signature, and a directory with these streams. */
export function ole(...streams: string[]): Buffer {
  const entries = ['Root Entry', ...streams].map((name, at) => {
    const entry = Buffer.alloc(128)
    entry.write(name, 'utf16le')
    entry.writeUInt16LE((name.length + 1) * 2, 64)
    entry[66] = at === 0 ? 5 : 2
    entry[67] = 1
    return entry
  })
  const head = Buffer.alloc(512)
  head.write('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')
  return Buffer.concat([head, ...entries])
}

export const pdf = (inside = '') =>
  Buffer.from(`%PDF-1.7\n1 0 obj\n<<>>\nstream\n${inside}\nendstream\nendobj\n%%EOF\n`)
