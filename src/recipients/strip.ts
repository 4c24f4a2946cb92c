// The two clean-ups that are applied first to every recipient and every cell of a file (content-rules, conventions).

/** U+180E, U+200B, U+200C, U+200D, U+2060, U+FEFF: invisible characters that are often pasted by accident. */
export const isInvisible = (code: number) =>
  code === 0x200b || code === 0xfeff || code === 0x200c || code === 0x200d || code === 0x2060 || code === 0x180e

/** Space, tab, LF, VT, FF, CR. The no-break space is not included, so it stays and makes an address invalid. */
export const isPlainSpace = (code: number) => code === 0x20 || (code >= 0x09 && code <= 0x0d)

// An alternation instead of a character class: the linter rejects U+200D in a class, because it joins emoji.
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
