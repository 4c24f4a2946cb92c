import type { Operator } from '../audit/actor.ts'
import { CHANNELS, type Channel, channelNames } from '../channels/index.ts'
import { type Id, readId } from '../core/id.ts'
import type { Store } from '../parts.ts'
import { namesOf } from '../rendering/placeholders.ts'
import { find } from '../services/find.ts'
import { createServices } from '../services/load.ts'
import type { ShownService } from '../services/sql.ts'
import { listVersions, wholeVersion } from '../templates/browse.ts'
import { type Comparison, compareVersions } from '../templates/compare.ts'
import { create } from '../templates/create.ts'
import { flat, pathText } from '../templates/folder.ts'
import { folderCalled, folderTree } from '../templates/folders.ts'
import { presentTemplate } from '../templates/present.ts'
import { read } from '../templates/read.ts'
import { refuse } from '../templates/refusals.ts'
import { page } from '../templates/sql/list.ts'
import { categories, type TemplateRow } from '../templates/sql.ts'
import { update } from '../templates/update.ts'
import { isAtTerminal } from './ask.ts'
import {
  type Argument,
  type Command,
  type CommandInput,
  type CommandOutput,
  type Option,
  SERVICE,
  UsageError,
  withStore,
} from './command.ts'
import { readGiven } from './given-file.ts'
import { diff, facts, firstLine, listing, minute, moment, painted, printable, SHORT_IDS, verbatim } from './print.ts'
import { templateStarting } from './template-start.ts'

const TEMPLATE: Argument = { name: 'TEMPLATE', sentence: 'Id of the template, or its first characters (at least 8).' }
const MOST = 1_000

const SUBJECT: Option = { name: 'subject', value: 'TEXT', sentence: 'Subject of an e-mail.' }
const CATEGORY: Option = {
  name: 'category',
  value: 'CATEGORY',
  sentence: 'Name or id of the category, which decides the priority of its messages.',
}
const FOLDER: Option = {
  name: 'folder',
  value: 'FOLDER',
  sentence: 'Folder: id, name, or path like "Permits / Renewals".',
}
const CONTENT: Option = {
  name: 'content-file',
  value: 'FILE',
  sentence: 'File with the content; - reads standard input.',
}

export const commands: readonly Command[] = [
  {
    noun: 'template',
    verb: 'list',
    args: [SERVICE],
    options: [
      { name: 'search', value: 'WORDS', sentence: 'Only templates with these words in name, subject or content.' },
      { name: 'archived', sentence: 'Archived templates instead.' },
    ],
    sentence: 'List the templates of a service, by name.',
    more: `Shows at most ${MOST}.`,
    run: withStore(async (store, input) => {
      const { sql } = store.db
      const service = await find(store, input.text('SERVICE'))
      const words = input.maybe('search')
      const wanted = { ...(words !== undefined && { words }), archived: input.has('archived') }
      const templates = await page(sql, service.id, wanted, null, MOST)
      const folders = new Map(flat(await folderTree(sql, service.id)).map(folder => [folder.id, pathText(folder)]))
      const folderOf = (id: Id | null) => (id === null ? null : (folders.get(id) ?? null))
      const rows = templates.map(one => [
        one.id,
        one.name,
        one.type,
        one.version,
        one.category_name,
        folderOf(one.folder_id),
        minute(one.updated_at ?? one.created_at),
      ])
      return {
        text: listing(
          ['ID', 'NAME', 'TYPE', 'VERSION', 'CATEGORY', 'FOLDER', 'CHANGED'],
          rows,
          `"${service.name}" has no such template.`,
          SHORT_IDS,
        ),
        data: {
          templates: templates.map(({ found: _, ...one }) => ({
            ...one,
            folder: folderOf(one.folder_id),
            created_at: moment(one.created_at),
            updated_at: moment(one.updated_at),
          })),
        },
      }
    }),
  },
  {
    noun: 'template',
    verb: 'show',
    args: [TEMPLATE],
    options: [{ name: 'version', value: 'N', number: true, sentence: 'This version. Default: the latest.' }],
    sentence: 'Show a template with its content and placeholders.',
    run: withStore(async (store, input) => {
      const { template, service } = await templateCalled(store, input)
      const number = input.number('version')
      if (typeof number !== 'number') return outputOf(template, service.name)
      const version = await wholeVersion(store.db.sql, service.id, template.id, number)
      return outputOf({ ...template, ...version, updated_at: version.made_at }, service.name)
    }),
  },
  {
    noun: 'template',
    verb: 'create',
    args: [SERVICE],
    options: [
      { name: 'name', value: 'NAME', required: true, sentence: 'Name of the template.' },
      { name: 'type', value: 'TYPE', choices: channelNames, required: true, sentence: 'E-mail or text message.' },
      { ...CATEGORY, required: true },
      SUBJECT,
      { ...CONTENT, required: true },
      FOLDER,
    ],
    sentence: 'Create a template.',
    examples: [
      'herald template create "Parking permits" --name Renewal --type email --category "Status update" --subject "Renew by ((date))" --content-file renewal.md',
    ],
    run: withStore(async (store, input, operator) => {
      const { id } = await find(store, input.text('SERVICE'))
      const service = await createServices(store.db.sql, store.clock, store.config).get(id)
      if (!service) throw refuse.notFound()
      const type = input.text('type') as Channel
      const subject = input.maybe('subject')
      if (CHANNELS[type].template.hasSubject && subject === undefined)
        throw new UsageError('--subject is missing: an e-mail has one.')
      const created = await create(store, operator, service, {
        name: input.text('name'),
        template_type: type,
        content: readGiven(input.text('content-file')),
        ...(subject !== undefined && { subject }),
        template_category_id: await categoryCalled(store, input.text('category')),
        ...(input.has('folder') && { parent_folder_id: await folderOf(store, id, input.text('folder')) }),
      })
      return outputOf(created, service.name)
    }),
  },
  {
    noun: 'template',
    verb: 'edit',
    args: [TEMPLATE],
    options: [{ name: 'name', value: 'NAME', sentence: 'New name.' }, SUBJECT, CONTENT, CATEGORY, FOLDER],
    sentence: 'Change a template: a new version. What is not given stays as it is.',
    more: 'Without options, on a terminal, it opens the template in the editor that VISUAL or EDITOR names, and saves what you have changed. The file has the form of templates as code. Accepted messages keep their version.',
    examples: [
      'herald template edit 0190a1b2-…',
      'herald template edit 0190a1b2-… --subject "Renew by ((date))" --content-file renewal.md',
    ],
    run: withStore(async (store, input, operator, io) => {
      const { template, service } = await templateCalled(store, input)
      const isAsked = ['name', 'subject', 'content-file', 'category', 'folder'].some(input.has)
      if (!isAsked && isAtTerminal()) {
        io.progress.end()
        return editTemplate(store, operator, service, template)
      }
      const [name, subject] = [input.maybe('name'), input.maybe('subject')]
      const changes = {
        ...(name !== undefined && { name }),
        ...(subject !== undefined && { subject }),
        ...(input.has('content-file') && { content: readGiven(input.text('content-file')) }),
        ...(input.has('category') && { template_category_id: await categoryCalled(store, input.text('category')) }),
        ...(input.has('folder') && { parent_folder_id: await folderOf(store, service.id, input.text('folder')) }),
      }
      if (Object.keys(changes).length === 0)
        throw new UsageError(
          'Give at least one option that says what to change. On a terminal the template opens in an editor.',
        )
      const options = { expectedVersion: template.version }
      return outputOf(await update(store, operator, service.id, template.id, changes, options), service.name)
    }),
  },
  {
    noun: 'template',
    verb: 'versions',
    args: [TEMPLATE],
    options: [{ name: 'below', value: 'N', number: true, sentence: 'Only versions before this one.' }],
    sentence: 'List the versions of a template, newest first.',
    more: 'Shows 50; the last line says how to see older ones.',
    run: withStore(async (store, input) => {
      const { template, service } = await templateCalled(store, input)
      const { versions, hasOlder } = await listVersions(
        store.db.sql,
        service.id,
        template.id,
        input.number('below') ?? null,
      )
      const rows = versions.map(one => [one.version, one.name, one.created_by, minute(one.made_at)])
      const more = `Older ones: herald template versions ${template.id} --below ${versions.at(-1)?.version}`
      return {
        text: [
          listing(['VERSION', 'NAME', 'BY', 'CREATED'], rows, 'There is no such version.'),
          ...(hasOlder ? [more] : []),
        ],
        data: { versions: versions.map(one => ({ ...one, made_at: moment(one.made_at) })), has_older: hasOlder },
      }
    }),
  },
  {
    noun: 'template',
    verb: 'diff',
    args: [TEMPLATE],
    options: [
      { name: 'from', value: 'N', number: true, sentence: 'The older version. Default: the one before the other.' },
      { name: 'to', value: 'N', number: true, sentence: 'The newer version. Default: the latest.' },
    ],
    sentence: 'Show what differs between two versions of a template.',
    examples: ['herald template diff 0190a1b2-…', 'herald template diff 0190a1b2-… --from 3 --to 7'],
    run: withStore(async (store, input) => {
      const { template, service } = await templateCalled(store, input)
      const to = input.number('to') ?? template.version
      const from = input.number('from') ?? to - 1
      if (from < 1) throw new UsageError('The first version has none before it.')
      const both = [from, to].map(number => wholeVersion(store.db.sql, service.id, template.id, number))
      const [before, after] = await Promise.all(both)
      if (!before || !after) throw refuse.notFound()
      const compared = compareVersions(before, after)
      const head = `"${firstLine(after.name)}", version ${from} to ${to}`
      return {
        text: [painted('bold', head), '', diff(comparisonText(compared))],
        data: { id: template.id, from, to, ...compared },
      }
    }),
  },
  {
    noun: 'template',
    verb: 'set',
    args: [TEMPLATE],
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
      const { template: before, service } = await templateCalled(store, input)
      const literalValues = input.text('values') === 'plain'
      const template = await update(store, operator, service.id, before.id, {}, { literalValues })
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

async function editTemplate(
  store: Store,
  operator: Operator,
  service: ShownService,
  template: TemplateRow,
): Promise<CommandOutput> {
  const folders = flat(await folderTree(store.db.sql, service.id))
  const folder = folders.find(({ id }) => id === template.folder_id)
  const { edited } = await import('./editor.ts')
  const file = { ...template, category: template.category_name, folder: folder ? pathText(folder) : null, samples: [] }
  const saved = await edited(file, async after => {
    const { name, subject, content, category, literal_values: literalValues } = after
    const changes = {
      ...{ name, content, ...(subject !== null && { subject }) },
      template_category_id: await categoryCalled(store, category),
      parent_folder_id: after.folder === null ? null : await folderOf(store, service.id, after.folder),
    }
    const options = { expectedVersion: template.version, literalValues }
    return update(store, operator, service.id, template.id, changes, options)
  })
  if (saved) return outputOf(saved, service.name)
  return { text: 'Nothing was changed.', data: presentTemplate(template, { name: service.name }) }
}

async function templateCalled(store: Store, input: CommandInput) {
  const { template: id, owner } = await templateStarting(store.db.sql, 'TEMPLATE', input.text('TEMPLATE'))
  if (!owner) throw refuse.notFound()
  const service = await find(store, owner)
  return { service, template: await read(store.db.sql, service.id, id) }
}

/** By its id, or by its name in any case of letters. */
export async function categoryCalled(store: Store, text: string): Promise<Id> {
  const all = await categories(store.db.sql)
  const found = all.find(({ id, name }) => id === readId(text) || name.toLowerCase() === text.trim().toLowerCase())
  if (!found)
    throw new UsageError(`There is no category "${text}". Categories: ${all.map(({ name }) => name).join(', ')}.`)
  return found.id
}

export const folderOf = async (store: Store, service: Id, text: string): Promise<Id> =>
  folderCalled(flat(await folderTree(store.db.sql, service)), text).id

function outputOf(template: TemplateRow, serviceName: string): CommandOutput {
  const placeholders = namesOf(template)
  const text = facts([
    ['id', template.id],
    ['name', firstLine(template.name)],
    ['service', serviceName],
    ['type', template.type],
    ['version', template.version],
    ['category', template.category_name],
    ['values', template.literal_values ? 'plain' : 'formatted'],
    ['placeholders', placeholders.map(firstLine).join(', ') || null],
    ['archived', template.archived],
    ['created', minute(template.created_at)],
    ['changed', minute(template.updated_at)],
    ...(template.subject === null ? [] : [['subject', firstLine(template.subject)] as const]),
  ])
  const data = presentTemplate(template, { name: serviceName })
  return { text: [text, '', verbatim(printable(template.content))], data: { ...data, placeholders } }
}

/** As diff prints it: lines with - and +, and three lines around them. */
export function comparisonText({ changes, placeholders }: Comparison): string {
  if (changes.length === 0) return 'Nothing differs.'
  const names = (list: readonly string[], sign: string) => list.map(name => `${sign} ((${firstLine(name)}))`)
  const changed = [...names(placeholders.removed, '-'), ...names(placeholders.added, '+')]
  const SIGNS = { same: ' ', removed: '-', added: '+' } as const
  return [
    ...(changed.length > 0 ? ['placeholders:', ...changed, ''] : []),
    ...changes.flatMap(({ field, diff }) => [
      `${field}:`,
      ...diff.rows.map(row =>
        row.sign === 'skipped'
          ? `  … ${row.lines} lines`
          : `${SIGNS[row.sign]} ${printable(row.pieces.map(({ text }) => text).join(''))}`,
      ),
      '',
    ]),
  ]
    .join('\n')
    .trimEnd()
}
