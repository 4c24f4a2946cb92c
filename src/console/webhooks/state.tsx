// How an endpoint is doing, in words.
import type { presentTest } from '../../webhooks/present.ts'
import type { ShownWebhook } from '../../webhooks/read.ts'
import { Badge } from '../components/status.tsx'
import { t } from '../words/index.ts'

export function WebhookState({ webhook }: { webhook: Pick<ShownWebhook, 'state' | 'failures'> }) {
  if (webhook.state === 'disabled')
    return (
      <Badge tone="bad" icon="blocked">
        {t`Disabled`}
      </Badge>
    )
  if (webhook.state === 'paused')
    return (
      <Badge tone="idle" icon="clock">
        {t`Paused`}
      </Badge>
    )
  return webhook.failures > 0 ? (
    <Badge tone="bad" icon="cross">
      {t`Failing`}
    </Badge>
  ) : (
    <Badge tone="good" icon="check">
      {t`Healthy`}
    </Badge>
  )
}

export const hostOf = (url: string): string => new URL(url).host

export type TestedWebhook = ReturnType<typeof presentTest>
