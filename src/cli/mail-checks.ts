// The checks of doctor for the public identity of the installation: sending domain, DKIM key, public address. Nothing is sent. A DNS
// query without an answer is reported as such.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import type { Config } from '../config/index.ts'
import { inFile } from '../config/providers-file.ts'
import { isLoopback } from '../core/network.ts'
import { smtp } from '../providers/smtp/index.ts'
import { type Check, ok, problem } from './checks.ts'
import { explained } from './explain.ts'

/** Reserved names (RFC 2606, RFC 6761): mail servers refuse mail from them. */
const RESERVED = /(^|\.)(example|invalid|test|localhost|example\.(com|net|org))$/

const sendsMail = ({ providers }: Config) => providers.email.some(({ kind }) => kind.role === 'send')

export function checkSendingDomain(config: Config): Check {
  const name = 'Sending domain'
  const { sendingDomain: domain } = config
  if (!sendsMail(config)) return ok(name, `${domain}; this installation sends no e-mail`)
  if (!RESERVED.test(domain)) return ok(name, domain)
  return problem(
    name,
    `${domain} is a reserved name: mail servers refuse mail from it, and replies to it are lost`,
    'Set HERALD_SENDING_DOMAIN to your own domain, whose SPF record names your mail server (docs/providers.md).',
  )
}

export type LookUp = (name: string) => Promise<string[][]>
const LOOK_UP_MS = 3_000

export const dnsLookUp = (servers?: readonly string[]): LookUp => {
  const resolver = new Resolver({ timeout: LOOK_UP_MS, tries: 1 })
  if (servers) resolver.setServers(servers)
  return name => resolver.resolveTxt(name)
}

/** One check for the variables, or one for each provider of the file that signs. */
export async function checkSigning(config: Config, lookUp: LookUp = dnsLookUp()): Promise<Check[]> {
  const described = config.providers.email.filter(({ where, values }) => where !== undefined && 'dkimKey' in values)
  if (described.length === 0) return [await checkDkim(config, lookUp)]
  return Promise.all(
    described.map(async ({ name, kind, values }) => {
      const { found, ...check } = await checkDkim({ ...config, ...values }, lookUp)
      return { ...check, found: `${name}: ${inFile(kind, found)}` }
    }),
  )
}

export async function checkDkim(config: Config, lookUp: LookUp = dnsLookUp()): Promise<Check> {
  const name = 'DKIM'
  const { dkimKey: key, dkimSelector: selector } = config
  if (key === null && selector === null)
    return ok(
      name,
      config.providers.email.some(({ kind }) => kind === smtp)
        ? 'Herald does not sign e-mails (HERALD_DKIM_KEY, HERALD_DKIM_SELECTOR); your mail server may do it'
        : 'not needed: no e-mail is sent over SMTP',
    )
  if (key === null || selector === null)
    return problem(
      name,
      `${key === null ? 'HERALD_DKIM_SELECTOR is set and HERALD_DKIM_KEY is not' : 'HERALD_DKIM_KEY is set and HERALD_DKIM_SELECTOR is not'}: e-mails are not signed`,
      'Set both or neither.',
    )
  const pair = publicPart(key)
  if ('problem' in pair)
    return problem(name, `the key cannot be used: ${pair.problem}`, 'Create a new one (docs/providers.md, DKIM).')
  const where = `${selector}._domainkey.${config.dkimDomain ?? config.sendingDomain}`
  const publish = `Publish this TXT record at ${where}: v=DKIM1; k=${pair.kind}; p=${pair.published}.`
  const found = await recordsAt(where, lookUp)
  if ('failed' in found)
    return ok(name, `the key is valid; the record at ${where} is unknown, because DNS did not answer (${found.failed})`)
  const record = found.records.find(text => /(^|;)\s*p\s*=/.test(text))
  if (!record)
    return problem(name, `there is no public key at ${where}: recipients' servers treat e-mails as forged`, publish)
  const published = (/(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1] ?? '').replaceAll(/\s/g, '')
  if (published === '') return problem(name, `the public key at ${where} is revoked`, publish)
  return published === pair.published
    ? ok(name, `the key matches its public record at ${where}`)
    : problem(name, `the public key at ${where} belongs to another private key`, publish)
}

type PublicPart = { kind: 'rsa' | 'ed25519'; published: string } | { problem: string }

function publicPart(pem: string): PublicPart {
  try {
    const key = createPrivateKey(pem)
    const kind = key.asymmetricKeyType
    if (kind !== 'rsa' && kind !== 'ed25519') return { problem: `it is ${kind} but must be RSA or Ed25519` }
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
    if (kind === 'rsa' && bits < 1024) return { problem: `it has ${bits} bits but needs at least 1024` }
    const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
    // RFC 8463, 4.2: an Ed25519 key is published as its bare 32 bytes, an RSA key as the whole SubjectPublicKeyInfo.
    return { kind, published: (kind === 'ed25519' ? der.subarray(-32) : der).toString('base64') }
  } catch {
    return { problem: 'it is not a readable private key' } // the parser's message may quote the key
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

/**
 * The public address should lead to the service that answers here. `health`: its answer, null while its port is not known; `instance`:
 * the id of this installation, null while the database does not tell it.
 */
export async function checkPublicAddress(
  config: Config,
  health: HealthReply | null,
  instance: string | null,
): Promise<Check> {
  const name = 'Public address'
  const { baseUrl, host, trustedProxies } = config
  if (baseUrl === null) {
    if (isLoopback(host) && trustedProxies.length === 0) return ok(name, 'none; only this machine can connect')
    return problem(
      name,
      'HERALD_BASE_URL is not set: links contain whatever host name the caller used',
      'Set HERALD_BASE_URL to the public address of this installation, for example https://notify.example.org.',
    )
  }
  const here = serviceHere(health, instance)
  if ('unknown' in here) return ok(name, `${baseUrl}; not checked, because ${here.unknown}`)
  const reply = await askReady(baseUrl)
  if (reply.kind === 'failed') return ok(name, `${baseUrl}; it cannot be reached from this machine (${reply.why})`)
  if (reply.kind === 'ready' && reply.instance === here.instance)
    return ok(name, `${baseUrl} leads to this installation`)
  return problem(
    name,
    reply.kind === 'ready'
      ? `${baseUrl} leads to another installation of Herald`
      : `${baseUrl} does not answer like Herald`,
    'Correct HERALD_BASE_URL, the proxy, or the DNS record.',
  )
}

/** The installation that answers on this machine, or why it is not known. */
function serviceHere(health: HealthReply | null, instance: string | null): { instance: string } | { unknown: string } {
  if (health === null) return { unknown: 'HERALD_PORT is 0, so the port of the service is not known' }
  if (doesNotRun(health)) return { unknown: 'the service does not run here' }
  if (health.kind !== 'ready' || !health.instance) return { unknown: 'what listens here does not answer like Herald' }
  if (instance !== null && health.instance !== instance)
    return { unknown: 'another installation of Herald answers here' }
  return { instance: health.instance }
}

export const doesNotRun = (health: HealthReply): boolean => health.kind === 'failed' && health.why === 'ECONNREFUSED'

export type HealthReply =
  | { kind: 'ready'; ok: boolean; status: string; instance: string | null }
  | { kind: 'stranger' }
  | { kind: 'failed'; why: string }

/** Asks the health endpoint at an address. `stranger`: something other than Herald answers. */
export async function askReady(address: string): Promise<HealthReply> {
  let response: Response
  try {
    response = await fetch(`${address}/health/ready`, { signal: AbortSignal.timeout(3_000), redirect: 'manual' })
  } catch (error) {
    return { kind: 'failed', why: codeOf(error) ?? explained(error).join(' ') }
  }
  const body: unknown = await response.json().catch(() => null) // another program may answer anything
  if (typeof body !== 'object' || body === null || !('status' in body)) return { kind: 'stranger' }
  const instance = 'instance' in body && typeof body.instance === 'string' ? body.instance : null
  return { kind: 'ready', ok: response.ok, status: String(body.status), instance }
}

/** The code of a failed fetch. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('cause' in error && error.cause) return codeOf(error.cause)
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0])
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'name' in error && error.name === 'TimeoutError' ? 'no answer in time' : undefined
}
