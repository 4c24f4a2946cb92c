// Files from the request to a real mail server; and the standard test virus, which never arrives.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { start } from '../../src/main.ts'
import { docx, EICAR, pdf, png } from '../support/documents.ts'
import { scannerPeer } from '../support/scanner.ts'
import { EMAIL, emailTemplate, type Key, LIST } from '../support/sends.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { call, type World, world } from '../support/world.ts'

type Given = { file: string; filename: string; sending_method: string }
const file = (content: Buffer | string, filename: string, sending_method = 'attach'): Given => ({
  file: Buffer.from(content).toString('base64'),
  filename,
  sending_method,
})

const mail = await smtpServer()
afterAll(() => mail.stop())
const scanner = await scannerPeer()
afterAll(() => scanner.stop())
const SETTINGS = { HERALD_EMAIL_PROVIDERS: 'smtp', HERALD_SMTP_URL: `smtp://127.0.0.1:${mail.port}` }

type Part = { headers: string; content: Buffer }

/** The attached parts of a message, unfolded and decoded. */
function attachmentsIn(raw: string): Part[] {
  const boundary = /multipart\/mixed;\s*boundary="([^"]+)"/.exec(raw)?.[1]
  if (!boundary) return []
  return raw
    .split(`--${boundary}`)
    .slice(2, -1)
    .map(part => {
      const [head = '', body = ''] = part.trim().split('\r\n\r\n', 2)
      return { headers: head.replace(/\r\n[ \t]+/g, ' '), content: Buffer.from(body, 'base64') }
    })
}

/** The file name of a part, plain or in pieces (RFC 2231). */
function nameIn(headers: string): string {
  const plain = /filename="([^"]*)"/.exec(headers)?.[1]
  if (plain !== undefined && !/filename\*/.test(headers)) return plain
  const pieces = [...headers.matchAll(/filename\*(?:\d+\*?)?=([^;\s]+)/g)].map(([, piece]) => piece)
  return decodeURIComponent(pieces.join('').replace(/^utf-8''/i, ''))
}

const letterOf = (id: Id) => mail.letters.find(({ raw }) => raw.includes(`<${id}@`))
const arrivals = (id: Id) => mail.letters.filter(({ raw }) => raw.includes(`<${id}@`)).length

describe('attached files arrive', () => {
  let key: Key
  let template: Id
  beforeAll(async () => {
    const here = await world(SETTINGS, { engine: true })
    key = await (await here.service({ may_send_files: true })).key()
    template = await emailTemplate(key, 'See ((document)) and ((link)).', 'Files')
  })

  test('with their types and names, in the order of the body, byte for byte', async () => {
    const large = Buffer.alloc(2_500_000, 'All work and no play. ')
    const given: [string, Buffer, string][] = [
      ['letter.pdf', pdf('words'), 'application/pdf'],
      [
        'Übersicht für José – 世界.docx',
        docx(),
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      ],
      ['../\u202egnp.exe\r\nBcc: x.png', png(), 'image/png'],
      ['many words.txt', large, 'text/plain'],
      ['empty.csv', Buffer.alloc(0), 'text/csv'],
    ]
    const reply = await key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation: {
        link: 'nothing',
        document: file(given[0]?.[1] ?? '', 'letter.pdf'),
        ...Object.fromEntries(given.slice(1).map(([name, content], n) => [`f${n}`, file(content, name)])),
      },
    })
    expect(reply.status).toBe(201)
    await mail.arrived(1)
    const { raw = '' } = letterOf(reply.body.id) ?? {}
    const parts = attachmentsIn(raw)
    expect(parts).toHaveLength(given.length)
    given.forEach(([, content, type], n) => {
      expect(parts[n]?.headers).toContain(`Content-Type: ${type}`)
      expect(parts[n]?.headers).toContain('Content-Disposition: attachment')
      expect(parts[n]?.content.equals(content)).toBe(true)
    })
    expect(parts.map(part => nameIn(part.headers))).toEqual([
      'letter.pdf',
      'Übersicht für José – 世界.docx',
      'gnp.exeBcc: x.png',
      'many words.txt',
      'empty.csv',
    ])
    expect(raw).not.toMatch(/^Bcc:/m)
    expect(raw).toContain('See  and nothing.')
    await expect
      .poll(async () => (await key.get(`${LIST}/${reply.body.id}`)).body.status)
      .toMatch(/^(sending|delivered)$/)
  })

  test('a link is in the text and in the HTML, and nothing is attached', async () => {
    const reply = await key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation: { document: 'x', link: file(pdf('linked'), 'a.pdf', 'link') },
    })
    const before = mail.letters.length
    await mail.arrived(Math.max(2, before))
    const { raw = '' } = letterOf(reply.body.id) ?? {}
    const url = /https?:\/\/\S+\/download\/[A-Za-z0-9_-]{43}/.exec(reply.body.content.body)?.[0] ?? 'none'
    expect(attachmentsIn(raw)).toEqual([])
    const text = raw.replace(/=\r\n/g, '')
    expect(text).toContain(url)
    expect(text).toContain(`href=${text.includes('href=3D') ? '3D' : ''}"${url}`)
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(pdf('linked'))
  })
})

describe('S-18, F9, R18 the test virus never arrives', () => {
  const METHODS = ['attach', 'link'] as const
  let here: World
  let key: Key
  let template: Id

  beforeAll(async () => {
    here = await world(
      { ...SETTINGS, HERALD_SCANNER: 'clamd', HERALD_CLAMD_URL: scanner.url, HERALD_LEASE_SECONDS: '2' },
      { engine: true },
    )
    key = await (await here.service({ may_send_files: true, rate_limit: 100_000 })).key()
    template = await emailTemplate(key, 'Here: ((doc))', 'A file')
  })

  const send = (content: string, method: string) =>
    key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation: { doc: file(content, 'a.txt', method) },
    })
  const statusOf = async (id: Id, address = here.address) =>
    (await call(address, 'GET', `${LIST}/${id}`, { headers: { authorization: `ApiKey-v1 ${key.key}` } })).body.status
  /** Makes the next attempt due now: the backoff of the contract is ten seconds and more. */
  const hurry = () =>
    here.parts.db.sql`update tickets set due_at = clock_timestamp() where lane = 'scan' and owner is null`.catch(
      () => [],
    )

  test.each(METHODS)('scanner in time: refused at once (%s)', async method => {
    scanner.state.mode = 'ok'
    expect(await send(EICAR, method)).toBeRefused(400, 'BadRequestError', 'File did not pass the virus scan')
  })

  test.each(['error', 'garbage', 'hang-up'] as const)('%s, then well again: held, then judged', async mode => {
    scanner.state.mode = mode
    const bad = await Promise.all(METHODS.map(async method => (await send(EICAR, method)).body.id as Id))
    const good = (await send(`fine ${mode}`, 'attach')).body.id as Id
    for (const id of [...bad, good]) expect(await statusOf(id)).toBe('pending-virus-check')
    await hurry()
    await expect.poll(() => scanner.state.asked, { timeout: 10_000 }).toBeGreaterThan(2)
    expect([...bad, good].map(arrivals)).toEqual([0, 0, 0])

    scanner.state.mode = 'ok'
    await expect
      .poll(
        async () => {
          await hurry()
          return Promise.all([...bad, good].map(id => statusOf(id)))
        },
        { timeout: 20_000 },
      )
      .toEqual(['virus-scan-failed', 'virus-scan-failed', expect.stringMatching(/sending|delivered/)])
    expect([...bad, good].map(arrivals)).toEqual([0, 0, 1])
    const [attached] = attachmentsIn(letterOf(good)?.raw ?? '')
    expect(attached?.content.toString()).toBe(`fine ${mode}`)
  })

  test('scanner unreachable, and the service restarted meanwhile: the message waits, then gets its verdict', async () => {
    await scanner.down()
    const bad = await Promise.all(METHODS.map(async method => (await send(EICAR, method)).body.id as Id))
    const good = (await send('fine after a restart', 'attach')).body.id as Id
    await hurry()
    await here.running.stop()
    expect([...bad, good].map(arrivals)).toEqual([0, 0, 0])

    const again = await start(here.config, { say: () => {} })
    try {
      const next = () =>
        again.parts.db.sql`update tickets set due_at = clock_timestamp() where lane = 'scan' and owner is null`
      await next()
      expect(await statusOf(bad[0] as Id, again.address)).toBe('pending-virus-check')
      await scanner.up()
      scanner.state.mode = 'ok'
      await expect
        .poll(
          async () => {
            await next()
            return Promise.all([...bad, good].map(id => statusOf(id, again.address)))
          },
          { timeout: 20_000 },
        )
        .toEqual(['virus-scan-failed', 'virus-scan-failed', expect.stringMatching(/sending|delivered/)])
      expect([...bad, good].map(arrivals)).toEqual([0, 0, 1])
    } finally {
      await again.stop()
    }
  })

  test('no sent message of this file contains it', () => {
    const encoded = Buffer.from(EICAR).toString('base64').slice(0, 40)
    for (const { raw } of mail.letters) {
      expect(raw).not.toContain('EICAR')
      expect(raw.replaceAll('\r\n', '')).not.toContain(encoded)
    }
  })
})
