// Who may open each page and do each act (S-35): every row of the console's table of contents × everybody, with the ids of their own
// service and of another one. The expectations are written by hand from the design, not derived from the table of contents.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../src/audit/role.ts'
import { pages } from '../../src/console/routes.ts'
import { EXAMPLES, filled } from './support/examples.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { member, type Planted, type PlantedService, plantService, plantUploads } from './support/plant.ts'
import type { SignedInAs } from './support/session.ts'

/**
 * Who, and the status when it is neither 200 nor a redirect. V viewer, A author, S sender, D developer, M manager, O operator who is no member. Every role includes viewer, so a page for
 * viewers is `VASDM`. `signed in`: it belongs to no service. `self`: the same, and things of somebody else stay as they are. `anyone`:
 * open without signing in.
 */
const RIGHTS: Readonly<Record<string, string>> = {
  'GET /sign-in': 'anyone',
  'POST /sign-in': 'anyone',
  'GET /sign-in/sent': 'anyone',
  'GET /sign-in/link/:token': 'anyone',
  'POST /sign-in/link/:token': 'anyone 410',
  'POST /sign-in/passkey/options': 'anyone',
  'POST /sign-in/passkey': 'anyone 422',
  'GET /sign-in/single-sign-on': 'anyone 503',
  'GET /sign-in/single-sign-on/return': 'anyone 503',
  'GET /sign-in/confirm': 'signed in',
  'POST /sign-in/confirm': 'signed in',
  'POST /sign-in/confirm/passkey/options': 'signed in',
  'POST /sign-in/confirm/passkey': 'signed in 422',
  'GET /sign-in/confirm/single-sign-on': 'signed in 503',
  'POST /sign-out': 'signed in',
  'GET /account': 'signed in',
  'POST /account': 'signed in',
  'GET /account/passkeys/new': 'signed in',
  'POST /account/passkeys/new/options': 'signed in',
  'POST /account/passkeys/new': 'signed in 422',
  'POST /account/passkeys/:id': 'self',
  'POST /account/passkeys/:id/remove': 'self',
  'POST /account/sessions/end-others': 'signed in',
  'POST /account/sessions/:id/end': 'self',
  'POST /account/address': 'signed in',
  'GET /account/address': 'signed in 410',
  'POST /account/address/change': 'signed in 410',

  'GET /': 'signed in',
  'GET /operator/services': 'operator',
  'GET /operator/services/new': 'operator',
  'POST /operator/services/new': 'operator',
  'GET /operator/people': 'operator',
  'GET /operator/people/invite': 'operator',
  'POST /operator/people/invite': 'operator',
  'POST /operator/people/invitations/:id/withdraw': 'operator',
  'GET /operator/people/:id': 'operator',
  'POST /operator/people/:id': 'operator',
  'POST /operator/people/:id/remove': 'operator',
  'GET /invitation/:token': 'anyone',
  'POST /invitation/:token': 'anyone 410',

  'GET /s/:service/team': 'VASDMO',
  'GET /s/:service/team/invite': 'MO',
  'POST /s/:service/team/invite': 'MO',
  'POST /s/:service/team/invitations/:id/again': 'MO',
  'POST /s/:service/team/invitations/:id/withdraw': 'MO',
  'GET /s/:service/team/:member': 'MO',
  'POST /s/:service/team/:member': 'MO',
  'POST /s/:service/team/:member/remove': 'MO',
  'POST /s/:service/join': 'O',

  'GET /s/:service': 'VASDMO',
  'GET /s/:service/counts': 'VASDMO',
  'GET /s/:service/statistics': 'VASDMO',

  'GET /s/:service/messages': 'VASDM',
  'POST /s/:service/messages/search': 'VASDM',
  'GET /s/:service/messages/export': 'VASDM',
  'GET /s/:service/messages/newer': 'VASDM',
  'GET /s/:service/messages/:id': 'VASDM',
  'GET /s/:service/messages/:id/rendered': 'VASDM',
  'POST /s/:service/messages/:id/cancel': 'SM',
  'POST /s/:service/messages/:id/copy': 'SM',

  'GET /s/:service/templates': 'VASDM',
  'GET /s/:service/templates/new': 'AM',
  'POST /s/:service/templates/new': 'AM',
  'GET /s/:service/templates/folders/new': 'AM',
  'POST /s/:service/templates/folders/new': 'AM',
  'GET /s/:service/templates/folders/:folder': 'AM',
  'POST /s/:service/templates/folders/:folder': 'AM',
  'POST /s/:service/templates/folders/:folder/remove': 'AM',
  'GET /s/:service/templates/:id': 'VASDM',
  'POST /s/:service/templates/:id': 'AM',
  'POST /s/:service/templates/:id/preview': 'AM',
  'POST /s/:service/templates/:id/live': 'AM',
  'GET /s/:service/templates/:id/rendered': 'VASDM',
  'GET /s/:service/templates/:id/confirm': 'AM',
  'POST /s/:service/templates/:id/confirm': 'AM',
  'POST /s/:service/templates/:id/test': 'ASM',
  'GET /s/:service/templates/:id/versions': 'VASDM',
  'GET /s/:service/templates/:id/versions/:version': 'VASDM',
  'POST /s/:service/templates/:id/versions/:version': 'AM',
  'GET /s/:service/templates/:id/settings': 'VASDM',
  'POST /s/:service/templates/:id/settings': 'AM',
  'GET /s/:service/templates/:id/archive': 'AM',
  'POST /s/:service/templates/:id/archive': 'AM',
  'GET /s/:service/templates/:id/api': 'VASDM',

  // Send.
  'GET /s/:service/send': 'SM',
  'POST /s/:service/send': 'SM',
  'POST /s/:service/send/live': 'SM',
  'GET /s/:service/send/:template/rendered': 'SM',
  'GET /s/:service/send/:template/example': 'SM',
  'GET /s/:service/send/file': 'SM',
  'POST /s/:service/send/file': 'SM',
  'GET /s/:service/send/file/:upload': 'SM',
  'POST /s/:service/send/file/:upload': 'SM',
  'GET /s/:service/send/file/:upload/events': 'SM',
  'GET /s/:service/send/file/:upload/rendered': 'SM',
  'GET /s/:service/send/file/:upload/bad-rows': 'SM',

  // Jobs.
  'GET /s/:service/jobs': 'VASDM',
  'GET /s/:service/jobs/:id': 'VASDM',
  'GET /s/:service/jobs/:id/events': 'VASDM',
  'GET /s/:service/jobs/:id/report': 'VASDM',
  'GET /s/:service/jobs/:id/file': 'SM',
  'POST /s/:service/jobs/:id/cancel': 'SM',
  'GET /s/:service/jobs/:id/again': 'SM',
  'POST /s/:service/jobs/:id/again': 'SM',

  // Keys, safelist and request log.
  'GET /s/:service/keys': 'DM',
  'GET /s/:service/keys/new': 'DM',
  'POST /s/:service/keys/new': 'DM',
  'GET /s/:service/keys/:id/revoke': 'DM',
  'POST /s/:service/keys/:id/revoke': 'DM',
  'GET /s/:service/safelist': 'DM',
  'POST /s/:service/safelist': 'DM',
  'GET /s/:service/requests': 'DM',

  // Webhooks.
  'GET /s/:service/webhooks': 'DM',
  'GET /s/:service/webhooks/new': 'DM',
  'POST /s/:service/webhooks/new': 'DM',
  'GET /s/:service/webhooks/:id': 'DM',
  'GET /s/:service/webhooks/:id/settings': 'DM',
  'POST /s/:service/webhooks/:id/settings': 'DM',
  'POST /s/:service/webhooks/:id/test': 'DM',
  'POST /s/:service/webhooks/:id/state': 'DM',
  'POST /s/:service/webhooks/:id/secret': 'DM',
  'POST /s/:service/webhooks/:id/replay': 'DM',
  'GET /s/:service/webhooks/:id/remove': 'DM',
  'POST /s/:service/webhooks/:id/remove': 'DM',

  // Inbox.
  'GET /s/:service/inbox': 'DM',
  'POST /s/:service/inbox/search': 'DM',
  'GET /s/:service/inbox/newer': 'DM',
  'POST /s/:service/inbox/empty': 'DM',
  'GET /s/:service/inbox/:id': 'DM',
  'GET /s/:service/inbox/:id/rendered': 'DM',
  'GET /s/:service/inbox/:id/source': 'DM',
  'GET /s/:service/inbox/:id/files/:place': 'DM 404',
  'POST /s/:service/inbox/:id/delete': 'DM',
  'GET /operator/inbox': 'operator',
  'POST /operator/inbox/search': 'operator',
  'GET /operator/inbox/newer': 'operator',
  'POST /operator/inbox/empty': 'operator',
  'GET /operator/inbox/:id': 'operator',
  'GET /operator/inbox/:id/rendered': 'operator',
  'GET /operator/inbox/:id/source': 'operator',
  'POST /operator/inbox/:id/delete': 'operator',

  // Settings and changes.
  'GET /s/:service/settings': 'VASDMO',
  'GET /s/:service/settings/change': 'MO',
  'POST /s/:service/settings/change': 'MO',
  'GET /s/:service/settings/limits': 'O',
  'POST /s/:service/settings/limits': 'O',
  'GET /s/:service/settings/suspend': 'O',
  'POST /s/:service/settings/suspend': 'O',
  'POST /s/:service/settings/resume': 'O',
  'GET /s/:service/settings/reply-to/new': 'MO',
  'POST /s/:service/settings/reply-to/new': 'MO',
  'POST /s/:service/settings/reply-to/:id/again': 'MO',
  'POST /s/:service/settings/reply-to/:id/default': 'MO',
  'GET /s/:service/settings/reply-to/:id/remove': 'MO',
  'POST /s/:service/settings/reply-to/:id/remove': 'MO',
  'GET /s/:service/settings/senders/new': 'MO',
  'POST /s/:service/settings/senders/new': 'MO',
  'POST /s/:service/settings/senders/:id/default': 'MO',
  'GET /s/:service/settings/senders/:id/remove': 'MO',
  'POST /s/:service/settings/senders/:id/remove': 'MO',
  'GET /s/:service/settings/live': 'VASDMO',
  'POST /s/:service/settings/live': 'MO',
  'POST /s/:service/settings/live/grant': 'O',
  'POST /s/:service/settings/live/decline': 'O',
  'POST /s/:service/settings/live/end': 'O',
  'GET /reply-to/:token': 'anyone',
  'POST /reply-to/:token': 'anyone 410',
  'GET /s/:service/changes': 'MO',
  'GET /s/:service/changes/export': 'MO',

  // Operator: system and audit.
  'GET /operator/system': 'operator',
  'GET /operator/system/hold': 'operator',
  'POST /operator/system/hold': 'operator',
  'GET /operator/system/release': 'operator',
  'POST /operator/system/release': 'operator',
  'GET /operator/system/providers/:channel/:provider/test': 'operator',
  // No engine runs here.
  'POST /operator/system/providers/:channel/:provider/test': 'operator 422',
  'GET /operator/system/tests/:id': 'operator',
  'GET /operator/audit': 'operator',
  'GET /operator/audit/export': 'operator',
}

/** Sensitive acts: the last sign-in must not be older than ten minutes. */
const FRESH = [
  'GET /account/passkeys/new',
  'POST /account/passkeys/new/options',
  'POST /account/passkeys/new',
  'POST /account/passkeys/:id/remove',
  'POST /account/address',
  'GET /account/address',
  'POST /account/address/change',
  'POST /operator/services/new',
  'POST /operator/people/invite',
  'POST /operator/people/invitations/:id/withdraw',
  'POST /operator/people/:id',
  'POST /operator/people/:id/remove',
  'GET /operator/inbox/:id',
  'GET /operator/inbox/:id/rendered',
  'GET /operator/inbox/:id/source',
  'POST /s/:service/team/invite',
  'POST /s/:service/team/invitations/:id/again',
  'POST /s/:service/team/invitations/:id/withdraw',
  'POST /s/:service/team/:member',
  'POST /s/:service/team/:member/remove',
  'POST /s/:service/join',
  'POST /s/:service/settings/change',
  'POST /s/:service/settings/limits',
  'POST /s/:service/settings/suspend',
  'POST /s/:service/settings/resume',
  'POST /s/:service/settings/reply-to/new',
  'POST /s/:service/settings/reply-to/:id/again',
  'POST /s/:service/settings/reply-to/:id/default',
  'POST /s/:service/settings/reply-to/:id/remove',
  'POST /s/:service/settings/senders/new',
  'POST /s/:service/settings/senders/:id/default',
  'POST /s/:service/settings/senders/:id/remove',
  'POST /s/:service/settings/live',
  'POST /s/:service/settings/live/grant',
  'POST /s/:service/settings/live/decline',
  'POST /s/:service/settings/live/end',
  'POST /operator/system/hold',
  'POST /operator/system/release',
  'POST /operator/system/providers/:channel/:provider/test',
  'POST /s/:service/keys/new',
  'POST /s/:service/keys/:id/revoke',
  'POST /s/:service/webhooks/new',
  'POST /s/:service/webhooks/:id/settings',
  'POST /s/:service/webhooks/:id/secret',
]

const MEMBERS = { V: 'viewer', A: 'author', S: 'sender', D: 'developer', M: 'manager' } as const satisfies Record<
  string,
  Role
>
type Letter = keyof typeof MEMBERS
const letters = Object.keys(MEMBERS) as Letter[]

test('every row of the table of contents has an expectation, and every expectation its row', () => {
  expect(Object.keys(RIGHTS).sort()).toEqual(pages.map(([method, path]) => `${method} ${path}`).sort())
})

/** Somebody, and the service in which they do what they may. */
type Somebody = { who: SignedInAs | null; in: PlantedService }

describe('rights', () => {
  let here: ConsolePlace
  let planted: Planted
  const somebody = {} as Record<Letter | 'operator' | 'stranger' | 'newcomer' | 'nobody', Somebody>

  // Everybody has a service of their own: what one role has done must not be missing when the next one tries.
  beforeAll(async () => {
    here = await place()
    planted = here.planted
    for (const letter of letters) {
      const role = MEMBERS[letter]
      const service = await plantService(here, { name: `Service of a ${role}`, boss: 'Ines Roth' })
      const person = await member(here.parts, service.id, planted.people[role].name, role)
      service.uploads = await plantUploads(here.parts, service, person)
      somebody[letter] = { who: await here.signIn(person), in: service }
    }
    const unjoined = await plantService(here, { name: 'Service of nobody here', boss: 'Ines Roth' })
    somebody.operator = { who: await here.signIn('operator'), in: unjoined }
    somebody.stranger = { who: await here.signIn('stranger'), in: planted.service }
    somebody.newcomer = { who: await here.signIn('newcomer'), in: planted.service }
    somebody.nobody = { who: null, in: planted.service }
  }, 180_000)

  const rows = pages.map(([method, path]) => ({ method, path, name: `${method} ${path}` }))
  // An act that takes something away comes after those that need it.
  const ordered = [...rows].sort((a, b) => (EXAMPLES[a.name]?.order ?? 0) - (EXAMPLES[b.name]?.order ?? 0))

  const ask = (row: (typeof rows)[number], { who, in: of }: Somebody, ids: PlantedService = of) => {
    const example = EXAMPLES[row.name]
    const path = filled(row.path, of, example?.ids?.(ids, planted))
    return here.request(who, path, row.method === 'POST' ? formOf(row.name, example?.form?.(of, planted)) : undefined)
  }

  const filesBeingRead = () =>
    here.parts.db.sql`select id from sheets where state in ('receiving', 'received', 'reading')`

  describe.each(ordered)('$name', row => {
    const [, rights = '', status] = /^(.*?)(?: (\d+))?$/.exec(RIGHTS[row.name] ?? '') ?? []
    const isAct = row.method === 'POST'
    const ofService = row.path.startsWith('/s/:service')

    const isAllowed = async (answer: Awaited<ReturnType<typeof ask>>, who: Somebody) => {
      expect(answer.status, mainOf(answer.text)).toBeOneOf(status ? [Number(status)] : [200, 303])
      if (!isAct) expect(answer.location ?? '').not.toMatch(/\/sign-in(\?|$)/)
      // It leads to a page that is there.
      if (answer.status === 303 && !answer.location?.includes('/sign-in')) {
        expect(answer.location).toMatch(/^\/console/)
        const next = await here.request(who.who, answer.location?.slice('/console'.length) || '/')
        expect([answer.location, next.status]).toEqual([answer.location, 200])
      }
      // A file is read after the answer: it must not count as an act of the next one who tries.
      if (EXAMPLES[row.name]?.multipart) await expect.poll(filesBeingRead, { timeout: 20_000 }).toEqual([])
    }
    /** The answer, after looking whether anything happened. */
    async function refused(who: Somebody, ids?: PlantedService) {
      const before = isAct ? await here.changes() : null
      const answer = await ask(row, who, ids)
      if (before) expect(await here.changes()).toEqual(before)
      return answer
    }

    test('nobody is signed in', async () => {
      if (rights === 'anyone') return isAllowed(await ask(row, somebody.nobody), somebody.nobody)
      const answer = await refused(somebody.nobody)
      // A file cannot be kept, so its form leads to the page to sign in.
      if (isAct && !EXAMPLES[row.name]?.multipart) return expect(answer.status).toBe(403)
      expect([answer.status, answer.location]).toEqual([303, expect.stringMatching(/^\/console\/sign-in(\?return=|$)/)])
    })

    if (ofService) {
      for (const letter of letters)
        test(MEMBERS[letter], async () => {
          if (rights.includes(letter)) return isAllowed(await ask(row, somebody[letter]), somebody[letter])
          expect((await refused(somebody[letter])).status).toBe(403)
        })
      test('an operator who is no member', async () => {
        if (rights.includes('O')) return isAllowed(await ask(row, somebody.operator), somebody.operator)
        expect((await refused(somebody.operator)).status).toBe(403)
      })
      test.each(['stranger', 'newcomer'] as const)('%s: the service does not exist for them', async who => {
        expect((await refused(somebody[who])).status).toBe(404)
      })
      if (EXAMPLES[row.name]?.ids)
        test('with ids of another service', async () => {
          for (const letter of letters.filter(letter => rights.includes(letter)))
            expect((await refused(somebody[letter], planted.other)).status, MEMBERS[letter]).toBe(404)
        })
    } else {
      const everybody = ['V', 'operator', 'newcomer'] as const
      for (const one of everybody)
        test(one === 'V' ? 'a member of a service' : one, async () => {
          if (rights === 'self') return isAllowed(await refused(somebody[one]), somebody[one])
          const may = rights === 'anyone' || rights === 'signed in' || (rights === 'operator' && one === 'operator')
          if (may) return isAllowed(await ask(row, somebody[one]), somebody[one])
          expect((await refused(somebody[one])).status).toBe(403)
        })
    }
  })

  test('an id that is none, or of nothing, is never an error of ours', async () => {
    const values = ['x', "x'%00", '%F0%9F%98%80', '0'.repeat(500), '00000000-0000-7000-8000-000000000000']
    for (const row of rows.filter(({ path }) => path.includes(':')))
      await Promise.all(
        values.map(async value => {
          const path = row.path.replaceAll(/:\w+/g, name => (name === ':service' ? somebody.M.in.id : value))
          const answer = await here.request(somebody.M.who, path, row.method === 'POST' ? formOf(row.name) : undefined)
          expect(answer.status, `${row.name} with ${value}`).toBeLessThan(500)
        }),
      )
  })

  describe('sensitive acts', () => {
    test('are those of the design', () => {
      const fresh = pages.filter(([, , who]) => 'isFresh' in who && who.isFresh)
      expect(fresh.map(([method, path]) => `${method} ${path}`).sort()).toEqual(
        FRESH.filter(name => rows.some(row => row.name === name)).sort(),
      )
    })

    test('ask again when the last sign-in is older than ten minutes, and nothing happens', async () => {
      const [manager, operator] = [await here.signIn('manager'), await here.signIn('operator')]
      here.moveClock(11 * 60_000)
      for (const row of rows.filter(({ name }) => FRESH.includes(name))) {
        const before = await here.changes()
        const answer = await ask(row, { who: row.path.includes('operator') ? operator : manager, in: planted.service })
        if (row.method === 'POST') expect([row.name, answer.status]).toEqual([row.name, 403])
        else
          expect([row.name, answer.status, answer.location]).toEqual([
            row.name,
            303,
            expect.stringContaining('/sign-in/confirm'),
          ])
        expect(await here.changes()).toEqual(before)
      }
      here.moveClock(-11 * 60_000)
    })
  })
})

const formOf = (name: string, form: Readonly<Record<string, string>> = {}) => ({
  form: { ...form },
  multipart: EXAMPLES[name]?.multipart === true,
})

/** For the message of a failed test. */
const mainOf = (html: string) =>
  html
    .slice(html.indexOf('<main'), html.indexOf('</main'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 600)
