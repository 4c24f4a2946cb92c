// A reporter of one line for each failed test, before the long reports: so that the names are found in a cut log, by scripts/repeat.sh and
// by .ci/run.
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

export default class Red implements Reporter {
  onTestRunEnd(files: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const file of files) {
      const name = relative(process.cwd(), file.moduleId)
      for (const part of [file, ...file.children.allSuites()])
        for (const error of part.errors()) say(`${name} could not run: ${firstLine(error.message)}`)
      for (const test of file.children.allTests('failed'))
        say(`${name} > ${test.fullName}: ${firstLine(test.result().errors?.[0]?.message ?? '')}`)
    }
    for (const error of unhandled) say(`outside of a test: ${firstLine(error.message)}`)
  }
}

const say = (line: string) => process.stdout.write(`RED ${line}\n`)

const firstLine = (text: string) => (text.split('\n', 1)[0] ?? '').slice(0, 200)
