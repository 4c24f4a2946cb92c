// The type of a file, by its name and its first bytes (contract 10, S-16…S-18). The extension must be allowed. Bytes of a known
// other type are refused whatever the name. Text is accepted with any allowed extension. Sources of signatures:
// https://www.iana.org/assignments/media-types, the file(1) magic database, and the specifications of the formats.
import { extensionOf } from './name.ts'
import { oleNames } from './ole.ts'
import { dataOf, endOf, readDirectory } from './zip.ts'

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const ODT = 'application/vnd.oasis.opendocument.text'

/** Allowed extension → media type, in the order of the error message. */
export const ALLOWED = {
  pdf: 'application/pdf',
  csv: 'text/csv',
  txt: 'text/plain',
  jpeg: 'image/jpeg',
  png: 'image/png',
  doc: 'application/msword',
  docx: `${OFFICE}.wordprocessingml.document`,
  xls: 'application/vnd.ms-excel',
  xlsx: `${OFFICE}.spreadsheetml.sheet`,
  rtf: 'application/rtf',
  odt: ODT,
} as const

const BY_EXTENSION = new Map<string, string>([...Object.entries(ALLOWED), ['jpg', ALLOWED.jpeg]])
const MEDIA_TYPES = new Set<string>(Object.values(ALLOWED))

export type Judgement = { ok: true; mediaType: string; extension: string } | { ok: false; type: string }

export function judge(name: string, content: Buffer): Judgement {
  const extension = extensionOf(name)
  const named = extension === null ? null : BY_EXTENSION.get(extension)
  if (named === undefined) return { ok: false, type: extension ?? '' }
  const found = detect(content)
  if (found !== null && !MEDIA_TYPES.has(found)) return { ok: false, type: found }
  // An image with the extension of another allowed image type gets the type of its bytes.
  const mediaType = found ?? named ?? (isText(content) ? ALLOWED.txt : null)
  return mediaType === null
    ? { ok: false, type: 'application/octet-stream' }
    : { ok: true, mediaType, extension: extension ?? extensionFor(mediaType) }
}

const extensionFor = (mediaType: string) => Object.entries(ALLOWED).find(([, type]) => type === mediaType)?.[0] ?? 'txt'

/** The media type by the first bytes; null for text and unknown types. */
function detect(content: Buffer): string | null {
  if (startsWith(content, 'PK\x03\x04') || startsWith(content, 'PK\x05\x06') || startsWith(content, 'PK\x07\x08'))
    return zipped(content)
  // A ZIP archive is read from its end, so anything can stand before it.
  if (endOf(content) !== -1) return 'application/zip'
  if (startsWith(content, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return compound(content)
  const isBinary = !isText(content)
  for (const [type, mark, at = 0, only] of SIGNATURES)
    if ((only !== 'binary' || isBinary) && startsWith(content, mark, at)) return type
  return scriptIn(content)
}

type Signature = readonly [type: string, mark: string, at?: number, only?: 'binary']

// Signatures are byte strings. A `binary` one could also begin a text, so it counts only if the content is not text.
const SIGNATURES: readonly Signature[] = [
  [ALLOWED.pdf, '%PDF-'],
  [ALLOWED.jpeg, '\xff\xd8\xff'],
  [ALLOWED.png, '\x89PNG\r\n\x1a\n'],
  [ALLOWED.rtf, '{\\rtf'],
  // programs
  ['application/x-msdownload', 'MZ', 0, 'binary'],
  ['application/x-executable', '\x7fELF'],
  ['application/x-mach-binary', '\xfe\xed\xfa\xce'],
  ['application/x-mach-binary', '\xfe\xed\xfa\xcf'],
  ['application/x-mach-binary', '\xce\xfa\xed\xfe'],
  ['application/x-mach-binary', '\xcf\xfa\xed\xfe'],
  ['application/java-vm', '\xca\xfe\xba\xbe'],
  ['application/x-dex', 'dex\n', 0, 'binary'],
  ['application/wasm', '\0asm'],
  ['application/x-ms-shortcut', 'L\0\0\0\x01\x14\x02\0'],
  ['application/x-chrome-extension', 'Cr24', 0, 'binary'],
  // archives
  ['application/gzip', '\x1f\x8b'],
  ['application/x-bzip2', 'BZh', 0, 'binary'],
  ['application/x-xz', '\xfd7zXZ\0'],
  ['application/x-7z-compressed', "7z\xbc\xaf'\x1c"],
  ['application/vnd.rar', 'Rar!\x1a\x07'],
  ['application/zstd', '\x28\xb5\x2f\xfd'],
  ['application/x-lz4', '\x04"M\x18'],
  ['application/vnd.ms-cab-compressed', 'MSCF', 0, 'binary'],
  ['application/x-tar', 'ustar', 257],
  ['application/x-iso9660-image', 'CD001', 32_769],
  ['application/x-rpm', '\xed\xab\xee\xdb'],
  ['application/vnd.debian.binary-package', '!<arch>\n'],
  // images and media
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/bmp', 'BM', 0, 'binary'],
  ['image/tiff', 'II*\0'],
  ['image/tiff', 'MM\0*'],
  ['image/vnd.adobe.photoshop', '8BPS', 0, 'binary'],
  ['image/vnd.microsoft.icon', '\0\0\x01\0'],
  ['image/jp2', '\0\0\0\x0cjP  '],
  ['image/webp', 'WEBP', 8, 'binary'],
  ['audio/wav', 'WAVE', 8, 'binary'],
  ['video/x-msvideo', 'AVI ', 8, 'binary'],
  ['video/mp4', 'ftyp', 4, 'binary'],
  ['video/quicktime', 'moov', 4, 'binary'],
  ['video/x-matroska', '\x1aE\xdf\xa3'],
  ['video/x-flv', 'FLV\x01'],
  ['video/mpeg', '\0\0\x01\xba'],
  ['video/mpeg', '\0\0\x01\xb3'],
  ['video/x-ms-asf', '0&\xb2u\x8ef\xcf\x11'],
  ['audio/mpeg', 'ID3', 0, 'binary'],
  ['audio/mpeg', '\xff\xfb'],
  ['audio/ogg', 'OggS', 0, 'binary'],
  ['audio/flac', 'fLaC', 0, 'binary'],
  ['audio/midi', 'MThd', 0, 'binary'],
  ['application/x-shockwave-flash', 'FWS', 0, 'binary'],
  ['application/x-shockwave-flash', 'CWS', 0, 'binary'],
  ['application/x-shockwave-flash', 'ZWS', 0, 'binary'],
  // other
  ['font/otf', 'OTTO', 0, 'binary'],
  ['font/woff', 'wOFF', 0, 'binary'],
  ['font/woff2', 'wOF2', 0, 'binary'],
  ['application/vnd.sqlite3', 'SQLite format 3\0'],
  ['application/postscript', '%!PS'],
  ['application/x-onenote', '\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d'],
  ['application/vnd.tcpdump.pcap', '\xd4\xc3\xb2\xa1'],
]

function startsWith(content: Buffer, mark: string, at = 0): boolean {
  if (content.length < at + mark.length) return false
  for (let n = 0; n < mark.length; n++) if (content[at + n] !== mark.charCodeAt(n)) return false
  return true
}

const LOOKED_AT = 4_096
const BEGINNING = 64 * 1024
const BOMS = ['\xff\xfe', '\xfe\xff']

/** Whether the content is text in a single-byte or UTF encoding: it has no control bytes. UTF-16 needs a byte order mark. */
function isText(content: Buffer): boolean {
  if (BOMS.some(bom => startsWith(content, bom))) return true
  for (const byte of content.subarray(0, LOOKED_AT))
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b) return false
  return true
}

// Text that a browser, a shell or an office program would execute, also after white space and comments.
function scriptIn(content: Buffer): string | null {
  // The beginning is nearly always enough. The whole text of a large file would be in memory beside it.
  const markup = markupIn(textOf(content.subarray(0, BEGINNING)))
  const isEnough = content.length <= BEGINNING || (markup.length >= LOOKED_AT && !markup.startsWith('<!--'))
  return scriptAt(textOf(isEnough ? content.subarray(0, BEGINNING) : content))
}

function scriptAt(text: string): string | null {
  if (/^#!\s*\//.test(text.slice(0, LOOKED_AT))) return 'text/x-shellscript'
  const markup = markupIn(text).slice(0, LOOKED_AT)
  if (/^<(!doctype\s+html|html|head|body|script|iframe|meta|object|embed)\b/i.test(markup)) return 'text/html'
  if (/^(<\?xml.*?\?>\s*)?(<!doctype[^>]*>\s*)?<svg\b/is.test(markup)) return 'image/svg+xml'
  if (/^<\?xml.*?<\?mso-application\b/is.test(markup)) return 'application/xml'
  if (/^mime-version\s*:/i.test(markup)) return 'multipart/related'
  return /^<\?php\b/i.test(markup) ? 'application/x-httpd-php' : null
}

/** The text after leading white space and comments. */
function markupIn(text: string): string {
  let rest = text.trimStart()
  while (rest.startsWith('<!--')) {
    const end = /--!?>/g
    end.lastIndex = 2 // browsers read <!--> as a complete comment
    if (!end.test(rest)) return rest
    rest = rest.slice(end.lastIndex).trimStart()
  }
  return rest
}

function textOf(content: Buffer): string {
  if (startsWith(content, '\xff\xfe')) return content.toString('utf16le').slice(1)
  if (startsWith(content, '\xfe\xff'))
    return Buffer.from(content.subarray(0, content.length & ~1))
      .swap16()
      .toString('utf16le')
      .slice(1)
  return content.toString('latin1').replace(/^\xef\xbb\xbf/, '')
}

/** OOXML and ODF are ZIP archives with known entries; every other archive is only an archive. */
function zipped(content: Buffer): string {
  const directory = readDirectory(content)
  if (!directory.ok) return 'application/zip'
  const names = directory.entries.map(entry => entry.name)
  if (names.some(isNested)) return 'application/zip'
  const [first] = directory.entries
  if (first?.name === 'mimetype' && first.method === 0 && first.size < 200) {
    const at = dataOf(content, first.offset)
    const type = content.toString('latin1', at, at + first.size).trim()
    if (type === ODT) return names.some(isOdfMacro) ? 'application/x-opendocument-macros' : ODT
    return /^application\/vnd\.oasis\.opendocument\.[a-z-]+$/.test(type) ? type : 'application/zip'
  }
  if (!names.includes('[Content_Types].xml')) return 'application/zip'
  if (names.some(name => name.startsWith('word/')))
    return names.some(isOfficeMacro) ? 'application/vnd.ms-word.document.macroEnabled.12' : ALLOWED.docx
  if (names.includes('xl/workbook.bin')) return 'application/vnd.ms-excel.sheet.binary.macroEnabled.12'
  if (names.some(name => name.startsWith('xl/')))
    return names.some(isOfficeMacro) ? 'application/vnd.ms-excel.sheet.macroEnabled.12' : ALLOWED.xlsx
  return names.some(name => name.startsWith('ppt/')) ? `${OFFICE}.presentationml.presentation` : 'application/zip'
}

const isNested = (name: string) => /\.(zip|jar|7z|rar|gz|tgz|xz|bz2|cab|iso|exe|dll|scr|js|vbs|hta|lnk)$/i.test(name)
const isOfficeMacro = (name: string) => /(^|\/)(vbaProject[^/]*\.bin|vbaData\.xml)$|(^|\/)macrosheets\//i.test(name)
// LibreOffice writes an empty library into documents without macros.
const isOdfMacro = (name: string) => /^(Basic|Scripts)\/.+[^/]$/i.test(name) && !/\/script-l[bc]\.xml$/i.test(name)

function compound(content: Buffer): string {
  const names = oleNames(content)
  const has = (...wanted: string[]) => wanted.some(name => names.has(name))
  // An encrypted document cannot be checked for macros.
  if (has('EncryptedPackage')) return 'application/x-ole-storage'
  const hasMacros = has('_VBA_PROJECT', '_VBA_PROJECT_CUR', 'Macros', 'VBA', 'dir_SRP')
  if (has('WordDocument')) return hasMacros ? 'application/vnd.ms-word.document.macroEnabled.12' : ALLOWED.doc
  if (has('Workbook', 'Book')) return hasMacros ? 'application/vnd.ms-excel.sheet.macroEnabled.12' : ALLOWED.xls
  if (has('PowerPoint Document')) return 'application/vnd.ms-powerpoint'
  return 'application/x-ole-storage'
}
