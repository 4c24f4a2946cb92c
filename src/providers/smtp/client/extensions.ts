// What a server says it can do, in its reply to EHLO (RFC 5321, 4.1.1.1).

export type Extensions = {
  /** Commands may be sent before the replies to earlier ones are there (RFC 2920). */
  pipelining: boolean
  /** The content may be sent with BDAT, without waiting for a reply to the envelope (RFC 3030). */
  chunking: boolean
  startTls: boolean
  eightBitMime: boolean
  utf8: boolean
  deliveryStatus: boolean
  /** MAIL takes the size of the message (RFC 1870). */
  size: boolean
  /** The size limit of the server; 0: not announced. */
  largest: number
  /** SASL mechanisms in upper case. */
  auth: ReadonlySet<string>
}

/** `reply` as the reply reader gives it. The first line is the server's greeting and names no extension. */
export function readExtensions(reply: string): Extensions {
  const [, ...lines] = reply.split('\n').map(line => line.slice(4).trim().toUpperCase().split(/\s+/))
  const named = new Map(lines.map(([keyword = '', ...parameters]) => [keyword, parameters]))
  const largest = named.get('SIZE')?.[0] ?? ''
  return {
    pipelining: named.has('PIPELINING'),
    chunking: named.has('CHUNKING'),
    startTls: named.has('STARTTLS'),
    eightBitMime: named.has('8BITMIME'),
    utf8: named.has('SMTPUTF8'),
    deliveryStatus: named.has('DSN'),
    size: named.has('SIZE'),
    largest: /^\d{1,15}$/.test(largest) ? Number(largest) : 0,
    auth: mechanisms(lines),
  }
}

/** "AUTH PLAIN LOGIN", and "AUTH=PLAIN LOGIN" as old servers write it beside or instead. */
function mechanisms(lines: readonly (readonly string[])[]): Set<string> {
  const words = lines.filter(([keyword = '']) => /^AUTH(?:=|$)/.test(keyword)).flat()
  return new Set(words.map(word => word.replace(/^AUTH=?/, '')).filter(word => word !== ''))
}
