// What doctor asks about the names by which the world knows this installation: the sending domain, the DKIM key, the public
// address. Nothing is sent; a look-up that gets no answer says so.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import type { Config } from '../config/index.ts'
import { smtp } from '../providers/smtp/index.ts'
import { isLoopback } from '../providers/smtp/relay.ts'
import { type Check, fine, trouble } from './checks.ts'
import { explained } from './explain.ts'

/** Names that nobody can own (RFC 2606, RFC 6761): no mail server takes mail from them. */
const NOBODYS = /(^|\.)(example|invalid|test|localhost|example\.(com|net|org))$/

const sendsMail = ({ providers }: Config) => providers.email.some(({ kind }) => kind.role === 'send')

export function checkSendingDomain(config: Config): Check {
  const name = 'Sending domain'
  const { sendingDomain: domain } = config
  if (!sendsMail(config)) return fine(name, `${domain}; no e-mail leaves this installation`)
  if (!NOBODYS.test(domain)) return fine(name, domain)
  return trouble(
    name,
    `${domain} is a name that nobody can own: mail servers refuse mail from it, and answers to it are lost`,
    'Set HERALD_SENDING_DOMAIN to a domain of yours whose SPF record names your mail server (docs/providers.md).',
  )
}

export type LookUp = (name: string) => Promise<string[][]>
const LOOK_UP_MS = 3_000

export const dnsLookUp = (servers?: readonly string[]): LookUp => {
  const resolver = new Resolver({ timeout: LOOK_UP_MS, tries: 1 })
  if (servers) resolver.setServers(servers)
  return name => resolver.resolveTxt(name)
}

export async function checkDkim(config: Config, lookUp: LookUp = dnsLookUp()): Promise<Check> {
  const name = 'DKIM'
  const { dkimKey: key, dkimSelector: selector } = config
  if (key === null && selector === null)
    return fine(
      name,
      config.providers.email.some(({ kind }) => kind === smtp)
        ? 'e-mails are not signed here (HERALD_DKIM_KEY, HERALD_DKIM_SELECTOR); does your mail server sign them?'
        : 'not needed: no e-mail is sent by smtp',
    )
  if (key === null || selector === null)
    return trouble(
      name,
      `${key === null ? 'HERALD_DKIM_SELECTOR is set and HERALD_DKIM_KEY is not' : 'HERALD_DKIM_KEY is set and HERALD_DKIM_SELECTOR is not'}: e-mails are not signed`,
      'Set both, or none.',
    )
  const pair = publicPart(key)
  if ('problem' in pair)
    return trouble(name, `the key cannot be used: ${pair.problem}`, 'Make a new one (docs/providers.md, DKIM).')
  const where = `${selector}._domainkey.${config.dkimDomain ?? config.sendingDomain}`
  const publish = `Publish this TXT record at ${where}: v=DKIM1; k=${pair.kind}; p=${pair.published}.`
  const found = await recordsAt(where, lookUp)
  if ('failed' in found)
    return fine(name, `the key can be used; DNS did not answer (${found.failed}), so its record at ${where} is unknown`)
  const record = found.records.find(text => /(^|;)\s*p\s*=/.test(text))
  if (!record) return trouble(name, `there is no public key at ${where}: receivers take e-mails for forged`, publish)
  const published = (/(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1] ?? '').replaceAll(/\s/g, '')
  if (published === '') return trouble(name, `the public key at ${where} is revoked`, publish)
  return published === pair.published
    ? fine(name, `the key fits its public record at ${where}`)
    : trouble(name, `the public key at ${where} belongs to another private key`, publish)
}

type PublicPart = { kind: 'rsa' | 'ed25519'; published: string } | { problem: string }

function publicPart(pem: string): PublicPart {
  try {
    const key = createPrivateKey(pem)
    const kind = key.asymmetricKeyType
    if (kind !== 'rsa' && kind !== 'ed25519') return { problem: `it is ${kind}, and must be RSA or Ed25519` }
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
    if (kind === 'rsa' && bits < 1024) return { problem: `it has ${bits} bits, and needs 1024 at least` }
    const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
    // RFC 8463, 4.2: of an Ed25519 key the bare 32 bytes are published, of an RSA key the whole SubjectPublicKeyInfo.
    return { kind, published: (kind === 'ed25519' ? der.subarray(-32) : der).toString('base64') }
  } catch {
    return { problem: 'it is not a readable private key' } // the parser's words may quote it
  }
}

async function recordsAt(name: string, lookUp: LookUp): Promise<{ records: string[] } | { failed: string }> {
  try {
    return { records: (await lookUp(name)).map(pieces => pieces.join('')) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code'
    return code === 'ENOTFOUND' || code === 'ENODATA' ? { records: [] } : { failed: code }
  }
}

/** `runs`: whether this installation answers on its own port, so that the public address should lead to it. */
export async function checkPublicAddress(config: Config, instance: string | null, runs: boolean): Promise<Check> {
  const name = 'Public address'
  const { baseUrl, host, trustedProxies } = config
  if (baseUrl === null) {
    if (isLoopback(host) && trustedProxies.length === 0) return fine(name, 'none; only this machine can call')
    return trouble(
      name,
      'HERALD_BASE_URL is not set: links are made from whatever name a caller uses',
      'Set HERALD_BASE_URL to the address by which callers reach this installation, like https://notify.example.org.',
    )
  }
  if (!runs || instance === null) return fine(name, `${baseUrl}; not asked, because the service does not run here`)
  const answer = await askReady(baseUrl)
  if (answer.kind === 'failed') return fine(name, `${baseUrl}; it cannot be asked from this machine (${answer.why})`)
  if (answer.kind === 'ready' && answer.instance === instance)
    return fine(name, `${baseUrl} leads to this installation`)
  return trouble(
    name,
    answer.kind === 'ready'
      ? `${baseUrl} leads to another installation of Herald`
      : `${baseUrl} does not answer like Herald`,
    'Correct HERALD_BASE_URL, or what the proxy or the DNS name in front of it leads to.',
  )
}

export type Asked =
  | { kind: 'ready'; ok: boolean; status: string; instance: string | null }
  | { kind: 'stranger' }
  | { kind: 'failed'; why: string }

/** Who answers at an address: a Herald, something else, or nobody. */
export async function askReady(address: string): Promise<Asked> {
  let reply: Response
  try {
    reply = await fetch(`${address}/health/ready`, { signal: AbortSignal.timeout(3_000), redirect: 'manual' })
  } catch (error) {
    return { kind: 'failed', why: codeOf(error) ?? explained(error).join(' ') }
  }
  const body: unknown = await reply.json().catch(() => null) // a stranger may answer anything
  if (typeof body !== 'object' || body === null || !('status' in body)) return { kind: 'stranger' }
  const instance = 'instance' in body && typeof body.instance === 'string' ? body.instance : null
  return { kind: 'ready', ok: reply.ok, status: String(body.status), instance }
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('cause' in error && error.cause) return codeOf(error.cause)
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0])
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'name' in error && error.name === 'TimeoutError' ? 'no answer in time' : undefined
}
