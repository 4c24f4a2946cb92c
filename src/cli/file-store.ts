import { createFilePlace } from '../delivery.ts'
import { adoptFileStore } from '../installation/installation.ts'
import { createLog } from '../telemetry/log.ts'
import { type Command, withStore } from './command.ts'

export const commands: readonly Command[] = [
  {
    noun: 'file-store',
    verb: 'adopt',
    sentence: 'Declare that the contents of files are now in the store that the settings name.',
    more: 'Every start compares its file store with that of the other machines, and refuses to run with another one. Use this command after the contents were moved: to another bucket, or when HERALD_FILE_STORE is changed. It moves nothing; contents that are not in the new store are lost to their messages. Processes that run keep their store until they are restarted.',
    examples: ['HERALD_S3_BUCKET=herald-files-2 herald file-store adopt'],
    run: withStore(async (store, _input, operator) => {
      const files = createFilePlace(store, createLog('silent'))
      try {
        const place = await adoptFileStore(store, operator, files.store)
        return { text: `The contents of files are in ${place}.`, data: { file_store: place } }
      } finally {
        await files.stop()
      }
    }),
  },
]
