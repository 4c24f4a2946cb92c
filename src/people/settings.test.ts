import { expect, test } from 'vitest'
import { isProblem } from '../core/setting.ts'
import { settings, signInProblems } from './settings.ts'

const accepts = (name: keyof typeof settings, given: string) => !isProblem(settings[name].reader.read(given))
const plain = Object.fromEntries(Object.entries(settings).map(([name, row]) => [name, row.fallback])) as Parameters<
  typeof signInProblems
>[0]

test('an issuer has https, except on the machine itself', () => {
  for (const given of [
    'https://login.example.org/realms/council',
    'https://a.example/',
    'http://localhost:9000',
    'http://127.0.0.1',
  ])
    expect(accepts('oidcIssuer', given), given).toBe(true)
  for (const given of [
    'http://login.example.org',
    'ftp://a.example',
    'login',
    'https://a.example?x=1',
    'https://me@a.example',
  ])
    expect(accepts('oidcIssuer', given), given).toBe(false)
})

const SERVICE = '01890a5d-ac96-774b-bcce-b302099a8057'

test('roles by group are JSON with known roles', () => {
  expect(accepts('oidcRoles', `{"it": "operator", "press": {"${SERVICE}": "author"}}`)).toBe(true)
  for (const given of [
    'it=operator',
    '[]',
    '"operator"',
    '{"it": "manager"}',
    `{"it": {"${SERVICE}": "operator"}}`,
    '{"it": null}',
  ])
    expect(accepts('oidcRoles', given), given).toBe(false)
})

test('services of roles are IDs, and a name says what to write instead', () => {
  for (const key of ['Parking permits', SERVICE.toUpperCase(), ''])
    expect(settings.oidcRoles.reader.read(`{"press": {"${SERVICE}": "viewer", "${key}": "author"}}`)).toEqual({
      problem: `has "${key}" where the ID of a service belongs. Use the ID that \`herald service list\` shows, in lower case: names can be changed`,
    })
})

test('openid is among the scopes', () => {
  expect(settings.oidcScopes.reader.read('openid, email')).toBe('openid email')
  expect(accepts('oidcScopes', 'email')).toBe(false)
})

test('local sign-in can be off only with single sign-on, which needs issuer and client', () => {
  const issuer = { oidcIssuer: 'https://a.example', oidcClientId: 'herald' }
  expect(signInProblems(plain)).toEqual([])
  expect(signInProblems({ ...plain, ...issuer, localSignIn: false })).toEqual([])
  expect(signInProblems({ ...plain, localSignIn: false })).toHaveLength(1)
  expect(signInProblems({ ...plain, ...issuer, oidcClientId: null })).toHaveLength(1)
  expect(signInProblems({ ...plain, oidcClientId: 'herald' })).toHaveLength(1)
})
