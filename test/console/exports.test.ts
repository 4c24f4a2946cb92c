// Long answers: a person has two exports at a time and sees that the next one waits; a reader that takes its time keeps no one else waiting.
import { get as httpGet, type IncomingMessage } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../bench/support/fill.ts'
import { callerWith } from '../support/world.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE, type SignedInAs } from './support/session.ts'

/** More than the sockets of both sides hold: an export that no one reads does not end. */
const MESSAGES = 60_000

let here: ConsolePlace
let viewer: SignedInAs
let at: string

beforeAll(async () => {
  // One turn for all reads: whoever keeps it keeps it from everyone.
  here = await place({ HERALD_DATABASE_CONNECTIONS: '3' })
  viewer = await here.signIn('viewer')
  const { id, templates } = here.planted.service
  await fill(
    { store: { ...here.parts, stop: async () => {}, revive: async () => {} }, service: id, templates },
    { from: 0, to: MESSAGES, days: 1, status: 'delivered' },
  )
  at = `/s/${id}`
}, 120_000)

/** A response whose body is not read. */
const opened = (path: string, headers: Record<string, string>) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    httpGet({ host: '127.0.0.1', port: here.port, path, headers, agent: false }, answer => {
      answer.on('error', () => {}) // ended by the test
      answer.pause()
      resolve(answer)
    }).on('error', reject)
  })
const openedBy = (who: SignedInAs, path: string, headers: Record<string, string> = {}) =>
  opened(CONSOLE + path, { cookie: `${who.cookie.name}=${who.cookie.value}`, ...headers })

async function readWhole(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

/** Until the server has noticed that a connection is gone. */
async function downloaded(who: SignedInAs, path: string): Promise<IncomingMessage> {
  for (;;) {
    const answer = await openedBy(who, path)
    if (answer.statusCode === 200) return answer
    expect(answer.statusCode).toBe(429)
    answer.destroy()
  }
}

test('the third export of a person waits on a page that asks again by itself, and then starts', async () => {
  const [one, two] = await Promise.all([
    openedBy(viewer, `${at}/messages/export`),
    openedBy(viewer, `${at}/messages/export?status=delivered`),
  ])
  expect([one.statusCode, two.statusCode]).toEqual([200, 200])
  const path = `${at}/messages/export?kind=email`
  const waiting = await openedBy(viewer, path)
  expect(waiting.statusCode).toBe(429)
  expect(waiting.headers).toMatchObject({
    refresh: '3',
    'retry-after': '3',
    'content-type': 'text/html; charset=utf-8',
  })
  expect(waiting.headers['content-disposition']).toBeUndefined()
  expect(await readWhole(waiting)).toContain('Two of your downloads are still running.')
  const french = await openedBy(viewer, path, { 'accept-language': 'fr' })
  expect(await readWhole(french)).toContain('Deux de vos téléchargements sont encore en cours.')
  // Another person of the same service, and other pages of the same person, go on.
  const other = await openedBy(await here.signIn('sender'), `${at}/messages/export`)
  expect(other.statusCode).toBe(200)
  expect((await here.request(viewer, `${at}/messages`)).status).toBe(200)
  other.destroy()
  one.destroy()
  const third = await downloaded(viewer, path)
  expect(third.headers['content-type']).toBe('text/csv; charset=utf-8')
  for (const answer of [two, third]) answer.destroy()
}, 60_000)

test('reports and exports that no one reads use up no turn: other services read and send', async () => {
  const reporter = here.planted.service.keys[0]?.key ?? ''
  const asKey = { authorization: `ApiKey-v1 ${reporter}` }
  const reports = await Promise.all([
    opened('/herald/v1/reports/messages', asKey),
    openedBy(viewer, `${at}/messages/export`),
  ])
  expect(reports.map(answer => answer.statusCode)).toEqual([200, 200])
  const neighbour = await (await here.service()).key()
  for (let n = 0; n < 5; n++) {
    expect((await neighbour.get('/v2/notifications')).status).toBe(200)
    // Also of the same service.
    expect((await callerWith(here.address, reporter).get('/v2/notifications')).status).toBe(200)
  }
  for (const answer of reports) answer.destroy()
}, 60_000)
