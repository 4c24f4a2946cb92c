// What a recipient file of the largest size takes of the memory of the process.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { PersonActor } from '../src/audit/actor.ts'
import { MAY } from '../src/audit/role.ts'
import type { Id } from '../src/core/id.ts'
import { check } from '../src/sheets/check.ts'
import { read } from '../src/sheets/read.ts'
import { receive } from '../src/sheets/receive.ts'
import { send } from '../src/sheets/send.ts'
import { LIMITS } from '../src/sheets/sheet.ts'
import { emailTemplate } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const MB = 1e6
const MOST_MB = 700

let here: World
let service: Awaited<ReturnType<World['service']>>
let template: Id

beforeAll(async () => {
  here = await world()
  service = await here.service({ email_daily_limit: 1_000_000 })
  template = await emailTemplate(await service.key(), 'Dear ((name)).', 'Permit')
})

const person = (): PersonActor => ({
  kind: 'person',
  id: randomUUID() as Id,
  service_id: service.id,
  email_address: 'ada@example.org',
  name: 'Ada Park',
  permissions: MAY.sender,
})

/** In pieces, so that the test itself holds little. */
async function* fileOf() {
  let bytes = HEADER.length
  yield Buffer.from(HEADER)
  for (let n = 0; n < LIMITS.rows; n++) {
    const line = Buffer.from(rowOf(n))
    bytes += line.length
    expect(bytes).toBeLessThanOrEqual(LIMITS.bytes)
    yield line
  }
}

/** The most cells that fit in a file: their number costs memory, more than their length. */
const HEADER = `email address,name,${Array.from({ length: 248 }, (_, at) => `c${at}`).join(',')}\n`
const rowOf = (n: number) => `p${n}@example.org,x${',y'.repeat(240)}\n`

test('a recipient file of 25 MB with 12 million cells takes at most 700 MB from the upload to the job', async () => {
  const actor = person()
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  try {
    const chunks = fileOf()
    const id = await receive(here.parts, actor, service.id, {
      ...{ template_id: template, origin: 'file', name: 'large.csv', chunks },
    })
    await here.parts.sheets.idle()
    expect((await read(here.parts, actor, service.id, id)).rowCount).toBe(LIMITS.rows)
    await check(here.parts, actor, service.id, id, { name: 'Large' })
    await send(here.parts, actor, service.id, id, { name: 'Large' })
  } finally {
    clearInterval(timer)
  }
  console.log(`${Math.round((most - before) / MB)} MB above ${Math.round(before / MB)} MB`)
  expect((most - before) / MB).toBeLessThan(MOST_MB)
}, 300_000)
