import { describe, expect, test } from 'vitest'
import type { Id } from '../core/id.ts'
import { actorOf } from '../keys/key.ts'
import { type Actor, may, PERMISSIONS, type Permission, requirePermission, serviceScopeOf } from './actor.ts'

const HOME = '11111111-1111-4111-8111-111111111111' as Id
const OTHER = '22222222-2222-4222-8222-222222222222' as Id
const ID = '33333333-3333-7333-8333-333333333333' as Id

const key = (manage_templates: boolean, manage_webhooks = false) =>
  actorOf({
    id: ID,
    service_id: HOME,
    name: 'website',
    created_by: 'maria@example.org',
    manage_templates,
    manage_webhooks,
  })
const person: Actor = {
  kind: 'person',
  id: ID,
  service_id: HOME,
  email_address: 'ada@example.org',
  name: 'Ada Park',
  permissions: ['manage-templates', 'manage-service'],
}
const operator: Actor = { kind: 'operator', name: 'deploy' }

const cases: readonly [string, Actor, readonly Permission[]][] = [
  ['a key', key(false), ['cancel-messages', 'see-inbox']],
  ['a key that manages templates', key(true), ['cancel-messages', 'manage-templates', 'see-inbox']],
  ['a key that manages webhooks', key(false, true), ['cancel-messages', 'manage-webhooks', 'see-inbox']],
  ['a person', person, ['manage-templates', 'manage-service']],
  ['the operator', operator, PERMISSIONS],
]

describe.each(cases)('%s', (_, actor, permissions) => {
  test('may do in its service what its permissions say', () => {
    expect(PERMISSIONS.filter(permission => may(actor, permission, HOME))).toEqual(permissions)
  })

  test('acts in no other service and not on the installation, unless it is the operator', () => {
    for (const service of [OTHER, null])
      expect(PERMISSIONS.filter(permission => may(actor, permission, service))).toEqual(
        actor.kind === 'operator' ? PERMISSIONS : [],
      )
    expect(serviceScopeOf(actor)).toBe(actor.kind === 'operator' ? 'every-service' : HOME)
  })
})

test('a person on a page of the installation is limited to no service, not to any', () => {
  expect(serviceScopeOf({ ...person, service_id: null })).toBe(null)
})

test('a missing permission is a refusal that names it', () => {
  expect(() => requirePermission(person, 'manage-templates', HOME)).not.toThrow()
  expect(() => requirePermission(person, 'manage-keys', HOME)).toThrow(
    'You do not have the permission for this: manage-keys.',
  )
})
