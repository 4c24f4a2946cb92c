import { consoleAddressOf, forBrowsers } from '../address.ts'
import { ROLES, type Role } from '../audit/role.ts'
import { PRINTED_LINK_MINUTES, printLink } from '../people/links.ts'
import { changeRole, removeMember } from '../people/members.ts'
import { addOperator, operatorsOf, removeOperator } from '../people/operators.ts'
import type { Person } from '../people/person.ts'
import { find } from '../services/find.ts'
import { addUser } from '../services/people.ts'
import { listUsers, type TeamMember } from '../services/sql.ts'
import { type Command, SERVICE, UsageError, withStore } from './command.ts'
import { listing, minute, moment } from './print.ts'

const USER = { name: 'USER', sentence: 'E-mail address or id of the team member.' }

const OPERATOR_EMAIL = { name: 'EMAIL', sentence: 'E-mail address of the person.' }

export const commands: readonly Command[] = [
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
  {
    noun: 'user',
    verb: 'sign-in-link',
    args: [{ name: 'EMAIL', sentence: 'Their e-mail address.' }],
    sentence: 'Print a link that signs a person in to the console.',
    more: `For somebody who gets no mail, and for the first operator. It works once, in any browser, for ${PRINTED_LINK_MINUTES} minutes. Somebody who has it is signed in as that person. It is recorded who made it.`,
    examples: ['herald user sign-in-link ada@example.org'],
    run: withStore(async (store, input, operator) => {
      const { path, person } = await printLink(store, operator, input.text('EMAIL'))
      const link = forBrowsers(consoleAddressOf(store.config)) + path
      return {
        text: `${link}\nIt signs in ${person.name} <${person.email_address}>, once, within ${PRINTED_LINK_MINUTES} minutes.`,
        data: { link, name: person.name, email_address: person.email_address, minutes: PRINTED_LINK_MINUTES },
      }
    }),
  },
  {
    noun: 'operator',
    verb: 'add',
    args: [OPERATOR_EMAIL],
    options: [{ name: 'name', value: 'NAME', sentence: 'Name of somebody who is not known yet.' }],
    sentence: 'Make somebody an operator of the installation: all services and people, in the console.',
    more: 'Operators see messages of a service only after they have joined it, which is recorded.',
    examples: [
      'herald operator add grace@example.org --name "Grace Hale"',
      'herald user sign-in-link grace@example.org',
    ],
    run: withStore(async (store, input, operator) => {
      const name = input.maybe('name')
      const person = await addOperator(store, operator, {
        email_address: input.text('EMAIL'),
        ...(name !== undefined && { name }),
      })
      return { text: `${person.name} <${person.email_address}> is now an operator.`, data: presentPerson(person) }
    }),
  },
  {
    noun: 'operator',
    verb: 'list',
    sentence: 'List the operators of the installation.',
    run: withStore(async store => {
      const all = await operatorsOf(store)
      const rows = all.map(one => [
        one.id,
        one.name,
        one.email_address,
        one.last_seen_at === null ? null : minute(one.last_seen_at),
      ])
      return {
        text: listing(['ID', 'NAME', 'E-MAIL', 'LAST HERE'], rows, 'There is no operator yet.'),
        data: {
          operators: all.map(one => ({
            ...presentPerson(one),
            last_seen_at: one.last_seen_at && moment(one.last_seen_at),
          })),
        },
      }
    }),
  },
  {
    noun: 'operator',
    verb: 'remove',
    args: [OPERATOR_EMAIL],
    sentence: 'Make an operator an ordinary person again. The last operator stays.',
    run: withStore(async (store, input, operator) => {
      const person = await removeOperator(store, operator, input.text('EMAIL'))
      return {
        text: `${person.name} <${person.email_address}> is no longer an operator.`,
        data: presentPerson(person),
      }
    }),
  },
]

const presentPerson = ({ id, name, email_address, is_operator }: Person) => ({ id, name, email_address, is_operator })

const present = (user: TeamMember) => ({ ...user, created_at: moment(user.created_at) })
