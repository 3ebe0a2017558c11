/** Request metrics of `/metrics`, in Prometheus's form. */
import { expect, test } from 'vitest'
import { openMetrics } from '#runtime/server/metrics'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

const readMetrics = async (): Promise<string> => {
  const response = await app.fetch(new Request('http://localhost/metrics'), { ip: '127.0.0.1' })
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return response.text()
}

test('requests are counted by operation and status', async () => {
  const shop = await store(app)
  for (let i = 0; i < 3; i += 1) expect((await shop.request('GET', '/store')).status).toBe(200)
  expect((await shop.request('GET', '/nowhere')).status).toBe(404)
  const text = await readMetrics()
  expect(text).toContain('# TYPE http_requests_total counter')
  expect(text).toMatch(/^http_requests_total\{operation="[^"]+",status="200"\} 3$/m)
  expect(text).toContain('http_requests_total{operation="unknown",status="404"} 1')
})

test('times are cumulative over buckets, each counted in the first that fits', async () => {
  const metrics = openMetrics(app.database, app.services.queue)
  for (const milliseconds of [0.4, 1, 1.1, 49, 20_000]) metrics.observe('readThings', 200, milliseconds)
  const text = await metrics.text()
  expect(text).toContain('# TYPE http_request_duration_seconds histogram')
  const lines = text.split('\n').filter((line) => line.startsWith('http_request_duration_seconds'))
  const values = lines.map((line) => line.replace('http_request_duration_seconds', ''))
  expect(values).toEqual([
    ...[
      ['0.001', 2],
      ['0.0025', 3],
      ['0.005', 3],
      ['0.01', 3],
      ['0.025', 3],
      ['0.05', 4],
      ['0.1', 4],
      ['0.25', 4],
      ['0.5', 4],
      ['1', 4],
      ['2.5', 4],
      ['5', 4],
      ['10', 4],
      ['+Inf', 5],
    ].map(([le, count]) => `_bucket{le="${le}",operation="readThings"} ${count}`),
    '_sum{operation="readThings"} 20.0515',
    '_count{operation="readThings"} 5',
  ])
})
