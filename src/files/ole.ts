// Names in the directory of an OLE compound file ([MS-CFB] 2.6), the format of .doc and .xls. Directory entries are 128 bytes
// and aligned to 128 bytes, so every aligned block is examined. Sector chains, which a hostile file can forge, are not followed.

const ENTRY_BYTES = 128

export function oleNames(content: Buffer): Set<string> {
  const names = new Set<string>()
  for (let at = 512; at + ENTRY_BYTES <= content.length; at += ENTRY_BYTES) {
    const bytes = content.readUInt16LE(at + 64)
    const kind = content[at + 66] ?? 0
    const color = content[at + 67] ?? 0
    if (bytes < 4 || bytes > 64 || bytes % 2 === 1 || color > 1 || (kind !== 1 && kind !== 2 && kind !== 5)) continue
    if (content.readUInt16LE(at + bytes - 2) !== 0) continue
    names.add(content.toString('utf16le', at, at + bytes - 2))
  }
  return names
}
