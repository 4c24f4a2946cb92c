// Templates as code: the templates of a service as a folder of files (docs/templates-as-code.md).
import { CHANNELS } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Store } from '../parts.ts'
import { namesOf } from '../rendering/placeholders.ts'
import { find } from '../services/find.ts'
import { createServices } from '../services/load.ts'
import { type Comparison, compareVersions } from '../templates/compare.ts'
import { create } from '../templates/create.ts'
import { flat, pathText } from '../templates/folder.ts'
import { folderTree } from '../templates/folders.ts'
import { list, read } from '../templates/read.ts'
import { refuse } from '../templates/refusals.ts'
import type { TemplateRow } from '../templates/sql.ts'
import { update } from '../templates/update.ts'
import { type Argument, type Command, type Io, SERVICE, UsageError, withStore } from './command.ts'
import { counted, diff, firstLine, painted } from './print.ts'
import { categoryCalled, comparisonText, folderOf } from './template.ts'
import {
  newPath,
  type Rendering,
  readFolder,
  type Sample,
  type TemplateFile,
  takenBy,
  writeSamples,
  writeTemplate,
} from './template-files.ts'

const FOLDER: Argument = { name: 'FOLDER', sentence: 'Folder of the files.' }

export const commands: readonly Command[] = [
  {
    noun: 'templates',
    verb: 'pull',
    args: [SERVICE, FOLDER],
    options: [{ name: 'force', sentence: 'Also replace files that differ from the version they were pulled from.' }],
    sentence: 'Write the templates of a service to a folder, a file each.',
    more: 'A file that exists for a template is replaced under its name. Samples are never changed. Archived templates are left out.',
    examples: ['herald templates pull "Parking permits" templates/'],
    run: withStore(async (store, input, _, io) => {
      const service = await find(store, input.text('SERVICE'))
      const folder = input.text('FOLDER')
      const files = readFolderOrNone(folder)
      const taken = takenBy(files)
      const known = new Map(files.map(file => [file.id, file]))
      const current = await templatesOf(io, store, service.id)
      const changed = current.map(row => ({ row, file: known.get(row.template.id) }))
      const edited = []
      for (const { row, file } of changed)
        if (file && (await isEdited(store, service.id, file, row))) edited.push(file.path)
      if (edited.length > 0 && !input.has('force'))
        throw new Error(
          `These files have changes that are not pushed: ${edited.join(', ')}. Push them first, or replace them with --force.`,
        )
      const paths = changed.map(({ row, file }) => {
        const path = file?.path ?? newPath(folder, row.template, taken)
        writeTemplate(fileOf(row, path, file?.samples ?? []))
        return path
      })
      return {
        text: `Pulled ${counted(paths.length, 'template')} of "${service.name}" to ${folder}.`,
        data: { files: paths },
      }
    }),
  },
  {
    noun: 'templates',
    verb: 'diff',
    args: [SERVICE, FOLDER],
    sentence: 'Show what a push would change, and what would break callers.',
    more: 'Exit code 1 if anything differs.',
    run: withStore(async (store, input, _, io) => {
      const { id } = await find(store, input.text('SERVICE'))
      const { changes, absent } = await planOf(io, store, id, readFolder(input.text('FOLDER')))
      const text = [
        ...changes.map(changeText),
        ...absent.map(({ template }) => `only in the service: "${firstLine(template.name)}" (${template.id})`),
      ]
      return {
        text: diff(text.join('\n\n') || 'Nothing differs.'),
        data: { changes: changes.map(presentChange), only_in_service: absent.map(({ template }) => template.id) },
        ...(changes.length > 0 && { failed: true as const }),
      }
    }),
  },
  {
    noun: 'templates',
    verb: 'push',
    args: [SERVICE, FOLDER],
    options: [
      { name: 'dry-run', sentence: 'Only check and say what would change.' },
      { name: 'allow-breaking', sentence: 'Also push changes that break callers.' },
    ],
    sentence: 'Create and change templates of a service from a folder of files.',
    more: 'All samples are tested first, and nothing is pushed if one fails. A change breaks callers if it adds a placeholder: requests without its value are refused. A template that somebody else has changed since it was pulled is not overwritten. Files get the id and the version of what was pushed. Templates without a file stay as they are.',
    examples: ['herald templates push "Parking permits" templates/ --dry-run'],
    run: withStore(async (store, input, operator, io) => {
      const { id } = await find(store, input.text('SERVICE'))
      const service = await createServices(store.db.sql, store.clock, store.config).get(id)
      if (!service) throw refuse.notFound()
      const files = readFolder(input.text('FOLDER'))
      const failures = testAll(io, files).filter(({ ok }) => !ok)
      if (failures.length > 0)
        throw new Error(`Samples fail. Nothing was pushed.\n${failures.map(resultText).join('\n')}`)
      const { changes } = await planOf(io, store, id, files)
      const stale = changes.filter(({ file, row }) => row && file.version !== row.template.version)
      if (stale.length > 0)
        throw new Error(
          `Somebody has changed templates since they were pulled: ${stale.map(({ file, row }) => `${file.path} (version ${row?.template.version})`).join(', ')}. Nothing was pushed. Pull them first.`,
        )
      const breaking = changes.filter(change => change.breaks.length > 0)
      if (breaking.length > 0 && !input.has('allow-breaking'))
        throw new Error(
          [
            'These changes break callers. Nothing was pushed; --allow-breaking pushes them.',
            ...breaking.map(({ file, breaks }) => `  ${file.path}: ${breakText(breaks)}`),
          ].join('\n'),
        )
      if (!input.has('dry-run'))
        for (const [at, { file, row }] of changes.entries()) {
          io.progress.show('Pushing templates', at, changes.length)
          const body = {
            ...{ name: file.name, content: file.content, ...(file.subject !== null && { subject: file.subject }) },
            template_category_id: await categoryCalled(store, file.category),
          }
          const parent_folder_id = file.folder === null ? null : await folderOf(store, id, file.folder)
          let saved: TemplateRow
          if (row) {
            const options = { expectedVersion: row.template.version, literalValues: file.literal_values }
            saved = await update(store, operator, id, row.template.id, { ...body, parent_folder_id }, options)
          } else {
            const folder = parent_folder_id === null ? {} : { parent_folder_id }
            saved = await create(store, operator, service, { ...body, template_type: file.type, ...folder })
            if (file.literal_values) saved = await update(store, operator, id, saved.id, {}, { literalValues: true })
          }
          // At once: if a later one fails, the files say what was pushed.
          writeTemplate({ ...file, id: saved.id, version: saved.version })
        }
      const did = input.has('dry-run') ? 'Would push' : 'Pushed'
      return {
        text: [`${did} ${changes.length} of ${counted(files.length, 'template')}.`, ...changes.map(headText)].join(
          '\n',
        ),
        data: { pushed: !input.has('dry-run'), changes: changes.map(presentChange) },
      }
    }),
  },
  {
    noun: 'templates',
    verb: 'test',
    args: [FOLDER],
    options: [{ name: 'update', sentence: 'Write what is rendered now into the samples as what is expected.' }],
    sentence: 'Render the samples of a folder and compare them with what is expected.',
    more: 'Needs no database and no settings. Exit code 1 if a sample fails.',
    examples: ['herald templates test templates/'],
    run: async (io, input) => {
      const files = readFolder(input.text('FOLDER'))
      if (input.has('update'))
        for (const file of files)
          if (file.samples.length > 0)
            writeSamples(
              file.path,
              file.samples.map(sample => ({ ...sample, expected: rendered(file, sample) })),
            )
      const results = testAll(io, input.has('update') ? readFolder(input.text('FOLDER')) : files)
      const failed = results.filter(({ ok }) => !ok)
      const summary = `${counted(files.length, 'template')}, ${counted(results.length, 'sample')}, ${failed.length} failed.`
      return {
        text: [...failed.map(one => diff(resultText(one))), painted(failed.length === 0 ? 'green' : 'red', summary)],
        data: { ok: failed.length === 0, results },
        ...(failed.length > 0 && { failed: true as const }),
      }
    },
  },
]

type Row = { template: TemplateRow; folder: string | null }

async function templatesOf(io: Io, store: Store, service: Id): Promise<Row[]> {
  const { sql } = store.db
  const folders = new Map(flat(await folderTree(sql, service)).map(folder => [folder.id, pathText(folder)]))
  const ids: Id[] = []
  for await (const page of list(sql, service, null)) ids.push(...page.map(({ id }) => id))
  const rows: Row[] = []
  for (const id of ids) {
    io.progress.show('Reading templates', rows.length, ids.length)
    const template = await read(sql, service, id)
    rows.push({ template, folder: template.folder_id === null ? null : (folders.get(template.folder_id) ?? null) })
  }
  return rows
}

const readFolderOrNone = (folder: string): TemplateFile[] => {
  try {
    return readFolder(folder)
  } catch (error) {
    if (error instanceof UsageError && error.message.endsWith('does not exist.')) return []
    throw error
  }
}

const fileOf = ({ template, folder }: Row, path: string, samples: readonly Sample[]): TemplateFile => ({
  ...template,
  path,
  category: template.category_name,
  folder,
  samples,
})

type Change = { file: TemplateFile; row: Row | null; compared: Comparison | null; breaks: readonly string[] }

async function planOf(io: Io, store: Store, service: Id, files: readonly TemplateFile[]) {
  const current = new Map((await templatesOf(io, store, service)).map(row => [row.template.id, row]))
  const changes: Change[] = []
  for (const file of files) {
    const row = file.id === null ? null : (current.get(file.id) ?? null)
    if (file.id !== null && !row)
      throw new UsageError(
        `${file.path}: the service has no template ${file.id}. Remove the id and the version to create it.`,
      )
    if (row && row.template.type !== file.type)
      throw new UsageError(
        `${file.path}: a template cannot change its type. Remove the id and the version to create another.`,
      )
    if (file.id !== null) current.delete(file.id)
    const compared = row && compareVersions(row.template, { ...file, category_name: file.category })
    if (compared && compared.changes.length === 0 && row.folder === file.folder) continue
    changes.push({ file, row, compared, breaks: compared?.placeholders.added ?? [] })
  }
  return { changes, absent: [...current.values()] }
}

/** Whether the file differs from the version that it was pulled from. */
async function isEdited(store: Store, service: Id, file: TemplateFile, row: Row): Promise<boolean> {
  const { wholeVersion } = await import('../templates/browse.ts')
  const before =
    file.version === null ? row.template : await wholeVersion(store.db.sql, service, row.template.id, file.version)
  return compareVersions(before, { ...file, category_name: file.category }).changes.length > 0
}

const breakText = (names: readonly string[]) =>
  `requests without ${names.map(name => `((${firstLine(name)}))`).join(', ')} would be refused`

const headText = ({ file, row, breaks }: Change) =>
  `${row ? 'change' : 'create'} ${file.path}: "${firstLine(file.name)}"${breaks.length > 0 ? `; breaking: ${breakText(breaks)}` : ''}`

const changeText = (change: Change) =>
  change.compared ? `${headText(change)}\n${comparisonText(change.compared)}` : headText(change)

const presentChange = ({ file, row, compared, breaks }: Change) => ({
  file: file.path,
  id: row?.template.id ?? null,
  does: row ? 'change' : 'create',
  breaks,
  fields: compared?.changes.map(({ field }) => field) ?? null,
  placeholders: compared?.placeholders ?? { added: namesOf(file), removed: [] },
})

type Result = {
  file: string
  sample: string
  ok: boolean
  problem: string | null
  expected?: Rendering
  got?: Rendering
}

const testAll = (io: Io, files: readonly TemplateFile[]): Result[] =>
  files.flatMap((file, at) => {
    io.progress.show('Rendering samples', at, files.length)
    return tested(file)
  })

function tested(file: TemplateFile): Result[] {
  return file.samples.map(sample => {
    const base = { file: file.path, sample: sample.name }
    const compiled = CHANNELS[file.type].template.compile(file)
    const absent = compiled.compiled.unsendable(sample.values)
    if (absent.length > 0) return { ...base, ok: false, problem: `no value for ${absent.join(', ')}` }
    const got = rendered(file, sample)
    const { expected } = sample
    const isSame = !expected || (expected.subject === got.subject && expected.body === got.body)
    return { ...base, ok: isSame, problem: isSame ? null : 'renders differently', ...(expected && { expected, got }) }
  })
}

/** As the recipient reads it, without the name of the service before a text message. */
const rendered = (file: TemplateFile, { values }: Sample): Rendering =>
  CHANNELS[file.type].template.compile(file).received(values, null)

function resultText({ file, sample, problem, expected, got }: Result): string {
  const head = `FAILED ${file}, "${firstLine(sample)}": ${problem}`
  if (!expected || !got) return head
  const version = ({ subject, body }: Rendering) => ({
    ...{ name: '', category_name: '', literal_values: false, subject, content: body },
  })
  return `${head}\n${comparisonText({ ...compareVersions(version(expected), version(got)), placeholders: { added: [], removed: [] } })}`
}
