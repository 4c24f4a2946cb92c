// The report of the largest job is streamed: 50,000 rows in order, in flat memory.
import { expect, test } from 'vitest'
import { spreadJob } from './support/jobs.ts'
import { emailTemplate } from './support/sends.ts'
import { world } from './support/world.ts'

const ROWS = 50_000
const MIB = 1024 * 1024

test('50,000 rows in the order of the file, at flat memory', async () => {
  const here = await world()
  const service = await here.service({ email_daily_limit: 100_000 })
  const key = await service.key()
  const rows = Array.from({ length: ROWS }, (_, at) => [`person${at + 1}@example.org`, `Name ${at + 1}`, `r${at + 1}`])
  const made = await key.post('/v2/notifications/bulk', {
    ...{ name: 'Large', template_id: await emailTemplate(key) },
    rows: [['email address', 'name', 'reference'], ...rows],
  })
  const { id } = made.body.data
  await spreadJob(here.parts, id)
  const response = await fetch(`${here.address}/herald/v1/jobs/${id}/report?format=ndjson`, {
    headers: { authorization: `ApiKey-v1 ${key.key}` },
  })
  const before = process.memoryUsage().rss
  const since = performance.now()
  let [seen, rest, most] = [0, '', 0]
  for await (const chunk of response.body ?? []) {
    const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (JSON.parse(line).row === seen + 1) seen++
    most = Math.max(most, process.memoryUsage().rss)
  }
  const seconds = (performance.now() - since) / 1000
  console.log(`report: ${Math.round(ROWS / seconds)} rows/s, ${Math.round((most - before) / MIB)} MiB more memory`)
  expect(seen).toBe(ROWS)
  expect(most - before).toBeLessThan(150 * MIB)
}, 240_000)
