// Every token of every purpose at every place that opens one: a token is good for its own purpose only, and what is stored, or was
// typed by a person, never comes back as proof.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import type { SealedToken, SignedToken, StoredPurpose } from '../../src/core/purposes.ts'
import * as purposes from '../../src/core/purposes.ts'
import { createSeal, type Seal } from '../../src/core/seal.ts'
import { sealAgain } from '../../src/maintenance/seal.ts'
import { knownIn } from '../../src/people/known-browser.ts'
import { printLink } from '../../src/people/links.ts'
import { type ChallengePurpose, readChallenge } from '../../src/people/passkey-challenges.ts'
import { readState } from '../../src/people/sign-on-state.ts'
import { nameOfBrowser, newToken } from '../../src/people/token.ts'
import { createReturnPaths } from '../../src/providers/smtp/verp.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { type ConsolePlace, place } from '../console/support/place.ts'
import { asSession, BROWSER_COOKIE, CONSOLE, type SignedInAs } from '../console/support/session.ts'
import { EMAIL, emailTemplate } from '../support/sends.ts'
import { call } from '../support/world.ts'

const VICTIM = 'victim@example.org'
const WORDS = 'words that nobody else has searched for'
const DOMAIN = 'bounces.example.org'
const BROWSER = newToken()
const SEALED = Object.keys(purposes.SEALED_TOKENS) as SealedToken[]
const SIGNED = Object.keys(purposes.SIGNED_TOKENS) as SignedToken[]
const STORED = Object.keys(purposes.STORED) as StoredPurpose[]

let here: ConsolePlace
let session: SignedInAs
let me: { id: Id; email_address: string }
let seal: Seal
let message: string

beforeAll(async () => {
  here = await place()
  session = await here.signIn('developer')
  me = here.planted.people.developer
  seal = here.parts.seal
  message = here.parts.ids.next().replaceAll('-', '')
}, 120_000)

const now = () => here.parts.clock.now()
const moved = (more: Record<string, unknown> = {}) =>
  JSON.stringify({
    ...{ person: me.id, browser: nameOfBrowser(BROWSER), from: me.email_address, to: VICTIM },
    until: now() + 600_000,
    ...more,
  })

const inboxWith = async (words: string) =>
  (await here.request(session, `/s/${here.planted.service.id}/inbox?words=${encodeURIComponent(words)}`)).text
const addressPage = async (move: string, from = BROWSER) => {
  const cookie = `${session.cookie.name}=${session.cookie.value}; ${BROWSER_COOKIE}=${from}`
  return (await here.request(session, `/account/address?move=${encodeURIComponent(move)}`, { headers: { cookie } }))
    .text
}

/** Where a sealed token of each purpose is opened: a content that is accepted there, and whether a text was. */
const SEALED_PLACES: Record<SealedToken, { content(): string; takes(token: string): Promise<boolean> }> = {
  'address change': { content: moved, takes: async token => (await addressPage(token)).includes(VICTIM) },
  'inbox search': {
    content: () => JSON.stringify({ person: me.id, words: WORDS, until: now() + 600_000 }),
    takes: async token => (await inboxWith(token)).includes(WORDS),
  },
  'known browser': {
    content: () => JSON.stringify({ browser: nameOfBrowser(BROWSER), person: me.id, until: now() + 600_000 }),
    takes: async token => knownIn(here.parts, BROWSER, token) === me.id,
  },
  'passkey sign-in': challengePlace('passkey sign-in', () => null),
  'passkey confirmation': challengePlace('passkey confirmation', () => me.id),
  'passkey registration': challengePlace('passkey registration', () => me.id),
  'single sign-on': {
    content: () =>
      JSON.stringify({
        ...{ id: here.parts.ids.next(), browser: nameOfBrowser(BROWSER), person: '', nonce: 'x', verifier: 'x' },
        ...{ redirectUri: 'x', returnTo: '', until: now() + 200_000 },
      }),
    takes: async token => readState(here.parts, BROWSER, token) !== null,
  },
}

function challengePlace(purpose: ChallengePurpose, person: () => Id | null) {
  const browser = nameOfBrowser(BROWSER)
  return {
    content: () =>
      JSON.stringify({
        ...{ id: here.parts.ids.next(), browser, person: person() ?? '', challenge: 'x' },
        until: now() + 200_000,
      }),
    takes: async (token: string) =>
      readChallenge(here.parts, purpose, { browser: BROWSER, person: person() }, token) !== null,
  }
}

/** As above, for texts that are signed. */
const SIGNED_PLACES: Record<
  SignedToken,
  { signed(): string; takes(signature: Buffer, signed: string): boolean | Promise<boolean> }
> = {
  'inbox link': {
    signed: () => `${now() + 600_000} may read the inbox`,
    takes: async (signature, signed) => {
      const until = Number(signed.split(' ')[0]).toString(36)
      const token = `${until}.${signature.toString('base64url')}`
      return (await call(here.address, 'GET', `/inbox?token=${token}`)).status === 200
    },
  },
  'return path': {
    signed: () => message,
    takes: (signature, signed) =>
      createReturnPaths(DOMAIN, here.parts.secrets).read(`bounce+${signed}-${signature.toString('hex')}@${DOMAIN}`) !==
      null,
  },
}

describe('tokens have a purpose', () => {
  test('what a person types into the search of the inbox does not change their address', async () => {
    const typed = JSON.stringify({ person: me.id, from: me.email_address, to: VICTIM, until: 9e15 })
    const found = await here.request(session, `/s/${here.planted.service.id}/inbox/search`, { form: { q: typed } })
    const token = new URL(found.location ?? '', here.address).searchParams.get('words') ?? ''
    expect(await inboxWith(token)).toContain('until')
    expect(await addressPage(token)).not.toContain('<form')
    const changed = await here.request(session, '/account/address/change', { form: { move: token } })
    expect(changed.status).toBe(410)
    const [stored] = await here.parts.db.sql`select email_address from people where id = ${me.id}`
    expect(stored).toEqual({ email_address: me.email_address })
  })

  test('the search of the inbox opens nothing that is stored', async () => {
    const [{ secret_sealed } = { secret_sealed: Buffer.alloc(0) }] = await here.parts.db.sql<{ secret_sealed: Buffer }>`
      select secret_sealed from keys limit 1`
    const secret = seal.open('key secret', secret_sealed).toString()
    const before = createSeal(here.parts.secrets, { format: '1' })
    for (const sealed of [secret_sealed, before.seal('key secret', secret)])
      expect(await inboxWith(sealed.toString('base64url'))).not.toContain(secret)
  })

  test('a sealed token of every purpose is accepted at its own place only', async () => {
    for (const asked of SEALED) {
      const { content, takes } = SEALED_PLACES[asked]
      for (const made of SEALED)
        expect(await takes(seal.sealToken(made, content()).toString('base64url')), `${made} as ${asked}`).toBe(
          made === asked,
        )
    }
  })

  test('what is stored for any purpose, in either format, is accepted nowhere', async () => {
    const seals = [seal, createSeal(here.parts.secrets, { cipher: 'aes-256-gcm' })]
    const before = createSeal(here.parts.secrets, { format: '1' })
    for (const [asked, { content, takes }] of Object.entries(SEALED_PLACES)) {
      const stored = [
        ...STORED.map(purpose => [purpose, seals.map(one => one.seal(purpose, content()))] as const),
        ['format 1', [before.seal('message', content())]] as const,
      ]
      for (const [purpose, values] of stored)
        for (const value of values)
          expect(await takes(value.toString('base64url')), `${purpose} as ${asked}`).toBe(false)
    }
  })

  test('a signature of every purpose, and every keyed digest, is accepted at its own place only', async () => {
    for (const asked of SIGNED) {
      const { signed, takes } = SIGNED_PLACES[asked]
      const { bytes } = purposes.SIGNED_TOKENS[asked]
      const text = signed()
      const cut = (signature: Buffer) => Buffer.concat([signature, Buffer.alloc(bytes)]).subarray(0, bytes)
      for (const made of SIGNED)
        expect(await takes(cut(seal.sign(made, text)), text), `${made} as ${asked}`).toBe(made === asked)
      for (const purpose of Object.keys(purposes.DIGESTS) as purposes.DigestPurpose[])
        for (const digest of [...seal.digests(purpose, text), ...seal.marks(purpose, text)])
          expect(await takes(cut(digest), text), `${purpose} as ${asked}`).toBe(false)
    }
  })

  test('a token of an earlier secret is accepted only where the table says so', async () => {
    const [current = ''] = here.parts.secrets
    const earlier = createSeal(['a secret of last year that was replaced'])
    for (const { content, takes } of Object.values(SEALED_PLACES))
      expect(await takes(earlier.sealToken('address change', content()).toString('base64url'))).toBe(false)
    const rotated = createReturnPaths(DOMAIN, [current, 'a secret of last year that was replaced'])
    const path = `bounce+${message}-${earlier.sign('return path', message).toString('hex')}@${DOMAIN}`
    expect(rotated.read(path)).not.toBe(null)
    expect(createReturnPaths(DOMAIN, [current]).read(path)).toBe(null)
  })
})

describe('what a token says is checked', () => {
  const token = (content: unknown) => seal.sealToken('address change', JSON.stringify(content)).toString('base64url')
  const accepted = (content: unknown) => SEALED_PLACES['address change'].takes(token(content))
  const right = () => JSON.parse(moved())

  test('exact fields, as texts', async () => {
    expect(await accepted(right())).toBe(true)
    const { to: _, ...missing } = right()
    for (const wrong of [missing, { ...right(), more: 'x' }, { ...right(), to: [VICTIM] }, [right()], VICTIM, null, {}])
      expect(await accepted(wrong), JSON.stringify(wrong)).toBe(false)
  })

  test('expiry: a whole number, not over, and no longer than such a token lives', async () => {
    const day = 86_400_000
    for (const until of [now() - 1, now() + day, 9e15, 1e300, now() + 600_000.5, `${now() + 600_000}`, null, undefined])
      expect(await accepted({ ...right(), until }), String(until)).toBe(false)
  })

  test('its own person, who still has the address, in their own browser', async () => {
    const other = here.planted.people.viewer
    expect(await addressPage(token(right()), newToken())).not.toContain(VICTIM)
    expect(await accepted({ ...right(), browser: BROWSER })).toBe(false)
    expect(await accepted({ ...right(), person: other.id })).toBe(false)
    expect(await accepted({ ...right(), from: other.email_address })).toBe(false)
    const words = JSON.stringify({ person: other.id, words: WORDS, until: now() + 600_000 })
    expect(await inboxWith(seal.sealToken('inbox search', words).toString('base64url'))).not.toContain(WORDS)
  })
})

describe('links and cookies of random bits', () => {
  /** The token of a file that is sent as a link. */
  async function linkedFile(): Promise<string> {
    const key = await (await here.service()).key()
    const template_id = await emailTemplate(key, 'Here it is: ((file))', 'News')
    const file = { file: Buffer.from('hello').toString('base64'), filename: 'a.txt', sending_method: 'link' }
    const sent = await key.post(EMAIL, { email_address: 'a@example.org', template_id, personalisation: { file } })
    return /\/download\/([\w-]{43})/.exec(sent.body.content.body)?.[1] ?? ''
  }

  test('are good at their own place only', async () => {
    const { service } = here.planted
    const manager = await here.signIn('manager')
    const address = `new.${service.id.slice(0, 8)}@eastmere.example`
    await here.request(manager, `/s/${service.id}/team/invite`, { form: { address, role: 'viewer' } })
    await here.request(manager, `/s/${service.id}/settings/reply-to/new`, { form: { value: address } })
    const mails = await here.parts.db.sql<{ sealed: Buffer }>`select sealed from mails order by id`
    const letters = mails.map(({ sealed }) => seal.open('mail', sealed).toString()).join('\n')
    const inLetter = (path: string) => new RegExp(`${CONSOLE}/${path}/([\\w-]{43})`).exec(letters)?.[1] ?? ''
    const printed = await printLink(here.parts, { kind: 'operator', name: 'tests' }, me.email_address)
    const isPage = (path: string) => async (token: string) =>
      (await here.request(null, `/${path}/${token}`)).status === 200
    const places = {
      'sign-in link': { token: printed.path.split('/').at(-1) ?? '', takes: isPage('sign-in/link') },
      invitation: { token: inLetter('invitation'), takes: isPage('invitation') },
      'reply-to': { token: inLetter('reply-to'), takes: isPage('reply-to') },
      session: {
        token: manager.token,
        takes: async (token: string) => (await here.request(asSession(token), '/account')).status === 200,
      },
      download: {
        token: await linkedFile(),
        takes: async (token: string) => (await call(here.address, 'GET', `/download/${token}`)).status === 200,
      },
    }
    for (const [asked, { takes }] of Object.entries(places)) {
      for (const [made, { token }] of Object.entries(places))
        expect(await takes(token), `${made} as ${asked}`).toBe(made === asked)
      for (const purpose of SEALED) expect(await takes(seal.sealToken(purpose, 'x').toString('base64url'))).toBe(false)
    }
  })
})

describe('data of version 0.2', () => {
  test('is used as it is, and maintenance seals again what lives long', async () => {
    const { sql } = here.parts.db
    const before = createSeal(here.parts.secrets, { format: '1' })
    const key = await (await here.service()).key()
    await runSteps(sealAgain({ db: { sql }, seal: before }))
    const current = () =>
      Promise.all([
        sql<{ sealed: Buffer }>`select secret_sealed as sealed from keys`.then(isCurrent('key secret')),
        sql<{ sealed: Buffer }>`select sealed from webhooks`.then(isCurrent('webhook target')),
        sql<{ sealed: Buffer }>`select sealed from template_samples`.then(isCurrent('template samples')),
      ])
    expect(await current()).toEqual([false, false, false])
    expect((await key.get('/v2/templates')).status).toBe(200) // asked for the first time: not in memory
    await runSteps(sealAgain(here.parts))
    expect(await current()).toEqual([true, true, true])
    const [found] = await sql`select from keys where secret_digest = ${seal.digest('key secret', key.key.slice(-36))}`
    expect(found).toBeDefined()
  })

  test('what no configured secret opens keeps neither the others nor a start from going on', async () => {
    const { sql } = here.parts.db
    const service = await here.service()
    await service.key()
    const gone = createSeal(['a secret that was removed too early, long ago'])
    await sql`update keys set secret_sealed = ${gone.seal('key secret', 'x')} where service_id = ${service.id}`
    const [sample] = await sql<{ template_id: Id; sealed: Buffer }>`select template_id, sealed from template_samples`
    const lost = gone.seal('template samples', '{"name":"Kim"}')
    await sql`update template_samples set sealed = ${lost} where template_id = ${sample?.template_id ?? null}`
    const before = createSeal(here.parts.secrets, { format: '1' })
    expect(await runSteps(sealAgain({ db: { sql }, seal: before }))).toBeGreaterThan(0)
    expect(await runSteps(sealAgain(here.parts))).toBeGreaterThan(0)
    expect(await runSteps(sealAgain(here.parts))).toBe(0)
    // It opens again when its secret is back.
    expect(await sql`select sealed from template_samples where sealed = ${lost}`).toHaveLength(1)
    await sql`update template_samples set sealed = ${sample?.sealed ?? null} where sealed = ${lost}`
    await sql`delete from keys where service_id = ${service.id}`
  })

  const isCurrent = (purpose: StoredPurpose) => (rows: readonly { sealed: Buffer }[]) => {
    expect(rows.length).toBeGreaterThan(0)
    const states = new Set(rows.map(({ sealed }) => seal.isCurrent(purpose, sealed)))
    expect(states.size).toBe(1)
    return states.has(true)
  }
})

describe('the link of the inbox', () => {
  const opens = async (until: number, signature = seal.sign('inbox link', `${until} may read the inbox`)) =>
    (await call(here.address, 'GET', `/inbox?token=${until.toString(36)}.${signature.toString('base64url')}`)).status

  test('expires after a day, and its time cannot be changed', async () => {
    const day = 86_400_000
    expect(await opens(now() + day)).toBe(200)
    expect(await opens(now() - 1)).toBe(403)
    expect(await opens(now() + 2 * day)).toBe(403) // signed, but for longer than a link lives
    const until = now() + 60_000
    expect(await opens(until + 1, seal.sign('inbox link', `${until} may read the inbox`))).toBe(403)
  })

  test('the cookie expires with the link that it came from', async () => {
    const until = now() + 60_000
    const token = `${until.toString(36)}.${seal.sign('inbox link', `${until} may read the inbox`).toString('base64url')}`
    const reply = await fetch(`${here.address}/inbox?token=${token}`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    })
    expect(reply.headers.get('set-cookie')).toContain(`=${token};`)
  })
})

describe('the tables of purposes in docs/security.md', () => {
  const text = readFileSync('docs/security.md', 'utf8')
  const rowsAfter = (heading: string) =>
    (text.split(`### ${heading}\n`)[1]?.split('\n### ')[0]?.split('\n## ')[0] ?? '')
      .split('\n')
      .filter(line => line.startsWith('|'))
      .slice(2)
      .map(line =>
        line
          .split('|')
          .slice(1, -1)
          .map(cell => cell.trim()),
      )

  test('are those of the code', () => {
    const stored = Object.entries(purposes.STORED).map(([name, { what, lifetime }]) => [name, what, lifetime])
    expect(rowsAfter('Stored data')).toEqual(stored)
    const tokens = [
      ...Object.entries(purposes.SEALED_TOKENS).map(([name, { what, seconds }]) => [
        ...[name, 'sealed', what, timeOf(seconds), 'current'],
      ]),
      ...Object.entries(purposes.SIGNED_TOKENS).map(([name, { what, seconds, secrets, bytes }]) => [
        ...[name, `signed, ${bytes} bytes`, what, timeOf(seconds), secrets],
      ]),
    ]
    expect(rowsAfter('Tokens that leave the process')).toEqual(tokens)
    const digests = Object.entries(purposes.DIGESTS).map(([name, { what, lifetime }]) => [name, what, lifetime])
    expect(rowsAfter('Keyed digests')).toEqual(digests)
  })

  const timeOf = (seconds: number | null) =>
    seconds === null
      ? 'no expiry'
      : seconds % 86_400 === 0 && seconds > 86_400
        ? `${seconds / 86_400} days`
        : seconds > 3_600
          ? `${seconds / 3_600} hours`
          : `${seconds / 60} minutes`
})
