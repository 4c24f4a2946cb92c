// Roles in words.
import { MAY, ROLES, type Role } from '../../audit/role.ts'

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  author: 'Author',
  sender: 'Sender',
  developer: 'Developer',
  manager: 'Manager',
}

export const ROLE_HINTS: Readonly<Record<Role, string>> = {
  viewer: 'Sees messages, jobs and templates',
  author: 'Also writes templates',
  sender: 'Also sends messages and files',
  developer: 'Also makes keys and webhooks',
  manager: 'All of this, and the team',
}

/** What is said about each role on the page of the team, read from the table of permissions. */
export const TASKS = [
  ['See messages, jobs, templates', 'see-messages'],
  ['Write templates', 'manage-templates'],
  ['Send, cancel, export recipients', 'send-messages'],
  ['Keys, webhooks, captured inbox', 'manage-keys'],
  ['Team, settings', 'manage-people'],
] as const

export const mayRole = (role: Role, permission: (typeof TASKS)[number][1]): boolean => MAY[role].includes(permission)

export const readRole = (text: string | null): Role | null => ROLES.find(role => role === text) ?? null

/** Radio buttons, one for each role. */
export const roleOptions = (checked: Role) =>
  ROLES.map(role => ({ value: role, words: ROLE_WORDS[role], hint: ROLE_HINTS[role], checked: role === checked }))
