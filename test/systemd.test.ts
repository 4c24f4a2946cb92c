// The systemd units: systemd itself reads them, rates what they leave open, and runs them in a Debian that is booted for it.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

const ANALYZE = '/usr/bin/systemd-analyze'
const FOLDER = 'ops/systemd'
const units = readdirSync(FOLDER)
const services = units.filter(name => name.endsWith('.service'))
if (!existsSync(ANALYZE)) console.warn(`${ANALYZE} is not installed: the units of ops/systemd are not checked.`)

describe.skipIf(!existsSync(ANALYZE))('systemd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-units-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('reads every unit without a remark', () => {
    // Programs and documents are where an installation has them: here they are the checkout's.
    mkdirSync(join(folder, 'units'))
    for (const name of units) {
      const text = readFileSync(join(FOLDER, name), 'utf8')
        .replaceAll('/opt/herald/node_modules/herald', process.cwd())
        .replaceAll('/usr/bin/node', process.execPath)
      writeFileSync(join(folder, 'units', name), text)
    }
    const paths = units.map(name => join(folder, 'units', name))
    const { status, stderr } = spawnSync(ANALYZE, ['verify', '--man=no', ...paths], { encoding: 'utf8' })
    // Remarks about other units of the machine are not about ours.
    expect(stderr.split('\n').filter(line => line.includes('herald') && !line.includes('vitest'))).toEqual([])
    expect(status).toBe(0)
  })

  test('a wrong line is found', () => {
    const wrong = join(folder, 'herald-wrong.service')
    writeFileSync(
      wrong,
      readFileSync(join(FOLDER, 'herald.service'), 'utf8').replace('ProtectHome=yes', 'ProtectHme=yes'),
    )
    expect(spawnSync(ANALYZE, ['verify', '--man=no', wrong], { encoding: 'utf8' }).stderr).toContain('ProtectHme')
  })

  test.each(services)('%s leaves little open: at most 3.0', name => {
    const said = execFileSync(ANALYZE, ['security', '--offline=true', '--no-pager', join(FOLDER, name)], {
      encoding: 'utf8',
    })
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(said) ?? []
    expect(Number(level)).toBeGreaterThan(0)
    expect(Number(level)).toBeLessThanOrEqual(3)
  })
})

const BOOT = 'scripts/container.sh'
const canBoot =
  process.getuid?.() === 0 &&
  existsSync('/usr/bin/systemd-nspawn') &&
  existsSync('/usr/bin/podman') &&
  spawnSync('bash', [BOOT, 'ready']).status === 0
if (!canBoot)
  console.warn(
    'The units are not started: it needs root, systemd-nspawn and base images (scripts/install-containers.sh).',
  )

describe.skipIf(!canBoot)('booted', () => {
  const work = mkdtempSync(join(tmpdir(), 'herald-boot-'))
  afterAll(() => rmSync(work, { recursive: true, force: true }))

  test('the commands of docs/install.md start Herald with its database; it answers, backs up, and stops', () => {
    execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'pipe' })
    const tarball = execFileSync(process.execPath, ['scripts/pack.mjs', work], { encoding: 'utf8' }).trim()
    const options = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
    execFileSync('npm', ['install', '--prefix', join(work, 'opt'), ...options, tarball], { stdio: 'pipe' })
    const [install = '', command = '', backup = ''] = sections('systemd')
    expect(install).toContain('npm install --prefix /opt/herald ')
    const commands = `
      ${install.replace(/^npm install .*$/m, '')}
      echo HERALD_HOST=0.0.0.0 >> /etc/herald/herald.env
      echo HERALD_PROT=1 >> /etc/herald/herald.env
      systemctl restart herald && echo 'wrong setting: started' || echo "wrong setting: refused"
      systemctl show -p ActiveState -p ExecMainStatus -p NRestarts herald | sed 's/^/wrong setting: /'
      sed -i /HERALD_PROT/d /etc/herald/herald.env
      systemctl restart herald
      node -e 'fetch("http://127.0.0.1:6011/health/ready").then(a => console.log("ready", a.status))'
      grep -E '^(Seccomp|NoNewPrivs|CapBnd):' "/proc/$(systemctl show -P MainPID herald)/status"
      (cd /root && ${command}) || true
      HERALD_DATA=/nowhere herald service list || echo "another folder: $?"
      runuser -u herald -- herald --version
      ! runuser -u nobody -- herald --version
      ${backup}
      find /var/backups/herald -name backup.json
      systemctl stop herald
      systemctl show -p Result -p ExecMainStatus -p NRestarts herald
      journalctl -u herald --no-pager | tail -n 5
    `
    const { stdout, stderr, status } = spawnSync('bash', [BOOT, 'boot', join(work, 'opt')], {
      input: commands,
      encoding: 'utf8',
    })
    expect(status, `${stdout}\n${stderr}`).toBe(0)
    const wrong = [...stdout.matchAll(/^wrong setting: (.*)$/gm)].map(([, line]) => line)
    expect(wrong.toSorted()).toEqual(['ActiveState=failed', 'ExecMainStatus=2', 'NRestarts=0', 'refused'])
    // The start has waited until it was ready.
    expect(stdout).toMatch(/^ready 200$/m)
    expect(stdout).toMatch(/^another folder: 2$/m)
    expect(stdout).toMatch(/^herald \d+\.\d+\.\d+$/m)
    expect(stdout).toMatch(/^CapBnd:\s*0000000000000000$/m)
    expect(stdout).toMatch(/^Seccomp:\s*2$/m)
    expect(stdout).toMatch(/^Result=success$/m)
    expect(stdout).toMatch(/^ExecMainStatus=0$/m)
    expect(stdout).toMatch(/^NRestarts=0$/m)
    expect(stdout).toContain('Herald has stopped.')
    expect(stdout).toMatch(/\/var\/backups\/herald\/\d{4}-\S+\/backup\.json/)
    // The problems that are left are those of a trial: no public address.
    expect(stdout).toMatch(/^ok +Service: answers/m)
    expect(stdout).toMatch(/^ok +Sealing secret/m)
  }, 180_000)
})

/** The commands under a heading of docs/install.md. */
function sections(heading: string): string[] {
  const text = readFileSync('docs/install.md', 'utf8').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, commands]) => String(commands))
}

test('what the unit of the service needs is in it', () => {
  const text = readFileSync(join(FOLDER, 'herald.service'), 'utf8')
  // The default would send SIGTERM to PostgreSQL at the same moment as to Herald.
  expect(text).toMatch(/^KillMode=mixed$/m)
  // V8 writes code at run time.
  expect(text).not.toMatch(/^MemoryDenyWriteExecute=/m)
  expect(text).toMatch(/^User=herald$/m)
  // The id of the boot, by which the embedded PostgreSQL is known again, is outside of the processes in /proc.
  expect(text).not.toMatch(/^ProcSubset=/m)
  expect(text).toMatch(/^RestrictAddressFamilies=.*AF_NETLINK/m)
  for (const path of ['bin/herald.js', 'docs/running.md']) expect(existsSync(path)).toBe(true)
})
