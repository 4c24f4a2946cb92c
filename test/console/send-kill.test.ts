// A process is killed while a person sends: the browser gets no answer, and the person sends the same form again, to another process.
// Nothing is lost, and nothing is sent twice.
import { beforeAll, expect, test, vi } from 'vitest'
import { receive } from '../../src/sheets/receive.ts'
import { type Process, processes } from '../support/processes.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { request, type SignedInAs } from './support/session.ts'

const SECRET = 'the secret that all processes of this test share'
const ROWS = 3_000

let here: ConsolePlace
let victims: Process[]
let sender: SignedInAs
let at: string

beforeAll(async () => {
  here = await place({ HERALD_SECRET: SECRET })
  victims = await processes(2, { databaseUrl: here.config.databaseUrl ?? '', secret: SECRET })
  sender = await here.signIn('sender')
  at = `/s/${here.planted.service.id}/send`
}, 120_000)

const post = (path: string, form: Record<string, string>) => here.request(sender, path, { form })

/** A file that is read, and a message that is checked: both wait for the last button. */
async function prepared(name: string): Promise<{ path: string; form: Record<string, string> }[]> {
  const { service, people } = here.planted
  const header = 'email address,first name,permit number,zone,end date,discount'
  const rows = Array.from({ length: ROWS }, (_, n) => `resident.${n}@example.org,Kim,ZC-${n},C,30 November,yes`)
  async function* content() {
    yield Buffer.from([header, ...rows].join('\n'))
  }
  const { id: person, email_address } = people.sender
  const actor = { kind: 'person', id: person, service_id: service.id, email_address, name: 'Sam' } as const
  const upload = await receive(here.parts, { ...actor, permissions: ['send-messages'] }, service.id, {
    ...{ template_id: service.templates.email, origin: 'file', name: `${name}.csv` },
    chunks: content(),
  })
  await here.parts.sheets.idle()
  const message = {
    ...{ template: service.templates.email, to: 'j.osei@example.org', when: 'now', reference: name },
    ...{ 'name-0': 'permit number', 'value-0': 'ZC-1', 'name-1': 'end date', 'value-1': '30 November' },
    ...{ 'name-2': 'first name', 'value-2': 'Joy', 'name-3': 'zone', 'value-3': 'C' },
    ...{ 'name-4': 'discount', 'value-4': 'yes' },
  }
  const { text } = await post(at, { ...message, act: 'check' })
  const once = /name="once" value="([^"]+)"/.exec(text)?.[1] ?? ''
  expect(once).not.toBe('')
  return [
    { path: `${at}/file/${upload}`, form: { act: 'send', name } },
    { path: at, form: { ...message, act: 'send', once } },
  ]
}

const stored = async (name: string) => {
  const [found] = await here.parts.db.sql<{ jobs: number; rows: number | null; messages: number }>`
    select (select count(*)::integer from jobs where name = ${name}) as jobs,
           (select sum(notification_count)::integer from jobs where name = ${name}) as rows,
           (select count(*)::integer from notifications where reference = ${name}) as messages`
  return found
}

/** A chunk is a batch of rows that become messages: none is there twice. */
const chunksOf = async (name: string) => {
  const [found] = await here.parts.db.sql<{ many: number }>`
    select count(*)::integer as many from chunks where job_id in (select id from jobs where name = ${name})`
  return found?.many
}

test.each([
  ['as soon as the form is on its way', 0, async () => {}],
  [
    'when everything is stored, before or while it answers',
    1,
    (name: string) =>
      vi.waitFor(async () => expect(await stored(name)).toMatchObject({ jobs: 1, messages: 1 }), 20_000),
  ],
] as const)('killed %s', { timeout: 60_000 }, async (_moment, which, moment) => {
  const name = `killed ${which}`
  const forms = await prepared(name)
  const victim = victims[which]
  if (!victim) throw new Error('no process')
  const answers = forms.map(({ path, form }) => request(victim.address, sender, path, { form }).catch(() => null))
  await moment(name)
  await victim.kill()
  await Promise.all(answers)

  for (const { path, form } of forms) {
    const [first, second] = await Promise.all([post(path, form), post(path, form)])
    expect([first.status, second.status]).toEqual([303, 303])
    expect(first.location).toBe(second.location)
    expect((await here.request(sender, String(first.location).slice('/console'.length))).status).toBe(200)
  }
  expect(await stored(name)).toEqual({ jobs: 1, rows: ROWS, messages: 1 })
  expect(await chunksOf(name)).toBe(ROWS / 500)
})
