/** Numbers for Prometheus at `/metrics`. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '#db/database'
import type { Queue } from './queue.ts'

export interface Metrics {
  observe(operation: string, status: number, milliseconds: number): void
  observeJob(queue: string, outcome: 'completed' | 'failed', milliseconds: number): void
  text(): Promise<string>
  readonly contentType: string
}

export function openMetrics(database: Database, queue: Queue): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests by operation and status',
    labelNames: ['operation', 'status'],
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer, by operation',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const jobs = new Histogram({
    name: 'job_duration_seconds',
    help: 'Time of a job run, by queue and outcome',
    labelNames: ['queue', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300],
    registers: [registry],
  })
  new Gauge({
    name: 'jobs',
    help: 'Jobs by queue and state',
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { name, state, jobs: count } of await queue.counts()) this.set({ queue: name, state }, count)
    },
  })
  new Gauge({
    name: 'database_clients',
    help: 'Database clients open and busy, and transactions waiting for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(database.load())) this.set({ state }, count)
    },
  })
  // The labelled children are kept: finding one by its labels costs more than counting.
  const known = new Map<string, { timer: { observe(seconds: number): void }; counters: { inc(): void }[] }>()
  return {
    observe(operation, status, milliseconds) {
      let of = known.get(operation)
      if (!of) {
        of = { timer: latency.labels(operation), counters: [] }
        known.set(operation, of)
      }
      of.counters[status] ??= requests.labels(operation, String(status))
      of.counters[status].inc()
      of.timer.observe(milliseconds / 1000)
    },
    observeJob: (name, outcome, milliseconds) => jobs.labels(name, outcome).observe(milliseconds / 1000),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
