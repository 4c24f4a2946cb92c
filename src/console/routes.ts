// Table of contents of the console: every page, and who may open it (who.ts: anyone, signedIn, operator, may(permission), fresh(…)).
import type { PageRow } from './who.ts'

export const pages: readonly PageRow[] = []
