// Verifies signatures of SNS messages: RSA over selected fields, with a certificate that is fetched from hosts of SNS only.
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
import { verify, X509Certificate } from 'node:crypto'

export type Fetch = (address: string, options: { redirect: 'error'; signal: AbortSignal }) => Promise<Response>

/** The fields of an SNS message we use; all are strings. */
export type SnsMessage = Readonly<Record<string, string>>

export type Certificates = (address: string) => Promise<X509Certificate | null>

const FETCH_MS = 5_000
const KEPT_MS = 24 * 3_600_000
const FAILED_MS = 60_000
const MOST_KEPT = 20
const LARGEST = 65_536

// Only regions: anyone can have a bucket called `sns`, at sns.s3.amazonaws.com, sns.s3-us-west-2.amazonaws.com and the like.
const DIRECTION = '(?:central|north|south|east|west|(?:north|south)(?:east|west))-\\d{1,2}'
const HOST = new RegExp(
  `^sns\\.(?:(?!cn-)[a-z]{2}(?:-gov)?-${DIRECTION}\\.amazonaws\\.com|cn-${DIRECTION}\\.amazonaws\\.com\\.cn)$`,
)
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9A-Za-z]{1,64}\.pem$/

/** An https address on a host of SNS, without user, port or fragment; null otherwise. */
export function snsAddress(text: string | undefined): URL | null {
  if (text === undefined || text.length > 2_000 || !URL.canParse(text)) return null
  const url = new URL(text)
  const plain = url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === ''
  return plain && HOST.test(url.hostname) ? url : null
}

/** Cached for a day; a failure is cached for a minute, so that forged messages cannot cause many fetches. */
export function createCertificates(now: () => number, fetcher: Fetch): Certificates {
  const kept = new Map<string, { until: number; certificate: Promise<X509Certificate | null> }>()
  return address => {
    const known = kept.get(address)
    if (known && known.until > now()) return known.certificate
    const entry = { until: now() + KEPT_MS, certificate: fetchCertificate(address, fetcher) }
    kept.delete(address)
    for (const oldest of kept.keys()) {
      if (kept.size < MOST_KEPT) break
      kept.delete(oldest)
    }
    kept.set(address, entry)
    return entry.certificate.then(certificate => {
      if (!certificate) entry.until = now() + FAILED_MS
      return certificate
    })
  }
}

async function fetchCertificate(address: string, fetcher: Fetch): Promise<X509Certificate | null> {
  try {
    const reply = await fetcher(address, { redirect: 'error', signal: AbortSignal.timeout(FETCH_MS) })
    if (reply.status !== 200) return null
    const pem = await shortText(reply)
    return pem === null ? null : new X509Certificate(pem)
  } catch {
    // Unreachable, redirected or not a certificate: the message is refused, and SNS retries.
    return null
  }
}

async function shortText(reply: Response): Promise<string | null> {
  if (!reply.body) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of reply.body) {
    size += chunk.length
    if (size > LARGEST) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('latin1')
}

const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

/** The signed text: name and value of each present field, each on its own line. */
export function signedText(message: SnsMessage): string {
  const names = message.Type === 'Notification' ? NOTIFICATION : CONFIRMATION
  return names.flatMap(name => (message[name] === undefined ? [] : [`${name}\n${message[name]}\n`])).join('')
}

const DIGEST: Readonly<Record<string, string>> = { '1': 'sha1', '2': 'sha256' }

export async function isSigned(message: SnsMessage, certificates: Certificates, now: number): Promise<boolean> {
  const digest = DIGEST[message.SignatureVersion ?? '']
  const address = snsAddress(message.SigningCertURL)
  if (!digest || !address || !CERTIFICATE_PATH.test(address.pathname) || address.search || !message.Signature)
    return false
  const certificate = await certificates(address.href)
  if (!certificate) return false
  if (now < Date.parse(certificate.validFrom) || now > Date.parse(certificate.validTo)) return false
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') return false
  const signature = Buffer.from(message.Signature, 'base64')
  return verify(digest, Buffer.from(signedText(message)), certificate.publicKey, signature)
}
