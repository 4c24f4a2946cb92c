// Two processes on one port under the built supervisor, with nothing of Herald beside it. The first argument is the port.
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { supervise } from '../../dist/processes/supervise.js'

const [, , given = ''] = process.argv
if (given.startsWith('{')) {
  const port = Number(process.env.PORT)
  createServer((_request, response) => response.end(String(process.pid))).listen(port, '127.0.0.1', () =>
    process.send?.({ herald: 'started', place: { address: '', port, console: null, consolePort: port } }),
  )
} else {
  process.env.PORT = given
  const say = (_fields, sentence) => console.info(sentence)
  const { started } = supervise(
    [1, 2].map(at => ({ at, of: 2, engines: 0, only: null, isAgain: false })),
    {
      entry: fileURLToPath(import.meta.url),
      nameOf: ({ at }) => `process ${at}`,
      log: { info: say, warn: say, error: say },
    },
  )
  await started
  console.info('all processes have started')
}
