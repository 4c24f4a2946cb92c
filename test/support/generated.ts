// The generated files as they should be now.
import { existsSync, readdirSync } from 'node:fs'
import { cliReference } from '../../src/cli/reference.ts'
import { settingsTable } from '../../src/config/index.ts'
import type { Sentences } from '../../src/core/refusal.ts'
import { sentences as files } from '../../src/files/file.ts'
import { answerOf } from '../../src/http/errors.ts'
import { sentences as validation } from '../../src/http/validation.ts'
import { sentences as sizes } from '../../src/notifications/personalisation.ts'
import { sentences as values } from '../../src/rendering/values.ts'
import { openApi } from '../../src/routes.ts'

export async function generated(): Promise<Record<string, string>> {
  return {
    'docs/errors.md': await errors(),
    'docs/settings.md': settings(),
    'docs/cli.md': cliReference(),
    'openapi.json': `${JSON.stringify(openApi(), null, 2)}\n`,
  }
}

const NOTE = 'Made by `npm run generate`; do not edit.'

async function errors(): Promise<string> {
  const rooms = readdirSync('src').filter(room => existsSync(`src/${room}/refusals.ts`))

  const tables: string[] = []
  for (const room of rooms) {
    const { sentences } = (await import(`../../src/${room}/refusals.ts`)) as { sentences: Sentences }
    const rows = Object.values(sentences).map(([kind, sentence]) => {
      const [status, name] = answerOf(kind)
      return `| ${status} | ${name} | ${cell(sentence)} |`
    })
    tables.push(`## ${room}\n\n| status | error | message |\n|---|---|---|\n${rows.join('\n')}`)
  }
  const fields = [...validation, ...values, ...sizes, ...files].map(
    sentence => `| 400 | ValidationError | ${cell(sentence)} |`,
  )
  return `# Errors

Every no that Herald can say, word for word. ${NOTE}

A failure is always \`{"errors": [{"error", "message"}], "status_code"}\`. 4xx means that nothing was stored or changed.
\`<parts>\` in angle brackets are filled in. A ValidationError may hold several entries, every other error holds one.
A fault of ours is 500, \`Exception\`, \`Internal server error\`: whether a send was stored is then unknown. Retry it with the
same \`Idempotency-Key\`.

## Fields

| status | error | message |
|---|---|---|
${fields.join('\n')}

${tables.join('\n\n')}
`
}

const cell = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

function settings(): string {
  const rows = settingsTable().map(
    ({ name, shown, sentence, secret }) => `| \`${name}\` | ${shown} | ${sentence}${secret ? ' Secret.' : ''} |`,
  )
  return `# Settings

Settings come from the environment and from a settings file ([running.md](running.md)); the environment decides. ${NOTE}

Each has a variant that ends in \`_FILE\` and names a file to read the value from, for secrets kept by the platform.
Every problem is listed at once, before anything is touched; \`npx herald doctor\` shows them too.

| setting | default | meaning |
|---|---|---|
${rows.join('\n')}
`
}
