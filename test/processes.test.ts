// Several processes as one `herald start`: one port, one banner, one stop, one page of metrics, and nothing lost when one of them ends.
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { expect, test, vi } from 'vitest'
import { type Answer, createClient } from './support/processes.ts'
import { type Env, isAlive, type Program, postgresOf, programs } from './support/program.ts'

vi.setConfig({ testTimeout: 300_000 })

const { newData, newDatabase, herald, start } = programs()
const COUNT = 3
const SEVERAL = { HERALD_PROCESSES: String(COUNT), HERALD_PROCESS_NAME: 'web', HERALD_LOG_LEVEL: 'info' }
const NAMES = Array.from({ length: COUNT }, (_, at) => `web-${at + 1}`)
/** Waits end as soon as what they wait for is there. */
const SOON = { timeout: 30_000 }
const PATH = '/v2/notifications/email'

type Line = { pid: number; process: string; msg: string; child?: string; id?: string }
const linesOf = ({ err }: Pick<Program, 'err'>): Line[] =>
  err()
    .split('\n')
    .flatMap(line => {
      try {
        return [JSON.parse(line) as Line]
      } catch {
        return [] // the last line is not complete yet
      }
    })
/** The newest process id of each process, by name; the supervisor is not one of them. */
const pidsOf = (program: Pick<Program, 'err'>) =>
  new Map(
    linesOf(program)
      .filter(({ msg }) => msg === 'answered')
      .map(({ process, pid }) => [process, pid]),
  )

/** Every request opens a connection, so that the processes get them in turn. */
const once = createClient(1_000)
const ask = (address: string, method: string, path: string, given: { key: string; body?: unknown }) =>
  once(address, method, path, { ...given, headers: { connection: 'close' } })

async function metricsOf(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get(`${address}/metrics`, { agent: false }, response => {
        let text = ''
        response.on('data', data => {
          text += String(data)
        })
        response.on('end', () => resolve(text))
      })
      .on('error', reject)
  })
}
const accepted = (metrics: string) =>
  Number(/^herald_http_requests_total\{method="POST",route="[^"]*email",status="201"\} (\d+)$/m.exec(metrics)?.[1])
const samplesOf = (metrics: string, name: string) => metrics.match(new RegExp(`^${name}(\\{.*\\})? \\S+$`, 'gm')) ?? []

/** A key and a template of the sample service. */
async function sampleOf(env: Env) {
  const { code, out, err } = await herald(['sample', '--show-keys', '--json'], env)
  expect(code, err).toBe(0)
  const { service, keys, templates } = JSON.parse(out)
  for (const limit of ['--rate-limit', '--email-daily-limit'])
    expect((await herald(['service', 'set', service.id, limit, '1000000'], env)).code).toBe(0)
  const body = () => ({
    email_address: `person.${randomUUID()}@example.org`,
    template_id: templates.email.id,
    personalisation: { name: 'Ada' },
  })
  return { key: keys.test as string, body }
}

/** Sends on kept connections until it is told to end, or an answer closes the connection. */
function load(address: string, { key, body }: Awaited<ReturnType<typeof sampleOf>>, connections: number) {
  const ids: string[] = []
  const failures: string[] = []
  let isOver = false
  const one = async () => {
    const client = createClient(1)
    while (!isOver) {
      let answer: Answer
      try {
        answer = await client(address, 'POST', PATH, { key, body: body() })
      } catch (error) {
        failures.push(String(error))
        continue
      }
      if (answer.status === 201) ids.push(answer.body.id)
      else failures.push(String(answer.status))
      if (answer.headers.connection === 'close') return
    }
  }
  const all = Promise.all(Array.from({ length: connections }, one))
  return {
    ids,
    failures,
    ended: all,
    end: () => {
      isOver = true
      return all
    },
  }
}

async function allDelivered(address: string, key: string, ids: readonly string[]) {
  const client = createClient(16)
  let open = [...ids]
  await vi.waitFor(
    async () => {
      const answers = await Promise.all(
        open.map(async id => {
          const { status, body } = await client(address, 'GET', `/v2/notifications/${id}`, { key })
          return { id, state: status === 200 ? (body.status as string) : String(status) }
        }),
      )
      open = answers.filter(({ state }) => state !== 'delivered').map(({ id }) => id)
      expect(open.length, JSON.stringify(answers.find(({ id }) => id === open[0]))).toBe(0)
    },
    { timeout: 60_000, interval: 500 },
  )
}

test('three processes share the port, their metrics are added up, one that is killed is replaced, and all stop together', async () => {
  const data = newData()
  const env = { HERALD_DATA: data, ...SEVERAL, HERALD_LEASE_SECONDS: '3' }
  const program = await start(env)
  const { address } = program
  // One banner, one sample.
  expect(program.out().match(/Herald listens on/g)).toHaveLength(1)
  expect(program.out().match(/^curl /gm)).toHaveLength(1)
  const given = await sampleOf({ ...env, HERALD_PORT: new URL(address).port })
  const { key } = given

  for (let n = 0; n < 30; n++) expect((await ask(address, 'POST', PATH, { key, body: given.body() })).status).toBe(201)
  await expect.poll(() => [...pidsOf(program).keys()].sort(), SOON).toEqual(NAMES)

  // Each of three connections in a row leads to another process, and each shows all.
  for (let n = 0; n < COUNT; n++) {
    const metrics = await metricsOf(address)
    expect(accepted(metrics)).toBe(30)
    expect(samplesOf(metrics, 'herald_process_info').map(line => /name="([^"]*)"/.exec(line)?.[1])).toEqual(NAMES)
    expect(samplesOf(metrics, 'herald_process_resident_memory_bytes')).toHaveLength(COUNT)
    expect(samplesOf(metrics, 'herald_database_up')).toEqual(['herald_database_up 1'])
    // Of the database, which every process would read alike.
    expect(samplesOf(metrics, 'herald_webhooks')).toHaveLength(3)
    const [ahead = ''] = samplesOf(metrics, 'herald_partitions_ahead_days')
    expect(Number(ahead.split(' ')[1])).toBeLessThan(10)
  }
  await expect.poll(async () => samplesOf(await metricsOf(address), 'herald_leader'), SOON).toEqual(['herald_leader 1'])

  const doctor = await herald(['doctor', '--json'], { ...env, HERALD_PORT: new URL(address).port })
  expect(JSON.stringify(JSON.parse(doctor.out).checks)).toContain(`web-3:${pidsOf(program).get('web-3')}`)
  expect((await fetch(`${address}/health/ready`)).status).toBe(200)

  // kill -9 of one of them, under load.
  const before = pidsOf(program)
  const killed = before.get('web-2') ?? 0
  const busy = load(address, given, 12)
  await expect.poll(() => busy.ids.length, SOON).toBeGreaterThan(200)
  const counted = accepted(await metricsOf(address))
  process.kill(killed, 'SIGKILL')
  await program.hasSaid('a process has started again')
  expect(linesOf(program).find(({ msg }) => msg === 'a process ended and is started again')).toMatchObject({
    child: 'web-2',
    process: 'web',
  })
  await busy.end()
  // What the killed process had counted at the last page is still counted.
  expect(accepted(await metricsOf(address))).toBeGreaterThanOrEqual(counted)
  // Only connections of the killed process were lost.
  expect(busy.failures.length).toBeLessThanOrEqual(12)
  for (let n = 0; n < COUNT; n++) await ask(address, 'POST', PATH, { key, body: given.body() })
  await expect.poll(() => pidsOf(program).get('web-2'), SOON).not.toBe(killed)
  expect(pidsOf(program).get('web-1')).toBe(before.get('web-1'))
  await allDelivered(address, key, busy.ids)

  // SIGTERM under load: every request is answered.
  const last = load(address, given, 12)
  await expect.poll(() => last.ids.length, SOON).toBeGreaterThan(100)
  const postgres = postgresOf(data) ?? 0
  const stopping = program.end('SIGTERM')
  await last.ended
  expect(last.failures).toEqual([])
  const { code, out, seconds } = await stopping
  expect({ code, stopped: out.match(/Herald has stopped\./g) }).toEqual({ code: 0, stopped: ['Herald has stopped.'] })
  expect(seconds).toBeLessThan(15)
  expect([postgres, ...pidsOf(program).values()].filter(isAlive)).toEqual([])

  const again = await start(env)
  await allDelivered(again.address, key, last.ids)
  // Ctrl-C reaches all processes.
  expect(await again.end('SIGINT')).toMatchObject({ code: 0, out: expect.stringMatching(/Herald has stopped\.\n$/) })
})

test('kill -9 of the supervisor: requests in progress are answered, and nothing is left', async () => {
  const data = newData()
  const env = { HERALD_DATA: data, ...SEVERAL }
  const program = await start(env)
  const given = await sampleOf(env)
  const busy = load(program.address, given, 12)
  await expect.poll(() => busy.ids.length, SOON).toBeGreaterThan(100)
  await expect.poll(() => pidsOf(program).size, SOON).toBe(COUNT)
  const pids = [postgresOf(data) ?? 0, ...pidsOf(program).values()]
  expect(pids.filter(isAlive)).toHaveLength(COUNT + 1)
  process.kill(program.pid, 'SIGKILL')
  await busy.ended
  expect(busy.failures).toEqual([])
  await expect.poll(() => pids.filter(isAlive), SOON).toEqual([])
  expect(postgresOf(data)).toBe(undefined)

  const next = await start(env)
  await allDelivered(next.address, given.key, busy.ids)
  await next.end('SIGTERM')
})

test('a process that cannot start ends all, with its sentence', async () => {
  const env = { ...(await newDatabase()), ...SEVERAL, HERALD_DATABASE_CONNECTIONS: '3' }
  await (await start(env)).end('SIGTERM')
  const s3 = { HERALD_S3_URL: 'http://127.0.0.1:9', HERALD_S3_BUCKET: 'b', HERALD_S3_KEY: 'k', HERALD_S3_SECRET: 's' }
  const { code, out, err } = await herald(['start'], {
    ...env,
    ...s3,
    HERALD_FILE_STORE: 's3',
    HERALD_LOG_LEVEL: 'warn',
  })
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^The contents of files are in .*but this process is set to .*\n$/)
})

test('more processes than the database has connections for are refused', async () => {
  const env = { ...(await newDatabase()), HERALD_PROCESSES: '64', HERALD_DATABASE_CONNECTIONS: '498' }
  const { code, out, err } = await herald(['start'], env)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^HERALD_PROCESSES is 64\. With 500 connections for each and 20 for others they need 32020, /)
})

test('--only http: no process sends', async () => {
  const env = { ...(await newDatabase()), ...SEVERAL, HERALD_DATABASE_CONNECTIONS: '3' }
  const program = await start(env, '--only', 'http')
  expect(samplesOf(await metricsOf(program.address), 'herald_process_info')).toEqual(
    NAMES.map(name => expect.stringMatching(new RegExp(`name="${name}",.*runs="http"`))),
  )
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
})
