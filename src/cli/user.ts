import { find } from '../services/find.ts'
import { addUser, dropUser } from '../services/people.ts'
import { listUsers, type TeamMember } from '../services/sql.ts'
import { type Command, SERVICE, withStore } from './command.ts'
import { listing, minute, moment } from './print.ts'

export const userCommands: readonly Command[] = [
  {
    noun: 'user',
    verb: 'add',
    args: [SERVICE],
    options: [
      { name: 'name', value: 'NAME', required: true, sentence: 'Name of the person.' },
      { name: 'email', value: 'EMAIL', required: true, sentence: 'Their e-mail address.' },
      { name: 'phone', value: 'NUMBER', sentence: 'Their phone number, with the country code: +16135550123.' },
    ],
    sentence: 'Add a team member. Trial services and team keys may send to team members.',
    examples: ['herald user add "Parking permits" --name "Ada Park" --email ada@example.org'],
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const phone = input.maybe('phone')
      const user = await addUser(store, operator, service.id, {
        name: input.text('name'),
        email_address: input.text('email'),
        ...(phone !== undefined && { phone_number: phone }),
      })
      return {
        text: `Added ${user.name} <${user.email_address}> to the team of "${service.name}".`,
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
        minute(user.created_at),
      ])
      return {
        text: listing(['ID', 'NAME', 'E-MAIL', 'PHONE', 'ADDED'], rows, `"${service.name}" has no team member yet.`),
        data: { users: users.map(present) },
      }
    }),
  },
  {
    noun: 'user',
    verb: 'remove',
    args: [SERVICE, { name: 'USER', sentence: 'E-mail address or id of the team member.' }],
    sentence: 'Remove a member from the team of a service.',
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const user = await dropUser(store, operator, service.id, input.text('USER'))
      return {
        text: `Removed ${user.name} <${user.email_address}> from the team of "${service.name}".`,
        data: present(user),
      }
    }),
  },
]

const present = (user: TeamMember) => ({ ...user, created_at: moment(user.created_at) })
