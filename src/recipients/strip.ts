// The two clean-ups every recipient and every cell of a file goes through first (content-rules, conventions).

/** U+180E, U+200B, U+200C, U+200D, U+2060, U+FEFF: characters nobody sees and people paste without knowing. */
export const isInvisible = (code: number) =>
  code === 0x200b || code === 0xfeff || code === 0x200c || code === 0x200d || code === 0x2060 || code === 0x180e

/** Space, tab, LF, VT, FF, CR. The no-break space is not among them, so it stays and makes an address invalid. */
export const isPlainSpace = (code: number) => code === 0x20 || (code >= 0x09 && code <= 0x0d)

// An alternation and not a class: a class with U+200D in it reads like half an emoji, and the linter says so.
const invisibles = /\u180E|\u200B|\u200C|\u200D|\u2060|\uFEFF/g

/** Invisible characters deleted anywhere, plain ASCII whitespace trimmed. */
export function strip(text: string): string {
  const seen = text.replace(invisibles, '')
  let start = 0
  let end = seen.length
  while (start < end && isPlainSpace(seen.charCodeAt(start))) start++
  while (end > start && isPlainSpace(seen.charCodeAt(end - 1))) end--
  return start === 0 && end === seen.length ? seen : seen.slice(start, end)
}
