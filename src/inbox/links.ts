// The links of a message, and what is wrong with their form. Nothing is fetched.

export type Link = {
  url: string
  /** The words of the link; of an address in plain text, the address itself. */
  text: string
  problems: LinkProblem[]
}

export const LINK_PROBLEMS = [
  'scheme',
  'unreadable',
  'spaces',
  'placeholder',
  'local',
  'not-encrypted',
  'other-address',
] as const
/**
 * scheme: neither http, https, mailto nor tel. unreadable: not an address. spaces: a space inside. placeholder: ((name)) is left
 * over. local: an address of this machine or of a private network, which recipients cannot open. not-encrypted: http. other-address:
 * the words are an address of another host than the target.
 */
export type LinkProblem = (typeof LINK_PROBLEMS)[number]

const MOST_LINKS = 200
/** Links after this many characters are not listed. */
const MOST_CHARACTERS = 1_000_000

const ANCHOR = /<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>([\s\S]*?)<\/a\s*>/gi
const ADDRESS = /\bhttps?:\/\/[^\s<>"]+/gi

/** Each address with its words once, in order. */
export function linksOf(html: string | null, text: string): Link[] {
  const found =
    html === null
      ? [...text.slice(0, MOST_CHARACTERS).matchAll(ADDRESS)].map(([given]) => plain(given))
      : [...html.slice(0, MOST_CHARACTERS).matchAll(ANCHOR)].map(([, double, single, words = '']) => ({
          url: unescaped(double ?? single ?? ''),
          text: unescaped(words.replace(/<[^>]*>/g, ' '))
            .replace(/\s+/g, ' ')
            .trim(),
        }))
  const links = new Map<string, Link>()
  for (const { url, text: words } of found) {
    if (links.size >= MOST_LINKS) break
    links.set(`${url} ${words}`, { url, text: words, problems: problemsOf(url, words) })
  }
  return [...links.values()]
}

/** Punctuation after an address in a sentence is not part of it. */
function plain(given: string): { url: string; text: string } {
  const url = given.replace(/[.,;:!?)\]'»”]+$/, '')
  return { url, text: url }
}

const SCHEMES = ['http:', 'https:', 'mailto:', 'tel:']

export function problemsOf(url: string, words: string): LinkProblem[] {
  const problems: LinkProblem[] = []
  const trimmed = url.trim()
  if (/\s/.test(trimmed) || /%20(?=[^?#]*$)/.test(hostOf(trimmed))) problems.push('spaces')
  if (/\(\(|\)\)|%28%28|%29%29/.test(trimmed)) problems.push('placeholder')
  const target = URL.canParse(trimmed) ? new URL(trimmed) : null
  if (!target) return [...problems, 'unreadable']
  if (!SCHEMES.includes(target.protocol)) return [...problems, 'scheme']
  if (target.protocol === 'mailto:' || target.protocol === 'tel:') return problems
  if (isLocal(target.hostname)) problems.push('local')
  else if (target.protocol === 'http:') problems.push('not-encrypted')
  const said = /^(?:https?:\/\/)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[:/?#]|$)/iu.exec(words)?.[1]
  if (said && bare(said) !== bare(target.hostname) && ascii(said) !== bare(target.hostname))
    problems.push('other-address')
  return problems
}

const hostOf = (url: string) => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ''
const bare = (host: string) => host.toLowerCase().replace(/^www\./, '')
const ascii = (host: string) => (URL.canParse(`http://${host}`) ? bare(new URL(`http://${host}`).hostname) : bare(host))

const PRIVATE =
  /^(localhost|.*\.(localhost|local|internal|test|invalid)|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|169\.254\..*|0\.0\.0\.0|\[(::1|::|f[cd].*|fe80.*)\])$/i

const isLocal = (host: string) => PRIVATE.test(host)

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

const unescaped = (text: string) =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (all, hex, decimal, name) => {
    if (name) return NAMED[String(name).toLowerCase()] ?? all
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
