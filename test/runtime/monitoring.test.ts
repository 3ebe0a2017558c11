/** The dashboard and the alerts ask for what `/metrics` tells, by the labels that it has. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testApp } from '#test/support/app'

const folder = new URL('../../runtime/server/monitoring/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

interface Panel {
  title: string
  type: string
  description?: string
  targets?: { expr: string; legendFormat: string }[]
}
const { panels } = JSON.parse(read('dashboard.json')) as { panels: Panel[] }
const graphs = panels.filter(({ type }) => type !== 'row')
const asked: [string, string][] = [
  ...graphs.flatMap(({ title, targets }) =>
    (targets ?? []).map(({ expr, legendFormat }): [string, string] => [title, `${expr} ${legendFormat}`]),
  ),
  ...read('alerts.yml')
    .split('- alert: ')
    .slice(1)
    .map((rule): [string, string] => [rule.split('\n')[0]!, rule]),
]

const app = await testApp()
/** What each metric is called, and its labels: Prometheus gives `instance` and `le` by itself. */
async function told(): Promise<Map<string, Set<string>>> {
  const { metrics } = app
  metrics.observe('getStore', 200, 1)
  metrics.observeJob('a-queue', 'completed', 1)
  metrics.observeProvider('mail', 'smtp', 'silent', 1)
  metrics.count('outbox_messages_total', { lane: 'campaign', outcome: 'sent' })
  const found = new Map<string, Set<string>>()
  for (const line of (await metrics.text()).split('\n')) {
    const [, name, labels = ''] = /^([a-z][a-z\d_]+)(?:\{(.*)\})? /.exec(line) ?? []
    if (!name) continue
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label!)
    found.set(name, new Set([...(found.get(name) ?? []), ...names, 'instance']))
  }
  // Nothing is due, and no store connected, in an empty database.
  found.set('jobs', new Set(['queue', 'state', 'instance']))
  found.set('jobs_lag_seconds', new Set(['queue', 'instance']))
  found.set('connections', new Set(['port', 'state', 'instance']))
  return found
}

test('there are as many as there seem to be', () => {
  expect(graphs.length).toBeGreaterThan(15)
  expect(asked.length).toBeGreaterThan(graphs.length + 9)
  for (const { title, description } of graphs) expect(description, title).toMatch(/\.$/)
})

test('three metrics of an empty database have a help line all the same', async () => {
  const text = await app.metrics.text()
  for (const name of ['jobs', 'jobs_lag_seconds', 'connections']) expect(text).toContain(`# HELP ${name} `)
})

test.each(asked)('%s', async (_title, text) => {
  const metrics = await told()
  const names = [...text.matchAll(/\b([a-z][a-z\d_]+)(?=\{|\[|\)| ==| >)/g)]
    .map(([, name]) => name!)
    .filter((name) => name.includes('_') || name === 'jobs' || name === 'connections')
    .filter((name) => !/^(histogram_quantile|label_values)$/.test(name))
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) expect([...metrics.keys()]).toContain(name)
  const known = new Set(names.flatMap((name) => [...metrics.get(name)!]))
  const labels = [
    ...[...text.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/)),
    ...[...text.matchAll(/[{,]\s*(\w+)(?:=~|!=|=)"/g)].map(([, label]) => label!),
    ...[...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label]) => label!),
  ]
  for (const label of labels) expect([label, [...known]]).toEqual([label, expect.arrayContaining([label])])
})
