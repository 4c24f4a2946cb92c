// The content of a message: a text, or texts and files in turn where files are large. A file is encoded in base64 while it is written, a
// piece at a time: encoded before, it would be in memory four times. Every text between files begins and ends with a line.

export type Content = string | readonly (string | Buffer)[]

/** Octets that are sent; texts have one character per octet. */
export function sizeOf(content: Content): number {
  if (typeof content === 'string') return content.length
  return content.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : base64Size(part.length)), 0)
}

/** Everything but large files. */
export const textsOf = (content: Content) =>
  typeof content === 'string' ? content : content.filter(part => typeof part === 'string').join('')

export const mapTexts = (content: Content, change: (text: string) => string): Content =>
  typeof content === 'string' ? change(content) : content.map(part => (typeof part === 'string' ? change(part) : part))

export function wholeText(content: Content): string {
  let text = ''
  for (const part of typeof content === 'string' ? [content] : content)
    if (typeof part === 'string') text += part
    else for (const piece of base64Pieces(part)) text += piece.toString('latin1')
  return text
}

/** 57 octets make a line of 76 characters. */
const LINE_OCTETS = 57
const LINE = 76
const ENDED_LINE = LINE + 2
/** Of one piece. */
const LINES = 840

/** An empty file is an empty line. */
const linesIn = (octets: number) => Math.max(1, Math.ceil(octets / LINE_OCTETS))

const base64Size = (octets: number) => Math.ceil(octets / 3) * 4 + 2 * linesIn(octets)

/** Whole lines with their ends, in pieces of less than 64 KiB. A piece is overwritten by the next one. */
export function* base64Pieces(file: Buffer): Generator<Buffer> {
  const most = Math.min(linesIn(file.length), LINES)
  const out = Buffer.allocUnsafeSlow(most * ENDED_LINE)
  for (let at = 0; at === 0 || at < file.length; at += LINES * LINE_OCTETS) {
    const end = Math.min(at + LINES * LINE_OCTETS, file.length)
    const letters = out.write(file.toString('base64', at, end), 'latin1')
    const lines = linesIn(end - at)
    // Moved apart from the last one on, to make room for line ends.
    for (let n = lines - 1; n >= 0; n--) {
      const length = Math.min(LINE, letters - n * LINE)
      if (n > 0) out.copyWithin(n * ENDED_LINE, n * LINE, n * LINE + length)
      out[n * ENDED_LINE + length] = CR
      out[n * ENDED_LINE + length + 1] = LF
    }
    yield out.subarray(0, letters + 2 * lines)
  }
}

const CR = 13
const LF = 10
