// Signatures of the Standard Webhooks 1.0 specification: HMAC-SHA-256 over id, timestamp and body, one signature for each secret.
import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

export type Signing = { id: string; body: string; secrets: readonly string[]; now: number }

export function signatureHeaders({ id, body, secrets, now }: Signing): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map(secret => `v1,${signature(secret, `${id}.${timestamp}.${body}`)}`)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

const signature = (secret: string, content: string) =>
  createHmac('sha256', keyOf(secret)).update(content, 'utf8').digest('base64')

const keyOf = (secret: string) =>
  Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
