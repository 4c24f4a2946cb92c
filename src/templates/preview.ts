import { CHANNELS } from '../channels/index.ts'
import { keyed, missing, namesOf, parse, type Values } from '../rendering/placeholders.ts'
import { createMergedLength, isOverLimit, renderedLimit } from '../rendering/size.ts'
import type { RenderThread } from '../rendering/thread.ts'
import { POSTAGE } from './present.ts'
import { refuse } from './refusals.ts'
import type { VersionRow } from './sql.ts'

/** The message as the API shows it; for e-mails also the HTML of the body, without the page around it. */
export async function preview(app: { renderThread: RenderThread }, version: VersionRow, values: Values) {
  const given = keyed(values)
  const absent = missing(namesOf(version), given)
  if (absent.length > 0) throw refuse.missingPersonalisation(absent.join(', '))
  const { id, type, version: number } = version
  const lengths = [
    createMergedLength(parse(version.subject ?? ''), 'inline'),
    createMergedLength(parse(version.content), 'markdown'),
  ]
  if (lengths.some(length => isOverLimit(length, given))) throw refuse.contentTooLong(renderedLimit)
  return {
    id,
    type,
    version: number,
    ...(await CHANNELS[type].template.preview(app, version, values)),
    postage: POSTAGE,
  }
}
