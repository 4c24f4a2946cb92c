// One suite for every scanner, and the failures that only a daemon on a connection can have (F9).
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createClamd } from '../../src/files/clamd.ts'
import { createEmbedded, createScanning, type Scanner } from '../../src/files/scanner.ts'
import { createFileThread } from '../../src/files/thread.ts'
import { realClamd } from '../support/clamd.ts'
import { docx, docxWith, EICAR, pdf, png } from '../support/documents.ts'
import { type ScannerMode, scannerPeer } from '../support/scanner.ts'

const thread = createFileThread({ scans: true })
afterAll(() => thread.stop())
const peer = await scannerPeer()
afterAll(() => peer.stop())
const real = await realClamd()
afterAll(() => real?.stop())

const ALL: (readonly [string, Scanner])[] = [
  ['embedded', createEmbedded(thread.findSignature)],
  ['a peer that speaks as clamd does', createClamd(peer.url)],
  ...(real ? ([['the real clamd', createClamd(real.url)]] as const) : []),
]

describe.each(ALL)('%s', (_name, scanner) => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('Good morning')],
    ['PDF', pdf('words')],
    ['a picture', png()],
    ['a document', docx()],
    ['6 MB', Buffer.alloc(6_291_456, 'Herald ')],
  ])('clean: %s', async (_what, content) => {
    expect(await scanner.scan(content, 30_000)).toEqual({ kind: 'clean' })
  })

  test.each([
    ['alone', Buffer.from(EICAR)],
    ['in a PDF', pdf(EICAR)],
    ['in a member that is stored as it is', docxWith(['word/media/a.txt', EICAR])],
    ['at the end of 6 MB', Buffer.concat([Buffer.alloc(6_000_000, 'x'), Buffer.from(EICAR)])],
  ])('the test virus, %s', async (_what, content) => {
    expect((await scanner.scan(content, 30_000)).kind).toBe('virus')
  })

  test('many at the same time, each with its own verdict', async () => {
    const contents = Array.from({ length: 20 }, (_, n) => Buffer.from(n % 2 === 0 ? `fine ${n}` : EICAR))
    const verdicts = await Promise.all(contents.map(content => scanner.scan(content, 30_000)))
    expect(verdicts.map(verdict => verdict.kind)).toEqual(contents.map((_, n) => (n % 2 === 0 ? 'clean' : 'virus')))
  })

  test('it reports that it is available', async () => {
    expect(await scanner.probe()).toEqual({ ok: true })
  })
})

describe('F9 clamd that misbehaves gives no verdict, and never "clean"', () => {
  test.each<ScannerMode>(['hang', 'hang-up', 'garbage', 'error', 'endless'])('%s', async mode => {
    const odd = await scannerPeer(mode)
    const verdict = await createClamd(odd.url).scan(Buffer.from('x'), 300)
    await odd.stop()
    expect(verdict.kind).toBe('none')
  })

  test('not running, over TCP and over a socket', async () => {
    const gone = await scannerPeer()
    await gone.stop()
    for (const url of [gone.url, `unix:${join(tmpdir(), 'nobody-listens')}`]) {
      const scanner = createClamd(url)
      expect((await scanner.scan(Buffer.from('x'), 1_000)).kind).toBe('none')
      expect((await scanner.probe()).ok).toBe(false)
    }
  })

  test('a scanner that answers before it has read everything is understood', async () => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end('stream: Quick FOUND\0'))
    })
    const port = await new Promise<number>(resolve => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
    })
    const verdict = await createClamd(`tcp://127.0.0.1:${port}`).scan(Buffer.alloc(5_000_000), 5_000)
    server.close()
    expect(verdict).toEqual({ kind: 'virus', name: 'Quick' })
  })

  test('a scanner that gave no verdict is not retried at once', async () => {
    const odd = await scannerPeer('error')
    const scanning = createScanning(createClamd(odd.url))
    expect((await scanning.within([Buffer.from('x')], 1_000)).map(one => one.kind)).toEqual(['none'])
    expect((await scanning.within([Buffer.from('x')], 1_000)).map(one => one.kind)).toEqual(['none'])
    expect(odd.state.asked).toBe(1)
    await odd.stop()
  })
})
