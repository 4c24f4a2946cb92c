// Roles in words.
import { MAY, ROLES, type Role } from '../../audit/role.ts'
import { type Marked, mark, say } from '../words/index.ts'

export const ROLE_WORDS: Readonly<Record<Role, Marked>> = {
  viewer: mark('Viewer'),
  author: mark('Author'),
  sender: mark('Sender'),
  developer: mark('Developer'),
  manager: mark('Manager'),
}

export const ROLE_HINTS: Readonly<Record<Role, Marked>> = {
  viewer: mark('Sees messages, jobs and templates'),
  author: mark('Also writes templates'),
  sender: mark('Also sends messages and files'),
  developer: mark('Also makes keys and webhooks'),
  manager: mark('All of this, and the team'),
}

/** Within a sentence. */
export const ROLE_NAMES: Readonly<Record<Role, Marked>> = {
  viewer: mark('viewer'),
  author: mark('author'),
  sender: mark('sender'),
  developer: mark('developer'),
  manager: mark('manager'),
}

/** What is said about each role on the page of the team, read from the table of permissions. */
export const TASKS = [
  [mark('See messages, jobs, templates'), 'see-messages'],
  [mark('Write templates'), 'manage-templates'],
  [mark('Send, cancel, export recipients'), 'send-messages'],
  [mark('Keys, webhooks, captured inbox'), 'manage-keys'],
  [mark('Team, settings'), 'manage-people'],
] as const

export const mayRole = (role: Role, permission: (typeof TASKS)[number][1]): boolean => MAY[role].includes(permission)

export const readRole = (text: string | null): Role | null => ROLES.find(role => role === text) ?? null

/** Radio buttons, one for each role. */
export const roleOptions = (checked: Role) =>
  ROLES.map(role => ({
    value: role,
    words: say(ROLE_WORDS[role]),
    hint: say(ROLE_HINTS[role]),
    checked: role === checked,
  }))
