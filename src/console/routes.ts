// Table of contents of the console: every page, and who may open it (who.ts: anyone, signedIn, operator, may(permission), fresh(…)).
import {
  confirmTemplate,
  liveTemplate,
  previewTemplate,
  saveTemplate,
  showConfirm,
  showRendered,
  showTemplate,
  testTemplate,
} from './editor/handlers.tsx'
import { overviewCounts, overviewPage } from './overview/index.tsx'
import { may, type PageRow } from './who.ts'

export const pages: readonly PageRow[] = [
  ['GET', '/s/:service', may('see-service'), overviewPage],
  ['GET', '/s/:service/counts', may('see-service'), overviewCounts],

  ['GET', '/s/:service/templates/:id', may('see-messages'), showTemplate],
  ['POST', '/s/:service/templates/:id', may('manage-templates'), saveTemplate],
  ['POST', '/s/:service/templates/:id/preview', may('manage-templates'), previewTemplate],
  ['POST', '/s/:service/templates/:id/live', may('manage-templates'), liveTemplate],
  ['GET', '/s/:service/templates/:id/rendered', may('see-messages'), showRendered],
  ['GET', '/s/:service/templates/:id/confirm', may('manage-templates'), showConfirm],
  ['POST', '/s/:service/templates/:id/confirm', may('manage-templates'), confirmTemplate],
  // Authors may, and senders; the verb decides.
  ['POST', '/s/:service/templates/:id/test', may('see-messages'), testTemplate],
]
