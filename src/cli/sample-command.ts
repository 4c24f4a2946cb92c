// Beside sample.ts, which main.ts needs, because commands need main.ts.
import type { Config } from '../config.ts'
import { type Command, withStore } from './command.ts'
import { curlLine, makeSample, sampleText } from './sample.ts'

export const sampleCommands: readonly Command[] = [
  {
    noun: 'sample',
    options: [
      {
        name: 'show-keys',
        sentence: 'Make and show the team key and the live key too. On a terminal they always are.',
      },
    ],
    sentence: 'Make one more sample service, with keys, templates and a line to paste.',
    more: 'The first start on an empty embedded database makes one by itself; on a database of your own only this command does.',
    run: (io, given) =>
      withStore(async store => {
        const sample = await makeSample(store, given.has('show-keys') || io.isTerminal ? 'all' : 'test')
        const address = addressIn(store.config)
        return {
          text: `${sampleText(sample, address)}\nThe line works while the service runs: herald start`,
          data: { ...sample, curl: curlLine(sample, address) },
        }
      })(io, given),
  },
]

/** Where the service is when it runs with these settings. */
export function addressIn({ baseUrl, host, port }: Pick<Config, 'baseUrl' | 'host' | 'port'>): string {
  if (baseUrl) return baseUrl
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}
