// Why a provider cannot be reached, as one sentence for operators: host and port, what is wrong, and the setting to change. Doctor, the
// log, a provider test and the console's system page show the same sentence. It contains nothing that a provider wrote except names
// and dates of its certificate, so it may be logged.
import { isIP } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { createClock } from '../core/clock.ts'
import { cleanLine } from './clean.ts'

/** What to call the settings: variables, or keys of the providers file. Null: there is no such setting. */
export type SettingNames = { address: string; login: string | null; ca: string | null; tls: string | null }

export type Peer = { host: string; port: number; names: SettingNames }

/** `code`: of Node, OpenSSL or undici, or one of ours in lower case. `reply`: the number of the server's reply. */
export type Trouble = { code: string; certificate?: Certificate; reply?: string }

type Certificate = { names: readonly string[]; issuer: string; from: string; until: string; expired: string | null }

type Explanation = readonly [fact: string, remedy: string]
type Row = readonly [codes: RegExp, tell: (peer: Peer, trouble: Trouble) => Explanation]

const ROWS: readonly Row[] = [
  [
    /^CERT_HAS_EXPIRED$/,
    ({ names }, { certificate }) => {
      if (!certificate) return ['the certificate has expired', 'Renew it on that server']
      const { expired, until } = certificate
      return expired === null
        ? [`the certificate expired on ${until}`, 'Renew it on that server']
        : [`the certificate of ${expired}, which signed it, has expired`, `Renew it${orCorrect(names.ca)}`]
    },
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    (_peer, { certificate }) => [
      certificate ? `the certificate is not valid before ${certificate.from}` : 'the certificate is not valid yet',
      'Check the clocks of that server and of this machine',
    ],
  ],
  [
    /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    ({ names }) => ['the certificate is self-signed', trust(names, 'a file with this certificate')],
  ],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*|CERT_UNTRUSTED)$/,
    ({ names }, { certificate }) => [
      `the certificate is signed by an unknown authority${certificate?.issuer ? ` (${certificate.issuer})` : ''}`,
      trust(names, "a file with the authority's certificate"),
    ],
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    ({ host, names }, { certificate }) => [
      certificate && certificate.names.length > 0
        ? `the certificate is for ${certificate.names.join(', ')}, not for ${host}`
        : `the certificate is not for ${host}`,
      `Set a name of the certificate in ${names.address}`,
    ],
  ],
  [/^CERT_/, (_peer, { code }) => [`the certificate is not accepted (${code})`, 'Replace it on that server']],
  [
    /^no-tls$/,
    ({ names }) => [
      'the server does not speak TLS on this port',
      `Correct ${names.address}: smtps:// is for port 465, smtp:// for 587 and 25`,
    ],
  ],
  [
    /^(EPROTO|ERR_SSL_|ERR_TLS_)/,
    ({ names }, { code }) => [`TLS failed (${code})`, `Correct ${names.address}: is this a port with TLS?`],
  ],
  [
    /^no-starttls$/,
    ({ names }) => [
      'the server offers no encryption (STARTTLS)',
      names.tls === null
        ? 'Switch it on there'
        : `Switch it on there, or set ${names.tls} to never if the network between is trusted`,
    ],
  ],
  [
    /^login-unencrypted$/,
    ({ names }) => [
      'the server offers no encryption, so the password was not sent',
      names.tls === null
        ? 'Switch it on there'
        : `Switch it on there, or set ${names.tls} to never if the network between is trusted`,
    ],
  ],
  [
    /^login-refused$/,
    ({ names }, { reply }) => [
      `the server refused the login${inBrackets(reply)}`,
      `Check ${names.login ?? names.address}`,
    ],
  ],
  [
    /^no-greeting$/,
    ({ names }) => [
      'the server accepted the connection and sent no greeting in time',
      `Correct ${names.address}: a port with TLS from the first byte, such as 465, needs smtps://`,
    ],
  ],
  [/^ECONNREFUSED$/, ({ names }) => ['nothing listens there', `Start that server, or correct ${names.address}`]],
  [
    /^(ENOTFOUND|EAI_AGAIN|EAI_FAIL)$/,
    ({ names }) => ['the host name is not found in DNS', `Correct ${names.address}`],
  ],
  [
    /^(EHOSTUNREACH|ENETUNREACH)$/,
    ({ names }) => ['there is no route to that host', `Check the network, or correct ${names.address}`],
  ],
  [
    /^(timeout|ETIMEDOUT|UND_ERR_\w*TIMEOUT)$/,
    ({ names }) => ['no answer in time', `Check that server and the firewalls between, or correct ${names.address}`],
  ],
  [
    /^(closed|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    ({ names }) => ['the server closed the connection', `Look at its log, or correct ${names.address}`],
  ],
]

export function unreachable(peer: Peer, trouble: Trouble): string {
  const row = ROWS.find(([codes]) => codes.test(trouble.code))
  const [fact, remedy] = row
    ? row[1](peer, trouble)
    : [`the connection failed${shown(trouble.code)}`, `Check that server, or correct ${peer.names.address}`]
  const host = isIP(peer.host) === 6 ? `[${peer.host}]` : peer.host
  return cleanLine(`${host}:${peer.port}: ${fact}. ${remedy}.`)
}

const inBrackets = (reply: string | undefined) => (reply === undefined ? '' : ` (${reply})`)
const shown = (code: string) => (/^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? ` (${code})` : '')
const orCorrect = (setting: string | null) => (setting === null ? '' : `, or correct ${setting}`)
const trust = ({ ca }: SettingNames, what: string) =>
  ca === null ? 'Install one from a known authority there' : `Set ${ca} to ${what}`

/** The code of a failed connection. */
export function troubleOf(error: unknown): Trouble {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return { code: typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '' }
}

/**
 * Null: the certificate is accepted. For connections with `rejectUnauthorized: false`, which must be closed if this is not null: with
 * `true` Node has dropped the certificate by the time it reports the error, and its expiry date would not be known.
 */
export function refusedCertificate(socket: TLSSocket): Trouble | null {
  if (socket.authorized) return null
  return { code: String(socket.authorizationError), certificate: describe(socket.getPeerCertificate(true)) }
}

const MOST_ISSUERS = 10
const MOST_NAMES = 3

function describe(leaf: DetailedPeerCertificate): Certificate {
  const names = [...(leaf.subjectaltname ?? '').matchAll(/(?:DNS|IP Address):([^,"]+)/g)].map(([, name = '']) => name)
  return {
    names: names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES), 'and others'] : names,
    issuer: nameIn(leaf.issuer),
    from: dayOf(leaf.valid_from),
    until: dayOf(leaf.valid_to),
    expired: expiredIssuer(leaf),
  }
}

/** The certificate above the server's own that has expired; null: the server's own has. */
function expiredIssuer(leaf: DetailedPeerCertificate): string | null {
  const now = createClock().now()
  const isOver = ({ valid_to }: DetailedPeerCertificate) => Date.parse(valid_to) < now
  if (isOver(leaf)) return null
  let next = leaf.issuerCertificate
  for (let depth = 0; depth < MOST_ISSUERS && next; depth++) {
    if (isOver(next)) return nameIn(next.subject)
    if (next.issuerCertificate === next) break
    next = next.issuerCertificate
  }
  return nameIn(leaf.issuer)
}

function nameIn(subject: DetailedPeerCertificate['subject'] | undefined): string {
  const name: unknown = subject?.CN ?? subject?.O ?? ''
  return String(name).slice(0, 100)
}

/** `Nov  9 10:00:00 2026 GMT` → `2026-11-09`. */
function dayOf(time: string): string {
  const at = Date.parse(time)
  return Number.isNaN(at) ? 'an unknown day' : new Date(at).toISOString().slice(0, 10)
}
