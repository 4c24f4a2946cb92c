import { ROLES, type Role } from '../audit/role.ts'
import { changeRole, removeMember } from '../people/members.ts'
import { find } from '../services/find.ts'
import { addUser } from '../services/people.ts'
import { listUsers, type TeamMember } from '../services/sql.ts'
import { type Command, SERVICE, UsageError, withStore } from './command.ts'
import { listing, minute, moment } from './print.ts'

const USER = { name: 'USER', sentence: 'E-mail address or id of the team member.' }

export const userCommands: readonly Command[] = [
  {
    noun: 'user',
    verb: 'add',
    args: [SERVICE],
    options: [
      { name: 'name', value: 'NAME', required: true, sentence: 'Name of the person.' },
      { name: 'email', value: 'EMAIL', required: true, sentence: 'Their e-mail address.' },
      { name: 'phone', value: 'NUMBER', sentence: 'Their phone number, with the country code: +16135550123.' },
      {
        name: 'role',
        value: 'ROLE',
        choices: ROLES,
        sentence: 'What they may do in the console. Default: viewer, who sees everything and changes nothing.',
      },
    ],
    sentence:
      'Add a team member. Trial services and team keys may send to team members, who can sign in to the console.',
    examples: ['herald user add "Parking permits" --name "Ada Park" --email ada@example.org --role author'],
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const phone = input.maybe('phone')
      const role = input.maybe('role')
      const user = await addUser(store, operator, service.id, {
        name: input.text('name'),
        email_address: input.text('email'),
        ...(phone !== undefined && { phone_number: phone }),
        ...(role !== undefined && { role: role as Role }),
      })
      return {
        text: `Added ${user.name} <${user.email_address}> to the team of "${service.name}" as ${user.role}.`,
        data: present(user),
      }
    }),
  },
  {
    noun: 'user',
    verb: 'list',
    args: [SERVICE],
    sentence: 'List the team members of a service.',
    run: withStore(async (store, input) => {
      const service = await find(store, input.text('SERVICE'))
      const users = await listUsers(store.db.sql, service.id)
      const rows = users.map(user => [
        user.id,
        user.name,
        user.email_address,
        user.phone_number,
        user.role,
        minute(user.created_at),
      ])
      return {
        text: listing(
          ['ID', 'NAME', 'E-MAIL', 'PHONE', 'ROLE', 'ADDED'],
          rows,
          `"${service.name}" has no team member yet.`,
        ),
        data: { users: users.map(present) },
      }
    }),
  },
  {
    noun: 'user',
    verb: 'role',
    args: [SERVICE, USER, { name: 'ROLE', sentence: `One of ${ROLES.join(', ')}.` }],
    sentence: 'Change what a team member may do in the console.',
    more: 'It counts from their next request. A manager may do everything in the service.',
    examples: ['herald user role "Parking permits" ada@example.org manager'],
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const role = ROLES.find(one => one === input.text('ROLE'))
      if (!role) throw new UsageError(`"${input.text('ROLE')}" is not a role. Give one of ${ROLES.join(', ')}.`)
      const user = await changeRole(store, operator, service.id, input.text('USER'), role)
      return {
        text: `${user.name} <${user.email_address}> is now ${role} of "${service.name}".`,
        data: present(user),
      }
    }),
  },
  {
    noun: 'user',
    verb: 'remove',
    args: [SERVICE, USER],
    sentence: 'Remove a member from the team of a service.',
    more: 'Somebody who then belongs to no service, and is no operator, is signed out at once.',
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const user = await removeMember(store, operator, service.id, input.text('USER'))
      return {
        text: `Removed ${user.name} <${user.email_address}> from the team of "${service.name}".`,
        data: present(user),
      }
    }),
  },
]

const present = (user: TeamMember) => ({ ...user, created_at: moment(user.created_at) })
