// Table of contents of the console: every page, and who may open it (who.ts: anyone, signedIn, operator, may(permission), fresh(…)).
import { overviewCounts, overviewPage } from './overview/index.tsx'
import { may, type PageRow } from './who.ts'

export const pages: readonly PageRow[] = [
  ['GET', '/s/:service', may('see-service'), overviewPage],
  ['GET', '/s/:service/counts', may('see-service'), overviewCounts],
]
