// herald events: lines for people, JSON for programs, and a process that follows the log.
import { type ChildProcess, spawn } from 'node:child_process'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { run } from '../src/cli/run.ts'
import { createIds, type Id } from '../src/core/id.ts'
import type { Scope } from '../src/events/event.ts'
import { type Group, logGroup, readable } from './support/events.ts'
import { type World, world } from './support/world.ts'

let here: World
beforeAll(async () => {
  here = await world()
})

async function herald(...argv: string[]) {
  const said = { out: '', err: '' }
  const code = await run(
    argv,
    {
      out: text => {
        said.out += text
      },
      err: text => {
        said.err += text
      },
    },
    () => here.config,
  )
  return { code, ...said }
}

async function scene(name: string) {
  const service = await here.service({ name })
  const scope: Scope = { service_id: service.id, key_type: 'normal' }
  const { next } = createIds(here.parts.clock)
  return {
    service,
    async log(group: Group = {}, messages = 1, keyType: Scope['key_type'] = 'normal'): Promise<Id[]> {
      const subjects = Array.from({ length: messages }, next)
      await logGroup(here.parts.db.sql, { ...scope, key_type: keyType }, subjects, group)
      await readable(here.parts.db.sql)
      return subjects
    },
  }
}

const linesOf = (text: string) => text.split('\n').filter(line => line !== '')

describe('herald events', () => {
  test('prints a line in plain words for each event, of one service or of all, in order', async () => {
    const [permits, taxes] = [await scene('Permits'), await scene('Taxes')]
    const [first] = await permits.log({ provider: 'relay' })
    const [second] = await taxes.log({ type: 'notification.deferred', detail: 'busy', delay: 30, channel: 'sms' })
    const [third] = await permits.log({ type: 'notification.permanent-failure' }, 1, 'team')
    const all = await herald('events')
    expect({ code: all.code, err: all.err }).toEqual({ code: 0, err: '' })
    const when = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC'
    const lines = linesOf(all.out).slice(-3)
    expect(lines[0]).toMatch(new RegExp(`^${when}  Permits  e-mail ${first} was delivered \\(provider relay\\)$`))
    expect(lines[1]).toMatch(
      new RegExp(`^${when}  Taxes  text message ${second} was deferred \\(busy, next attempt ${when}\\)$`),
    )
    expect(lines[2]).toMatch(new RegExp(`^${when}  Permits  e-mail ${third} failed permanently$`))
    expect(linesOf((await herald('events', 'Taxes')).out)).toHaveLength(1)
    expect(linesOf((await herald('events', 'Permits', '--key-type', 'team')).out)).toHaveLength(1)
    const failures = await herald('events', '--types', 'notification.permanent-failure,job.failed')
    expect(linesOf(failures.out)).toEqual([lines[2]])
  })

  test('prints JSON lines with cursors to go on', async () => {
    const one = await scene('Cursors')
    const subjects = await one.log({}, 3)
    const lines = linesOf((await herald('events', 'Cursors', '--json')).out).map(line => JSON.parse(line))
    expect(lines.map(line => line.data.notification_id)).toEqual(subjects)
    expect(lines[0]).toMatchObject({ service_id: one.service.id, key_type: 'normal', type: 'notification.delivered' })
    const rest = await herald('events', 'Cursors', '--json', '--after', lines[0].cursor)
    expect(linesOf(rest.out).map(line => JSON.parse(line).id)).toEqual(lines.slice(1).map(line => line.id))
    expect((await herald('events', 'Cursors', '--after', 'now')).out).toBe('')
    expect(linesOf((await herald('events', 'Cursors', '--after', '2026-01-01')).out)).toHaveLength(3)
  })

  test.each([
    [
      ['events', '--types', 'notification.read'],
      /^There is no type "notification.read". Types: notification.created, /,
    ],
    [['events', '--after', 'yesterday'], /^--after takes a cursor, a time such as .*, or now, not "yesterday"\./],
    [['events', 'Nobody'], /Nobody/],
  ])('refuses %j', async (argv, sentence) => {
    const { code, out, err } = await herald(...argv)
    expect({ out, failed: code !== 0 }).toEqual({ out: '', failed: true })
    expect(err).toMatch(sentence)
  })
})

describe('herald events --follow, as a process', () => {
  const follow = (...argv: string[]): ChildProcess =>
    spawn(process.execPath, ['bin/herald.js', 'events', '--follow', ...argv], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        DATABASE_URL: String(here.config.databaseUrl),
        HERALD_DATA: here.config.dataFolder,
        HERALD_LOG_LEVEL: 'silent',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const wait = { timeout: 20_000, interval: 50 }

  test('goes on until it is interrupted, and ends when nobody reads', async () => {
    const one = await scene('Followed')
    await one.log()
    const [patient, hasty] = [follow('Followed', '--json'), follow('--after', '2026-01-01', 'Followed')]
    let seen = ''
    patient.stdout?.on('data', chunk => {
      seen += String(chunk)
    })
    const ended = [patient, hasty].map(child => new Promise(resolve => child.once('exit', resolve)))
    // The first line is from before; then its reader goes away.
    await new Promise(resolve => hasty.stdout?.once('data', resolve))
    hasty.stdout?.destroy()
    // It begins at the end of the log, so it is ready when it has printed something new.
    const logged: Id[] = []
    await vi.waitFor(async () => {
      logged.push(...(await one.log()))
      expect(seen).not.toBe('')
    }, wait)
    const last = await one.log({ type: 'notification.sending' }, 2)
    await vi.waitFor(() => expect(seen).toContain(last[1]), wait)
    const shown = linesOf(seen).map(line => JSON.parse(line).data.notification_id)
    expect(shown).toEqual([...logged, ...last].slice(-shown.length))
    expect(await ended[1]).toBe(0)
    patient.kill('SIGINT')
    expect(await ended[0]).toBe(0)
  }, 60_000)
})
