// Hostile answers of passkeys over HTTP (S-68): whatever is posted, nobody is signed in, and it is refused, never an error of ours.
import { createHash, randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { listPasskeys } from '../../src/people/passkeys.ts'
import type { Person } from '../../src/people/person.ts'
import { startSession } from '../../src/people/session.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { formTokenOf, newToken } from '../../src/people/token.ts'
import { addUser } from '../../src/services/people.ts'
import { BROWSER_COOKIE, CONSOLE, type Page, request, SESSION_COOKIE } from '../console/support/session.ts'
import { authenticator } from '../support/authenticator.ts'
import { SEED } from '../support/seeds.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

let here: World
/** Passkeys need a name. */
let origin: string
let maria: Person
let ben: Person
beforeAll(async () => {
  here = await world()
  origin = `http://localhost:${here.port}`
  const service = await here.service()
  await addUser(here.parts, OPERATOR, service.id, { name: 'Ben', email_address: 'ben@example.org' })
  maria = (await personBy(here.parts.db.sql, 'maria@example.org')) as Person
  ben = (await personBy(here.parts.db.sql, 'ben@example.org')) as Person
})

type Device = ReturnType<typeof authenticator>
type Lies = NonNullable<Parameters<Device['get']>[1]>
const newDevice = () => authenticator({ origin })

/** A browser; `person`: who is signed in in it. */
async function visitor(person: Person | null = null) {
  const browser = newToken()
  const session = person && (await startSession(here.parts, person, { method: 'link', device: 'x' })).token
  const cookie = [`${BROWSER_COOKIE}=${browser}`, ...(session ? [`${SESSION_COOKIE}=${session}`] : [])].join('; ')
  const post = (path: string, form: Record<string, string> = {}): Promise<Page> =>
    request(origin, null, path, {
      form: { form_token: formTokenOf(session ?? browser), ...form },
      headers: { cookie, origin },
    })
  return {
    post,
    async options(path: string): Promise<{ challenge: string; options: { challenge: string } }> {
      return JSON.parse((await post(`${path}/options`)).text)
    },
  }
}
type Visitor = Awaited<ReturnType<typeof visitor>>

const SIGN_IN = '/sign-in/passkey'
const CONFIRM = '/sign-in/confirm/passkey'
const ADD = '/account/passkeys/new'

async function passkeyOf(person: Person, device = newDevice()): Promise<Device> {
  const browser = await visitor(person)
  const { challenge, options } = await browser.options(ADD)
  const added = await browser.post(ADD, { challenge, answer: device.create(options), name: 'Laptop' })
  expect(added.location).toBe(`${CONSOLE}/account?done=passkey-added`)
  return device
}

const tokenIn = ({ headers }: Page) =>
  headers.getSetCookie().find(cookie => new RegExp(`^${SESSION_COOKIE}=[\\w-]{43}`).test(cookie))

function expectRefused(answer: Page, what: string) {
  expect([answer.status, tokenIn(answer)], what).toEqual([422, undefined])
}

/** A fresh challenge and an answer to it, with lies. */
async function used(device: Device, lies: Lies = {}, path = SIGN_IN, browser?: Visitor): Promise<Page> {
  const where = browser ?? (await visitor(path === CONFIRM ? maria : null))
  const { challenge, options } = await where.options(path)
  return where.post(path, { challenge, answer: device.get(options, lies) })
}

const deleteTries = () => here.parts.db.sql`delete from sign_in_tries`

describe('an answer that does not fit', () => {
  test('of another origin, site, type, without presence or verification, or with odd flags is refused', async () => {
    const device = await passkeyOf(maria)
    const lies: Record<string, Lies> = {
      'another origin': { origin: 'https://evil.example' },
      'an origin that begins alike': { origin: `${origin}.evil.example` },
      'the same host over https': { origin: origin.replace('http:', 'https:') },
      'another site': { siteId: 'evil.example' },
      'a registration': { type: 'webauthn.create' },
      'no type': { type: '' },
      'nobody present': { flags: 0x04 },
      'nobody verified': { flags: 0x01 },
      'no flags': { flags: 0x00 },
      'backed up but not eligible for it': { flags: 0x15 },
      'attested data that is not there': { flags: 0x45 },
      'extensions that are not there': { flags: 0x85 },
      'another challenge': { challenge: randomBytes(32).toString('base64url') },
      'the owner is someone else': { userHandle: Buffer.from(ben.id.replaceAll('-', ''), 'hex').toString('base64url') },
      'the owner is nobody': { userHandle: '' },
    }
    for (const [what, lie] of Object.entries(lies))
      for (const path of [SIGN_IN, CONFIRM]) expectRefused(await used(device, lie, path), `${what}, ${path}`)
    await deleteTries()
    const userHandle = Buffer.from(maria.id.replaceAll('-', ''), 'hex').toString('base64url')
    expect((await used(device, { userHandle })).status).toBe(303)
    expect((await used(device, {}, CONFIRM)).status).toBe(303)
  })

  test('a passkey is not added without user verification, and one from before is not accepted without it', async () => {
    const browser = await visitor(ben)
    for (const flags of [0x00, 0x01, 0x04]) {
      const { challenge, options } = await browser.options(ADD)
      const answer = newDevice().create(options, { flags })
      expectRefused(await browser.post(ADD, { challenge, answer, name: 'x' }), `flags ${flags}`)
    }
    expect(await listPasskeys(here.parts, ben.id)).toEqual([])
    // A device that verifies its owner later is fine: nothing about it is stored.
    const device = await passkeyOf(ben)
    expectRefused(await used(device, { flags: 0x01 }), 'present only')
    expect((await used(device)).status).toBe(303)
  })

  test('a counter that stays or goes back is refused, and the highest stays', async () => {
    const device = await passkeyOf(maria)
    expect((await used(device, { counter: 50 })).status).toBe(303)
    for (const counter of [50, 49, 1, 0]) expectRefused(await used(device, { counter }), `counter ${counter}`)
    expect((await used(device, { counter: 4_294_967_295 })).status).toBe(303)
    expectRefused(await used(device, { counter: 51 }), 'after the last one')
  })

  test('a passkey of another person does not confirm', async () => {
    const device = await passkeyOf(ben)
    const browser = await visitor(maria)
    expectRefused(await used(device, {}, CONFIRM, browser), 'confirming as Maria with the passkey of Ben')
    // Signing in with it is signing in as Ben, whoever was signed in.
    const { challenge, options } = await browser.options(SIGN_IN)
    const answer = await browser.post(SIGN_IN, { challenge, answer: device.get(options) })
    const token = /=([\w-]{43})/.exec(tokenIn(answer) ?? '')?.[1] ?? ''
    const [row] = await here.parts.db.sql<{ person_id: string }>`
      select person_id from sessions where token_digest = ${createHash('sha256').update(token).digest()}`
    expect(row?.person_id).toBe(ben.id)
  })
})

describe('a challenge', () => {
  test('is answered once, also by several at the same moment', async () => {
    // A passkey that does not count: only the challenge tells a replay.
    const device = await passkeyOf(maria, authenticator({ origin, counts: false }))
    const browser = await visitor()
    const { challenge, options } = await browser.options(SIGN_IN)
    const form = { challenge, answer: device.get(options) }
    const answers = await Promise.all([1, 2, 3, 4].map(() => browser.post(SIGN_IN, form)))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 422, 422, 422])
    expectRefused(await browser.post(SIGN_IN, form), 'replayed')
  })

  test('of one purpose is worth nothing for another, nor in another browser, nor later', async () => {
    const device = await passkeyOf(maria)
    const browser = await visitor(maria)
    const stranger = await visitor()
    const [signIn, confirm, add] = [
      await browser.options(SIGN_IN),
      await browser.options(CONFIRM),
      await browser.options(ADD),
    ]
    const get = ({ challenge, options }: typeof signIn) => ({
      challenge,
      answer: device.get({ ...options, rpId: 'localhost' }),
    })
    for (const [what, path, asked] of [
      ['confirmation', SIGN_IN, confirm],
      ['registration', SIGN_IN, add],
      ['sign-in', CONFIRM, signIn],
      ['registration', CONFIRM, add],
    ] as const)
      expectRefused(await browser.post(path, get(asked)), `${what} for ${path}`)
    for (const asked of [signIn, confirm]) {
      const answer = newDevice().create({ ...asked.options, rp: { id: 'localhost' } })
      expectRefused(await browser.post(ADD, { challenge: asked.challenge, answer, name: 'x' }), 'for adding')
    }
    expectRefused(await stranger.post(SIGN_IN, get(signIn)), 'another browser')
    const bens = await visitor(ben)
    expectRefused(await bens.post(CONFIRM, get(confirm)), 'another person')
    here.moveClock(300_000)
    expectRefused(await browser.post(SIGN_IN, get(signIn)), 'expired')
    await deleteTries()
  })

  test('that is not ours is refused', async () => {
    const device = await passkeyOf(maria)
    const browser = await visitor()
    const { challenge, options } = await browser.options(SIGN_IN)
    const answer = device.get(options)
    const changed = `${challenge.slice(0, 60)}${challenge[60] === 'A' ? 'B' : 'A'}${challenge.slice(61)}`
    for (const token of [
      '',
      'x',
      maria.id,
      changed,
      challenge.slice(0, -4),
      `${challenge}AAAA`,
      'A'.repeat(500),
      '\u0000',
    ])
      expectRefused(await browser.post(SIGN_IN, { challenge: token, answer }), token)
    expect((await browser.post(SIGN_IN, { challenge, answer })).status).toBe(303)
    await deleteTries()
  })

  test('is given to anyone as often as they like, and leaves nothing behind', async () => {
    const rows = async () =>
      (
        await here.parts.db.sql<{ n: number }>`
          select (select count(*) from sign_in_challenges)::integer + (select count(*) from spent_challenges)::integer
                 + (select count(*) from sign_in_tries)::integer as n`
      )[0]?.n
    const before = await rows()
    const browser = await visitor()
    for (let n = 0; n < 100; n++) await browser.options(SIGN_IN)
    expect(await rows()).toBe(before)
  })
})

describe('malformed answers', () => {
  /** Of bytes, CBOR and JSON that nothing should choke on. */
  const odd = (): unknown[] => [
    ...[null, true, 0, -1, 1e308, '', ' ', 'x', '=', '%', '\u0000', '💥', [], {}, [[]], { length: 1e9 }],
    ...[
      'AAAA',
      '_-_-',
      'A'.repeat(15_000),
      Buffer.alloc(37).toString('base64url'),
      randomBytes(300).toString('base64url'),
    ],
    // CBOR: 10,000 nested arrays, a map that never ends, a text and a map of 2^64 - 1, a lone break, a tag.
    ...[Buffer.alloc(10_000, 0x81), Buffer.from([0xbf]), Buffer.from('7bffffffffffffffff', 'hex')].map(bytes =>
      bytes.toString('base64url'),
    ),
    ...['bbffffffffffffffff', 'ff', 'c000', 'a363666d74646e6f6e65', 'a1a1a1a1'].map(hex =>
      Buffer.from(hex, 'hex').toString('base64url'),
    ),
    Buffer.from('{"type":"webauthn.get"}').toString('base64url'),
    Buffer.from('null').toString('base64url'),
    Buffer.from('{"type":"webauthn.get","challenge":{},"origin":[],"tokenBinding":"x"}').toString('base64url'),
  ]

  async function expectNoneAccepted(path: string, person: Person | null, answers: readonly string[]) {
    const browser = await visitor(person)
    const { challenge } = await browser.options(path)
    for (const answer of answers) {
      await deleteTries()
      expectRefused(await browser.post(path, { challenge, answer, name: 'x' }), answer.slice(0, 200))
    }
  }

  test.each([SIGN_IN, CONFIRM])(
    'every field of an assertion, %s',
    async path => {
      const device = await passkeyOf(maria)
      const good = JSON.parse(device.get({ challenge: 'AAAA', rpId: 'localhost' }))
      const answers = odd().flatMap(value => [
        JSON.stringify(value),
        ...['id', 'rawId', 'type', 'response'].map(name => JSON.stringify({ ...good, [name]: value })),
        ...['clientDataJSON', 'authenticatorData', 'signature', 'userHandle'].map(name =>
          JSON.stringify({ ...good, response: { ...good.response, [name]: value } }),
        ),
      ])
      await expectNoneAccepted(path, path === CONFIRM ? maria : null, [
        ...['', '{', '[', '"', 'undefined', '{"id":"x"', '\u0000', 'x'.repeat(100_000), '['.repeat(19_000)],
        ...answers,
      ])
    },
    120_000,
  )

  test('every field of a registration', async () => {
    const good = JSON.parse(newDevice().create({ challenge: 'AAAA', rp: { id: 'localhost' } }))
    const answers = odd().flatMap(value => [
      ...['id', 'rawId', 'type', 'response'].map(name => JSON.stringify({ ...good, [name]: value })),
      ...['clientDataJSON', 'attestationObject'].map(name =>
        JSON.stringify({ ...good, response: { ...good.response, [name]: value } }),
      ),
    ])
    await expectNoneAccepted(ADD, ben, answers)
  }, 120_000)

  test('transports are the browser’s word: odd ones are left out', async () => {
    for (const transports of odd()) {
      const [device, browser] = [newDevice(), await visitor(maria)]
      const { challenge, options } = await browser.options(ADD)
      const answer = device.create(options, { response: { transports } })
      const { status } = await browser.post(ADD, { challenge, answer, name: 'odd' })
      expect(status, JSON.stringify(transports)?.slice(0, 100)).toBe(303)
      await here.parts.db.sql`delete from passkeys where name = 'odd'`
    }
  }, 120_000)

  test(`a right answer with one bit changed (seed ${SEED})`, async () => {
    const device = await passkeyOf(maria)
    const browser = await visitor()
    let state = SEED
    const random = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    for (let n = 0; n < 100; n++) {
      await deleteTries()
      const { challenge, options } = await browser.options(SIGN_IN)
      const good = JSON.parse(device.get(options))
      const name = ['clientDataJSON', 'authenticatorData', 'signature'][n % 3] ?? ''
      const bytes = Buffer.from(good.response[name], 'base64url')
      // The first bytes of a signature say how long its numbers are, which is read leniently; what counts are the numbers.
      const at = name === 'signature' ? bytes.length - 1 - random(20) : random(bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
      const answer = JSON.stringify({ ...good, response: { ...good.response, [name]: bytes.toString('base64url') } })
      expectRefused(await browser.post(SIGN_IN, { challenge, answer }), `${name}, byte ${at}`)
    }
  }, 120_000)

  test('a body of megabytes is refused before it is read as an answer', async () => {
    const browser = await visitor()
    const { status } = await browser.post(SIGN_IN, { challenge: 'x', answer: 'x'.repeat(30_000_000) })
    expect(status).toBeOneOf([413, 422])
  })
})
