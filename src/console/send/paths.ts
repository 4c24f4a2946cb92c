// Addresses of the pages that send.
import type { Id } from '../../core/id.ts'
import { withQuery } from '../templates/paths.ts'

export type To = 'one' | 'file'

/** `template` in the query is an id; nothing personal stands in an address. */
export const sendPath = (service: Id, to: To, query: Readonly<Record<string, string | null | undefined>> = {}) =>
  withQuery(`/s/${service}/send${to === 'file' ? '/file' : ''}`, query)

export const uploadPath = (
  service: Id,
  upload: Id,
  rest = '',
  query: Readonly<Record<string, string | null | undefined>> = {},
) => withQuery(`/s/${service}/send/file/${upload}${rest}`, query)
