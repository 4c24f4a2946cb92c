// The image of the Containerfile and the services of compose.yaml, built and run by podman. No registry is needed: the base images
// are made by scripts/container.sh, and PostgreSQL 15 and HAProxy 2.6 of Debian have the names of the images in compose.yaml.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 })

const SCRIPT = 'scripts/container.sh'
const reason = whyNot()
if (reason) console.warn(`The container image is not built and compose.yaml is not run: ${reason}.`)

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root'
  for (const program of ['buildah', 'podman', 'podman-compose'])
    if (spawnSync(program, ['--version']).error) return `${program} is not installed (scripts/install-containers.sh)`
  if (spawnSync('bash', [SCRIPT, 'ready']).status !== 0) return `there are no base images (${SCRIPT} bases)`
  return undefined
}

/** A shell in namespaces of its own, where podman has a network and leaves nothing behind. */
function createShell() {
  const child: ChildProcess = spawn('bash', [SCRIPT, 'run', 'bash'], { stdio: ['pipe', 'pipe', 'pipe'] })
  let out = ''
  let heard = () => {}
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      out += String(chunk)
      heard()
    })
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))

  async function run(command: string): Promise<{ status: number; out: string }> {
    const mark = randomUUID()
    const from = out.length
    child.stdin?.write(`{ ${command}\n} </dev/null 2>&1; echo "${mark} $?"\n`)
    const found = () => new RegExp(`${mark} (\\d+)\n`).exec(out.slice(from))
    while (!found()) {
      if (child.exitCode !== null) throw new Error(`the shell has ended: ${out.slice(from)}`)
      await Promise.race([new Promise<void>(resolve => (heard = resolve)), closed])
    }
    return { status: Number(found()?.[1]), out: out.slice(from).split(mark)[0] ?? '' }
  }

  return {
    run,
    /** What a command prints; one that fails is an error. */
    async said(command: string): Promise<string> {
      const { status, out } = await run(command)
      if (status !== 0) throw new Error(`${command}: ${status}\n${out}`)
      return out
    },
    async stop() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

const hasCompose = !spawnSync('docker-compose', ['--version']).error
if (!hasCompose) console.warn('compose.yaml is not checked by its specification: docker-compose is not installed.')

test.skipIf(!hasCompose)(
  'compose.yaml is valid by the schema that docker-compose carries; a wrong field is found',
  () => {
    const check = (text: string) =>
      spawnSync('docker-compose', ['-f', '-', 'config', '--quiet'], { input: text, encoding: 'utf8' })
    const text = readFileSync('compose.yaml', 'utf8')
    expect(check(text)).toMatchObject({ status: 0, stderr: '' })
    expect(check(text.replace('read_only:', 'read_onli:')).stderr).toContain("'read_onli'")
  },
)

describe.skipIf(reason)('in containers', () => {
  const work = mkdtempSync(join(tmpdir(), 'herald-compose-'))
  const logs = () => shell.run('for c in $(podman ps -aq); do podman logs $c 2>&1 | tail -n 12; done')
  let shell: ReturnType<typeof createShell>

  beforeAll(async () => {
    execFileSync('bash', [SCRIPT, 'build'], { stdio: 'pipe' })
    mkdirSync(join(work, 'ops/compose'), { recursive: true })
    for (const path of ['compose.yaml', 'ops/compose/haproxy.cfg']) cpSync(path, join(work, path))
    shell = createShell()
    await shell.said(`cd ${work}`)
    // The secrets and the certificate are made by the commands of the document.
    const [, commands = ''] =
      /```sh\n(cd ops\/compose\n.*?)podman-compose up --build\n```/s.exec(readFileSync('docs/install.md', 'utf8')) ?? []
    expect(commands).toContain('herald-secret')
    await shell.said(commands)
    await shell.said('podman-compose -p herald up -d')
  })

  afterAll(async () => {
    await shell?.stop()
    rmSync(work, { recursive: true, force: true })
  })

  /** Repeats a command until it succeeds. */
  async function until(command: string): Promise<string> {
    for (let left = 100; left > 0; left--) {
      const { status, out } = await shell.run(command)
      if (status === 0) return out
      await new Promise(resolve => setTimeout(resolve, 300))
    }
    throw new Error(`${command}: never\n${(await logs()).out}`)
  }

  const curl = 'curl -sS --fail-with-body -k --resolve notify.example.org:443:127.0.0.1'

  test('the image is below 250 MB', async () => {
    const bytes = Number(await shell.said("podman image inspect localhost/herald --format '{{.Size}}'"))
    expect(bytes).toBeGreaterThan(50e6)
    expect(bytes).toBeLessThan(250e6)
  })

  test('the image holds no shell and no secret of the checkout, and is not root', async () => {
    const list = await shell.said(
      'c=$(podman create localhost/herald) && podman export $c | tar -t && podman rm $c >/dev/null',
    )
    const paths = list.split('\n')
    expect(paths).toContain('opt/herald/bin/node')
    expect(paths.filter(path => /^(usr\/)?bin\/(ba|da)?sh$/.test(path))).toEqual([])
    expect(
      paths.filter(path => path.includes('herald/ops/compose/') && !/\/(haproxy\.cfg|\.(git|npm)ignore)?$/.test(path)),
    ).toEqual([])
    expect(await shell.said("podman image inspect localhost/herald --format '{{.User}}'")).toContain('10001:10001')
  })

  test('compose.yaml: a message goes through TLS and the proxy to one of two processes', async () => {
    await until(`${curl} https://notify.example.org/health/ready`)
    expect(
      await until("podman inspect herald_migrate_1 --format '{{.State.Status}} {{.State.ExitCode}}' | grep 'exited 0'"),
    ).toBeTruthy()
    const made = JSON.parse(await shell.said('podman exec herald_herald1_1 herald sample --show-keys --json'))
    const send = JSON.stringify({
      template_id: made.templates.email.id,
      email_address: 'ada@example.org',
      personalisation: { name: 'Ada' },
    })
    const key = `-H 'Authorization: ApiKey-v1 ${made.keys.test}'`
    const sent = JSON.parse(
      await shell.said(
        `${curl} https://notify.example.org/v2/notifications/email ${key} -H 'Content-Type: application/json' -d '${send}'`,
      ),
    )
    await until(`${curl} https://notify.example.org/v2/notifications/${sent.id} ${key} | grep '"status":"delivered"'`)
  })

  test.each(['herald1', 'herald2'])('%s: read-only root, no rights, healthy', async name => {
    const container = `herald_${name}_1`
    await until(`podman healthcheck run ${container}`)
    const look = `
      const fs = require('fs')
      const can = path => { try { fs.writeFileSync(path, ''); return true } catch { return false } }
      const status = fs.readFileSync('/proc/self/status', 'utf8')
      console.log(JSON.stringify({
        user: process.getuid(), root: can('/x'), program: can('/opt/herald/x'), data: can('/data/x'),
        rights: /CapBnd:\\s*(\\w+)/.exec(status)[1], more: /NoNewPrivs:\\s*(\\d)/.exec(status)[1], seccomp: /Seccomp:\\s*(\\d)/.exec(status)[1],
      }))`
    const said = await shell.said(`podman exec ${container} node -e "$(cat <<'END'\n${look}\nEND\n)"`)
    expect(JSON.parse(said)).toEqual({
      user: 10001,
      root: false,
      program: false,
      data: true,
      rights: '0000000000000000',
      more: '1',
      seccomp: '2',
    })
  })

  test('a process that stops is no longer asked, and ends with 0 within the grace period', async () => {
    const since = Date.now()
    const stop = shell.said(
      `(podman stop -t 30 herald_herald1_1 >/dev/null; echo ended) & failed=0; while kill -0 $!; do ${curl} https://notify.example.org/health/live >/dev/null || failed=1; sleep 0.1; done 2>/dev/null; wait; [ $failed = 0 ]`,
    )
    await stop
    expect(Date.now() - since).toBeLessThan(30_000)
    expect((await shell.said("podman inspect herald_herald1_1 --format '{{.State.ExitCode}}'")).trim()).toBe('0')
    expect(await shell.said('podman logs herald_herald1_1 2>&1')).toContain('Herald has stopped.')
    await shell.said(`${curl} https://notify.example.org/health/ready`)
  })

  test('docs/install.md: a container with a volume, without anything else that can be written', async () => {
    const command = /(podman run --read-only.*?)\n```/s.exec(readFileSync('docs/install.md', 'utf8'))?.[1] ?? ''
    expect(command).toContain('database-url')
    await shell.said('podman exec herald_database_1 createdb -U herald alone')
    await shell.said("sed 's|/herald$|/alone|' ops/compose/database-url > database-url")
    await shell.said(
      command.replace('podman run', 'podman run -d --name alone --network herald_default --read-only-tmpfs=false'),
    )
    await until('curl -sS --fail http://127.0.0.1:6011/health/ready')
    await shell.said('podman stop -t 30 alone')
    expect((await shell.said("podman inspect alone --format '{{.State.ExitCode}}'")).trim()).toBe('0')
  })
})
