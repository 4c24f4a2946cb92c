// The two alphabets of text messages as octets: GSM 7-bit default alphabet with its extension table
// (3GPP TS 23.038, 6.2.1) and UCS-2 (in practice UTF-16, big-endian).

import { gsmBasic, gsmEscape, gsmExtension } from '../../core/gsm.ts'

// By UTF-16 code unit; every character of the alphabet is one unit. Characters of the extension table follow the escape octet.
const codes = new Map<number, number>()
for (const [code, char] of [...gsmBasic].entries()) if (code !== gsmEscape) codes.set(char.charCodeAt(0), code)
for (const [char, code] of Object.entries(gsmExtension)) codes.set(char.charCodeAt(0), (gsmEscape << 8) | code)

/** One octet per septet, as in SMPP; null: a character is not in the alphabet. */
export function gsm7(text: string): Buffer | null {
  const octets = Buffer.allocUnsafe(text.length * 2)
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const code = codes.get(text.charCodeAt(i))
    if (code === undefined) return null
    if (code > 0xff) octets[length++] = gsmEscape
    octets[length++] = code & 0xff
  }
  return octets.subarray(0, length)
}

export function ucs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

// C0 and C1 controls except the line feed, DEL, characters that change the text direction (S-13), unpaired surrogates.
const unwanted =
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Second defence behind the rules for content: no control character reaches a phone. */
export function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\t', ' ').replace(unwanted, '')
}
