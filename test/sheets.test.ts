// Recipient files of people: from the upload to the job, on a real database and in the real thread.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PersonActor } from '../src/audit/actor.ts'
import { MAY, type Role } from '../src/audit/role.ts'
import { entries } from '../src/audit/sql.ts'
import type { BulkThread, CheckedFile } from '../src/bulk/thread.ts'
import type { Id } from '../src/core/id.ts'
import { Refusal } from '../src/core/refusal.ts'
import { purgeSheets } from '../src/maintenance/purge.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { check } from '../src/sheets/check.ts'
import { createSheetChecks } from '../src/sheets/checks.ts'
import { leaveOut } from '../src/sheets/leave-out.ts'
import { list, read } from '../src/sheets/read.ts'
import { createSheetReading } from '../src/sheets/reading.ts'
import { receive } from '../src/sheets/receive.ts'
import { rematch } from '../src/sheets/rematch.ts'
import { remove } from '../src/sheets/remove.ts'
import { rowAt, rows } from '../src/sheets/rows.ts'
import { send } from '../src/sheets/send.ts'
import { LIMITS, MOST_SHEETS, type Origin } from '../src/sheets/sheet.ts'
import { createSheetThread } from '../src/sheets/thread.ts'
import { longestWork } from './support/loop.ts'
import { emailTemplate, inMinutes, type Key } from './support/sends.ts'
import { odsFile, xlsxFile } from './support/spreadsheets.ts'
import { type World, world } from './support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id

beforeAll(async () => {
  here = await world()
  service = await here.service()
  key = await service.key()
  template = await emailTemplate(key, 'Dear ((first name)), your permit ((permit)) ends.', 'Permit')
})

const person = (role: Role = 'sender', service_id: Id = service.id): PersonActor => ({
  kind: 'person',
  id: randomUUID() as Id,
  service_id,
  email_address: 'ada@example.org',
  name: 'Ada Park',
  permissions: MAY[role],
})

async function* inChunks(content: Buffer, size = 64 * 1024) {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

type Given = { name?: string; origin?: Origin; template_id?: Id }

async function upload(actor: PersonActor, content: string | Buffer, given: Given = {}) {
  const { name = 'permits.csv', origin = 'file', template_id = template } = given
  const chunks = inChunks(Buffer.from(content))
  return receive(here.parts, actor, service.id, { template_id, origin, name, chunks })
}

/** Uploaded and read. */
async function uploaded(actor: PersonActor, content: string | Buffer, given: Given = {}) {
  const id = await upload(actor, content, given)
  await here.parts.sheets.idle()
  return read(here.parts, actor, service.id, id)
}

const stored = async (id: Id) => {
  const [found] = await here.parts.db.sql<{ sheets: number; chunks: number }>`
    select (select count(*)::integer from sheets where id = ${id}) as sheets,
           (select count(*)::integer from sheet_chunks where sheet_id = ${id}) as chunks`
  return found
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(Refusal)
  return (error as Refusal).messages.join(' ')
}

const firstRows = (actor: PersonActor, id: Id) => rows(here.parts, actor, service.id, id, 0, 10)

const CSV = 'email address,first name,permit\nana@example.org,Ana,007\n\nbob@example.org,"Bob, jr",12\n'

describe('a file', () => {
  test('is read, and its columns are matched to the placeholders', async () => {
    const actor = person()
    const sheet = await uploaded(actor, CSV)
    expect(sheet).toMatchObject({
      state: 'ready',
      name: 'permits.csv',
      format: 'csv',
      encoding: 'utf-8',
      delimiter: ',',
      rowCount: 2,
      blankRows: 1,
      missing: [],
      problem: null,
      progress: null,
      bytes: Buffer.byteLength(CSV),
    })
    expect(sheet.columns.map(column => column.target)).toEqual(['recipient', 'value:first name', 'value:permit'])
    expect(await rows(here.parts, actor, service.id, sheet.id, 0, 10)).toEqual([
      { line: 2, cells: ['ana@example.org', 'Ana', '007'] },
      { line: 4, cells: ['bob@example.org', 'Bob, jr', '12'] },
    ])
    expect(await rows(here.parts, actor, service.id, sheet.id, 1, 10)).toHaveLength(1)
    expect(await rowAt(here.parts, actor, service.id, sheet.id, 4)).toMatchObject({ line: 4 })
    expect(await rowAt(here.parts, actor, service.id, sheet.id, 3)).toBeNull()
  })

  test('is sealed: neither names nor values are in the tables', async () => {
    const { id } = await uploaded(person(), CSV, { name: 'Ana Silva.csv' })
    const [row] = await here.parts.db.sql<{ text: string }>`
      select encode(coalesce(name, '') || coalesce(head, ''), 'escape') || (to_jsonb(sheets) - 'name' - 'head')::text ||
             (select string_agg(encode(sealed, 'escape'), '') from sheet_chunks where sheet_id = ${id}) as text
      from sheets where id = ${id}`
    expect(row?.text).toMatch(/ready/)
    for (const secret of ['Ana', 'ana@', 'first name', 'Silva']) expect(row?.text).not.toContain(secret)
  })

  test('belongs to its person: nobody else finds it', async () => {
    const actor = person()
    const { id } = await uploaded(actor, CSV)
    for (const other of [person(), person('manager')]) {
      expect(await refusal(read(here.parts, other, service.id, id))).toMatch(/^There is no such file/)
      expect(await refusal(remove(here.parts, other, service.id, id))).toMatch(/^There is no such file/)
    }
    expect(await refusal(read(here.parts, { ...actor, permissions: MAY.viewer }, service.id, id))).toMatch(/permission/)
    expect((await list(here.parts, actor, service.id)).map(sheet => sheet.id)).toEqual([id])
    expect(await list(here.parts, person(), service.id)).toEqual([])
  })

  test('that cannot be read says why, and keeps no bytes', async () => {
    const sheet = await uploaded(person(), '%PDF-1.7\n\u0000\u0001', { name: 'permits.csv' })
    expect(sheet).toMatchObject({ state: 'unreadable', problem: { kind: 'unknown-format' }, rowCount: 0 })
    expect(await stored(sheet.id)).toEqual({ sheets: 1, chunks: 0 })
    expect(await refusal(rows(here.parts, person(), service.id, sheet.id, 0, 1))).toMatch(/^There is no such file/)
  })

  test('without a byte is refused, and leaves nothing', async () => {
    const actor = person()
    expect(await refusal(upload(actor, ''))).toBe('The file is empty.')
    expect(await list(here.parts, actor, service.id)).toEqual([])
  })

  test('over the limit is refused while it arrives, and leaves nothing', async () => {
    const actor = person()
    let sent = 0
    async function* endless() {
      for (;;) {
        sent += 1024 * 1024
        yield Buffer.alloc(1024 * 1024, 'a')
      }
    }
    const before = await here.parts.db.sql`select id from sheets`
    const work = receive(here.parts, actor, service.id, {
      template_id: template,
      origin: 'file',
      name: 'x',
      chunks: endless(),
    })
    expect(await refusal(work)).toBe('The file is too large. The most is 25 MB.')
    expect(sent).toBe(LIMITS.bytes + 1024 * 1024)
    expect(await here.parts.db.sql`select id from sheets`).toHaveLength(before.length)
  })

  test('whose upload breaks off leaves nothing', async () => {
    async function* broken() {
      yield Buffer.alloc(2 * 1024 * 1024, 'a')
      throw new Error('gone')
    }
    const before = await here.parts.db.sql`select id from sheets`
    const given = { template_id: template, origin: 'file' as const, name: 'x', chunks: broken() }
    await expect(receive(here.parts, person(), service.id, given)).rejects.toThrow('gone')
    expect(await here.parts.db.sql`select id from sheets`).toHaveLength(before.length)
    expect(await here.parts.db.sql`select 1 from sheet_chunks where part = 'piece'`).toEqual([])
  })

  test('of a template that the service does not have is refused', async () => {
    const work = upload(person(), CSV, { template_id: randomUUID() as Id })
    expect(await refusal(work)).toBe('Template not found')
  })

  test('whose reading was lost with its process is read when somebody asks for it', async () => {
    const actor = person()
    const { sql } = here.parts.db
    const lazy = { ...here.parts, sheets: { begin: () => {}, progressOf: () => null } }
    const chunks = inChunks(Buffer.from(CSV))
    const id = await receive(lazy, actor, service.id, { template_id: template, origin: 'file', name: 'x.csv', chunks })
    await sql`update sheets set state = 'reading', leased_at = now() where id = ${id}`
    expect((await read(here.parts, actor, service.id, id)).state).toBe('reading')
    await here.parts.sheets.idle()
    expect((await read(here.parts, actor, service.id, id)).state).toBe('reading')
    await sql`update sheets set leased_at = now() - interval '5 minutes' where id = ${id}`
    await read(here.parts, actor, service.id, id)
    await here.parts.sheets.idle()
    expect(await read(here.parts, actor, service.id, id)).toMatchObject({ state: 'ready', rowCount: 2 })
  })

  test('whose thread is lost is unreadable', async () => {
    const actor = person()
    const slow = createSheetReading(
      { ...here.parts, onFault: () => {} },
      { read: () => Promise.reject(new Error('the sheet thread took too long')), stop: async () => {} },
    )
    const chunks = inChunks(Buffer.from(CSV))
    const app = { ...here.parts, sheets: slow }
    const id = await receive(app, actor, service.id, { template_id: template, origin: 'file', name: 'x', chunks })
    await slow.idle()
    expect(await read(app, actor, service.id, id)).toMatchObject({ problem: { kind: 'too-much' } })
  })

  test('that takes too long ends the thread, and the next file is read', async () => {
    const actor = person()
    // Not XML, so that the repeat is not counted before, but SheetJS reads it.
    const bomb =
      '<table:table-cell x="<" table:number-columns-repeated="1000000000" office:value-type="string"><text:p>x</text:p></table:table-cell>'
    const thread = createSheetThread({ timeoutMs: 6_000 })
    const sheets = createSheetReading({ ...here.parts, onFault: () => {} }, thread)
    const app = { ...here.parts, sheets }
    const given = { template_id: template, origin: 'file' as const, name: 'x.ods' }
    const file = odsFile([{ name: 'A', rows: [['email address'], [{ xml: bomb }]] }])
    const bad = await receive(app, actor, service.id, { ...given, chunks: inChunks(file) })
    const good = await receive(app, actor, service.id, { ...given, chunks: inChunks(Buffer.from(CSV)) })
    await sheets.idle()
    await sheets.stop()
    expect(await read(app, actor, service.id, bad)).toMatchObject({ problem: { kind: 'too-much' } })
    expect(await read(app, actor, service.id, good)).toMatchObject({ state: 'ready' })
  }, 30_000)

  test('of a spreadsheet is read like a text file', async () => {
    const actor = person()
    const rows = [
      ['Email Address', 'first_name', 'permit'],
      ['ana@example.org', 'Ana', { v: 7, format: 'zeros' }],
    ] as const
    const sheet = await uploaded(actor, xlsxFile([{ name: 'May', rows }]), { name: 'permits.xlsx' })
    expect(sheet).toMatchObject({ state: 'ready', format: 'xlsx', sheetName: 'May', missing: [], rowCount: 1 })
    expect(await firstRows(actor, sheet.id)).toEqual([{ line: 2, cells: ['ana@example.org', 'Ana', '00007'] }])
  })

  test('only the last ten of a person are kept', async () => {
    const actor = person()
    const first = await uploaded(actor, CSV)
    for (let n = 0; n < MOST_SHEETS; n++) await upload(actor, CSV)
    await here.parts.sheets.idle()
    expect(await list(here.parts, actor, service.id)).toHaveLength(MOST_SHEETS)
    expect(await stored(first.id)).toEqual({ sheets: 0, chunks: 0 })
  })
})

describe('columns', () => {
  test('are matched anew by the person', async () => {
    const actor = person()
    const sheet = await uploaded(actor, 'E-mail;Name;No\nana@example.org;Ana;7\n')
    expect(sheet.delimiter).toBe(';')
    expect(sheet.columns.map(({ target, isDifferent }) => [target, isDifferent])).toEqual([
      ['recipient', true],
      [null, false],
      [null, false],
    ])
    expect(sheet.missing).toEqual(['value:first name', 'value:permit'])
    const given = new Map([
      [1, 'value:first name'],
      [2, 'value:permit'],
    ] as const)
    const next = await rematch(here.parts, actor, service.id, sheet.id, given)
    expect(next.missing).toEqual([])
    const job = await send(here.parts, actor, service.id, sheet.id, { name: 'By hand' })
    expect((await key.get(`/v2/notifications/bulk/${job}`)).body.data).toMatchObject({ notification_count: 1 })
  })

  test.each([
    ['a column that is not there', [[7, 'recipient']], /no such column: 8/],
    ['a placeholder that is not there', [[0, 'value:age']], /no such placeholder: age/],
    ['two columns for one', [[1, 'recipient']], /^Two columns are matched to the same: recipient/],
  ] as const)('%s', async (_name, given, words) => {
    const actor = person()
    const { id } = await uploaded(actor, CSV)
    expect(await refusal(rematch(here.parts, actor, service.id, id, new Map(given)))).toMatch(words)
  })
})

describe('sending', () => {
  test('makes one job, however often it is asked for', async () => {
    const actor = person()
    const { id } = await uploaded(actor, CSV)
    const options = { name: 'permits.csv', scheduled_for: inMinutes(30) }
    const ask = () => send(here.parts, actor, service.id, id, options)
    const [first, second] = await Promise.all([ask(), ask()])
    expect(first).toBe(second)
    expect(await ask()).toBe(first)
    const { body } = await key.get(`/v2/notifications/bulk/${first}`)
    expect(body.data).toMatchObject({
      original_file_name: 'permits.csv',
      notification_count: 2,
      job_status: 'pending',
      api_key: null,
    })
    const jobs = await here.parts.db.sql`select id from jobs where id = ${first}`
    expect(jobs).toHaveLength(1)
    const audit = (await entries(here.parts.db.sql, service.id, 5)).filter(entry => entry.subject_id === first)
    expect(audit).toMatchObject([
      { action: 'job sent', actor_kind: 'person', actor_id: actor.id, detail: { messages: 2 } },
    ])
    expect(await stored(id)).toEqual({ sheets: 1, chunks: 0 })
    expect(await read(here.parts, actor, service.id, id)).toMatchObject({ state: 'sent', job_id: first, columns: [] })
    expect(await refusal(remove(here.parts, actor, service.id, id))).toBe('The file has already been sent.')
  })

  test('that is refused keeps the sheet', async () => {
    const actor = person()
    const { id } = await uploaded(actor, 'email address,first name,permit\nnobody,Ana,1\n')
    const work = send(here.parts, actor, service.id, id, { name: 'x' })
    expect(await refusal(work)).toBe('Some rows have errors. Row 1 - email address: invalid recipient.')
    expect((await read(here.parts, actor, service.id, id)).state).toBe('ready')
  })

  test('needs the permission', async () => {
    const actor = person()
    const { id } = await uploaded(actor, CSV)
    const viewer = { ...actor, permissions: MAY.viewer }
    expect(await refusal(send(here.parts, viewer, service.id, id, { name: 'x' }))).toMatch(/permission/)
  })
})

describe('the check', () => {
  /** The sizes of what the bulk thread is given. */
  const watched = () => {
    const sizes: number[] = []
    const { examine } = here.parts.bulkThread
    const bulkThread: BulkThread = {
      ...here.parts.bulkThread,
      examine(of, body, work) {
        sizes.push(body.length)
        return examine(of, body, work)
      },
    }
    return { app: { ...here.parts, bulkThread }, read: () => sizes.splice(0).filter(size => size > 10_000).length }
  }
  const file = () => {
    const rows = Array.from({ length: 400 }, (_, n) => `person${n}${n % 100 === 0 ? '' : '@example.org'},Ann,${n}`)
    return `email address,first name,permit\n${rows.join('\n')}\n`
  }

  test('of the rows is done once, until something that decides it changes', async () => {
    const actor = person()
    const { id } = await uploaded(actor, file())
    const { app, read: readRows } = watched()
    const checked = (more: object = {}) => check(app, actor, service.id, id, { name: 'x', ...more })
    const [first, second] = await Promise.all([checked(), checked()])
    expect(first.report).toEqual(second.report)
    expect([...first.errors()].map(({ row }) => first.lines[row - 1])).toEqual([2, 102, 202, 302])
    expect(readRows()).toBe(1)
    const later = await checked({ scheduled_for: inMinutes(30) })
    expect([later.report.error_count, later.lines.length, readRows()]).toEqual([4, 400, 0])

    await leaveOut(here.parts, actor, service.id, id, [2])
    expect([(await checked()).report.error_count, readRows()]).toEqual([3, 1])
    await rematch(here.parts, actor, service.id, id, new Map([[2, null]] as const))
    expect([(await checked()).report.columns?.missing, readRows()]).toEqual([['permit'], 1])
    await rematch(here.parts, actor, service.id, id, new Map([[2, 'value:permit']] as const))
    expect([(await checked()).report.error_count, readRows()]).toEqual([4, 1])

    await service.change({ mode: 'trial' })
    expect([(await checked()).report.rows?.not_allowed, readRows()]).toEqual([396, 1])
    await service.change({ mode: 'live' })
    await checked()
    readRows()
    const content = 'Dear ((first name)), ((permit)) ((permit)).'
    const reply = await key.patch(`/v2/manage-template/${template}`, { name: 'Permit', subject: 'Permit', content })
    expect(reply.status).toBe(200)
    expect([(await checked()).report.template?.version, readRows()]).toEqual([2, 1])
  })

  test('is wrong about nothing that changes by the minute: the rest of the daily limit', async () => {
    const actor = person()
    const { id } = await uploaded(actor, CSV)
    const rest = async () =>
      (await check(here.parts, actor, service.id, id, { name: 'x' })).report.daily?.remaining ?? 0
    const before = await rest()
    await key.post('/v2/notifications/email', {
      ...{ email_address: 'ann@example.org', template_id: template },
      personalisation: { 'first name': 'Ann', permit: '1' },
    })
    expect(await rest()).toBe(before - 1)
    await service.change({ email_daily_limit: 1 })
    // The process hears of the change a moment later.
    const said = async () => {
      const { report } = await check(here.parts, actor, service.id, id, { name: 'x' })
      return [report.ok, report.problems[0]?.message]
    }
    await expect.poll(said).toEqual([false, expect.stringMatching(/^You only have 0 remaining/)])
    await service.change({ email_daily_limit: 10_000 })
  })

  test('forgets the oldest when there are too many', async () => {
    const checks = createSheetChecks({ mostBytes: 4_000 })
    const made: string[] = []
    const once = (id: string) =>
      checks.once(id as Id, 'k', async () => {
        made.push(id)
        return { checked: { found: null } as CheckedFile, lines: Array.from({ length: 100 }, () => 1), unclear: [] }
      })
    for (const id of ['a', 'b', 'a', 'c', 'b', 'a']) await once(id)
    expect(made).toEqual(['a', 'b', 'c', 'b', 'a'])
    await expect(checks.once('d' as Id, 'k', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost')
    await once('d')
    expect(made.at(-1)).toBe('d')
  })
})

describe('the end of a sheet', () => {
  test('removed by its person', async () => {
    const actor = person()
    const { id } = await uploaded(actor, CSV)
    await remove(here.parts, actor, service.id, id)
    expect(await stored(id)).toEqual({ sheets: 0, chunks: 0 })
  })

  test('after seven days; a broken upload after an hour', async () => {
    const { sql } = here.parts.db
    const actor = person()
    const [young, old, broken] = await Promise.all([0, 1, 2].map(() => upload(actor, CSV)))
    await here.parts.sheets.idle()
    await sql`update sheets set created_at = now() - interval '7 days 1 minute' where id = ${old}`
    await sql`update sheets set state = 'receiving', created_at = now() - interval '61 minutes' where id = ${broken}`
    await runSteps(purgeSheets(here.parts))
    const left = await sql<{ id: Id }>`select id from sheets where id = any (${[young, old, broken]}::uuid[])`
    expect(left.map(row => row.id)).toEqual([young])
  })
})

describe('50,000 rows', () => {
  test('keep the event loop free while they are received, read and sent', async () => {
    const actor = person()
    const lines = Array.from({ length: 50_000 }, (_, n) => `person${n}@example.org,Person ${n},P-${n}`)
    const content = Buffer.from(`email address,first name,permit\n${lines.join('\n')}\n`)
    await service.change({ email_daily_limit: 200_000 })
    let id: Id | null = null
    const seen: number[] = []
    const longest = await longestWork(async () => {
      id = await upload(actor, content)
      for (;;) {
        const progress = here.parts.sheets.progressOf(id)
        if (progress === null) break
        seen.push(progress)
        await new Promise(resume => setTimeout(resume, 5))
      }
    })
    const sheetId = id as unknown as Id
    expect(await read(here.parts, actor, service.id, sheetId)).toMatchObject({ state: 'ready', rowCount: 50_000 })
    expect(seen.some(rows => rows > 0)).toBe(true)
    expect(longest).toBeLessThan(50)
    const longestSend = await longestWork(() => send(here.parts, actor, service.id, sheetId, { name: 'large' }))
    expect(longestSend).toBeLessThan(50)
  }, 60_000)
})
