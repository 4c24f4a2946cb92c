import { expect, test } from 'vitest'
import type { Id } from '../core/id.ts'
import { inFlight, type ProviderReport, providerViews, type RunningProcess } from './process.ts'

const report = (changes: Partial<ProviderReport> = {}): ProviderReport => ({
  name: 'smtp',
  channel: 'email',
  state: 'closed',
  since: null,
  accepted_last_minute: 10,
  last_error: null,
  ...changes,
})
const running = (name: string, changes: Partial<RunningProcess> = {}): RunningProcess => ({
  id: name as Id,
  name,
  version: '1.0.0',
  runs: ['engine'],
  started_at: '2026-06-15 12:00:00+00',
  seen_at: '2026-06-15 12:30:00+00',
  seen_seconds: 2,
  leads_since: null,
  in_flight: { 'email-low': 3 },
  providers: [report()],
  ...changes,
})

test('a process that was not seen for 15 seconds counts no more', () => {
  const processes = [running('a:1'), running('b:1', { seen_seconds: 15 }), running('c:1', { seen_seconds: 15.1 })]
  expect(inFlight(processes, 'email-low')).toBe(6)
  expect(inFlight(processes, 'sms-low')).toBe(0)
  expect(providerViews(processes)).toMatchObject([{ accepted_last_minute: 20 }])
})

test('processes that agree are one line; where they differ, the worst counts and each is named', () => {
  expect(providerViews([running('a:1'), running('b:1')])).toMatchObject([{ state: 'closed', differing: [] }])
  const since = '2026-06-15T12:20:00.000Z'
  const early = { class: '421', at: '2026-06-15T12:20:00.000Z' }
  const late = { class: '451 4.7.1', at: '2026-06-15T12:25:00.000Z' }
  const [view] = providerViews([
    running('a:1', { providers: [report({ last_error: late })] }),
    running('b:1', { providers: [report({ state: 'open', since, last_error: early })] }),
    running('c:1', { providers: [report({ state: 'half-open', since })] }),
  ])
  expect(view).toMatchObject({ state: 'open', since, accepted_last_minute: 30, last_error: late })
  expect(view?.differing.map(({ process, report: { state } }) => [process, state])).toEqual([
    ['a:1', 'closed'],
    ['b:1', 'open'],
    ['c:1', 'half-open'],
  ])
})

test('providers of one name in two channels are two, in the order of preference', () => {
  const providers = [
    report({ name: 'first' }),
    report({ name: 'capture' }),
    report({ name: 'capture', channel: 'sms' }),
  ]
  expect(providerViews([running('a:1', { providers })]).map(({ channel, name }) => `${channel} ${name}`)).toEqual([
    'email first',
    'email capture',
    'sms capture',
  ])
})
