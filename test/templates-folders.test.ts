// Folders of templates, and what people do with templates in the console: move, compare, restore, save without overwriting others.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { create } from '../src/templates/create.ts'
import { flat, pathText } from '../src/templates/folder.ts'
import { addFolder, changeFolder, dropFolder, folderTree } from '../src/templates/folders.ts'
import { move } from '../src/templates/move.ts'
import { read } from '../src/templates/read.ts'
import { update } from '../src/templates/update.ts'
import { CATEGORY, OPERATOR, type World, world } from './support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>

beforeAll(async () => {
  here = await world()
  service = await here.service()
})

const newTemplate = (name = 'A template', more: { parent_folder_id?: string; content?: string } = {}) =>
  create(here.parts, OPERATOR, service, {
    name,
    template_type: 'email',
    subject: 'Hello',
    content: 'Dear ((name))',
    template_category_id: CATEGORY.general,
    ...more,
  })

describe('saving with the version that was edited', () => {
  test('the first of two who edited version 1 saves version 2, the other is refused and nothing is written', async () => {
    const { id } = await newTemplate()
    const edits = await Promise.allSettled(
      ['One', 'Two', 'Three'].map(content =>
        update(here.parts, OPERATOR, service.id, id, { content }, { expectedVersion: 1 }),
      ),
    )
    expect(edits.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    for (const edit of edits)
      if (edit.status === 'rejected')
        expect(edit.reason).toMatchObject({ kind: 'ChangedMeanwhile', message: expect.stringMatching(/version 2/) })
    const rows = await here.parts.db.sql`select version from template_versions where template_id = ${id}`
    expect(rows).toHaveLength(2)
  })

  test('without it, each edit is a version, as the interface says', async () => {
    const { id } = await newTemplate()
    await update(here.parts, OPERATOR, service.id, id, { content: 'One' })
    expect(await update(here.parts, OPERATOR, service.id, id, { content: 'Two' })).toMatchObject({ version: 3 })
  })
})

describe('folders', () => {
  const paths = async (of = service.id) => flat(await folderTree(here.parts.db.sql, of)).map(pathText)
  const make = (name: string, parent: Id | null = null, of = service.id) =>
    addFolder(here.parts, OPERATOR, of, name, parent)
  const change = (id: Id, wanted: { name?: string; parent?: Id | null }) =>
    changeFolder(here.parts, OPERATOR, service.id, id, wanted)
  const audited = (subject: Id) =>
    here.parts.db.sql`select action, detail from audit where subject_id = ${subject} order by id`

  beforeAll(async () => {
    service = await here.service()
  })

  test('are nested, renamed, moved and removed, and each change is recorded', async () => {
    const permits = await make('Permits')
    const renewals = await make('Renewals', permits.id)
    const visitors = await make('Visitors')
    expect(await paths()).toEqual(['Permits', 'Permits / Renewals', 'Visitors'])
    await change(renewals.id, { name: 'Renewed', parent: visitors.id })
    await change(renewals.id, { name: 'Renewed' })
    expect(await paths()).toEqual(['Permits', 'Visitors', 'Visitors / Renewed'])
    await change(renewals.id, { parent: null })
    await dropFolder(here.parts, OPERATOR, service.id, renewals.id, { moveOut: false })
    expect(await paths()).toEqual(['Permits', 'Visitors'])
    expect(await audited(renewals.id)).toEqual([
      { action: 'folder created', detail: { name: 'Renewals' } },
      { action: 'folder moved', detail: { from: permits.id, to: visitors.id } },
      { action: 'folder renamed', detail: { from: 'Renewals', to: 'Renewed' } },
      { action: 'folder moved', detail: { from: visitors.id, to: null } },
      { action: 'folder removed', detail: { name: 'Renewed' } },
    ])
  })

  test('names are unique in one place, one line, not empty, at most 255 characters', async () => {
    const around = await make('Around')
    await make('Twin', around.id)
    const twin = await make('Twin')
    await expect(make('Twin')).rejects.toThrow(/already a folder named "Twin"/)
    await expect(change(twin.id, { parent: around.id })).rejects.toThrow(/already a folder named "Twin"/)
    await expect(change(twin.id, { name: 'Around' })).rejects.toThrow(/already a folder named "Around"/)
    for (const name of ['', ' ', 'two\nlines', 'x'.repeat(256)])
      await expect(make(name)).rejects.toMatchObject({ kind: 'ValidationError' })
    expect(await make('\u{1f4ee}'.repeat(255))).toMatchObject({ parent_id: null })
  })

  test('no cycles: not into itself, not into what it contains', async () => {
    const a = await make('A')
    const b = await make('B', a.id)
    const c = await make('C', b.id)
    for (const parent of [a.id, b.id, c.id]) await expect(change(a.id, { parent })).rejects.toThrow(/into itself/)
    await change(c.id, { parent: null })
    await change(a.id, { parent: c.id })
    expect((await paths()).filter(path => /^[ABC]\b/.test(path) && !path.startsWith('Around'))).toEqual([
      'C',
      'C / A',
      'C / A / B',
    ])
  })

  test('of two moves at the same time that make a cycle together, one is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const one = await make(`One ${round}`)
      const two = await make(`Two ${round}`)
      const moves = await Promise.allSettled([change(one.id, { parent: two.id }), change(two.id, { parent: one.id })])
      expect(moves.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect((await paths()).filter(path => path.endsWith(String(round)))).toHaveLength(2)
    }
  })

  test('of ten of the same name at the same time, one is made', async () => {
    const made = await Promise.allSettled(Array.from({ length: 10 }, () => make('Once')))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('at most five inside each other, also when a folder is moved with those inside it', async () => {
    const chain: Id[] = []
    for (let level = 1; level <= 5; level++) chain.push((await make(`Level ${level}`, chain.at(-1) ?? null)).id)
    await expect(make('Level 6', chain[4])).rejects.toThrow(/At most 5 folders/)
    const pair = await make('Pair')
    await make('Half', pair.id)
    await expect(change(pair.id, { parent: chain[3] as Id })).rejects.toThrow(/At most 5 folders/)
    await change(pair.id, { parent: chain[2] as Id })
    expect(await paths()).toContain('Level 1 / Level 2 / Level 3 / Pair / Half')
  })

  test('a folder of another service does not exist', async () => {
    const other = await here.service()
    const theirs = await make('Theirs', null, other.id)
    const ours = await make('Ours')
    await expect(make('Inside', theirs.id)).rejects.toMatchObject({ kind: 'NoResultFound' })
    await expect(change(ours.id, { parent: theirs.id })).rejects.toMatchObject({ kind: 'NoResultFound' })
    await expect(change(theirs.id, { name: 'Mine' })).rejects.toMatchObject({ kind: 'NoResultFound' })
    await expect(dropFolder(here.parts, OPERATOR, service.id, theirs.id, { moveOut: true })).rejects.toMatchObject({
      kind: 'NoResultFound',
    })
    const { id } = await newTemplate()
    await expect(move(here.parts, OPERATOR, service.id, [id], theirs.id)).rejects.toThrow('parent_folder_id not found')
    expect(await paths(other.id)).toEqual(['Theirs'])
  })

  test('what a removed folder holds goes to the folder around it', async () => {
    const outer = await make('Outer')
    const inner = await make('Inner', outer.id)
    const innermost = await make('Innermost', inner.id)
    const { id } = await newTemplate('Held', { parent_folder_id: inner.id })
    await expect(dropFolder(here.parts, OPERATOR, service.id, inner.id, { moveOut: false })).rejects.toThrow(
      /still holds/,
    )
    const twin = await make('Innermost', outer.id)
    await expect(dropFolder(here.parts, OPERATOR, service.id, inner.id, { moveOut: true })).rejects.toThrow(
      /already a folder/,
    )
    await dropFolder(here.parts, OPERATOR, service.id, twin.id, { moveOut: false })
    await dropFolder(here.parts, OPERATOR, service.id, inner.id, { moveOut: true })
    expect(await read(here.parts.db.sql, service.id, id)).toMatchObject({ folder_id: outer.id, version: 1 })
    expect(flat(await folderTree(here.parts.db.sql, service.id)).find(one => one.id === innermost.id)?.path).toEqual([
      'Outer',
      'Innermost',
    ])
  })

  test('the counts of a folder include those inside it', async () => {
    const outer = await make('Counted')
    const inner = await make('Counted inside', outer.id)
    await newTemplate('One', { parent_folder_id: outer.id })
    await newTemplate('Two', { parent_folder_id: inner.id })
    const found = flat(await folderTree(here.parts.db.sql, service.id)).find(one => one.id === outer.id)
    expect(found).toMatchObject({ templates: 1, all_templates: 2 })
  })

  test('while a folder is removed, nobody can put a template into it: refused, never an error of the database', async () => {
    const key = await service.key()
    const { id } = await newTemplate()
    for (let round = 0; round < 10; round++) {
      const folder = await make(`Going ${round}`)
      const body = { template_category_id: CATEGORY.general, parent_folder_id: folder.id, content: 'x', name: 'x' }
      const [created, changed, moved, removed] = await Promise.all([
        key.post('/v2/manage-template', { ...body, template_type: 'sms' }),
        key.patch(`/v2/manage-template/${id}`, { parent_folder_id: folder.id }),
        move(here.parts, OPERATOR, service.id, [id], folder.id).catch(error => error),
        dropFolder(here.parts, OPERATOR, service.id, folder.id, { moveOut: true }),
      ])
      expect([201, 400]).toContain(created.status)
      expect([200, 400]).toContain(changed.status)
      expect(moved.moved ?? moved.kind).toSatisfy(value => [0, 1, 'BadRequestError'].includes(value))
      expect(removed.id).toBe(folder.id)
    }
  })
})

describe('moving templates', () => {
  test('makes no version, sets updated_at, is recorded once, and the interface shows the folder', async () => {
    const key = await service.key()
    const folder = await addFolder(here.parts, OPERATOR, service.id, 'Target')
    const templates = [await newTemplate(), await newTemplate(), await newTemplate()]
    const ids = templates.map(({ id }) => id)
    expect(await move(here.parts, OPERATOR, service.id, ids, folder.id)).toEqual({ moved: 3 })
    expect(await move(here.parts, OPERATOR, service.id, ids, folder.id)).toEqual({ moved: 0 })
    const { body } = await key.get(`/v2/template/${ids[0]}`)
    expect(body.version).toBe(1)
    const row = await read(here.parts.db.sql, service.id, ids[0] as Id)
    expect(row).toMatchObject({ version: 1, folder_id: folder.id, updated_at: expect.anything() })
    expect(await here.parts.db.sql`select action, detail from audit where subject_id = ${ids[0]} order by id`).toEqual([
      { action: 'template created', detail: null },
      { action: 'template moved', detail: { folder_id: folder.id } },
    ])
    expect(await move(here.parts, OPERATOR, service.id, ids, null)).toEqual({ moved: 3 })
  })

  test('one unknown template, and none is moved', async () => {
    const folder = await addFolder(here.parts, OPERATOR, service.id, 'All or none')
    const { id } = await newTemplate()
    const foreign = (await here.service()).id
    await expect(move(here.parts, OPERATOR, service.id, [id, foreign], folder.id)).rejects.toThrow('No result found')
    expect(await read(here.parts.db.sql, service.id, id)).toMatchObject({ folder_id: null })
  })
})
