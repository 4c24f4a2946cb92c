import { zulu } from '../core/clock.ts'
import type { ShownRequest } from './read.ts'

export const presentRequest = (row: ShownRequest) => ({
  id: row.id,
  at: zulu(row.at),
  key_id: row.key_id,
  key_name: row.key_name,
  method: row.method,
  path: row.path,
  status_code: row.status,
  error: row.error,
  message: row.reason,
  took_ms: row.unlisted === null ? row.took_ms : null,
  unlisted: row.unlisted,
})
