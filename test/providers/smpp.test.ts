// The SMPP adapter against a real server that misbehaves in every way we know.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import smpp from 'smpp'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createProviderGroup } from '../../src/providers/failover.ts'
import type { ProviderWorld, TextMessage, TextProvider } from '../../src/providers/port.ts'
import { createSmpp, type SmppSettings } from '../../src/providers/smpp/send.ts'
import { createRecall } from '../../src/runtime/recall.ts'
import { recordedWorld, textMessage } from '../conformance/sms-provider.ts'
import { receiptText, startSmppServer } from '../support/smpp-server.ts'
import { smppFor } from '../support/text-providers.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function bound(some: Partial<SmppSettings> = {}, change: Partial<ProviderWorld> = {}) {
  const server = await startSmppServer()
  ends.push(server.stop)
  const recorded = recordedWorld()
  const provider = made(smppFor(server.port, some), { ...recorded.world, ...change })
  await vi.waitFor(() => expect(server.bound.size).toBe(some.binds ?? 1))
  await provider.probe()
  return { server, provider, ...recorded }
}

function made(settings: SmppSettings, world: ProviderWorld): TextProvider {
  const provider = createSmpp(settings, world)
  ends.push(provider.stop)
  return provider
}

describe('sending', () => {
  test('a short message is one submit_sm, requests a receipt, and is referenced by its id', async () => {
    const { server, provider } = await bound()

    const outcome = await provider.send(textMessage({ from: 'Herald' }))

    expect(outcome).toEqual({ kind: 'accepted', ref: '1' })
    expect(server.pdus).toMatchObject([
      {
        source_addr_ton: 5,
        source_addr_npi: 0,
        source_addr: 'Herald',
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr: '16135550123',
        esm_class: 0,
        data_coding: 0,
        registered_delivery: 1,
      },
    ])
  })

  test('a long message: only the last part requests a receipt, and its id is the reference', async () => {
    const { server, provider } = await bound()
    const text = `${'x'.repeat(152)}€${'y'.repeat(200)}`

    const outcome = await provider.send(textMessage({ text, parts: 3 }))

    expect(server.pdus.map(pdu => [pdu.esm_class, pdu.registered_delivery])).toEqual([
      [0x40, 0],
      [0x40, 0],
      [0x40, 1],
    ])
    expect(outcome).toEqual({ kind: 'accepted', ref: '3' })
    expect(server.messages[0]?.text).toBe(text)
  })

  test('R6: the reference of the parts is the same on every attempt', async () => {
    const { server, provider } = await bound()
    const message = textMessage({ text: 'x'.repeat(200) })
    const udhOf = (index: number) =>
      (server.pdus[index]?.short_message as { udh?: Buffer[] } | undefined)?.udh?.[0]?.[2]

    await provider.send(message)
    await provider.send(message)

    expect(udhOf(0)).toBe(udhOf(2))
  })

  test('message_payload by setting: one PDU, one receipt', async () => {
    const { server, provider } = await bound({ long: 'payload' })
    const text = 'ᐃ'.repeat(300)

    await provider.send(textMessage({ text, encoding: 'UCS-2' }))

    expect(server.pdus).toMatchObject([{ data_coding: 8, esm_class: 0, registered_delivery: 1 }])
    expect(server.messages[0]?.text).toBe(text)
  })

  test('without receipts none are requested', async () => {
    const { server, provider } = await bound({ reports: false })
    await provider.send(textMessage())
    expect(server.pdus[0]?.registered_delivery).toBe(0)
    expect(provider.reports).toBe(false)
  })

  test('an impossible sender or number is rejected before anything is sent', async () => {
    const { server, provider } = await bound()
    expect(await provider.send(textMessage({ from: 'far too long a name' }))).toMatchObject({ kind: 'rejected' })
    expect(await provider.send(textMessage({ to: '+1613\r\n5550123' }))).toMatchObject({ kind: 'rejected' })
    expect(server.pdus.length).toBe(0)
  })

  test('no more than the window waits for an answer', async () => {
    const { server, provider } = await bound({ window: 4 })
    server.delay(5)

    await Promise.all(Array.from({ length: 40 }, () => provider.send(textMessage())))

    expect(server.counts().most).toBe(4)
  })

  test('14.3.8 a message that fails inside releases its place in the window', async () => {
    let isBroken = true
    const server = await startSmppServer()
    ends.push(server.stop)
    const { world, lines } = recordedWorld()
    const settings: SmppSettings = {
      ...smppFor(server.port, { binds: 2, window: 1 }),
      get ids(): SmppSettings['ids'] {
        if (isBroken) throw new Error('a bug')
        return 'same'
      },
    }
    const provider = made(settings, world)
    await vi.waitFor(() => expect(server.bound.size).toBe(2))
    await provider.probe()
    // It was written before it failed, so it may have been accepted; the adapter still returns an outcome.
    for (let n = 0; n < 4; n++)
      expect(await provider.send(textMessage())).toEqual({
        kind: 'deferred',
        detail: 'The message could not be sent',
        uncertain: true,
      })
    expect(lines).toHaveLength(4)
    isBroken = false
    server.delay(100)
    await Promise.all([provider.send(textMessage()), provider.send(textMessage())])
    // One on each bind, at the same time: no place in a window was leaked.
    expect(server.counts().most).toBe(2)
  })

  test('several binds share the work', async () => {
    const { server, provider } = await bound({ binds: 3, window: 2 })
    server.delay(50)

    await Promise.all(Array.from({ length: 30 }, () => provider.send(textMessage())))

    expect(server.counts()).toMatchObject({ binds: 3, most: 6 })
  })

  test('the rate of parts per second is respected', async () => {
    const { provider } = await bound({ perSecond: 100 })
    const before = performance.now()

    await Promise.all(Array.from({ length: 10 }, () => provider.send(textMessage({ text: 'x'.repeat(200) }))))

    expect(performance.now() - before).toBeGreaterThan(180) // 20 parts: 19 steps of 10 ms, one of them as tolerance
  })

  test('a message that would wait too long for the rate limit is deferred', async () => {
    const { provider } = await bound({ perSecond: 1 })
    const sends = Array.from({ length: 14 }, () => provider.send(textMessage()))
    expect(await Promise.race(sends.slice(12))).toEqual({
      kind: 'deferred',
      detail: 'Rate used up',
      retryAfterSeconds: 11,
    })
    expect(provider.capacity.perSecond).toBe(1)
  })

  test('at a low rate ordinary messages wait and none is deferred; urgent ones and later parts go first', async () => {
    const { server, provider } = await bound({ perSecond: 10, window: 10, binds: 2, patienceMillis: 1_000 })
    const group = createProviderGroup<TextMessage>([{ provider, send: provider.send }], () => {})
    ends.push(group.stop)
    const send = (text: string, urgent = false) => group.send(textMessage({ text }), { cost: 1, urgent })
    const since = performance.now()

    const sends = Array.from({ length: 16 }, (_, n) => send(n === 1 ? 'x'.repeat(200) : `newsletter ${n}`))
    sends.push(send('code', true))
    const results = await Promise.all(sends)

    expect(new Set(results.map(result => (result.kind === 'answered' ? result.outcome.kind : 'wait')))).toEqual(
      new Set(['accepted']),
    )
    expect(performance.now() - since).toBeGreaterThan(17 * 100 - 20) // 18 parts, 100 ms apart
    const order = server.messages.map(({ text }) => text)
    expect(order.indexOf('code')).toBeLessThanOrEqual(2)
    expect(order.indexOf('x'.repeat(200))).toBeLessThanOrEqual(3)
  })

  test('a message that would wait too long for a place in the window is deferred, certainly not sent', async () => {
    const { server, provider } = await bound({ window: 1, patienceMillis: 50, replyMillis: 5_000 })
    server.delay(1_000)
    const first = provider.send(textMessage())

    expect(await provider.send(textMessage())).toEqual({
      kind: 'deferred',
      detail: 'Line broken: no answer to what was sent before',
      down: true,
    })
    expect(await first).toMatchObject({ kind: 'accepted' })
    expect(server.pdus.length).toBe(1)
  })

  test.each([
    ['its turn', { perSecond: 1 }],
    ['a place in the window', { window: 1 }],
  ])('a message that is recalled while it waits for %s is not sent', async (_what, settings) => {
    const { server, provider } = await bound({ ...settings, replyMillis: 20_000, patienceMillis: 20_000 })
    server.delay(300)
    const recall = createRecall()
    const first = provider.send(textMessage())
    const second = provider.send(textMessage(), false, recall)
    await new Promise(resume => setImmediate(resume)) // the first is written, the second waits
    recall.recall()
    expect(await second).toMatchObject({ kind: 'deferred', recalled: true })
    expect(await first).toMatchObject({ kind: 'accepted' })
    expect(await provider.send(textMessage(), false, recall)).toMatchObject({ recalled: true })
    expect(server.pdus.length).toBe(1)
  })

  test('an answer without an id is an acceptance without a reference', async () => {
    const { server, provider } = await bound()
    server.mode('bare')
    const message = textMessage()
    expect(await provider.send(message)).toEqual({ kind: 'accepted', ref: message.id })
  })
})

describe('refusals', () => {
  test.each(['throttle', 'queue-full'] as const)('%s: deferred, and the next is not even tried', async mode => {
    const { server, provider } = await bound()
    server.script(mode)

    expect(await provider.send(textMessage())).toMatchObject({ kind: 'deferred', retryAfterSeconds: 1 })
    expect(await provider.send(textMessage())).toEqual({
      kind: 'deferred',
      detail: 'Throttled',
      retryAfterSeconds: 1,
    })
    expect(server.pdus.length).toBe(0)
  })

  test('a later part that is throttled is retried: an incomplete message is useless', async () => {
    const { server, provider } = await bound()
    server.script('ok', 'throttle', 'ok')

    expect(await provider.send(textMessage({ text: 'x'.repeat(200) }))).toMatchObject({ kind: 'accepted' })
    expect(server.messages.length).toBe(1)
  })

  test('a refused part ends the message', async () => {
    const { server, provider } = await bound()
    server.script('ok', 'reject')

    const outcome = await provider.send(textMessage({ text: 'x'.repeat(400) }))

    expect(outcome).toEqual({ kind: 'rejected', detail: 'Invalid destination address (0x0000000b)' })
    expect(server.pdus.length).toBe(1)
  })
})

describe('broken connections', () => {
  test('F5: a drop before the answer of the last part is uncertain', async () => {
    const { server, provider } = await bound()
    server.mode('drop-last')
    expect(await provider.send(textMessage({ text: 'x'.repeat(200) }))).toMatchObject({
      kind: 'deferred',
      uncertain: true,
      down: true,
    })
  })

  test('everything pending fails at once, nothing waits for its timeout', async () => {
    const { server, provider } = await bound({ replyMillis: 20_000 })
    server.mode('hang')
    const sends = Array.from({ length: 10 }, () => provider.send(textMessage()))
    await vi.waitFor(() => expect(server.counts().most).toBe(1))
    for (const session of server.bound) session.destroy()

    const outcomes = await Promise.all(sends)

    expect(outcomes.every(outcome => outcome.kind === 'deferred' && outcome.uncertain === true)).toBe(true)
  })

  test.each(['garbage', 'short-length', 'huge', 'half'] as const)('F8: %s: dropped, bound again', async mode => {
    const { server, provider } = await bound({ replyMillis: 20_000 })
    server.script(mode)

    expect(await provider.send(textMessage())).toMatchObject({ kind: 'deferred', uncertain: true, down: true })
    await vi.waitFor(() => expect(server.counts().binds).toBe(2))
    await provider.probe()
    expect(await provider.send(textMessage())).toMatchObject({ kind: 'accepted' })
  })

  test('a refused bind is down and says why; it is retried', async () => {
    const server = await startSmppServer()
    ends.push(server.stop)
    server.mode('bind-refused')
    const provider = made(smppFor(server.port), recordedWorld().world)

    expect(await provider.send(textMessage())).toEqual({
      kind: 'deferred',
      detail: 'Not bound: bind refused: Invalid password (0x0000000e)',
      down: true,
      reason: `127.0.0.1:${server.port}: the server refused the login (0x0000000e). Check system_id and password in HERALD_SMPP_URL.`,
    })
    server.mode('ok')
    await vi.waitFor(() => expect(server.bound.size).toBe(1))
    expect(await provider.probe()).toEqual({ ok: true })
  })

  test('F3: a bind without an answer times out', async () => {
    const server = await startSmppServer()
    ends.push(server.stop)
    server.mode('bind-silent')
    const provider = made(smppFor(server.port, { replyMillis: 100 }), recordedWorld().world)
    expect(await provider.send(textMessage())).toMatchObject({ detail: 'Not bound: no answer to the bind', down: true })
  })

  test('F3: a server that accepts the connection and sends nothing', async () => {
    const dumb = createServer(socket => void socket.on('error', () => {}).resume())
    await new Promise<void>(resolve => dumb.listen(0, '127.0.0.1', resolve))
    ends.push(() => new Promise(resolve => dumb.close(resolve)))
    const address = dumb.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const provider = made(smppFor(port, { replyMillis: 100 }), recordedWorld().world)
    expect(await provider.send(textMessage())).toMatchObject({ kind: 'deferred', down: true })
  })

  test('enquire_link without an answer closes the connection', async () => {
    const { server, provider, lines } = await bound({ enquireMillis: 50, replyMillis: 50 })
    for (const session of server.bound) session.removeAllListeners('enquire_link')
    await vi.waitFor(() => expect(lines.join()).toContain('no answer to enquire_link'))
    expect(provider.name).toBe('smpp')
  })

  test('an unbind of the SMSC is answered, and we reconnect', async () => {
    const { server } = await bound()
    server.unbindAll()
    await vi.waitFor(() => expect(server.counts().binds).toBe(2))
  })

  test('reconnects with exponential backoff', async () => {
    const { lines, world } = recordedWorld()
    const since = performance.now()
    made(smppFor(1, { retryMillis: [20, 10_000] }), world)
    await vi.waitFor(() => expect(lines.length).toBe(6), { interval: 1 })
    // Pauses of 20, 40, 80, 160 and 320 ms, of which up to half is left out by chance.
    expect(performance.now() - since).toBeGreaterThan(300)
  })
})

describe('stop', () => {
  test('pending messages get their answers, then we unbind', async () => {
    const { server, provider } = await bound()
    server.delay(100)
    const sent = provider.send(textMessage())
    await vi.waitFor(() => expect(server.counts().most).toBe(1))

    await provider.stop()

    expect(await sent).toMatchObject({ kind: 'accepted' })
    expect(server.counts().unbinds).toBe(1)
    expect(server.counts().binds).toBe(1)
  })

  test('an unreachable server does not delay a stop', async () => {
    const provider = made(smppFor(1), recordedWorld().world)
    const before = performance.now()
    await provider.stop()
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})

describe('receipts', () => {
  test('stored before they are acknowledged', async () => {
    let store: () => void = () => {}
    const stored = new Promise<void>(resolve => {
      store = resolve
    })
    const { server, provider } = await bound({}, { accept: () => stored })
    server.deliver(receiptText('42', 'DELIVRD'))
    await provider.probe() // a whole round trip later
    expect(server.answers).toEqual([])

    store()
    await vi.waitFor(() => expect(server.answers).toMatchObject([{ status: 0 }]))
  })

  test('not stored, not acknowledged: ESME_RX_T_APPN, and the SMSC retries', async () => {
    const { server, lines } = await bound({}, { accept: () => Promise.reject(new Error('database away')) })
    server.deliver(receiptText('42', 'DELIVRD'))
    await vi.waitFor(() => expect(server.answers).toMatchObject([{ status: 0x64 }]))
    expect(lines.join()).toContain('could not be stored')
  })

  test('O3: a receipt that arrives before the answer is stored', async () => {
    const { server, provider, receipts } = await bound()
    server.earlyReceipt(ref => receiptText(ref, 'DELIVRD'))

    const outcome = await provider.send(textMessage())

    await vi.waitFor(() => expect(receipts.length).toBe(1))
    expect(outcome).toEqual({ kind: 'accepted', ref: receipts[0]?.ref })
  })

  test('a repeated receipt has the same event id, a later one another', async () => {
    const { server, receipts } = await bound()
    server.deliver(receiptText('42', 'ACCEPTD'))
    server.deliver(receiptText('42', 'DELIVRD'))
    server.deliver(receiptText('42', 'DELIVRD'))
    await vi.waitFor(() => expect(receipts.length).toBe(3))
    expect(new Set(receipts.map(({ eventId }) => eventId)).size).toBe(2)
  })

  test('late: after the connection broke and was re-established', async () => {
    const { server, provider, receipts } = await bound()
    await provider.send(textMessage())
    for (const session of server.bound) session.destroy()
    await vi.waitFor(() => expect(server.counts().binds).toBe(2))
    server.deliver(receiptText('1', 'EXPIRED'))
    await vi.waitFor(() => expect(receipts).toMatchObject([{ ref: '1', result: 'temporary-failure' }]))
  })

  test('hexadecimal in the answer, decimal in the receipt: one reference', async () => {
    const { server, provider, receipts } = await bound({ ids: 'hex-in-answer' })
    server.ids(() => '00FF')
    const outcome = await provider.send(textMessage())
    server.deliver(receiptText('255', 'DELIVRD'))
    await vi.waitFor(() => expect(receipts[0]?.ref).toBe('255'))
    expect(outcome).toEqual({ kind: 'accepted', ref: '255' })
  })

  test('a message from a phone is acknowledged and ignored, also when it looks like a receipt', async () => {
    const { server, receipts } = await bound()
    server.deliver({ source_addr: '16135550100', short_message: 'STOP' })
    server.deliver({ ...receiptText('42', 'DELIVRD'), esm_class: 0 })
    await vi.waitFor(() => expect(server.answers).toMatchObject([{ status: 0 }, { status: 0 }]))
    expect(receipts).toEqual([])
  })

  test('a deliver_sm with wrong lengths is refused and changes nothing; the connection stays open', async () => {
    const { server, provider, receipts } = await bound()
    const whole = new smpp.PDU('deliver_sm', {
      ...receiptText('123456', 'DELIVRD'),
      receipted_message_id: '123456',
      sequence_number: 77,
    }).toBuffer()
    const torn = Buffer.from(whole.subarray(0, whole.length - 4))
    torn.writeUInt32BE(torn.length, 0)
    server.raw(torn)
    await vi.waitFor(() => expect(server.answers).toMatchObject([{ status: 1, sequence: 77 }]))
    expect(receipts).toEqual([])
    expect(await provider.send(textMessage())).toMatchObject({ kind: 'accepted' })
  })

  test('half a deliver_sm and then the end: nothing is stored', async () => {
    const { server, receipts } = await bound()
    const whole = new smpp.PDU('deliver_sm', receiptText('123456', 'DELIVRD')).toBuffer()
    for (const session of server.bound) session.socket.end(whole.subarray(0, whole.length - 20))
    await vi.waitFor(() => expect(server.counts().binds).toBe(2))
    expect(receipts).toEqual([])
  })

  test('many receipts are stored in batches', async () => {
    const groups: number[] = []
    const { server } = await bound(
      {},
      {
        async accept(_, receipts) {
          groups.push(receipts.length)
        },
      },
    )
    for (let n = 0; n < 500; n++) server.deliver(receiptText(`${n}`, 'DELIVRD'))
    await vi.waitFor(() => expect(server.answers.length).toBe(500), 10_000)
    expect(groups.length).toBeLessThan(250)
  })
})

describe('smpps', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-smpps-'))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('binds to a trusted certificate, not to another one', async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject],
      {
        stdio: 'ignore',
      },
    )
    const ca = readFileSync(cert, 'utf8')
    const server = await startSmppServer({ key: readFileSync(key, 'utf8'), cert: ca })
    ends.push(server.stop)

    const trusting = made(smppFor(server.port, { host: 'localhost', tls: { ca } }), recordedWorld().world)
    const doubting = made(smppFor(server.port, { host: 'localhost', tls: { ca: null } }), recordedWorld().world)

    expect(await trusting.send(textMessage())).toMatchObject({ kind: 'accepted' })
    expect(await doubting.send(textMessage())).toMatchObject({
      detail: 'Not bound: connection failed: DEPTH_ZERO_SELF_SIGNED_CERT',
      down: true,
    })
  })
})
