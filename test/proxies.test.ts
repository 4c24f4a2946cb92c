// The samples for nginx and HAProxy, run by the real programs, with TLS, in front of two real processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { selfSigned } from './support/certificates.ts'
import { freePort } from './support/port.ts'
import { type Env, type Program, programs } from './support/program.ts'
import { emailTemplate } from './support/sends.ts'
import { callerWith } from './support/world.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const NAME = 'notify.example.org'
const certificate = selfSigned(NAME)
const folder = mkdtempSync(join(tmpdir(), 'herald-proxies-'))
chmodSync(folder, 0o755)
const { newDatabase, herald, start } = programs()
const children: ChildProcess[] = []
let env: Env
let web: Program[]
/** HERALD_HEALTH_PORT of each. */
let probes: number[]
let key: string
let template: string

beforeAll(async () => {
  const { name: _, ...settings } = await newDatabase()
  env = { ...settings, HERALD_CAPTURE: '1', HERALD_TRUSTED_PROXIES: '127.0.0.1', HERALD_NOTICE_SECONDS: '4' }
  probes = [await freePort(), await freePort()]
  web = await Promise.all(probes.map(port => start({ ...env, HERALD_HEALTH_PORT: String(port) })))
  const command = async (...argv: string[]) => JSON.parse((await herald([...argv, '--json'], env)).out)
  const service = await command('service', 'create', 'Permits', '--live')
  key = (await command('key', 'create', service.id, '--name', 'k', '--type', 'live', '--manage-templates')).key
  template = await emailTemplate(callerWith(web[0]?.address ?? '', key))
})

afterAll(async () => {
  for (const child of children) {
    child.kill('SIGTERM')
    await new Promise(resolve => (child.exitCode === null ? child.once('exit', resolve) : resolve(null)))
  }
  rmSync(folder, { recursive: true, force: true })
})

const samples = [
  { name: 'nginx', program: '/usr/sbin/nginx', config: nginx },
  { name: 'HAProxy', program: '/usr/sbin/haproxy', config: haproxy },
]

for (const { name, program, config } of samples) {
  const isThere = existsSync(program) && certificate !== null
  if (!isThere) console.warn(`${program} or openssl is not installed: the sample for ${name} is not run.`)

  describe.skipIf(!isThere)(name, () => {
    let secure: number
    let plain: number

    beforeAll(async () => {
      ;[secure, plain] = [await freePort(), await freePort()]
      const child = begin(config(secure, plain, hostsOf(web)))
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', chunk => {
          said += String(chunk)
        })
      const isReady = async () => (await ask('GET', '/health/ready').catch(() => ({ status: 0 }))).status === 200
      await vi.waitUntil(isReady, { timeout: 20_000, interval: 100 }).catch(() => expect(said).toBe(''))
    })

    function begin(argv: string[]) {
      const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      return child
    }

    function ask(
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
      port: number = secure,
    ) {
      return new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>(
        (resolve, reject) => {
          const asked = https.request(
            {
              ...{ host: '127.0.0.1', port, servername: NAME, method, path, ca: certificate?.certificate },
              headers: {
                ...{ host: NAME, authorization: `ApiKey-v1 ${key}`, ...headers },
                ...(body !== undefined && { 'content-type': 'application/json' }),
              },
              agent: false,
            },
            answer => {
              let text = ''
              answer.on('data', chunk => {
                text += String(chunk)
              })
              answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }))
            },
          )
          asked.on('error', reject)
          asked.end(body === undefined ? undefined : JSON.stringify(body))
        },
      )
    }
    const send = () =>
      ask('POST', '/v2/notifications/email', {
        ...{ template_id: template, email_address: 'ada@example.org', personalisation: { name: 'Ada' } },
      })

    test('sends over TLS, and answers name the public address', async () => {
      const sent = await send()
      expect(sent.status, sent.text).toBe(201)
      expect(JSON.parse(sent.text).uri).toMatch(new RegExp(`^https://${NAME}/`))
    })

    test('a body of 60 MiB reaches Herald', async () => {
      const large = await ask('POST', '/v2/notifications/bulk', {
        ...{ name: 'x', template_id: template, csv: 'x'.repeat(60 * 1024 * 1024) },
      })
      expect(large.status).toBe(400)
      expect(JSON.parse(large.text).errors).toHaveLength(1)
    })

    test('pages for the machine are not passed on, and plain HTTP is redirected', async () => {
      for (const path of ['/inbox', '/metrics']) expect((await ask('GET', path)).status, path).toBe(404)
      const moved = await fetch(`http://127.0.0.1:${plain}/v2/templates?a=1`, { redirect: 'manual' })
      expect(moved.status).toBe(308)
      expect(moved.headers.get('location')).toMatch(/^https:\/\/127\.0\.0\.1(:\d+)?\/v2\/templates\?a=1$/)
    })

    test('where no machine answers, the status and the body say the same', async () => {
      const [port, other, closed] = [await freePort(), await freePort(), `127.0.0.1:${await freePort()}`]
      begin(config(port, other, [closed, closed]))
      const answers = () => ask('GET', '/v2/templates', undefined, {}, port).catch(() => null)
      await expect.poll(answers, { timeout: 20_000 }).toMatchObject({ status: 503 })
      const { text, headers } = await ask('GET', '/v2/templates', undefined, {}, port)
      expect(headers['content-type']).toBe('application/json')
      expect(JSON.parse(text)).toEqual({
        errors: [{ error: 'Exception', message: 'Internal server error' }],
        status_code: 503,
      })
    })

    test('a machine is replaced, and no request fails', async () => {
      const failed: string[] = []
      let isLoading = true
      let count = 0
      const load = (async () => {
        while (isLoading) {
          const { status, text } = await send().catch(error => ({ status: 0, text: String(error) }))
          count++
          if (status !== 201) failed.push(`${status} ${text}`)
        }
      })()
      const first = web[0] as Program
      const port = new URL(first.address).port
      await first.end('SIGTERM')
      web[0] = await start({ ...env, HERALD_PORT: port, HERALD_HEALTH_PORT: String(probes[0]) })
      const before = count
      await expect.poll(() => count, { timeout: 20_000 }).toBeGreaterThan(before + 10)
      isLoading = false
      await load
      expect(failed).toEqual([])
    })
  })
}

/** The sample with this machine's addresses, as the one site of a whole configuration. */
function nginx(secure: number, plain: number, machines: readonly string[]): string[] {
  const site = withMachines(readFileSync('ops/nginx.conf', 'utf8'), machines)
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${secure} ssl http2;`)
    .replace('/etc/nginx/herald.crt', written('herald.crt', certificate?.certificate ?? ''))
    .replace('/etc/nginx/herald.key', written('herald.key', certificate?.key ?? ''))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(one => `${one}_temp_path ${folder}/${one};`)
  const whole = `daemon off; pid ${folder}/nginx-${secure}.pid; events {} http { access_log off; ${paths.join(' ')}\n${site}\n}`
  return ['-c', written(`nginx-${secure}.conf`, whole), '-e', 'stderr']
}

function haproxy(secure: number, plain: number, machines: readonly string[]): string[] {
  const text = withMachines(readFileSync('ops/haproxy.cfg', 'utf8'), machines)
    .replace(' port 6012', '')
    .replace(/^( {4}server herald1 .*)$/m, `$1 port ${probes[0]}`)
    .replace(/^( {4}server herald2 .*)$/m, `$1 port ${probes[1]}`)
    .replace(/^ {4}(log \/dev\/log.*|user .*|group .*|stats socket .*)\n/gm, '')
    .replace(/^ {4}server herald3 .*\n?/m, '')
    .replace('maxconn 20000', 'maxconn 500') // the open files of a developer's machine
    .replace('bind :80', `bind 127.0.0.1:${plain}`)
    .replace('bind :443', `bind 127.0.0.1:${secure}`)
    .replace('/etc/haproxy/herald.pem', written('herald.pem', `${certificate?.certificate}${certificate?.key}`))
  return ['-db', '-f', written(`haproxy-${secure}.cfg`, text)]
}

const hostsOf = (programs: readonly Program[]) => programs.map(({ address }) => new URL(address).host)

const withMachines = (text: string, machines: readonly string[]) =>
  ['10.0.0.21:6011', '10.0.0.22:6011'].reduce((so, one, n) => so.replace(one, machines[n] ?? ''), text)

function written(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
