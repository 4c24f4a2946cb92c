// Bounces: the meaning of reports of many servers, and that only genuine ones are accepted.

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import type { Receipt } from '../../src/providers/port.ts'
import { createBounceReceiver } from '../../src/providers/smtp/bounces/receiver.ts'
import { readReport } from '../../src/providers/smtp/bounces/report.ts'
import { serve } from '../../src/providers/smtp/bounces/session.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { createReturnPaths } from '../../src/providers/smtp/verp.ts'
import { message } from '../conformance/email-provider.ts'
import { cpuMilliseconds } from '../support/cpu.ts'
import { freePort } from '../support/port.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { providerWorld, smtpSettingsFor } from '../support/smtp-settings.ts'

const folder = 'test/providers/bounces'
const corpus = (name: string) => readFileSync(`${folder}/${name}`, 'latin1').replace(/\r?\n/g, '\r\n')
const id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' as Id
const now = Date.parse('2026-06-23T00:00:00Z')

const at = (text: string) => Date.parse(text)
const noon = at('2026-06-15T12:30:05Z')
const expected: Record<string, [Receipt['result'], string | null, number | null] | null> = {
  'postfix-unknown-user.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'postfix-host-not-found.eml': ['permanent-failure', 'hard-bounce general', noon],
  'postfix-expired.eml': ['temporary-failure', 'soft-bounce general', at('2026-06-20T12:30:05Z')],
  'postfix-delayed.eml': ['pending', 'delayed', noon],
  'postfix-mailbox-full.eml': ['temporary-failure', 'soft-bounce mailbox-full', noon],
  'postfix-spam.eml': ['temporary-failure', 'soft-bounce content-rejected', noon],
  'postfix-delivered.eml': ['delivered', null, noon],
  'postfix-relayed.eml': null,
  'postfix-too-large.eml': ['temporary-failure', 'soft-bounce message-too-large', noon],
  'sendmail-user-unknown.eml': ['permanent-failure', 'hard-bounce no-email', at('2026-06-15T12:30:02Z')],
  'sendmail-warning.eml': ['pending', 'delayed', at('2026-06-15T16:30:02Z')],
  'exchange-online-not-found.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'exchange-blocked-sender.eml': ['permanent-failure', 'hard-bounce general', noon],
  'exchange-too-large.eml': ['temporary-failure', 'soft-bounce message-too-large', noon],
  'gmail-not-found.eml': ['permanent-failure', 'hard-bounce no-email', at('2026-06-15T12:30:01Z')],
  'gmail-over-quota.eml': ['temporary-failure', 'soft-bounce mailbox-full', at('2026-06-18T12:30:01Z')],
  'gmail-dangerous-attachment.eml': ['temporary-failure', 'soft-bounce attachment-rejected', noon],
  'ses-suppression.eml': ['permanent-failure', 'blocked', noon],
  'status-without-detail.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'list-with-two-recipients.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'base64-status.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'mixed-not-report.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'exim-unrouteable.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'exim-quota.eml': ['temporary-failure', 'soft-bounce mailbox-full', noon],
  'exim-delay.eml': ['pending', 'delayed', at('2026-06-16T12:30:05Z')],
  'qmail-failure.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'qmail-expired.eml': ['temporary-failure', 'soft-bounce general', at('2026-06-22T12:30:05Z')],
  'yahoo-prose.eml': ['permanent-failure', 'hard-bounce no-email', noon],
  'unknown-prose.eml': ['temporary-failure', 'unknown-bounce unknown-bounce-subtype', noon],
  'vacation.eml': null,
  'person-answers.eml': null,
  'arf-complaint.eml': ['complaint', 'complaint abuse', noon],
}

/** The text for people: the report's Diagnostic-Code (RFC 3464, 2.3.6), or its free text. */
const diagnoses: Record<string, string> = {
  'postfix-unknown-user.eml':
    'smtp; 550 5.1.1 <jo@example.net>: Recipient address rejected: User unknown in virtual mailbox table',
  'postfix-expired.eml': 'X-Postfix; connect to mx.example.net[192.0.2.7]:25: Connection timed out',
  'exchange-online-not-found.eml':
    'smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient jo@example.net not found by SMTP address lookup',
  'qmail-failure.eml':
    "Hi. This is the qmail-send program at qmail.example.net. I'm afraid I wasn't able to deliver your message to the following addresses. This is a permanent error; I've given up. Sorry it didn't work out. <jo@example.net>: Sorry, no mailbox here by that name. (#5.1.1)",
}

describe('a report', () => {
  test('the corpus is complete', () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(expected).sort())
  })

  test.each(Object.entries(expected))('%s', (name, meaning) => {
    const receipt = readReport(corpus(name), id, now)
    if (!meaning) return expect(receipt).toBe(null)
    const [result, detail, moment] = meaning
    const eventId = expect.stringMatching(/^[\w-]{43}$/)
    const diagnosis = diagnoses[name]
    expect(receipt).toEqual({
      ...{ ref: id, eventId, at: moment, result, detail, response: null },
      ...(receipt?.diagnosis !== undefined && { diagnosis: diagnosis ?? expect.stringMatching(/^[^\p{C}]{1,500}$/u) }),
    })
    if (/failure$/.test(result)) expect(receipt?.diagnosis).toEqual(expect.any(String))
    if (result === 'delivered') expect(receipt?.diagnosis).toBe(undefined)
    expect(readReport(corpus(name), id, now)).toEqual(receipt)
  })

  test('truncated anywhere or full of noise it never throws', () => {
    for (const name of Object.keys(expected)) {
      const raw = corpus(name)
      for (let i = 0; i < raw.length; i += 97) readReport(raw.slice(0, i), id, now)
      readReport(raw.replaceAll('\r\n', '\n'), id, now)
      readReport(raw.replace(/[a-z]/g, '\u00ff'), id, now)
    }
    const nested = 'Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n'.repeat(2000)
    expect(readReport(nested, id, now)).toBe(null)
  })

  test('hostile sizes take no time', () => {
    const started = cpuMilliseconds()
    for (const text of [
      '--a\r\n'.repeat(200_000),
      ' '.repeat(1_000_000),
      'deliver '.repeat(120_000),
      '5.'.repeat(500_000),
      'fail a a a '.repeat(90_000),
      '\r\n'.repeat(500_000),
      '\n'.repeat(1_000_000),
      '--a\r\n\r\nX: y\r\n\r\nz\r\n'.repeat(50_000),
      '--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n'.repeat(20_000),
      '\0'.repeat(1_000_000),
      '\xff'.repeat(1_000_000),
    ])
      for (const type of ['multipart/report; boundary=a', 'text/plain', 'text/html'])
        readReport(`From: mailer-daemon\r\nContent-Type: ${type}\r\n\r\n${text}`, id, now)
    expect(cpuMilliseconds() - started).toBeLessThan(3_000)
  })
})

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const domain = 'bounces.herald.example'
const secrets = ['a'.repeat(32), 'b'.repeat(32)]

async function receiver(accept: (receipts: readonly Receipt[]) => Promise<void> = async () => {}) {
  const told = providerWorld()
  const paths = createReturnPaths(domain, secrets)
  const made = createBounceReceiver({ host: '127.0.0.1', port: 0, domain }, paths, accept, told.world)
  ends.push(made.stop)
  return { port: await made.listening, paths, ...told }
}

/** A client that sends lines and waits for the reply to each. */
async function talk(port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  let heard = ''
  let closed = false
  let wake = () => {}
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
    wake()
  })
  socket.on('data', chunk => {
    heard += chunk.toString('latin1')
    wake()
  })
  const reply = async (): Promise<string> => {
    for (;;) {
      const found = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(heard)?.[0]
      if (found) {
        heard = heard.slice(found.length)
        return found.trim().split('\r\n').at(-1) ?? ''
      }
      if (closed) return 'closed'
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  ends.push(async () => {
    socket.destroy()
  })
  await reply()
  return {
    say: async (text: string) => {
      socket.write(`${text}\r\n`)
      return (await reply()).slice(0, 3)
    },
    write: (text: string) => socket.write(text),
    reply: async () => (await reply()).slice(0, 3),
  }
}

describe('the receiver', () => {
  test('a bounce is stored before the reply 250', async () => {
    const order: string[] = []
    const { port, paths } = await receiver(async receipts => {
      await new Promise(resolve => setTimeout(resolve, 20))
      order.push(`stored ${receipts.map(({ ref, result }) => `${ref} ${result}`).join()}`)
    })
    const { say } = await talk(port)
    expect(await say('EHLO mx.example.net')).toBe('250')
    expect(await say('MAIL FROM:<> SIZE=2000')).toBe('250')
    expect(await say(`RCPT TO:<${paths.of(id)}>`)).toBe('250')
    expect(await say('DATA')).toBe('354')
    expect(await say(`${corpus('postfix-unknown-user.eml')}\r\n.`)).toBe('250')
    order.push('said 250')
    expect(order).toEqual([`stored ${id} permanent-failure`, 'said 250'])
    expect(await say('QUIT')).toBe('221')
  })

  test('451 when it could not be stored, and the retry is accepted', async () => {
    let broken = true
    const { port, paths } = await receiver(async () => {
      if (broken) throw new Error('database away')
    })
    const { say } = await talk(port)
    const deliver = async () => {
      await say('MAIL FROM:<>')
      await say(`RCPT TO:<${paths.of(id)}>`)
      await say('DATA')
      return say(`${corpus('qmail-failure.eml')}\r\n.`)
    }
    await say('HELO mx')
    expect(await deliver()).toBe('451')
    broken = false
    expect(await deliver()).toBe('250')
  })

  test('only our own signed addresses, by any of our secrets', async () => {
    const { port, paths } = await receiver()
    const { say } = await talk(port)
    await say('EHLO mx')
    const hex = id.replaceAll('-', '')
    const forged = [
      `bounce+${hex}-0000000000000000@${domain}`,
      `bounce+${hex}@${domain}`,
      `postmaster@${domain}`,
      'jo@example.net',
    ]
    for (const to of [...forged, paths.of(id).replace(domain, 'other.example')]) {
      expect(await say('MAIL FROM:<>')).toBe('250')
      expect(await say(`RCPT TO:<${to}>`)).toBe('550')
      expect(await say('DATA')).toMatch(/503|421/)
      if ((await say('RSET')) !== '250') break
    }
    const older = createReturnPaths(domain, secrets.slice(1)).of(id)
    const other = await talk(port)
    await other.say('EHLO mx')
    await other.say('MAIL FROM:<>')
    expect(await other.say(`RCPT TO:<${older.toUpperCase()}>`)).toBe('250')
    expect(older.indexOf('@')).toBeLessThanOrEqual(64)
  })

  test('strict about order, length, line ends and timeouts', async () => {
    const { port, paths } = await receiver()
    const first = await talk(port)
    expect(await first.say('MAIL FROM:<>')).toBe('503')
    expect(await first.say('EHLO mx')).toBe('250')
    expect(await first.say('RCPT TO:<a@b.example>')).toBe('503')
    expect(await first.say('MAIL FROM:a@b.example')).toBe('501')
    expect(await first.say('MAIL FROM:<a@b.example> X=1\nRCPT TO:<a@b.example>')).toBe('500')
    expect(await first.say('EXPN all')).toBe('502')
    expect(await first.say('AUTH PLAIN AAAA')).toBe('502')
    expect(await first.say('NOOP')).toBe('250')
    expect(await first.say('MAIL FROM:<> SIZE=999999999')).toBe('552')
    expect(await first.say('MAIL FROM:<>')).toBe('250')
    expect(await first.say(`RCPT TO:<${paths.of(id)}>`)).toBe('250')
    expect(await first.say(`RCPT TO:<${paths.of(id)}>`)).toBe('452')
    const second = await talk(port)
    expect(await second.say('x'.repeat(600))).toBe('500')
    const third = await talk(port)
    for (let i = 0; i < 10; i++) expect(await third.say('WHAT')).toBe('502')
    expect(await third.say('WHAT')).toBe('421')
  })

  test('data ends at CRLF.CRLF only, however it is split', async () => {
    const stored: Receipt[] = []
    const { port, paths } = await receiver(async receipts => {
      stored.push(...receipts)
    })
    const { say, write, reply } = await talk(port)
    await say('EHLO mx')
    await say('MAIL FROM:<>')
    await say(`RCPT TO:<${paths.of(id)}>`)
    await say('DATA')
    const text = `${corpus('postfix-unknown-user.eml')}\n.\nMAIL FROM:<x@y.example>\r\n..stuffed\r\n.\r\n`
    for (let i = 0; i < text.length; i += 7) {
      write(text.slice(i, i + 7))
      if (i % 70 === 0) await new Promise<void>(resolve => setImmediate(resolve))
    }
    expect(await reply()).toBe('250')
    expect(stored).toHaveLength(1)
    expect(await say('NOOP')).toBe('250')
  })

  test('of a report with a large message behind it only the beginning is read', async () => {
    const stored: Receipt[] = []
    const { port, paths } = await receiver(async receipts => {
      stored.push(...receipts)
    })
    const { say, write, reply } = await talk(port)
    await say('EHLO mx')
    await say('MAIL FROM:<>')
    await say(`RCPT TO:<${paths.of(id)}>`)
    await say('DATA')
    write(corpus('postfix-unknown-user.eml').replace(/--B0UND--\r\n$/, ''))
    for (let i = 0; i < 80; i++) write(`${'x'.repeat(65_534)}\r\n`)
    write('.\r\n')
    expect(await reply()).toBe('250')
    expect(stored.map(({ result }) => result)).toEqual(['permanent-failure'])
  })

  test('a client that does not read its replies is not read either', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [socket] = (await once(server, 'connection')) as [Socket]
    ends.push(async () => {
      client.destroy()
      socket.destroy()
      server.close()
    })
    client.on('error', () => {})
    socket.on('error', () => {})
    serve(socket, {
      domain,
      paths: createReturnPaths(domain, secrets),
      accept: async () => {},
      world: providerWorld().world,
    })
    const commands = 1_200_000
    client.write('NOOP\r\n'.repeat(commands))

    await expect.poll(() => socket.isPaused() && socket.writableNeedDrain, { timeout: 50_000 }).toBe(true)

    expect(socket.writableLength).toBeLessThan(1_000_000)
    let replies = 0
    client.on('data', chunk => {
      replies += chunk.length
    })
    await expect
      .poll(() => replies, { timeout: 50_000 })
      .toBe(`220 ${domain} ESMTP\r\n`.length + commands * '250 2.0.0 ok\r\n'.length)
  })

  test('the provider sends with a return path of its own and forwards its bounces', async () => {
    const server = await smtpServer()
    const { world, receipts } = providerWorld()
    // The provider does not report which port it uses.
    const port = await freePort()
    const bounces = { host: '127.0.0.1', port, domain, secrets }
    const provider = createSmtp(smtpSettingsFor(server.port, { bounces }), world)
    ends.push(server.stop, provider.stop)
    const sent = message()

    const outcome = await provider.send(sent)

    expect(outcome).toEqual({ kind: 'accepted', ref: sent.id })
    expect(provider.reports).toBe(false)
    const from = server.letters[0]?.from ?? ''
    expect(from).toBe(createReturnPaths(domain, secrets).of(sent.id))
    const { say } = await talk(port)
    await say('EHLO mx')
    await say('MAIL FROM:<>')
    expect(await say(`RCPT TO:<${from}>`)).toBe('250')
    await say('DATA')
    expect(await say(`${corpus('gmail-not-found.eml')}\r\n.`)).toBe('250')
    expect(receipts).toMatchObject([{ ref: sent.id, result: 'permanent-failure' }])
  })

  test('a port in use is a warning and does not stop the start', async () => {
    const one = await receiver()
    const told = providerWorld()
    const two = createBounceReceiver(
      { host: '127.0.0.1', port: one.port, domain },
      one.paths,
      async () => {},
      told.world,
    )
    ends.push(two.stop)
    await expect
      .poll(() => told.warnings)
      .toEqual([{ fields: { provider: 'smtp', code: 'EADDRINUSE' }, sentence: 'Bounces cannot be listened for' }])
    await two.stop()
    await two.stop()
  })
})
