/** The dashboard and the alerts use existing metrics and labels of `/metrics`. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LineBuffer, logWorkState, openLogInto } from '#runtime/server/log'
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
const graphs = panels.filter(({ type }) => type !== 'row' && type !== 'logs')
const queries: [string, string][] = [
  ...graphs.flatMap(({ title, targets }) =>
    (targets ?? []).map(({ expr, legendFormat }): [string, string] => [title, `${expr} ${legendFormat}`]),
  ),
  ...read('alerts.yml')
    .split('- alert: ')
    .slice(1)
    .map((rule): [string, string] => [rule.split('\n')[0]!, rule]),
]

let written = ''
const lines = new LineBuffer((bytes, done) => {
  written += bytes.toString()
  done()
})
const app = await testApp({}, { log: openLogInto('info', lines) })
/** Names and labels of all metrics; Prometheus itself adds `instance` and `le`. */
async function readMetrics(): Promise<Map<string, Set<string>>> {
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
  // In an empty database nothing is due, and no store is connected.
  found.set('jobs', new Set(['queue', 'state', 'instance']))
  found.set('jobs_lag_seconds', new Set(['queue', 'instance']))
  found.set('connections', new Set(['port', 'state', 'instance']))
  return found
}

test('the dashboard and the alerts have the expected number of queries', () => {
  expect(graphs.length).toBeGreaterThan(15)
  expect(queries.length).toBeGreaterThan(graphs.length + 9)
  for (const { title, description } of graphs) expect(description, title).toMatch(/\.$/)
})

test('the dashboard finds the lines about stopped work by their message and fields', () => {
  const [expr] = panels.filter(({ type }) => type === 'logs').map(({ targets }) => targets![0]!.expr)
  const [, message] = / \|= "([^"]+)"/.exec(expr!)!
  logWorkState(app.services.log, 'waiting', 'manual', { store: 's', campaignId: 'c' })
  lines.flush()
  const line = written.split('\n').find((each) => each.includes(message!))
  expect(Object.keys(JSON.parse(line!))).toEqual(expect.arrayContaining(['state', 'reason', 'campaignId']))
  for (const field of ['state', 'reason', 'store', 'campaignId', 'automationId', 'jobId'])
    expect(expr).toContain(`{{.${field}}}`)
})

test('three metrics without values in an empty database have a help line nevertheless', async () => {
  const text = await app.metrics.text()
  for (const name of ['jobs', 'jobs_lag_seconds', 'connections']) expect(text).toContain(`# HELP ${name} `)
})

test.each(queries)('%s', async (_title, text) => {
  const metrics = await readMetrics()
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
