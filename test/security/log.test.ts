// S-30, S-25: providers, scanners and strangers may quote personal data, or make something up. None of their text is logged.
// (Input of callers: test/journeys/privacy.test.ts.)
import { createHmac, randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { codeIn } from '../../src/providers/reply-class.ts'
import { type Given, startHttpPeer } from '../support/http-peer.ts'
import { programs } from '../support/program.ts'
import { scannerPeer } from '../support/scanner.ts'
import { EMAIL, emailTemplate, SMS, smsTemplate } from '../support/sends.ts'
import { scene, scriptedServer } from '../support/smtp-server.ts'
import { call, callerWith } from '../support/world.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const WORD = 'canary'
const ADDRESS = `${WORD}@example.net`
const SECRET = 'shared-secret-of-32-characters-at-least'
const { newDatabase, start, sample } = programs()

type Replies = Parameters<typeof scene>[0]
/** What a mail server may reply at each step; the last one accepts messages. */
const MAIL: readonly Replies[] = [
  { rcpt: `550 5.1.1 <${ADDRESS}>: ${WORD} is unknown` },
  { rcpt: `450 4.2.0 <${ADDRESS}>: ${WORD} come back` },
  { rcpt: `${WORD}? what` },
  { rcpt: `503 5.5.1 ${WORD} ${ADDRESS}` },
  { mail: `530 5.7.0 ${WORD}` },
  { end: `999 ${WORD}` },
  { end: `554 5.6.0 your letter said ${WORD}` },
  {},
]
const TEXT: readonly Given[] = [
  { status: 400, body: `{"error": "${WORD} +16135550147"}` },
  { status: 500, body: WORD },
  { status: 503, headers: { 'retry-after': WORD }, body: WORD },
  { status: 302, headers: { location: `http://127.0.0.1:1/${WORD}` }, body: WORD },
  { status: 200, body: `{"${WORD}": "${WORD}"}` },
  { status: 200, body: `<html>${WORD}` },
]

test('S-30 text of providers, scanners and strangers is not in the log', async () => {
  const replies: Replies = {}
  const relay = await scriptedServer(scene(replies))
  let given: Given = { status: 200, body: '' }
  const aggregator = await startHttpPeer(() => given)
  const scanner = await scannerPeer('error')
  const database = await newDatabase()
  const program = await start({
    ...database,
    HERALD_LOG_LEVEL: 'trace',
    HERALD_EMAIL_PROVIDERS: 'smtp',
    HERALD_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    HERALD_SMTP_TLS: 'never',
    HERALD_TEXT_PROVIDERS: 'http',
    HERALD_HTTP_SMS_URL: `${aggregator.url}/send`,
    HERALD_HTTP_SMS_BODY: '{"to":"{to}","text":"{text}","id":"{id}"}',
    HERALD_HTTP_SMS_REF_PATH: 'ref',
    HERALD_HTTP_SMS_RECEIPT_SECRET: SECRET,
    HERALD_SCANNER: 'clamd',
    HERALD_CLAMD_URL: scanner.url,
  })
  const key = callerWith(program.address, (await sample(database)).keys.live)
  const grown = (count: () => number, work: () => Promise<unknown>) => {
    const before = count()
    return work().then(() => vi.waitFor(() => expect(count()).toBeGreaterThan(before), { timeout: 60_000 }))
  }

  const email = await emailTemplate(key, `Hello ((name)) ${WORD}`)
  const mail = { email_address: ADDRESS, template_id: email, personalisation: { name: WORD } }
  const letters = () => relay.state.wire.split('MAIL FROM').length
  for (const one of MAIL) {
    for (const step of Object.keys(replies)) delete replies[step as keyof Replies]
    Object.assign(replies, one)
    await grown(letters, async () => expect((await key.post(EMAIL, mail)).status).toBe(201))
  }

  const sms = await smsTemplate(key)
  const texted = { phone_number: '+16135550147', template_id: sms, personalisation: { name: WORD } }
  for (const one of TEXT) {
    given = one
    await grown(
      () => aggregator.requests.length,
      async () => expect((await key.post(SMS, texted)).status).toBe(201),
    )
  }

  const file = { file: Buffer.from(WORD).toString('base64'), filename: `${WORD}.txt`, sending_method: 'attach' }
  const withFile = { ...mail, personalisation: { name: WORD, file } }
  expect((await key.post(EMAIL, withFile)).status).toBe(201)

  const at = String(Math.floor(Date.now() / 1000))
  const news = [
    JSON.stringify({ id: WORD, status: WORD, event_id: randomUUID() }),
    JSON.stringify({ id: WORD, status: 'delivered', event_id: WORD, time: WORD }),
    `{"${WORD}`,
    WORD,
  ]
  for (const raw of news)
    for (const sign of [SECRET, 'another-secret-of-32-characters-or-more']) {
      const signature = createHmac('sha256', sign).update(`${at}.${raw}`).digest('hex')
      const headers = { 'content-type': `application/${WORD}`, 'x-signature': signature, 'x-timestamp': at }
      await call(program.address, 'POST', '/receipts/http', { raw, headers })
    }

  const { err, out } = await program.end('SIGTERM')
  await Promise.all([relay.stop(), aggregator.stop(), scanner.stop()])
  for (const sentence of [
    'provider is down',
    'provider is up',
    'The response has no reference at the configured path',
    'A receipt with an unknown status was ignored',
    'receipts were refused',
    'answered',
  ])
    expect(err).toContain(`"msg":"${sentence}"`)
  for (const text of [WORD, '5550147', 'example.net']) expect((err + out).toLowerCase()).not.toContain(text)
  for (const line of err.trimEnd().split('\n')) expect(() => JSON.parse(line), line).not.toThrow()
})

test('S-30 of the text of a provider that is down only a code is logged', () => {
  const codes = [
    ['554 5.7.1 blocked <canary@example.net>', '554 5.7.1'],
    ['421', '421'],
    ['Provider answered 503', '503'],
    ['request failed: ECONNREFUSED', 'ECONNREFUSED'],
    ['123canary', null],
    ['123@example.net', null],
    ['555.0147', null],
    ['CANARY', null],
    ['request failed: canary', null],
    ['The provider took too long to greet', null],
  ] as const
  for (const [detail, code] of codes) expect(codeIn(detail), detail).toBe(code)
})
