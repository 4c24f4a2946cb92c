// Somebody saved another version while this one was written.
import { compareVersions } from '../../templates/compare.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout } from '../components/basics.tsx'
import { Differences } from '../templates/diff.tsx'
import { rich, t } from '../words/index.ts'
import type { Given } from './given.ts'

export const conflictNotice = (template: TemplateRow, { version, draft }: Given) => (
  <>
    <Callout tone="warn" role="alert" title={t`Version ${template.version} was saved meanwhile`}>
      <p>{rich`You began with version ${version}. Your text is below, unchanged. Saving now replaces version ${template.version}: first take over what you want to keep of it.`}</p>
    </Callout>
    <section class="stack" aria-labelledby="meanwhile">
      <h2 id="meanwhile">{rich`From version ${template.version} to yours`}</h2>
      <Differences
        comparison={compareVersions(template, { ...template, ...draft })}
        before={t`version ${template.version}`}
        after={t`yours`}
      />
    </section>
  </>
)
