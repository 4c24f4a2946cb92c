// Folders of templates, and what people do with templates in the console: move, compare, restore, save without overwriting others.
import { beforeAll, describe, expect, test } from 'vitest'
import { create } from '../src/templates/create.ts'
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
