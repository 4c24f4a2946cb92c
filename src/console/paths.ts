// Paths of the console in what comes from outside, such as `?return=`.

/** The path with its query if it is one of this console's; null for anything else, such as the address of another site. */
export function localPath(given: string | null | undefined): string | null {
  if (!given?.startsWith('/') || given.length > 2_000 || /[\u0000-\u001f\\]/.test(given)) return null
  if (!URL.canParse(given, 'http://here.invalid')) return null
  const { origin, pathname, search, hash } = new URL(given, 'http://here.invalid')
  return origin === 'http://here.invalid' && !pathname.startsWith('//') ? pathname + search + hash : null
}
