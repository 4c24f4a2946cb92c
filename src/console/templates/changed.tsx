// Somebody saved another version while a person edited one: both are shown, and nothing that was written is lost.
import { type Compared, compareVersions } from '../../templates/compare.ts'
import { Callout } from '../components/basics.tsx'
import { rich, t } from '../words/index.ts'
import { Differences } from './diff.tsx'

/** `latest`: the version that is stored. `yours`: what the person wanted to save. */
export const ChangedMeanwhile = (props: { latest: Compared & { version: number }; yours: Compared }) => (
  <>
    <Callout tone="bad" role="alert" title={t`Not saved yet`}>
      <p>{rich`Somebody saved version ${props.latest.version} while you were writing. Below is what your text would change in it. Take over what you want to keep, then save again.`}</p>
    </Callout>
    <section class="stack" aria-labelledby="meanwhile">
      <h2 id="meanwhile">{rich`From version ${props.latest.version} to yours`}</h2>
      <Differences
        comparison={compareVersions(props.latest, props.yours)}
        before={t`version ${props.latest.version}`}
        after={t`yours`}
      />
    </section>
  </>
)
