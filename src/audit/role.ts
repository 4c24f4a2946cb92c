// Roles of people in a service, and what each may do. Every role includes what a viewer may do.
import type { Permission } from './actor.ts'

export const ROLES = ['viewer', 'author', 'sender', 'developer', 'manager'] as const
export type Role = (typeof ROLES)[number]

const VIEWER = ['see-service', 'see-messages'] as const satisfies readonly Permission[]

export const MAY: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: VIEWER,
  author: [...VIEWER, 'manage-templates'],
  sender: [...VIEWER, 'send-messages', 'cancel-messages', 'export-recipients'],
  developer: [...VIEWER, 'manage-keys', 'manage-webhooks', 'see-inbox'],
  manager: [
    ...VIEWER,
    'export-recipients',
    'send-messages',
    'cancel-messages',
    'manage-templates',
    'manage-webhooks',
    'manage-keys',
    'see-inbox',
    'manage-people',
    'manage-service',
  ],
}

/**
 * An operator of the installation sees settings and counts of every service and manages its people. To see messages an operator
 * joins the service, which is recorded.
 */
export const OPERATOR_MAY = [
  'see-service',
  'manage-people',
  'manage-service',
  'manage-installation',
] as const satisfies readonly Permission[]

/** On pages of a service. `role` null: not a member. */
export const permissionsOf = (role: Role | null, isOperator: boolean): readonly Permission[] => [
  ...new Set<Permission>([...(role ? MAY[role] : []), ...(isOperator ? OPERATOR_MAY : [])]),
]
