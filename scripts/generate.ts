// Writes the files that are generated from the sources: src/cli/table.ts, src/client/api.ts, docs/errors.md, docs/settings.md,
// docs/cli.md, docs/providers.schema.json, docs/moving.schema.json, openapi.json, schema.sql.
// test/house.test.ts fails when one of them is out of date.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../src/db/connect.ts'
import { startEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { generated } from '../test/support/generated.ts'
import { schemaOf } from '../test/support/schema.ts'

const home = mkdtempSync(join(tmpdir(), 'herald-generate-'))
chmodSync(home, 0o711) // the server runs as nobody when we are root
const server = await startEmbedded(join(home, 'postgres'))
const db = connect(server, { size: 2, name: 'herald-generate', statementSeconds: 30, onIdleError: () => {} })
try {
  await migrate(db)
  const files = { ...(await generated()), 'schema.sql': await schemaOf(db.sql) }
  for (const [name, text] of Object.entries(files)) writeFileSync(name, text)
  console.log(`written: ${Object.keys(files).join(', ')}`)
} finally {
  await db.stop()
  await server.stop()
  rmSync(home, { recursive: true, force: true })
}
