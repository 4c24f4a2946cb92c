import { readId } from '../core/id.ts'
import { find } from '../services/find.ts'
import { refuse } from '../templates/refusals.ts'
import { serviceOfTemplate } from '../templates/sql.ts'
import { update } from '../templates/update.ts'
import { type Command, withStore } from './command.ts'
import { facts, firstLine } from './print.ts'

export const commands: readonly Command[] = [
  {
    noun: 'template',
    verb: 'set',
    args: [{ name: 'TEMPLATE', sentence: 'Id of the template.' }],
    options: [
      {
        name: 'values',
        value: 'HOW',
        choices: ['plain', 'formatted'],
        required: true,
        sentence: 'plain: values are shown as they are; formatted: Markdown in values becomes links, lists, headings.',
      },
    ],
    sentence: 'Set how an e-mail template treats Markdown in values.',
    more: 'Use plain for values that come from the public: a name like [click here](https://…) must not become a link. The command creates a new version of the template. Accepted messages keep their version; later edits keep the setting.',
    examples: ['herald template set 0190a1b2-… --values plain'],
    run: withStore(async (store, input, operator) => {
      const id = readId(input.text('TEMPLATE'))
      const owner = id && (await serviceOfTemplate(store.db.sql, id))
      if (!id || !owner) throw refuse.notFound()
      const service = await find(store, owner)
      const literalValues = input.text('values') === 'plain'
      const template = await update(store, operator, service.id, id, {}, { literalValues })
      const values = template.literal_values ? 'plain' : 'formatted'
      return {
        text: facts([
          ['id', template.id],
          ['name', firstLine(template.name)],
          ['version', template.version],
          ['values', values],
        ]),
        data: { id: template.id, name: template.name, version: template.version, values },
      }
    }),
  },
]
