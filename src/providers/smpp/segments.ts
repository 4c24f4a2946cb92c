// Splits a text into parts that fit into one submit_sm each. The phone joins the parts of a long message by their user data
// header: 3GPP TS 23.040, 9.2.3.24.1, concatenation with an 8-bit reference.
import { gsmEscape } from '../../core/gsm.ts'
import { gsm7, ucs2, withoutControls } from './alphabet.ts'

export type Segments = {
  /** SMPP 3.4, 5.2.19: 0 the SMSC's default alphabet, 8 UCS-2. */
  dataCoding: 0 | 8
  /** One short_message per part, with its header. */
  parts: readonly Buffer[]
  /** All octets without headers, for message_payload. */
  whole: Buffer
}

const headerOctets = 6
const mostParts = 255

/** Null: more parts than the header can number. */
export function cut(text: string, encoding: 'GSM-7' | 'UCS-2', reference: number): Segments | null {
  const clean = withoutControls(text)
  // A text with characters outside GSM-7 is sent as UCS-2, whatever was announced.
  const narrow = encoding === 'GSM-7' ? gsm7(clean) : null
  const whole = narrow ?? ucs2(clean)
  const dataCoding = narrow ? 0 : 8
  const single = narrow ? 160 : 140
  if (whole.length <= single) return { dataCoding, parts: [whole], whole }
  const pieces = narrow ? slices(whole, 153, splitsEscape) : slices(whole, 134, splitsPair)
  if (pieces.length > mostParts) return null
  const parts = pieces.map((piece, index) => Buffer.concat([header(reference, pieces.length, index + 1), piece]))
  return { dataCoding, parts, whole }
}

function slices(octets: Buffer, size: number, splits: (octets: Buffer, at: number) => number): Buffer[] {
  const pieces: Buffer[] = []
  for (let from = 0; from < octets.length; ) {
    let to = Math.min(from + size, octets.length)
    if (to < octets.length) to -= splits(octets, to)
    pieces.push(octets.subarray(from, to))
    from = to
  }
  return pieces
}

// How many octets before a cut must move behind it, so that no character is split.
const splitsEscape = (octets: Buffer, at: number) => (octets[at - 1] === gsmEscape ? 1 : 0)
const splitsPair = (octets: Buffer, at: number) => (((octets[at - 2] ?? 0) & 0xfc) === 0xd8 ? 2 : 0)

function header(reference: number, total: number, number: number): Buffer {
  return Buffer.from([headerOctets - 1, 0x00, 0x03, reference & 0xff, total, number])
}
