// SES: message ids, receipts, and which senders of receipts are trusted. Certificates and signatures are made with openssl and
// node:crypto; nothing is fetched from outside the test.
import { execFileSync } from 'node:child_process'
import { createSign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Receipt } from '../../src/providers/port.ts'
import { createSes, readReference } from '../../src/providers/ses/send.ts'
import { sesSettings } from '../../src/providers/ses/settings.ts'
import { type Fetch, signedText, snsAddress } from '../../src/providers/ses/signature.ts'
import { message } from '../conformance/email-provider.ts'
import { selfSigned } from '../support/certificates.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { providerWorld, relay } from '../support/smtp-settings.ts'

const sns = selfSigned('sns.amazonaws.com')
const stranger = selfSigned('sns.amazonaws.com')
if (!sns || !stranger) console.warn('SKIPPED: no openssl on this machine, so receipts of SES are not tested')
const signed = describe.skipIf(!sns || !stranger)

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const topic = 'arn:aws:sns:eu-west-1:123456789012:herald'
const certificateUrl = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem'

async function provider(port = 1) {
  const { world, warnings } = providerWorld()
  const fetched: string[] = []
  const fetcher: Fetch = async (address, { redirect }) => {
    expect(redirect).toBe('error')
    fetched.push(address)
    if (address.endsWith('.pem'))
      return new Response(address === certificateUrl ? sns?.certificate : stranger?.certificate)
    return new Response('<ok/>')
  }
  const pool = { relay: relay(port), connections: 2, messagesPerConnection: 100, idleSeconds: 5 }
  const settings = { pool, perSecond: 14, dkim: null, configurationSet: 'herald-events', topics: [topic] }
  const made = createSes(settings, world, 'ses', fetcher)
  ends.push(made.stop)
  const webhook = made.webhook
  if (!webhook) throw new Error('no webhook')
  const knock = (body: unknown) =>
    webhook.read({
      url: '/receipts/ses',
      headers: {},
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    })
  return { made, knock, fetched, world, warnings }
}

type Fields = Record<string, string>

function sign(fields: Fields, version: '1' | '2' = '2', key = sns?.key ?? ''): Fields {
  const whole: Fields = { SigningCertURL: certificateUrl, SignatureVersion: version, ...fields }
  const signature = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
    .update(signedText(whole))
    .sign(key, 'base64')
  return { ...whole, Signature: signature }
}

const notification = (news: unknown, fields: Fields = {}): Fields => ({
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: topic,
  Timestamp: new Date().toISOString(),
  Message: JSON.stringify(news),
  ...fields,
})

const ref = '0102018f5e1b2c3d-0a1b2c3d-4e5f-6789-abcd-ef0123456789-000000'
const mail = { messageId: ref, timestamp: '2026-06-15T12:30:00.000Z' }
const when = '2026-06-15T12:30:07.123Z'
const delivery = { notificationType: 'Delivery', mail, delivery: { timestamp: when, recipients: ['jo@example.net'] } }

signed('who is believed', () => {
  test.each(['1', '2'] as const)('signature version %s', async version => {
    const { knock, fetched } = await provider()
    const expected = [
      {
        ref,
        eventId: `Delivery:${ref}:${when}`,
        at: Date.parse(when),
        result: 'delivered',
        detail: null,
        response: null,
      },
    ]
    expect(await knock(sign(notification(delivery), version))).toEqual({ ok: true, receipts: expected })
    expect(await knock(sign(notification(delivery, { Subject: 'Amazon SES' }), version))).toEqual({
      ok: true,
      receipts: expected,
    })
    expect(fetched).toEqual([certificateUrl])
  })

  test('a signature made by openssl itself', async () => {
    const { knock } = await provider()
    const fields: Fields = { ...notification(delivery), SigningCertURL: certificateUrl, SignatureVersion: '2' }
    const folder = mkdtempSync(join(tmpdir(), 'herald-sns-'))
    // Written by hand from the documentation, so that signedText is not tested against itself.
    const text = `Message\n${fields.Message}\nMessageId\n${fields.MessageId}\nTimestamp\n${fields.Timestamp}\nTopicArn\n${topic}\nType\nNotification\n`
    writeFileSync(join(folder, 'text'), text)
    writeFileSync(join(folder, 'key'), sns?.key ?? '')
    execFileSync('openssl', [
      'dgst',
      '-sha256',
      '-sign',
      join(folder, 'key'),
      '-out',
      join(folder, 'signature'),
      join(folder, 'text'),
    ])
    const signature = readFileSync(join(folder, 'signature')).toString('base64')
    rmSync(folder, { recursive: true })
    expect(await knock({ ...fields, Signature: signature })).toMatchObject({ ok: true, receipts: [{ ref }] })
  })

  const forgeries: [string, () => unknown, number][] = [
    ['no JSON', () => 'hello', 400],
    ['an array', () => '[]', 400],
    ['raw delivery without an envelope', () => delivery, 403],
    ['another topic', () => sign(notification(delivery, { TopicArn: `${topic}-evil` })), 403],
    ['no signature', () => ({ ...sign(notification(delivery)), Signature: '' }), 401],
    ['a signature that is no base64', () => ({ ...sign(notification(delivery)), Signature: '%%%' }), 401],
    [
      'a changed message',
      () => ({ ...sign(notification(delivery)), Message: JSON.stringify({ ...delivery, x: 1 }) }),
      401,
    ],
    ['a changed type', () => ({ ...sign(notification(delivery)), Type: 'SubscriptionConfirmation' }), 401],
    ['an added subject', () => ({ ...sign(notification(delivery)), Subject: 'x' }), 401],
    ['another key', () => sign(notification(delivery), '2', stranger?.key), 401],
    ['version 3', () => ({ ...sign(notification(delivery)), SignatureVersion: '3' }), 401],
    ['SHA-1 claimed as version 2', () => ({ ...sign(notification(delivery), '1'), SignatureVersion: '2' }), 401],
    [
      'three hours old',
      () => sign(notification(delivery, { Timestamp: new Date(Date.now() - 3 * 3_600_000).toISOString() })),
      401,
    ],
    [
      'from the future',
      () => sign(notification(delivery, { Timestamp: new Date(Date.now() + 600_000).toISOString() })),
      401,
    ],
    ['no time', () => sign(notification(delivery, { Timestamp: 'soon' })), 401],
    ['not of SES', () => sign(notification({ hello: 1 })), 400],
    ['an unknown kind', () => sign(notification(delivery, { Type: 'Surprise' })), 400],
  ]
  test.each(forgeries)('F10 %s is refused', async (_, make, status) => {
    const { knock } = await provider()
    expect(await knock(make())).toMatchObject({ ok: false, status })
  })

  test.each([
    'http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem',
    'https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-0123.pem',
    'https://evil.example/sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem',
    'https://sns.evil.s3.amazonaws.com/SimpleNotificationService-0123.pem',
    'https://sns-evil.amazonaws.com/SimpleNotificationService-0123.pem',
    'https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-0123.pem',
    'https://sns.eu-west-1.amazonaws.com@evil.example/SimpleNotificationService-0123.pem',
    'https://u:p@sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem',
    'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.txt',
    'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123?x=.pem',
    'https://127.0.0.1/SimpleNotificationService-0123.pem',
    'file:///etc/passwd.pem',
    'nonsense',
    ...[
      's3',
      's3-us-west-2',
      's3-website-us-west-2',
      'us-west',
      'usw-west-2',
      'us-evil-2',
      'us-west-2-s3',
      'cn-north-1',
    ].map(label => `https://sns.${label}.amazonaws.com/SimpleNotificationService-0123.pem`),
    'https://sns.eu-west-1.amazonaws.com.cn/SimpleNotificationService-0123.pem',
    'https://sns.eu-west-1.amazonaws.com/a.pem',
    'https://sns.eu-west-1.amazonaws.com/x/SimpleNotificationService-0123.pem',
  ])('S-23 no certificate is fetched from %s', async address => {
    const { knock, fetched } = await provider()
    expect(await knock(sign(notification(delivery, { SigningCertURL: address })))).toMatchObject({
      ok: false,
      status: 401,
    })
    expect(fetched).toEqual([])
  })

  test('a certificate that cannot be fetched is requested once a minute, not for every message', async () => {
    const { world } = providerWorld()
    let asked = 0
    const pool = { relay: relay(1), connections: 1, messagesPerConnection: 1, idleSeconds: 1 }
    const settings = { pool, perSecond: null, dkim: null, configurationSet: null, topics: [topic] }
    const made = createSes(settings, world, 'ses', async () => {
      asked += 1
      throw new Error('unreachable')
    })
    ends.push(made.stop)
    const body = Buffer.from(JSON.stringify(sign(notification(delivery))))
    for (let i = 0; i < 5; i++)
      expect(await made.webhook?.read({ url: '', headers: {}, body })).toMatchObject({ ok: false, status: 401 })
    expect(asked).toBe(1)
  })

  test('hosts of every partition', () => {
    const regions = ['us-east-1', 'ap-southeast-4', 'ap-northeast-1', 'us-gov-west-1', 'il-central-1', 'mx-central-1']
    const hosts = [...regions.map(region => `sns.${region}.amazonaws.com`), 'sns.cn-north-1.amazonaws.com.cn']
    expect(hosts.map(host => snsAddress(`https://${host}/a.pem`)?.hostname)).toEqual(hosts)
    expect(snsAddress(undefined)).toBe(null)
  })
})

signed('a subscription', () => {
  const ask = (changes: Fields = {}) =>
    notification(null, {
      Type: 'SubscriptionConfirmation',
      Message: 'You have chosen to subscribe',
      Token: '2336412f37fb',
      SubscribeURL: `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f37fb`,
      ...changes,
    })

  test('is confirmed at the address SNS gives', async () => {
    const { knock, fetched } = await provider()
    const question = ask()
    expect(await knock(sign(question))).toEqual({ ok: true, receipts: [] })
    expect(fetched).toEqual([certificateUrl, question.SubscribeURL])
  })

  test.each([
    'https://evil.example/?Action=ConfirmSubscription',
    'http://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription',
    `https://sns.eu-west-1.amazonaws.com/?Action=DeleteTopic&TopicArn=${topic}`,
    `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}2`,
  ])('S-23 is not confirmed at %s, though signed', async SubscribeURL => {
    const { knock, fetched } = await provider()
    expect(await knock(sign(ask({ SubscribeURL })))).toMatchObject({ ok: false, status: 400 })
    expect(fetched).toEqual([certificateUrl])
  })

  test('an unsubscription is logged', async () => {
    const { knock, warnings } = await provider()
    expect(await knock(sign(ask({ Type: 'UnsubscribeConfirmation' })))).toEqual({ ok: true, receipts: [] })
    expect(warnings).toHaveLength(1)
  })
})

signed('what is told (contract 6.4)', () => {
  const bounce = (bounceType: string, bounceSubType: string) => ({
    notificationType: 'Bounce',
    mail,
    bounce: { bounceType, bounceSubType, feedbackId: 'feedback-1', timestamp: when, bouncedRecipients: [] },
  })
  const complaint = (fields: object) => ({
    eventType: 'Complaint',
    mail,
    complaint: { feedbackId: 'feedback-2', timestamp: when, ...fields },
  })
  test('the diagnosis of a bounce', async () => {
    const { knock } = await provider()
    const told = bounce('Permanent', 'General')
    const bouncedRecipients = [{ emailAddress: 'jo@example.net', diagnosticCode: 'smtp; 550 5.1.1\u0000 unknown' }]
    const read = await knock(sign(notification({ ...told, bounce: { ...told.bounce, bouncedRecipients } })))
    expect(read).toMatchObject({ ok: true, receipts: [{ ref, diagnosis: 'smtp; 550 5.1.1  unknown' }] })
  })

  const cases: [string, unknown, Pick<Receipt, 'result' | 'detail'> | null][] = [
    [
      'Permanent General',
      bounce('Permanent', 'General'),
      { result: 'permanent-failure', detail: 'hard-bounce general' },
    ],
    [
      'Permanent NoEmail',
      bounce('Permanent', 'NoEmail'),
      { result: 'permanent-failure', detail: 'hard-bounce no-email' },
    ],
    ['Permanent Suppressed', bounce('Permanent', 'Suppressed'), { result: 'permanent-failure', detail: 'blocked' }],
    [
      'Permanent OnAccountSuppressionList',
      bounce('Permanent', 'OnAccountSuppressionList'),
      { result: 'permanent-failure', detail: 'blocked' },
    ],
    [
      'Transient General',
      bounce('Transient', 'General'),
      { result: 'temporary-failure', detail: 'soft-bounce general' },
    ],
    [
      'Transient MailboxFull',
      bounce('Transient', 'MailboxFull'),
      { result: 'temporary-failure', detail: 'soft-bounce mailbox-full' },
    ],
    [
      'Transient MessageTooLarge',
      bounce('Transient', 'MessageTooLarge'),
      { result: 'temporary-failure', detail: 'soft-bounce message-too-large' },
    ],
    [
      'Transient ContentRejected',
      bounce('Transient', 'ContentRejected'),
      { result: 'temporary-failure', detail: 'soft-bounce content-rejected' },
    ],
    [
      'Transient AttachmentRejected',
      bounce('Transient', 'AttachmentRejected'),
      { result: 'temporary-failure', detail: 'soft-bounce attachment-rejected' },
    ],
    [
      'Undetermined',
      bounce('Undetermined', 'Undetermined'),
      { result: 'temporary-failure', detail: 'soft-bounce general' },
    ],
    [
      'unknown',
      bounce('Odd', 'Odder'),
      { result: 'temporary-failure', detail: 'unknown-bounce unknown-bounce-subtype' },
    ],
    ['complaint', complaint({ complaintFeedbackType: 'abuse' }), { result: 'complaint', detail: 'complaint abuse' }],
    [
      'suppressed complaint',
      complaint({ complaintSubType: 'OnAccountSuppressionList' }),
      { result: 'permanent-failure', detail: 'blocked' },
    ],
    [
      'delay',
      { eventType: 'DeliveryDelay', mail, deliveryDelay: { delayType: 'MailboxFull', timestamp: when } },
      { result: 'pending', detail: 'delayed mailbox-full' },
    ],
    ['open', { eventType: 'Open', mail, open: { timestamp: when } }, null],
    ['send', { eventType: 'Send', mail, send: {} }, null],
  ]
  test.each(cases)('%s', async (name, news, expected) => {
    const { knock } = await provider()
    const answer = await knock(sign(notification(news)))
    if (!expected) return expect(answer).toEqual({ ok: true, receipts: [] })
    const eventId = /delay/.test(name) ? `DeliveryDelay:${ref}:${when}` : expect.stringMatching(/^feedback-\d$/)
    expect(answer).toEqual({
      ok: true,
      receipts: [{ ref, eventId, at: Date.parse(when), response: null, ...expected }],
    })
  })

  test('a rejected message and odd shapes', async () => {
    const { knock } = await provider()
    expect(
      await knock(sign(notification({ eventType: 'Reject', mail, reject: { reason: 'Bad content' } }))),
    ).toMatchObject({
      receipts: [{ result: 'technical-failure', response: 'Rejected: Bad content', at: null }],
    })
    for (const news of [
      null,
      1,
      [],
      {},
      { notificationType: 'Bounce' },
      { notificationType: 'Bounce', mail: { messageId: 'a\nb' } },
    ])
      expect(await knock(sign(notification(news)))).toMatchObject({ ok: false, status: 400 })
    for (const news of [
      { notificationType: 'Bounce', mail },
      { notificationType: 'Delivery', mail, delivery: { timestamp: 'soon' } },
    ])
      expect(await knock(sign(notification(news)))).toMatchObject({ ok: true, receipts: [{ ref, at: null }] })
    expect(
      await knock(
        sign({ ...notification(null), Message: 'Successfully validated SNS topic for Amazon SES event publishing.' }),
      ),
    ).toEqual({ ok: true, receipts: [] })
  })
})

describe('sending', () => {
  test('the reference is the id SES gives, and the configuration set is named', async () => {
    const server = await smtpServer()
    const { made } = await provider(server.port)
    ends.unshift(server.stop)
    expect(await made.send(message())).toEqual({ kind: 'accepted', ref })
    expect(server.letters[0]?.raw).toContain('\r\nX-SES-CONFIGURATION-SET: herald-events\r\n')
    expect(server.letters[0]?.from).toBe('permits@herald.example')
    expect({ reports: made.reports, perSecond: made.capacity.perSecond }).toEqual({ reports: true, perSecond: 14 })
  })

  test('replies', () => {
    expect(readReference(`250 Ok ${ref}`)).toBe(ref)
    expect(readReference(`250 2.0.0 Ok ${ref}`)).toBe(ref)
    expect(readReference('250 OK')).toBe(null)
    expect(readReference('250 Ok a\nb')).toBe(null)
  })

  test('settings', () => {
    const config = {
      sesRegion: 'eu-west-1',
      sesUser: 'AKIA',
      sesPassword: 'secret',
      sesConfigurationSet: null,
      sesTopics: [topic],
      sesConnections: 4,
      sesPerSecond: null,
      dkimDomain: null,
      dkimSelector: null,
      dkimKey: null,
      sendingDomain: 'herald.example',
    }
    expect(sesSettings(config)?.pool.relay).toMatchObject({
      host: 'email-smtp.eu-west-1.amazonaws.com',
      port: 587,
      tls: 'required',
    })
    expect(sesSettings({ ...config, sesRegion: null })).toBe(null)
  })
})
