// How the state of a service is shown.
import type { ShownService } from '../../services/sql.ts'
import { Badge } from '../components/status.tsx'
import { t } from '../words/index.ts'

export function ServiceMode({
  service,
}: {
  service: Pick<ShownService, 'mode'> & Partial<Pick<ShownService, 'state'>>
}) {
  if (service.state === 'suspended') return <Badge tone="bad" icon="blocked">{t`Suspended`}</Badge>
  if (service.state === 'archived') return <Badge tone="idle" icon="blocked">{t`Archived`}</Badge>
  return service.mode === 'live' ? (
    <Badge tone="good" icon="check">{t`Live`}</Badge>
  ) : (
    <Badge tone="plan" icon="info">{t`Trial`}</Badge>
  )
}
