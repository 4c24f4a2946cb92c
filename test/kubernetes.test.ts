// The objects of ops/kubernetes: Kubernetes' own types, the rules we promise, and what kubectl makes of the overlay. The types are
// generated from the OpenAPI description of Kubernetes (package kubernetes-types). No cluster is needed, and none was asked.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Deployment } from 'kubernetes-types/apps/v1.js'
import type { Job } from 'kubernetes-types/batch/v1.js'
import type { ConfigMap, PodSpec, Service } from 'kubernetes-types/core/v1.js'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

const FOLDER = 'ops/kubernetes'
/** The kinds we use, and where the types are. */
const MODULES: Record<string, string> = {
  Deployment: 'apps/v1',
  Job: 'batch/v1',
  ConfigMap: 'core/v1',
  Service: 'core/v1',
  PodDisruptionBudget: 'policy/v1',
}
type Thing = { apiVersion: string; kind: string; metadata: { name: string; namespace?: string } }

/** The objects of a text with several documents. */
const all = (text: string) => parseAllDocuments(text).map(document => document.toJS() as Thing)

const overlay = parse(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8')) as {
  namespace: string
  resources: string[]
  images: { name: string; newName: string; newTag: string }[]
}
const things = overlay.resources.flatMap(name => all(readFileSync(join(FOLDER, name), 'utf8')))
const one = <T>(kind: string) => {
  const found = things.filter(thing => thing.kind === kind)
  expect(found).toHaveLength(1)
  return found[0] as T
}
const deployment = one<Deployment>('Deployment')
const job = one<Job>('Job')
const settings = one<ConfigMap>('ConfigMap')
const pods: [string, PodSpec | undefined][] = [
  ['deployment', deployment.spec?.template.spec],
  ['job', job.spec?.template.spec],
]

/** What the compiler says of objects that claim to be of Kubernetes' types: unknown fields, missing fields, other types. */
function remarks(objects: Thing[]): string {
  const folder = mkdtempSync(resolve('node_modules', '.kubernetes-')) // the types are found from here
  try {
    const lines = objects.map((object, at) => {
      const from = MODULES[object.kind]
      if (!from) throw new Error(`no types for ${object.kind}`)
      return `export const o${at}: import('kubernetes-types/${from}.js').${object.kind} = ${JSON.stringify(object, null, 1)}`
    })
    writeFileSync(join(folder, 'objects.ts'), lines.join('\n'))
    const options = ['--noEmit', '--strict', '--ignoreConfig', '--module', 'nodenext', '--pretty', 'false']
    const compiler = resolve('node_modules/typescript/bin/tsc')
    return spawnSync(process.execPath, [compiler, ...options, 'objects.ts'], { cwd: folder, encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the types of Kubernetes', () => {
  test('every object is of its type', () => {
    expect(remarks(things)).toBe('')
  })

  test('a wrong field and a wrong type are found', () => {
    const wrong = structuredClone(deployment) as unknown as Thing & { spec: Record<string, unknown> }
    wrong.spec.replica = 2
    expect(remarks([wrong])).toContain(`'"replica"' does not exist`)
    const text = structuredClone(deployment) as unknown as Thing & { spec: Record<string, unknown> }
    text.spec.replicas = '2'
    expect(remarks([text])).toContain("'string' is not assignable to type 'number'")
  })

  test.each(things.map(thing => [thing.kind, thing] as const))('%s has the version of its type', (kind, thing) => {
    expect(thing.apiVersion.replace(/^v1$/, 'core/v1')).toBe(MODULES[kind])
  })
})

describe.each(pods)('the pods of the %s', (_, pod) => {
  const [container, ...more] = pod?.containers ?? []

  test('have no rights: not root, read-only root, no capability, no token', () => {
    expect(more).toEqual([])
    expect(pod?.automountServiceAccountToken).toBe(false)
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container?.resources?.limits).toHaveProperty('memory')
  })

  test('run as the user of the image, and have its folder', () => {
    const image = readFileSync('Containerfile', 'utf8')
    const { runAsUser, runAsGroup } = pod?.securityContext ?? {}
    expect(image).toContain(`\nUSER ${runAsUser}:${runAsGroup}\n`)
    const [, folder] = /\nVOLUME (\S+)\n/.exec(image) ?? []
    expect(container?.volumeMounts?.map(mount => mount.mountPath)).toContain(folder)
  })

  test('take secrets from files that are mounted', () => {
    const mount = container?.volumeMounts?.find(one => one.name === 'secrets')
    const files = Object.entries(settings.data ?? {}).filter(([name]) => name.endsWith('_FILE'))
    expect(files.map(([name]) => name)).toEqual(expect.arrayContaining(['DATABASE_URL_FILE', 'HERALD_SECRET_FILE']))
    for (const [, path] of files) expect(path.startsWith(`${mount?.mountPath}/`)).toBe(true)
    // docs/install.md creates exactly these.
    const command = /create secret generic herald (.*)/.exec(readFileSync('docs/install.md', 'utf8'))?.[1] ?? ''
    expect([...command.matchAll(/--from-file=(\S+)/g)].map(([, name]) => `${mount?.mountPath}/${name}`).sort()).toEqual(
      files.map(([, path]) => path).sort(),
    )
    expect(pod?.volumes?.find(volume => volume.name === 'secrets')?.secret?.secretName).toBe('herald')
    expect(container?.env?.filter(entry => entry.valueFrom?.secretKeyRef) ?? []).toEqual([])
  })

  test('name only what exists', () => {
    const volumes = pod?.volumes?.map(volume => volume.name)
    for (const mount of container?.volumeMounts ?? []) expect(volumes).toContain(mount.name)
    for (const from of container?.envFrom ?? []) expect(from.configMapRef?.name).toBe(settings.metadata?.name)
    expect(overlay.images.map(image => image.name)).toContain(container?.image)
  })
})

test('the deployment: probes, a rolling update without a gap, and time to stop', () => {
  const pod = deployment.spec?.template.spec
  const container = pod?.containers[0]
  expect(container?.args).toEqual(['start'])
  const ports = container?.ports?.map(port => port.name)
  for (const [probe, path] of [
    [container?.startupProbe, '/health/live'],
    [container?.livenessProbe, '/health/live'],
    [container?.readinessProbe, '/health/ready'],
  ] as const) {
    expect(probe?.httpGet?.path).toBe(path)
    expect(ports).toContain(probe?.httpGet?.port)
  }
  expect(container?.ports?.[0]?.containerPort).toBe(6011)
  expect(container?.ports?.[1]).toMatchObject({ name: 'health', containerPort: 6012 })
  expect(readFileSync('Containerfile', 'utf8')).toContain('\nEXPOSE 6011\n')
  expect(deployment.spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
  const drain = /`HERALD_DRAIN_SECONDS` \| (\d+)/.exec(readFileSync('docs/settings.md', 'utf8'))?.[1]
  const stop = Number(settings.data?.HERALD_NOTICE_SECONDS) + Number(drain)
  expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(stop)
})

test('the service and the disruption budget select the pods of the deployment, and not those of the job', () => {
  const labels = deployment.spec?.template.metadata?.labels ?? {}
  const budget = one<PodDisruptionBudget>('PodDisruptionBudget')
  const service = one<Service>('Service')
  for (const selector of [
    deployment.spec?.selector.matchLabels,
    budget.spec?.selector?.matchLabels,
    service.spec?.selector,
  ]) {
    expect(labels).toMatchObject(selector ?? { none: '' })
    expect(job.spec?.template.metadata?.labels).not.toMatchObject(selector ?? {})
  }
  // A node can be drained: one pod may go.
  expect(Number(budget.spec?.minAvailable)).toBeLessThan(deployment.spec?.replicas ?? 0)
  expect(deployment.spec?.template.spec?.containers[0]?.ports?.map(port => port.name)).toContain(
    service.spec?.ports?.[0]?.targetPort,
  )
})

test('the job migrates, and ends by itself', () => {
  expect(job.spec?.template.spec?.containers[0]?.args).toEqual(['migrate'])
  expect(job.spec?.template.spec?.restartPolicy).toBe('Never')
  expect(job.spec?.activeDeadlineSeconds).toBeGreaterThan(0)
})

test('the settings are settings of Herald', () => {
  const known = readFileSync('docs/settings.md', 'utf8')
  for (const name of Object.keys(settings.data ?? {})) expect(known).toContain(`\`${name.replace(/_FILE$/, '')}\``)
})

const hasKubectl = !spawnSync('kubectl', ['version', '--client']).error
if (!hasKubectl) console.warn('kubectl is not installed: ops/kubernetes is not built with Kustomize.')

describe.skipIf(!hasKubectl)('kubectl kustomize', () => {
  const built = hasKubectl ? all(execFileSync('kubectl', ['kustomize', FOLDER], { encoding: 'utf8' })) : []

  test('makes every object, in the namespace and with the image of the overlay', () => {
    const name = (thing: Thing) => `${thing.kind} ${thing.metadata.name}`
    expect(built.map(name).sort()).toEqual(things.map(name).sort())
    for (const thing of built) expect(thing.metadata.namespace).toBe(overlay.namespace)
    const [image] = overlay.images
    const version = JSON.parse(readFileSync('package.json', 'utf8')).version
    expect(image?.newTag).toBe(version)
    for (const kind of ['Deployment', 'Job']) {
      const made = built.find(thing => thing.kind === kind) as unknown as Deployment
      expect(made.spec?.template.spec?.containers[0]?.image).toBe(`${image?.newName}:${version}`)
    }
  })

  test('and they are of the types of Kubernetes', () => {
    expect(remarks(built)).toBe('')
  })
})

test('no network is trusted until an operator names the ingress controller', () => {
  expect(settings.data).not.toHaveProperty('HERALD_TRUSTED_PROXIES')
})
