// The settings of one of several processes: together they keep what the operator has set.
import { expect, test } from 'vitest'
import { readConfig } from '../src/config/index.ts'
import { enginesOf, shareOf } from '../src/config/share.ts'

const MAIL = { HERALD_SMTP_URL: 'smtp://127.0.0.1:2525' }
const shares = (env: Record<string, string>, of: number) => {
  const config = readConfig(env)
  const engines = enginesOf(config, of)
  return Array.from({ length: of }, (_, n) => shareOf(config, { at: n + 1, of, engines, only: null, isAgain: false }))
}
const sent = (configs: ReturnType<typeof shares>, key: string, engines = configs.length) =>
  configs
    .slice(0, engines)
    .map(({ providers }) => [...providers.email, ...providers.sms].find(({ values }) => key in values)?.values[key])

test('connections and rates of a provider add up to what was set', () => {
  const configs = shares({ ...MAIL, HERALD_SMTP_CONNECTIONS: '43', HERALD_SMTP_PER_SECOND: '10' }, 4)
  expect(sent(configs, 'smtpConnections')).toEqual([11, 11, 11, 10])
  expect(sent(configs, 'smtpPerSecond')).toEqual([2.5, 2.5, 2.5, 2.5])
  const texts = { HERALD_TWILIO_ACCOUNT: 'AC1', HERALD_TWILIO_TOKEN: 't', HERALD_TWILIO_PER_SECOND: '30' }
  expect(sent(shares(texts, 3), 'twilioPerSecond')).toEqual([10, 10, 10])
})

test('no limit stays none', () => {
  const configs = shares({ ...MAIL, HERALD_TWILIO_ACCOUNT: 'AC1', HERALD_TWILIO_TOKEN: 't' }, 2)
  expect(sent(configs, 'smtpPerSecond')).toEqual([null, null])
  expect(sent(configs, 'twilioPerSecond')).toEqual([0, 0])
})

test('as many processes send as every provider has connections for: ten each for mail, one bind for texts', () => {
  const engines = (env: Record<string, string>) => enginesOf(readConfig({ ...MAIL, ...env }), 8)
  expect(engines({})).toBe(2)
  expect(engines({ HERALD_SMTP_CONNECTIONS: '200' })).toBe(8)
  expect(engines({ HERALD_SMTP_CONNECTIONS: '39' })).toBe(3)
  expect(engines({ HERALD_SMTP_CONNECTIONS: '9' })).toBe(1)
  expect(engines({ HERALD_SMPP_URL: 'smpp://me:secret@127.0.0.1' })).toBe(1)
  expect(
    engines({ HERALD_SMTP_CONNECTIONS: '40', HERALD_SMPP_URL: 'smpp://me:secret@127.0.0.1', HERALD_SMPP_BINDS: '3' }),
  ).toBe(3)
  const configs = shares({ ...MAIL, HERALD_SMTP_CONNECTIONS: '25', HERALD_SMTP_PER_SECOND: '8' }, 3)
  expect([sent(configs, 'smtpConnections', 2), sent(configs, 'smtpPerSecond', 2)]).toEqual([
    [13, 12],
    [4, 4],
  ])
})

test('the memory for bodies is shared, with 8 MiB for each at least; the name has a number', () => {
  expect(
    shares({ HERALD_PROCESS_NAME: 'web' }, 4).map(({ bodyBudget, processName }) => [bodyBudget, processName]),
  ).toEqual([
    [16, 'web-1'],
    [16, 'web-2'],
    [16, 'web-3'],
    [16, 'web-4'],
  ])
  expect(shares({}, 16)[0]?.bodyBudget).toBe(8)
})
