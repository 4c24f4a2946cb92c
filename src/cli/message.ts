import { readId } from '../core/id.ts'
import { historyOf } from '../notifications/history.ts'
import { type Command, UsageError, withStore } from './command.ts'
import { facts, minute } from './print.ts'

export const messageCommands: readonly Command[] = [
  {
    noun: 'message',
    verb: 'show',
    args: [{ name: 'ID', sentence: 'Id of the message, as the API returned it.' }],
    sentence: 'Show the status of a message and its reason.',
    more: 'The diagnosis is the text of the mail server, from a bounce or from its refusal of the recipient. It may name the recipient, so it is stored sealed and purged with the message.',
    examples: ['herald message show 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'],
    run: withStore(async (store, input) => {
      const named = input.text('ID')
      const id = readId(named)
      const found = id && (await historyOf(store, id))
      if (!found) throw new UsageError(`There is no message ${named}.`)
      return {
        text: facts([
          ['id', found.id],
          ['service', found.service_id],
          ['type', found.channel],
          ['status', `${found.status} (${found.description})`],
          ['statuses so far', found.moves.join(', ')],
          ['sent', minute(found.sent_at)],
          ['completed', minute(found.completed_at)],
          ['provider', found.provider],
          ['attempts', found.attempts],
          ['maybe sent twice', found.uncertain],
          ['provider response', found.provider_response],
          ['detail', found.detail],
          ['diagnosis', found.diagnosis],
        ]),
        data: { message: found },
      }
    }),
  },
]
