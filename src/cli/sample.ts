import { addressOf } from '../address.ts'
import { makeSample, type Sample } from '../sample.ts'
import { type Command, withStore } from './command.ts'
import { type Block, facts } from './print.ts'

export const commands: readonly Command[] = [
  {
    noun: 'sample',
    options: [
      {
        name: 'show-keys',
        sentence: 'Also create and show the team key and the live key. On a terminal they are always created.',
      },
    ],
    sentence: 'Create another sample service with keys, templates and a command to try it.',
    more: 'The first start on an empty embedded database creates one. On an external database only this command does.',
    run: (io, input) =>
      withStore(async (store, _, operator) => {
        const sample = await makeSample(store, operator, input.has('show-keys') || io.isTerminal ? 'all' : 'test')
        const address = addressOf(store.config)
        return {
          text: [...sampleText(sample, address), 'The command works while the service runs: herald start'],
          data: { ...sample, curl: curlLine(sample, address) },
        }
      })(io, input),
  },
]

const NOT_SHOWN = 'only on a terminal, or by: herald sample --show-keys'

export function sampleText(sample: Sample, address: string): readonly Block[] {
  const { service, keys, user, templates } = sample
  return [
    '',
    `A sample service is ready: "${service.name}" (${service.mode}). Keys cannot be shown again; keep them if you need them.`,
    '',
    facts([
      ['  service id', service.id],
      ['  test key', keys.test],
      ['  team key', keys.team ?? NOT_SHOWN],
      ['  live key', keys.live ?? NOT_SHOWN],
      ['  e-mail template', `${templates.email.id}  ${templates.email.name}`],
      ['  text template', `${templates.sms.id}  ${templates.sms.name}`],
      ['  team member', `${user.id}  ${user.name}, ${user.email_address}, ${user.phone_number}`],
      ['  reply-to address', `${sample.reply_to.id}  ${sample.reply_to.email_address}`],
      ['  text sender', `${sample.sender.id}  ${sample.sender.sender}`],
      ['  safelist', `${sample.safelist.id}  ${sample.safelist.recipient}`],
      ['  template folder', `${sample.folder.id}  ${sample.folder.name}`],
    ]),
    '',
    `Run this command to send a message with the e-mail template (documentation: ${address}/docs):`,
    '',
    curlLine(sample, address),
    '',
  ]
}

/** A command that sends a message with the test key: everything happens but the delivery. */
export const curlLine = ({ keys, templates, user }: Sample, address: string) =>
  `curl -sS '${address}/v2/notifications/email'` +
  ` -H 'Authorization: ApiKey-v1 ${keys.test}' -H 'Content-Type: application/json'` +
  ` -d '${JSON.stringify({ template_id: templates.email.id, email_address: user.email_address, personalisation: { name: 'Ada' } })}'`
