// The project's own vectors; `npm run vectors -- <folder>` runs any other folder the same way.

import { describe, expect, test } from 'vitest'
import { readFolder, runVector } from './support/vectors/run.ts'

for (const { file, vectors } of readFolder('test/vectors')) {
  describe(file, () => {
    test.each(vectors)('$id', vector => {
      const { actual, expected } = runVector(file, vector)
      expect(actual).toStrictEqual(expected)
    })
  })
}
