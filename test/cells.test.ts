// Two cells behind a real HAProxy with ops/haproxy-cells.cfg: the service id chooses the cell, and a service moves.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { freePort } from './support/port.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { call, callerWith, type World, world } from './support/world.ts'

const HAPROXY = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/bin/haproxy'].find(existsSync)
if (!HAPROXY) console.warn('test/cells.test.ts is skipped: HAProxy is not installed (Debian: apt install haproxy).')

/** A token as client libraries of this interface make it. */
function token(key: string, service: string = key.slice(-73, -37)) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: service, iat: Math.floor(Date.now() / 1000) })}`
  return `${signed}.${createHmac('sha256', key.slice(-36)).update(signed).digest('base64url')}`
}

/** A request under another name than the address; fetch does not allow it. */
const named = (port: number, host: string, path: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) =>
    http
      .get({ host: '127.0.0.1', port, path, agent: false, headers: { ...headers, host } }, reply => {
        let text = ''
        reply.on('data', chunk => (text += chunk))
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
      })
      .on('error', reject),
  )

describe.skipIf(!HAPROXY)('cells', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-cells-'))
  const [map, socket, passphraseFile] = [join(folder, 'cells.map'), join(folder, 'admin.sock'), join(folder, 'pass')]
  let balancer: ChildProcess
  let port: number
  let address: string
  let cell1: World
  let cell2: World
  type Service = Awaited<ReturnType<World['service']>>
  type Sending = { service: Service; key: Awaited<ReturnType<Service['key']>>; template: string }
  let a: Sending
  let b: Sending

  beforeAll(async () => {
    chmodSync(folder, 0o755)
    const settings = { HERALD_TRUSTED_PROXIES: '127.0.0.1', HERALD_HEALTH_PORT: '0' }
    cell1 = await world({ ...settings, HERALD_SECRET: '1'.repeat(40) })
    cell2 = await world({ ...settings, HERALD_SECRET: '2'.repeat(40) })
    a = await sending(cell1)
    b = await sending(cell2)
    port = await freePort()
    address = `http://127.0.0.1:${port}`
    writeFileSync(passphraseFile, 'a passphrase of this test')
    writeMap('cell1', 'cell2')
    writeFileSync(join(folder, 'haproxy.cfg'), configuration())
    execFileSync(String(HAPROXY), ['-c', '-q', '-f', join(folder, 'haproxy.cfg')])
    balancer = spawn(String(HAPROXY), ['-W', '-q', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
    for (let tries = 0; tries < 200; tries++) {
      if ((await statusAt('cell1')) === 200 && (await statusAt('cell2')) === 200) return
      await sleep(100)
    }
    throw new Error('HAProxy does not reach the two cells')
  })
  afterAll(async () => {
    if (balancer) {
      const ended = balancer.exitCode !== null ? null : new Promise(resolve => balancer.once('exit', resolve))
      balancer.kill('SIGTERM') // the master ends its workers
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  })

  async function sending(at: World): Promise<Sending> {
    const service = await at.service()
    const key = await service.key()
    return { service, key, template: await emailTemplate(key) }
  }

  /** The shipped file with the addresses of this test. */
  function configuration(): string {
    const shipped = readFileSync('ops/haproxy-cells.cfg', 'utf8')
    const replaced = shipped
      .replace(/^ {4}(log|user|group|maxconn) .*\n/gm, '')
      .replace('    bind :80\n', '')
      .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
      .replace('unless { ssl_fc }', 'if { ssl_fc }') // there is no certificate here
      .replace('/run/haproxy/admin.sock', socket)
      .replaceAll('/etc/haproxy/cells.map', map)
      .replaceAll(' port 6012', '')
      .replace('10.0.1.21:6011', `127.0.0.1:${cell1.port} port ${cell1.running.healthPort}`)
      .replace('10.0.2.21:6011', `127.0.0.1:${cell2.port} port ${cell2.running.healthPort}`)
      .replace(/^ {4}server \S+ 10\..*\n/gm, '')
    expect(replaced).not.toMatch(/\b10\.0\.|\/etc\/|\/run\//)
    return replaced
  }
  const writeMap = (ofA: string, ofB: string) =>
    writeFileSync(map, `# services\n${a.service.id} ${ofA}\n${b.service.id} ${ofB}\n`)
  const statusAt = async (cell: string) =>
    (await named(port, `${cell}.notify.example.org`, '/health/ready').catch(() => ({ status: 0 }))).status
  const body = ({ template }: Sending) => ({
    email_address: 'ada@example.org',
    template_id: template,
    personalisation: { name: 'Ada' },
  })
  const send = (of: Sending, authorization = `ApiKey-v1 ${of.key.key}`) =>
    call(address, 'POST', EMAIL, { body: body(of), headers: { authorization } })
  /** Which of the two databases has the message. */
  async function cellOf(id: string) {
    const has = async (at: World) => (await at.parts.db.sql`select from notifications where id = ${id}`).length > 0
    return [(await has(cell1)) && 'cell1', (await has(cell2)) && 'cell2'].filter(Boolean).join(' and ')
  }
  const sentTo = async (of: Sending, authorization?: string) => {
    const { status, body } = await send(of, authorization)
    expect(status).toBe(201)
    return cellOf(body.id)
  }
  const herald = async (at: World, ...argv: string[]) => {
    let err = ''
    const streams = {
      out: () => {},
      err: (text: string) => {
        err += text
      },
    }
    const code = await run([...argv, '--passphrase-file', passphraseFile], streams, () => at.config)
    expect({ code, err }).toEqual({ code: 0, err: '' })
  }

  test('a key chooses the cell of its service, however it is written', async () => {
    for (const [of, cell] of [
      [a, 'cell1'],
      [b, 'cell2'],
    ] as const) {
      expect(await sentTo(of)).toBe(cell)
      expect(await sentTo(of, `apikey-V1    ${of.key.key}`)).toBe(cell)
    }
  })

  test('a signed token chooses the cell by its issuer', async () => {
    expect(await sentTo(a, `Bearer ${token(a.key.key)}`)).toBe('cell1')
    expect(await sentTo(b, `bearer ${token(b.key.key)}`)).toBe('cell2')
    const { id } = b.service
    for (const spelling of [id.toUpperCase(), id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`])
      expect(await sentTo(b, `Bearer ${token(b.key.key, spelling)}`), spelling).toBe('cell2')
  })

  test('a bulk job goes to the cell of its service', async () => {
    const sent = await callerWith(address, b.key.key).post('/v2/notifications/bulk', {
      name: 'A job',
      template_id: b.template,
      rows: [
        ['email address', 'name'],
        ...Array.from({ length: 2_000 }, (_, n) => [`p${n}@example.org`, 'x'.repeat(99)]),
      ],
    })
    expect(sent.status).toBe(201)
    const { id } = sent.body.data
    expect(await cell2.parts.db.sql`select from jobs where id = ${id}`).toHaveLength(1)
    expect(await cell1.parts.db.sql`select from jobs where id = ${id}`).toHaveLength(0)
  })

  test('an unknown service and a request without a key get the words of the interface', async () => {
    const nobody = `herald-x-${randomUUID()}-${randomUUID()}`
    const answers = await Promise.all(
      [`ApiKey-v1 ${nobody}`, `Bearer ${token(nobody)}`, 'Bearer x', 'Bearer a.b.c', 'ApiKey-v1 x', 'Basic x'].map(
        async authorization =>
          (await call(address, 'GET', '/v2/templates', { headers: { authorization } })).body.errors[0],
      ),
    )
    expect(answers.map(({ message }) => message)).toEqual([
      'Invalid token: API key not found',
      'Invalid token: service not found',
      'Invalid token: signature, api token is not valid',
      'Invalid token: signature, api token is not valid',
      'Invalid token: API key not found',
      'Unauthorized, Authorization header is invalid. Supported authentication methods: ApiKey-v1, Bearer',
    ])
    expect((await call(address, 'GET', '/v2/templates')).status).toBe(401)
  })

  test('a token of one service that names another cell is refused there', async () => {
    const headers = { authorization: `Bearer ${token(a.key.key, b.service.id)}` }
    expect((await call(address, 'GET', '/v2/templates', { headers })).status).toBe(403)
  })

  test('metrics and the local inbox are not forwarded', async () => {
    for (const path of ['/metrics', '/inbox']) expect((await call(address, 'GET', path)).status, path).toBe(404)
  })

  test('a machine whose event loop stands still stays in, and does not answer 503 afterwards', async () => {
    const timesDown = async () => {
      const [head = '', ...lines] = (await command('show stat')).split('\n')
      const at = head.split(',').indexOf('chkdown')
      return lines.find(line => line.startsWith('cell1,cell1-herald1,'))?.split(',')[at]
    }
    // Longer than HAProxy waits for two checks. On a busy machine a check may be late for another reason, so it is tried again.
    const takenOut = async () => {
      const before = await timesDown()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000)
      return (await timesDown()) !== before
    }
    await expect.poll(takenOut, { timeout: 60_000 }).toBe(false)
    await expect.poll(() => statusAt('cell1'), { timeout: 20_000 }).toBe(200)
    expect(await sentTo(a)).toBe('cell1')
  }, 120_000)

  describe('service A moves from cell 1 to cell 2', () => {
    let before: string

    beforeAll(async () => {
      before = (await send(a)).body.id
      await herald(cell1, 'service', 'export', a.service.id, '--out', join(folder, 'a.herald'))
      await herald(cell2, 'service', 'import', join(folder, 'a.herald'))
      expect(await sentTo(a), 'until the map is changed').toBe('cell1')
      writeMap('cell2', 'cell2')
    })

    test('with a reload no request fails, and the same key and token go on in cell 2', async () => {
      const cells = new Set<string>()
      let isOver = false
      const traffic = (async () => {
        while (!isOver) cells.add(await sentTo(a))
      })()
      balancer.kill('SIGUSR2')
      await expect.poll(() => cells.has('cell2'), { timeout: 20_000 }).toBe(true)
      await sleep(500)
      isOver = true
      await traffic
      expect(await sentTo(a)).toBe('cell2')
      expect(await sentTo(a, `Bearer ${token(a.key.key)}`)).toBe('cell2')
      expect(await sentTo(b)).toBe('cell2')
    })

    test('messages of before are found under the name of the old cell, with the same key', async () => {
      const path = `/v2/notifications/${before}`
      expect((await callerWith(address, a.key.key).get(path)).status).toBe(404)
      const headers = { authorization: `ApiKey-v1 ${a.key.key}` }
      expect((await named(port, 'cell1.notify.example.org', path, headers)).status).toBe(200)
    })

    test('the runtime socket changes the map without a reload, as the document says', async () => {
      const [change, add] = [documented('set map'), documented('add map')]
      expect(await command(`set map ${map} ${a.service.id} cell1`)).toBe('')
      expect(await sentTo(a)).toBe('cell1')
      expect(await command(change(a.service.id))).toBe('')
      expect(await sentTo(a)).toBe('cell2')

      const unlisted = await sending(cell2)
      expect((await send(unlisted)).status, 'the default cell does not know it').toBe(403)
      expect(await command(change(unlisted.service.id))).toMatch(/not found/)
      expect(await command(add(unlisted.service.id))).toBe('')
      expect(await sentTo(unlisted)).toBe('cell2')
    })
  })

  /** A command of docs/scaling.md for a service. */
  function documented(words: string): (service: string) => string {
    const [, text = ''] =
      new RegExp(`echo "(${words} [^"]+)" \\| socat stdio`).exec(readFileSync('docs/scaling.md', 'utf8')) ?? []
    expect(text, words).toContain('SERVICE-ID')
    return service => text.replace('/etc/haproxy/cells.map', map).replace('SERVICE-ID', service)
  }
  /** Returns what HAProxy says; nothing on success. */
  const command = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const line = net.connect(socket, () => line.end(`${text}\n`))
      let said = ''
      line.on('data', chunk => (said += chunk))
      line.on('error', reject)
      line.on('close', () => resolve(said.trim()))
    })
})
