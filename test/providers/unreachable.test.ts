// Providers that cannot be reached: one sentence with host, port, reason and setting, the same for doctor, a provider test, the log and
// the console's system page.
import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, expect, test, vi } from 'vitest'
import { createHttpSms } from '../../src/providers/http/send.ts'
import { createRegistry } from '../../src/providers/registry.ts'
import { createSmpp } from '../../src/providers/smpp/send.ts'
import { smtp } from '../../src/providers/smtp/index.ts'
import type { Relay } from '../../src/providers/smtp/relay.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { authority, expired } from '../support/authority.ts'
import { type Certificate, selfSigned } from '../support/certificates.ts'
import { programs } from '../support/program.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { providerWorld, relay, smtpSettingsFor } from '../support/smtp-settings.ts'
import { httpFor, smppFor } from '../support/text-providers.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const own = selfSigned('localhost')
const withTls = test.skipIf(!own)
if (!own) console.warn('SKIPPED: no openssl on this machine, so certificates of providers are not tested')
const DAY = 86_400_000
/** Nine days ago, as a day. */
const until = new Date(Math.floor((Date.now() - 9 * DAY) / 1000) * 1000)
const day = until.toISOString().slice(0, 10)
const isOver = () => expired(own ?? { key: '', certificate: '' }, until)

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const probe = async (provider: ReturnType<typeof createSmtp | typeof createSmpp>) => {
  ends.push(provider.stop)
  const reply = await provider.probe()
  return reply.ok ? 'ok' : reply.reason
}

async function mailServer(certificate: Certificate | null, options: Parameters<typeof smtpServer>[0] = {}) {
  const tls = certificate ? { key: certificate.key, cert: certificate.certificate } : {}
  const server = await smtpServer({ ...tls, ...options })
  ends.push(server.stop)
  return server.port
}

const strict = { host: 'localhost', tls: 'required', connectSeconds: 1 } as const
const reason = (port: number, changes: Partial<Relay>) =>
  probe(createSmtp(smtpSettingsFor(port, { relay: relay(port, { ...strict, ...changes }) }), providerWorld().world))

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Takes TLS connections and says nothing. */
const tlsServer = ({ key, certificate }: Certificate) => {
  const server = createTlsServer({ key, cert: certificate }, socket => {
    socket.on('error', () => {})
    ends.push(() => socket.destroy())
  })
  server.on('tlsClientError', () => {})
  return listening(server)
}

withTls('SMTP: an expired certificate, with its last day', async () => {
  const over = isOver()
  for (const secure of [true, false]) {
    const port = await mailServer(over, { secure })
    expect(await reason(port, { implicitTls: secure, ca: over.certificate })).toBe(
      `localhost:${port}: the certificate expired on ${day}. Renew it on that server.`,
    )
  }
})

withTls('SMTP: self-signed, an unknown authority, another name, and what is accepted', async () => {
  const port = await mailServer(own)
  expect(await reason(port, { ca: null })).toBe(
    `localhost:${port}: the certificate is self-signed. Set HERALD_SMTP_CA_FILE to a file with this certificate.`,
  )
  expect(await reason(port, { ca: own?.certificate ?? '' })).toBe('ok')

  const city = authority('City CA')
  const issued = await mailServer(city.issue('localhost'))
  expect(await reason(issued, { ca: own?.certificate ?? '' })).toBe(
    `localhost:${issued}: the certificate is signed by an unknown authority (City CA). Set HERALD_SMTP_CA_FILE to a file with the authority's certificate.`,
  )
  expect(await reason(issued, { ca: city.certificate })).toBe('ok')

  const other = await mailServer(city.issue('mail.example.org'))
  expect(await reason(other, { ca: city.certificate })).toBe(
    `localhost:${other}: the certificate is for mail.example.org, not for localhost. Set a name of the certificate in HERALD_SMTP_URL.`,
  )
})

withTls('SMTP: a port without TLS, one with TLS from the first byte, no STARTTLS, a refused login', async () => {
  const plain = await mailServer(null, { disabledCommands: ['STARTTLS', 'AUTH'] })
  expect(await reason(plain, { implicitTls: true })).toBe(
    `localhost:${plain}: the server does not speak TLS on this port. Correct HERALD_SMTP_URL: smtps:// is for port 465, smtp:// for 587 and 25.`,
  )
  expect(await reason(plain, {})).toBe(
    `localhost:${plain}: the server offers no encryption (STARTTLS). Switch it on there, or set HERALD_SMTP_TLS to never if the network between is trusted.`,
  )
  const silent = await tlsServer(own ?? isOver())
  expect(await reason(silent, {})).toBe(
    `localhost:${silent}: the server accepted the connection and sent no greeting in time. Correct HERALD_SMTP_URL: a port with TLS from the first byte, such as 465, needs smtps://.`,
  )
  const login = await mailServer(own, { login: { user: 'herald', pass: 'right' } })
  const wrong = { ca: own?.certificate ?? '', user: 'herald', password: 'wrong' }
  expect(await reason(login, wrong)).toBe(
    `localhost:${login}: the server refused the login (535). Check user and password in HERALD_SMTP_URL.`,
  )
})

test('SMTP: nothing listens, the name does not exist, the server is silent', async () => {
  const closed = createServer()
  const port = await listening(closed)
  await new Promise(resolve => closed.close(resolve))
  expect(await reason(port, { tls: 'never' })).toBe(
    `localhost:${port}: nothing listens there. Start that server, or correct HERALD_SMTP_URL.`,
  )
  expect(await reason(587, { host: 'mail.invalid' })).toBe(
    'mail.invalid:587: the host name is not found in DNS. Correct HERALD_SMTP_URL.',
  )
  const silent = await listening(createServer(socket => ends.push(() => socket.destroy())))
  expect(await reason(silent, { implicitTls: true })).toBe(
    `localhost:${silent}: no answer in time. Check that server and the firewalls between, or correct HERALD_SMTP_URL.`,
  )
})

withTls('SMTP: where TLS is opportunistic, any certificate is taken', async () => {
  const port = await mailServer(isOver())
  expect(await reason(port, { tls: 'opportunistic' })).toBe('ok')
})

withTls('the providers file: the sentence names its keys and its line', async () => {
  const port = await mailServer(own)
  const values = Object.fromEntries(
    Object.entries({ ...smtp.settings, ...smtp.fileSettings }).map(([name, { fallback }]) => [name, fallback]),
  )
  const described = { ...values, smtpUrl: `smtp://localhost:${port}`, smtpTls: 'required' }
  const chosen = { name: 'town', kind: smtp, values: described, where: '/etc/herald/providers.json line 4' }
  const registry = await createRegistry({ email: [chosen], sms: [] }, true, {
    ...{ sendingDomain: 'herald.example', baseUrl: null, secrets: ['secret'] },
    ...{ world: providerWorld().world, keep: { email: async () => {}, sms: async () => {} } },
  })
  ends.push(registry.stop)
  expect(await registry.email[0]?.probe()).toMatchObject({
    ok: false,
    reason: `localhost:${port}: the certificate is self-signed. Set ca_file (/etc/herald/providers.json line 4) to a file with this certificate.`,
  })
})

withTls('SMPP and HTTP: certificates that are expired, unknown or for another name', async () => {
  const { world } = providerWorld()
  const over = isOver()
  const smpp = (port: number, ca: string | null) =>
    probe(createSmpp(smppFor(port, { host: 'localhost', tls: { ca } }), world))
  const old = await tlsServer(over)
  expect(await smpp(old, over.certificate)).toBe(
    `localhost:${old}: the certificate expired on ${day}. Renew it on that server.`,
  )
  const unknown = await tlsServer(own ?? over)
  expect(await smpp(unknown, null)).toBe(
    `localhost:${unknown}: the certificate is self-signed. Set HERALD_SMPP_CA_FILE to a file with this certificate.`,
  )
  const city = authority('City CA')
  const other = await tlsServer(city.issue('sms.example.org'))
  expect(await smpp(other, city.certificate)).toBe(
    `localhost:${other}: the certificate is for sms.example.org, not for localhost. Set a name of the certificate in HERALD_SMPP_URL.`,
  )

  const provider = createHttpSms(httpFor(`https://localhost:${unknown}`), world)
  const told = `localhost:${unknown}: the certificate is self-signed. Install one from a known authority there.`
  expect(await probe(provider)).toBe(told)
  const message = { id: '01890000-0000-7000-8000-000000000000', to: '+16135550100', from: null, text: 'x' }
  const sent = await provider.send({ ...message, id: message.id as never, encoding: 'GSM-7', parts: 1 })
  expect(sent).toMatchObject({ kind: 'deferred', down: true, reason: told })
})

const { newDatabase, herald, start } = programs()

withTls('doctor, a provider test, the log and the heartbeat show the same sentence', async () => {
  const over = isOver()
  const port = await mailServer(over)
  const env = {
    ...(await newDatabase()),
    HERALD_SENDING_DOMAIN: 'permits.city.ca',
    HERALD_SMTP_URL: `smtp://localhost:${port}`,
    HERALD_SMTP_TLS: 'required',
    HERALD_SMTP_CA: over.certificate,
  }
  const sentence = `localhost:${port}: the certificate expired on ${day}. Renew it on that server.`
  const program = await start(env)
  const asked = await herald(['provider', 'test', 'smtp', '--to', 'duty@example.org'], env)
  expect(asked).toMatchObject({ code: 1, out: expect.stringContaining(`Not sent. ${sentence}`) })
  await program.hasSaid('provider is down')
  const lines = (program.out() + program.err()).split('\n').filter(line => line.includes('provider is down'))
  expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ provider: 'smtp', reason: sentence })

  const doctor = JSON.parse((await herald(['doctor', '--json'], env)).out) as {
    checks: { name: string; ok: boolean; found: string }[]
  }
  expect(doctor.checks.find(({ name }) => name === 'Provider of e-mails')).toMatchObject({
    ok: false,
    found: `smtp cannot be used: ${sentence}`,
  })
  const reported = () => herald(['doctor', '--json'], env).then(({ out }) => out)
  await expect.poll(reported, { timeout: 20_000 }).toContain(`"reason": ${JSON.stringify(sentence)}`)
})
