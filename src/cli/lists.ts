// Commands for the lists of a service: reply-to addresses, text senders, safelist, folders.
import { find } from '../services/find.ts'
import { addOrigin, dropOrigin } from '../services/origins.ts'
import { addToSafelist, dropFromSafelist } from '../services/safelist.ts'
import { listOrigins, type NewOrigin, type OriginKind } from '../services/sql/origins.ts'
import { listSafelist } from '../services/sql.ts'
import { flat, type PlacedFolder, pathText } from '../templates/folder.ts'
import { addFolder, changeFolder, dropFolder, folderCalled, folderTree } from '../templates/folders.ts'
import type { Folder } from '../templates/sql/folders.ts'
import { type Command, SERVICE, withStore } from './command.ts'
import { listing, minute, moment } from './print.ts'

type Words = { kind: OriginKind; arg: string; field: string; list: string; called: string; sentence: string }

const replyTo: Words = {
  kind: 'reply-to',
  arg: 'ADDRESS',
  field: 'email_address',
  list: 'reply_tos',
  called: 'reply-to address',
  sentence: 'E-mail address that replies go to.',
}
const sender: Words = {
  kind: 'sender',
  arg: 'SENDER',
  field: 'sender',
  list: 'senders',
  called: 'text sender',
  sentence: '1 to 11 letters and digits, or a phone number.',
}

const originCommands = (words: Words): readonly Command[] => [
  {
    noun: words.kind,
    verb: 'add',
    args: [SERVICE, { name: words.arg, sentence: words.sentence }],
    options: [{ name: 'default', sentence: 'Make it the default. Also works for an existing one.' }],
    sentence: `Add a ${words.called}; the first one becomes the default.`,
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const added = await addOrigin(store, operator, words.kind, service.id, {
        value: input.text(words.arg),
        makeDefault: input.has('default'),
      })
      const as = added.is_default ? `the default ${words.called}` : `a ${words.called}`
      return {
        text: `${added.value} is now ${as} of "${service.name}", id ${added.id}.`,
        data: presentOrigin(words, added),
      }
    }),
  },
  {
    noun: words.kind,
    verb: 'list',
    args: [SERVICE],
    sentence: `List the ${words.called}${words.kind === 'reply-to' ? 'es' : 's'} of a service.`,
    run: withStore(async (store, input) => {
      const service = await find(store, input.text('SERVICE'))
      const all = await listOrigins(store.db.sql, words.kind, service.id)
      const rows = all.map(one => [
        one.id,
        one.value,
        one.is_default,
        ...(words.kind === 'reply-to' ? [one.verified_at !== null] : []),
        minute(one.created_at),
      ])
      const verified = words.kind === 'reply-to' ? ['VERIFIED'] : []
      return {
        text: listing(
          ['ID', words.arg, 'DEFAULT', ...verified, 'ADDED'],
          rows,
          `"${service.name}" has no ${words.called} yet.`,
        ),
        data: {
          [words.list]: all.map(one => ({
            ...presentOrigin(words, one),
            ...(words.kind === 'reply-to' && { verified_at: moment(one.verified_at) }),
            created_at: moment(one.created_at),
          })),
        },
      }
    }),
  },
  {
    noun: words.kind,
    verb: 'remove',
    args: [SERVICE, { name: words.arg, sentence: `The ${words.called} or its id.` }],
    sentence: `Archive a ${words.called}. Messages can no longer use it.`,
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const gone = await dropOrigin(store, operator, words.kind, service.id, input.text(words.arg))
      const next = gone.is_default
        ? `\nIt was the default. To choose another: herald ${words.kind} add ${service.id} ${words.arg} --default`
        : ''
      return {
        text: `${gone.value} is no longer a ${words.called} of "${service.name}".${next}`,
        data: presentOrigin(words, gone),
      }
    }),
  },
]

const presentOrigin = (words: Words, { id, service_id, value, is_default }: NewOrigin) => ({
  id,
  service_id,
  [words.field]: value,
  is_default,
})

const safelistCommands: readonly Command[] = [
  {
    noun: 'safelist',
    verb: 'add',
    args: [SERVICE, { name: 'RECIPIENT', sentence: 'An e-mail address, or a phone number with the country code.' }],
    sentence: 'Allow a recipient outside the team for trial services and team keys.',
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const entry = await addToSafelist(store, operator, service.id, input.text('RECIPIENT'))
      return {
        text: `${entry.recipient} is now on the safelist of "${service.name}".`,
        data: { ...entry, created_at: moment(entry.created_at) },
      }
    }),
  },
  {
    noun: 'safelist',
    verb: 'list',
    args: [SERVICE],
    sentence: 'List the safelist of a service.',
    run: withStore(async (store, input) => {
      const service = await find(store, input.text('SERVICE'))
      const entries = await listSafelist(store.db.sql, service.id)
      const rows = entries.map(entry => [entry.id, entry.recipient, minute(entry.created_at)])
      return {
        text: listing(['ID', 'RECIPIENT', 'ADDED'], rows, `The safelist of "${service.name}" is empty.`),
        data: { safelist: entries.map(entry => ({ ...entry, created_at: moment(entry.created_at) })) },
      }
    }),
  },
  {
    noun: 'safelist',
    verb: 'remove',
    args: [SERVICE, { name: 'RECIPIENT', sentence: 'The recipient, or the id of the entry.' }],
    sentence: 'Remove a recipient from the safelist.',
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const entry = await dropFromSafelist(store, operator, service.id, input.text('RECIPIENT'))
      return {
        text: `${entry.recipient} is no longer on the safelist of "${service.name}".`,
        data: { ...entry, created_at: moment(entry.created_at) },
      }
    }),
  },
]

const IN = { name: 'in', value: 'FOLDER', sentence: 'Folder around it: id, name, or path like "Permits / Renewals".' }

const folderCommands: readonly Command[] = [
  {
    noun: 'folder',
    verb: 'add',
    args: [SERVICE, { name: 'NAME', sentence: 'Name of the folder.' }],
    options: [IN],
    sentence: 'Create a folder for templates.',
    more: 'Its id is what the API calls `parent_folder_id`.',
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const all = flat(await folderTree(store.db.sql, service.id))
      const around = input.has('in') ? folderCalled(all, input.text('in')).id : null
      const folder = await addFolder(store, operator, service.id, input.text('NAME'), around)
      return {
        text: `Created the folder "${folder.name}" in "${service.name}", id ${folder.id}.`,
        data: presentFolder(folder),
      }
    }),
  },
  {
    noun: 'folder',
    verb: 'list',
    args: [SERVICE],
    sentence: 'List the folders of a service and the number of templates in each.',
    run: withStore(async (store, input) => {
      const service = await find(store, input.text('SERVICE'))
      const folders = flat(await folderTree(store.db.sql, service.id))
      const rows = folders.map(folder => [folder.id, pathText(folder), folder.templates, minute(folder.created_at)])
      return {
        text: listing(['ID', 'NAME', 'TEMPLATES', 'CREATED'], rows, `"${service.name}" has no folder yet.`),
        data: { folders: folders.map(presentPlaced) },
      }
    }),
  },
  {
    noun: 'folder',
    verb: 'set',
    args: [SERVICE, { name: 'FOLDER', sentence: 'Name, path or id of the folder.' }],
    options: [
      { name: 'name', value: 'NAME', sentence: 'New name.' },
      IN,
      { name: 'top', sentence: 'Move it to the top, out of the folder around it.' },
    ],
    sentence: 'Rename a folder, or move it into another one.',
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const all = flat(await folderTree(store.db.sql, service.id))
      const { id } = folderCalled(all, input.text('FOLDER'))
      await changeFolder(store, operator, service.id, id, {
        ...(input.has('name') && { name: input.text('name') }),
        ...(input.has('in') && { parent: folderCalled(all, input.text('in')).id }),
        ...(input.has('top') && { parent: null }),
      })
      const folder = folderCalled(flat(await folderTree(store.db.sql, service.id)), id)
      return { text: `The folder is now "${pathText(folder)}".`, data: presentPlaced(folder) }
    }),
  },
  {
    noun: 'folder',
    verb: 'remove',
    args: [SERVICE, { name: 'FOLDER', sentence: 'Name, path or id of the folder.' }],
    options: [
      {
        name: 'move-templates-out',
        sentence: 'Move its templates and folders to the folder around it first. They stay usable.',
      },
    ],
    sentence: 'Remove an empty folder.',
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const folder = await dropFolder(store, operator, service.id, input.text('FOLDER'), {
        moveOut: input.has('move-templates-out'),
      })
      return {
        text: `Removed the folder "${pathText(folder)}" of "${service.name}".`,
        data: presentPlaced(folder),
      }
    }),
  },
]

const presentFolder = ({ id, service_id, parent_id, name, created_at }: Folder) => ({
  id,
  service_id,
  parent_id,
  name,
  created_at: moment(created_at),
})

const presentPlaced = (folder: PlacedFolder) => ({
  ...presentFolder(folder),
  path: folder.path,
  templates: folder.templates,
})

export const commands: readonly Command[] = [
  ...originCommands(replyTo),
  ...originCommands(sender),
  ...safelistCommands,
  ...folderCommands,
]
