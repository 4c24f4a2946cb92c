// The characters of a text message in the GSM 7-bit default alphabet. Source: 3GPP TS 23.038, 6.2.1 and 6.2.1.1.

/** The basic table: a character's position is its code. Position 0x1b is the escape to the extension table. */
export const gsmBasic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'

export const gsmEscape = 0x1b

/** The extension table: each character takes two codes, the escape and its own. */
export const gsmExtension: Readonly<Record<string, number>> = {
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
}
