// The real clamd, where it is installed, with a database of one signature: the standard test virus. It needs no network and no
// running daemon.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EICAR } from './documents.ts'

const CLAMD = ['/usr/sbin/clamd', '/usr/local/sbin/clamd'].find(path => existsSync(path))

/** Null, with one printed line, where clamd is not installed. */
export async function realClamd() {
  if (!CLAMD) {
    console.warn('SKIPPED: clamd is not installed; run scripts/install-file-tools.sh for the tests of the real scanner')
    return null
  }
  const folder = mkdtempSync(join(tmpdir(), 'herald-clamd-'))
  chmodSync(folder, 0o755)
  const socket = join(folder, 'clamd.ctl')
  // One line of an .ndb: name, any kind of file, anywhere, the bytes.
  writeFileSync(join(folder, 'test.ndb'), `Herald.Test.Eicar:0:*:${Buffer.from(EICAR).toString('hex')}\n`)
  writeFileSync(
    join(folder, 'clamd.conf'),
    [
      'Foreground yes',
      `DatabaseDirectory ${folder}`,
      `LocalSocket ${socket}`,
      `PidFile ${join(folder, 'clamd.pid')}`,
      'StreamMaxLength 25M',
      'OfficialDatabaseOnly no',
      '',
    ].join('\n'),
  )
  const child = spawn(CLAMD, ['--config-file', join(folder, 'clamd.conf')], { stdio: 'ignore' })
  const stop = async () => {
    const gone = new Promise(resolve => child.once('exit', resolve))
    if (child.exitCode === null && child.kill('SIGTERM')) await gone
    rmSync(folder, { recursive: true, force: true })
  }
  await listening(child, socket)
  return { url: `unix:${socket}`, stop }
}

async function listening(child: ChildProcess, socket: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`clamd ended with ${child.exitCode}`)
    const isUp = await new Promise<boolean>(resolve => {
      const line = connect(socket)
      line.once('connect', () => resolve(true)).once('error', () => resolve(false))
      line.once('close', () => {})
      line.once('connect', () => line.destroy())
    })
    if (isUp) return
    await new Promise(resume => setTimeout(resume, 100))
  }
  throw new Error('clamd does not listen')
}
