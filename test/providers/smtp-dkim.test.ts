// Signatures are checked by an independent implementation: Debian's python3-dkim (dkimpy). Where it is absent only the verifier
// below is used, written from RFC 6376 for this test.
import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { createSigner } from '../../src/providers/smtp/dkim.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { message } from '../conformance/email-provider.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { providerWorld, smtpSettingsFor } from '../support/smtp-settings.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const python = '/usr/bin/python3'
const script = `
import sys, dkim
raw = sys.stdin.buffer.read()
record = sys.argv[1].encode()
print(dkim.verify(raw, dnsfunc=lambda name, timeout=5: record if name.rstrip(b'.') == b'mail._domainkey.herald.example' else None))
`
const dkimpy = (() => {
  try {
    execFileSync(python, ['-c', 'import dkim, nacl'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
if (!dkimpy) console.warn('SKIPPED: python3-dkim is not installed, so no independent implementation checks DKIM')

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ed25519: generateKeyPairSync('ed25519'),
}

async function signed(kind: keyof typeof keys, changes: Parameters<typeof message>[0] = {}) {
  const server = await smtpServer()
  const privateKey = keys[kind].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const dkim = { domain: 'herald.example', selector: 'mail', privateKey }
  const provider = createSmtp(smtpSettingsFor(server.port, { dkim }), providerWorld().world)
  ends.push(server.stop, provider.stop)
  expect((await provider.send(message(changes))).kind).toBe('accepted')
  return server.letters[0]?.raw ?? ''
}

function record(kind: keyof typeof keys): string {
  const der = keys[kind].publicKey.export({ type: 'spki', format: 'der' })
  return `v=DKIM1; k=${kind}; p=${(kind === 'rsa' ? der : der.subarray(-32)).toString('base64')}`
}

const letters: Parameters<typeof message>[0][] = [
  {},
  { subject: `Prêt ${'à partir '.repeat(40)}`, replyTo: 'help@herald.example' },
  { text: 'double  spaces \t \n\n\n\n', html: '' },
  { text: '.\n..\n.\n', html: 'From me\n.' },
  { attachments: [{ filename: 'ü.bin', mediaType: 'application/pdf', content: Buffer.alloc(100_000, 'x y') }] },
]

describe.each(['rsa', 'ed25519'] as const)('%s', kind => {
  test('every message verifies, and a changed one does not', async () => {
    for (const changes of letters) {
      const raw = await signed(kind, changes)
      expect(verified(raw, keys[kind].publicKey)).toBe(true)
      expect(verified(raw.replace('Subject: ', 'Subject: x'), keys[kind].publicKey)).toBe(false)
      expect(verified(`${raw}x\r\n`, keys[kind].publicKey)).toBe(false)
      expect(verified(raw.replace('\r\nFrom:', '\r\nFrom: evil@example.com\r\nFrom:'), keys[kind].publicKey)).toBe(
        false,
      )
    }
  })

  test.skipIf(!dkimpy)('python3-dkim agrees', async () => {
    const ask = (raw: string) =>
      execFileSync(python, ['-c', script, record(kind)], { input: Buffer.from(raw, 'latin1') })
        .toString()
        .trim()
    for (const changes of letters) expect(ask(await signed(kind, changes))).toBe('True')
    expect(ask((await signed(kind)).replace('Subject: ', 'Subject: x'))).toBe('False')
  })
})

test('keys that cannot sign are refused at the start', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  const settings = { domain: 'herald.example', selector: 'mail' }
  expect(() => createSigner({ ...settings, privateKey: ec })).toThrow('must be RSA or Ed25519')
  expect(() => createSigner({ ...settings, privateKey: 'nonsense' })).toThrow()
})

/** RFC 6376, 6.1, for the one form we write. */
function verified(raw: string, key: KeyObject): boolean {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw.slice(0, end).split(/\r\n(?![ \t])/)
  const body = raw.slice(end + 4)
  const relaxed = (header: string) => {
    const [name = '', ...rest] = header.split(':')
    return `${name.toLowerCase().trim()}:${rest
      .join(':')
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim()}`
  }
  const signature = headers.find(header => /^dkim-signature:/i.test(header)) ?? ''
  const tag = (name: string) => new RegExp(`[;:]\\s*${name}=([^;]*)`).exec(signature)?.[1]?.replace(/\s/g, '') ?? ''
  const lines = body.split('\r\n').map(line => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  const bodyHash = createHash('sha256')
    .update(lines.length > 0 ? `${lines.join('\r\n')}\r\n` : '', 'latin1')
    .digest('base64')
  if (bodyHash !== tag('bh')) return false
  const left = [...headers].reverse()
  const chosen = tag('h')
    .split(':')
    .flatMap(name => {
      const at = left.findIndex(header => header.toLowerCase().startsWith(`${name}:`))
      return at === -1 ? [] : left.splice(at, 1).map(relaxed)
    })
  const data = Buffer.from([...chosen, relaxed(signature.replace(/b=[^;]*$/, 'b='))].join('\r\n'), 'latin1')
  const octets = Buffer.from(tag('b'), 'base64')
  return tag('a') === 'rsa-sha256'
    ? verify('sha256', data, createPublicKey(key.export({ type: 'spki', format: 'pem' })), octets)
    : verify(null, createHash('sha256').update(data).digest(), key, octets)
}
