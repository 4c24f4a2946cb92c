// Somebody saved another version while this one was written.
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout } from '../components/basics.tsx'
import type { Given } from './given.ts'
import { SourceText } from './source.tsx'

export const conflictNotice = (template: TemplateRow, { version, draft }: Given) => (
  <>
    <Callout tone="warn" role="alert" title={`Version ${template.version} was saved meanwhile`}>
      <p>
        You began with version {version}. Your text is below, unchanged. Saving now replaces version {template.version}:
        first take over what you want to keep of it.
      </p>
    </Callout>
    {template.subject !== draft.subject && template.subject !== null && <SourceText text={template.subject} />}
    <SourceText text={template.content} />
  </>
)
